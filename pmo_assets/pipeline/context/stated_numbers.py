"""Numbers of a text with their units and their signs of comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pmo_assets.pipeline.context.terms import PLAIN_WORDS, stem, words_of

_NUMBER_WORDS: Final = {
    word: str(number)
    for number, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=2
    )
}
_NUMBER: Final = re.compile(
    r"(?P<sign>[<>≤≥~±≈]|(?<![\w.)])[-−–](?=\d))?\s?(?<![\w.])(?P<value>\d+(?:[.,·/]\d+)*)"
    r"(?P<tail>\s?(?:[%°]|×(?!\s?\d)|[-‐]?[^\W\d_]+(?:/[^\W\d_]+)?)?)"
)
_UNITS: Final = {
    **dict.fromkeys(("μm", "µm", "um", "micron", "microns", "micrometer", "micrometers", "micrometre"), "µm"),
    **dict.fromkeys(("%", "percent"), "%"),
    **dict.fromkeys(("d", "day", "days"), "day"),
    **dict.fromkeys(("week", "weeks", "wk", "wks", "w"), "week"),
    **dict.fromkeys(("month", "months", "mo", "mos"), "month"),
    **dict.fromkeys(("year", "years", "yr", "yrs", "y"), "year"),
    **dict.fromkeys(("h", "hour", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("s", "sec", "second", "seconds"), "second"),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("°", "degree", "degrees", "deg"), "°"),
    **dict.fromkeys(("diopter", "diopters", "dioptre", "dioptres"), "diopter"),
    **dict.fromkeys(("t", "tesla"), "tesla"),
    **dict.fromkeys(("ml", "milliliter", "milliliters"), "ml"),
    **dict.fromkeys(("mg", "milligram", "milligrams"), "mg"),
    **{
        unit: unit
        for unit in (
            "nm", "m", "mmhg", "kg", "g", "μg", "µg", "μl", "µl", "l", "hz", "khz", "mhz", "db", "iu", "pa", "kpa",
            "mm/s", "mg/ml", "mg/kg", "logmar", "×", "fold", "letters",
        )
    },
}  # fmt: skip
"""Units as written, lower case, to one form of each."""
_LINK: Final = re.compile(r"\s?(?:,\s?(?:and\s|or\s)?|and\s|or\s|to\s|[–—-]|±|×|x\s)\s?")
_OWN_WORDS: Final = frozenset(map(stem, ["eye", "eyes", "both"]))
_LINKS: Final = frozenset(
    ["and", "or", "to", "by", "with", "in", "at", "for", "after", "before", "vs", "versus", "not", "but", "x"]
)


def numbers_of(texts: Iterable[str]) -> dict[str, frozenset[tuple[str, str]]]:
    """Return each number of texts with its signs of comparison and its units; "" for none.

    A number whose unit stands behind a later one of its list ("500, 1,000 and 1,500 µm") has that unit. What is no unit
    but counted ("4 eyes") is one.
    """
    found: dict[str, set[tuple[str, str]]] = {}
    for text in texts:
        plain = re.sub(r"[^\W\d_]+", lambda word: _NUMBER_WORDS.get(word.group().casefold(), word.group()), text)
        matches = list(_NUMBER.finditer(plain))
        units = [_unit(match["tail"]) for match in matches]
        for n in range(len(matches) - 2, -1, -1):
            if not units[n] and _LINK.fullmatch(plain, matches[n].end("value"), matches[n + 1].start("value")):
                units[n] = units[n + 1]
        for match, unit in zip(matches, units, strict=True):
            value = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", match["value"]).replace("·", ".")
            sign = (match["sign"] or "").replace("−", "-").replace("–", "-").replace("≈", "~")
            found.setdefault(value, set()).add((sign, unit))
    return {value: frozenset(said) for value, said in found.items()}


def _is_unit(tail: str) -> bool:
    return tail.strip().lstrip("-‐").casefold() in _UNITS


def _unit(tail: str) -> str:
    word = tail.strip().lstrip("-‐").casefold()
    if not word:
        return ""
    if tail.strip() == "D":
        return "diopter"  # "d" is a day
    if word in _UNITS:
        return _UNITS[word]
    small = word in _LINKS or stem(word) in PLAIN_WORDS - _OWN_WORDS
    return "" if small else stem(word)


def number_values(text: str) -> frozenset[str]:
    """Return the numbers of a text as written."""
    return frozenset(match["value"] for match in _NUMBER.finditer(text))


def unit_words(text: str) -> frozenset[str]:
    """Return the words of a text that are units behind a number."""
    return frozenset(
        word for match in _NUMBER.finditer(text) if _is_unit(match["tail"]) for word in words_of(match["tail"])
    )


def is_number_word(word: str) -> bool:
    """Say whether a word is a number from two to twelve."""
    return word.casefold() in _NUMBER_WORDS
