"""Times, ages, stages and grades in a text: what is said with a number, by rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pmo_assets.lexicon.words import Words, word_key, word_list
from pmo_assets.pipeline.context.lexicon import Span


def keys_of(words: str) -> frozenset[str]:
    """Return the keys of words that blanks separate."""
    return frozenset(map(word_key, words.split()))


_NUMBERS: Final = dict(
    zip(word_list("one two three four five six seven eight nine ten eleven twelve"), range(1, 13), strict=True)
)
_ORDINALS: Final = dict(zip(word_list("first second third fourth fifth sixth"), range(1, 7), strict=True))
_TH: Final = frozenset(word_list("st nd rd th"))
_DESIGNATORS: Final = {
    word_key(word): (designator, name)
    for words, designator, name in (
        ("second seconds sec s", "T{}S", "seconds"),
        ("minute minutes min mins", "T{}M", "minutes"),
        ("hour hours hr hrs h", "T{}H", "hours"),
        ("day days d", "{}D", "days"),
        ("week weeks wk wks w", "{}W", "weeks"),
        ("month months mo mos m", "{}M", "months"),
        ("year years yr yrs y", "{}Y", "years"),
    )
    for word in words.split()
}
"""Units of time: their place in an ISO 8601 duration, and their name in an age."""

_SHORT_UNITS: Final = frozenset(word_list("s h d w m y"))
"""Read as units after a number only where "after" or the like follows."""

_LATER: Final = keys_of(
    "after later following post postoperatively postoperative postinjection posttreatment postsurgery followup since "
    "postvitrectomy posttransplantation visit into"
)
_EARLIER: Final = keys_of("before earlier prior ago previously preoperatively history")
_AT: Final = keys_of("at after within by until approximately about only")
_BETWEEN_NUMBERS: Final = frozenset({",", "and", "or", "to", "/", "&"})
_COUNTED_UNITS: Final = keys_of("day week month year")
_GESTATION: Final = keys_of("gestation gestational postmenstrual postconceptional PMA")
_STAGES: Final = keys_of("stage grade category")
_SCALES: Final = frozenset(
    word_list("ETDRS DRSS AREDS Gass Shaffer Scheie LOCS ICROP SUN ICDR Efron Spaeth Keith Oxford")
)
_MOST_LISTED: Final = 12
"""Tokens that a list of numbers before a unit takes at most: "1, 3, 6, and 12 months"."""


class _Amount(NamedTuple):
    """A number and its unit, the words that they take, and the numbers before that share the unit."""

    first: int
    end: int
    number: str
    unit: str
    listed: tuple[tuple[int, str], ...]


def spans_of_quantities(words: Words) -> list[Span]:
    """Return the times, ages and stages that a text gives with a number.

    Times are ISO 8601 durations: "6 months after" and "POD 1" are "P6M" and "P1D", "2 weeks before" is "-P2W".
    """
    spans: list[Span] = []
    for index in range(len(words)):
        if amount := _amount(words, index):
            spans.extend(_with_unit(words, amount))
        elif words.keys[index] in _DESIGNATORS or words.capitals[index] == "POD":
            spans.extend(_numbered_unit(words, index))
        elif words.keys[index] in _STAGES or words.keys[index] == "level":
            spans.extend(_stage(words, index))
        elif words.keys[index] == "aged" or words.keys[index] == "age":
            spans.extend(_age_without_unit(words, index))
    return spans


def _number(words: Words, index: int) -> str | None:
    if not 0 <= index < len(words):
        return None
    key = words.keys[index]
    return key if key[0].isdigit() else str(_NUMBERS[key]) if key in _NUMBERS else None


def _key(words: Words, index: int) -> str:
    return words.keys[index] if 0 <= index < len(words) else ""


def _amount(words: Words, index: int) -> _Amount | None:
    """A number with a unit of time at an index: "6 months", "6-month", "1, 3 and 6 months"."""
    number, unit = _number(words, index), _key(words, index + 1)
    within_word = index > 0 and words.starts[index] == words.ends[index - 1] and words.keys[index - 1].isalnum()
    if number is None or unit not in _DESIGNATORS or within_word or _key(words, index - 1) in {"/", "="}:
        return None
    listed: list[tuple[int, str]] = []
    before = index - 1
    while before >= max(0, index - _MOST_LISTED) and words.keys[before] in _BETWEEN_NUMBERS:
        if other := _number(words, before - 1):
            listed.append((before - 1, other))
            before -= 1
        before -= 1
    # A range without a sign between: hyphens within words are left out ("3-6 months").
    if not listed and (other := _number(words, index - 1)) and words.starts[index] == words.ends[index - 1] + 1:
        listed.append((index - 1, other))
    return _Amount(index, index + 2, number, unit, tuple(listed))


def _with_unit(words: Words, amount: _Amount) -> Iterator[Span]:
    end, (_, name) = amount.end, _DESIGNATORS[amount.unit]
    following, preceding = _key(words, end), _key(words, amount.first - 1)
    if following == "old" or (following == "of" and _key(words, end + 1) == "age") or preceding == "aged":
        yield Span(amount.first, end + (following == "old"), "demographic", f"{amount.number} {name}")
    elif (following == "/" and _key(words, end + 1) == "o") or (amount.unit == "y" and following == "o"):
        yield Span(amount.first, end + 1 + (following == "/"), "demographic", f"{amount.number} {name}")
    elif preceding == "age" or (preceding in {"of", "wa", "is"} and _key(words, amount.first - 2) == "age"):
        yield Span(amount.first, end, "demographic", f"{amount.number} {name}")
    elif name == "weeks" and (following in _GESTATION or (following == "of" and _key(words, end + 1) in _GESTATION)):
        last = end + 1 + (following == "of")
        yield Span(amount.first, last, "demographic", f"gestational age {amount.number} weeks")
    elif sign := _sign(words, amount, following, preceding):
        yield Span(amount.first, end, "time", _duration(sign, amount.number, amount.unit))
        for index, number in amount.listed:
            yield Span(index, index + 1, "time", _duration(sign, number, amount.unit))


def _sign(words: Words, amount: _Amount, following: str, preceding: str) -> str:
    """Sign of an amount that is a time: "+" after something, "-" before; "" for one that is none."""
    later = following in _LATER or (following == "follow" and _key(words, amount.end + 1) == "up")
    if following in _EARLIER:
        return "-"
    if later:
        return "+"
    if amount.unit in _SHORT_UNITS:
        return ""
    before = amount.first - 1 if not amount.listed else min(index for index, _ in amount.listed) - 1
    preceding = _key(words, before)
    if preceding in _AT or (preceding == "of" and _key(words, before - 1) in {"up", "followup"}):
        return "+"
    alone = before < 0 or not preceding[0].isalnum()
    return "+" if alone and (not following or following in {")", ".", ";", ":"}) else ""


def _duration(sign: str, number: str, unit: str) -> str:
    # ISO 8601 has the sign of an earlier time before the P (part 2 of the standard).
    return f"{'-' * (sign == '-')}P{_DESIGNATORS[unit][0].format(number)}"


def _numbered_unit(words: Words, index: int) -> Iterator[Span]:
    """A unit with its number: "day 7", "POD 1", "third month", "first postoperative day"."""
    unit = "day" if words.capitals[index] == "POD" else words.keys[index]
    if unit not in _COUNTED_UNITS:
        return
    if (number := _number(words, index + 1)) and _key(words, index + 2) not in _DESIGNATORS:
        yield Span(index, index + 2, "time", _duration("+", number, unit))
        return
    if _key(words, index - 1) in _TH and (number := _number(words, index - 2)):
        yield Span(index - 2, index + 1, "time", _duration("+", number, unit))
        return
    for before in (index - 1, index - 2):
        ordinal = _key(words, before)
        between = before == index - 1 or _key(words, index - 1) in _LATER
        if ordinal in _ORDINALS and between:
            yield Span(before, index + 1, "time", _duration("+", str(_ORDINALS[ordinal]), unit))


def _stage(words: Words, index: int) -> Iterator[Span]:
    """A stage or grade with its number or letter: "stage 3", "grade II", "stage 4A", "ETDRS level 47"."""
    key, number = words.keys[index], words.number(index + 1)
    if number is None:
        return
    end = index + 2
    if end < len(words) and words.starts[end] == words.ends[end - 1] and words.keys[end] in {"a", "b", "c", "+"}:
        number, end = number + words.keys[end].upper(), end + 1
    before = words.text[words.starts[index - 1] : words.ends[index - 1]] if index else ""
    if before in _SCALES:
        yield Span(index - 1, end, "stage", f"{before} {key} {number}")
    elif key != "level" and key != "category":
        yield Span(index, end, "stage", f"{key} {number}")


def _age_without_unit(words: Words, index: int) -> Iterator[Span]:
    """An age in years that does not say so: "aged 67", "age 67"."""
    number = _number(words, index + 1)
    if number and _key(words, index + 2) not in _DESIGNATORS:
        yield Span(index, index + 2, "demographic", f"{number} years")
