"""Abbreviations of an article: short forms with the long forms that it gives them itself.

After Schwartz and Hearst (2003), with a stricter alignment: every word of a long form that gives a letter gives its
first one. "optical coherence tomography (OCT)", "OCT (optical coherence tomography)", and the lists below figures:
"OCT, optical coherence tomography; FA = fluorescein angiography". Nothing is expanded by outside knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pmo_assets.records.context import Abbreviation

MAX_EXAMINED: Final = 4_000
"""Brackets and list entries of an article that are looked at; a long review has 2,000, a hostile text any number."""

MAX_TEXT: Final = 2_000_000
"""Characters of an article that are searched."""

_MAX_SHORT: Final = 14
_MAX_LONG: Final = 160
"""Characters of a short form, and of the text in which its long form is looked for."""

_FOLDED: Final = str.maketrans("αβγδεκλμµτω", "abgdeklmmto")
"""Greek letters as the Latin ones that their names begin with: "TNF-α" is "tumour necrosis factor alpha"."""

_WORD: Final = re.compile(r"[^\W_]+")
_SHORT: Final = re.compile(r"[^\W_](?:[^\W_]|[-/&+.' ]|\([^\W_]{1,3}\))*")
_LEAD: Final = re.compile(
    r"(?:i\.e\.|hereafter|abbreviated(?: as)?|termed|called|or|also|henceforth)[,: ]+", re.IGNORECASE
)
_BOUND: Final = re.compile(r"[;:()\[\]{}=]|[.!?] ")
_PIECE_END: Final = re.compile(r"[;,:=\[\]]|\((?!OH\))")
_ENTRY: Final = re.compile(
    r"(?<![^\W_])(?P<short>[^\W_](?:[^\W_]|[-/&+]|\([^\W_]{1,3}\)){1,13})"
    r"(?:\s?(?:=|:|,|–|—)\s?|\s-\s|\s(?:indicates|denotes|means|stands for|represents)\s)(?=[^\W_])"
)
_ENTRY_END: Final = re.compile(r"[;,:()\[\]={}]|\.(?:\s|\Z)|\Z")
_SMALL: Final = frozenset(
    ("of", "the", "and", "in", "for", "to", "with", "by", "a", "an", "on", "at", "or", "from", "per")
)
_NO_SHORT: Final = re.compile(
    r"(?:figs?|figures?|tables?|[ivx]+|\d+[a-z]?|p|n|mm|cm|kg|ml|et al|(?:\w\.)+\w)\.?", re.IGNORECASE
)
_LEFT_OUT: Final = 3
"""Cost of a word that is left out, in letters from the inside of words."""
_PLURAL: Final = re.compile(r"(?<=[A-Z0-9)])s\Z")


def defined_abbreviations(texts: Iterable[str]) -> tuple[Abbreviation, ...]:
    """Return the abbreviations that texts define, in their order; of several definitions of a short form the first.

    Args:
        texts: white space collapsed; the paragraphs of an article, or the caption of a figure.
    """
    found: dict[str, Abbreviation] = {}
    searched = examined = 0
    for text in texts:
        text = text[: max(0, MAX_TEXT - searched)]
        searched += len(text)
        for short, long in _candidates(text):
            examined += 1
            if examined > MAX_EXAMINED:
                return tuple(found.values())
            if long is not None:
                found.setdefault(short, Abbreviation(short, long))
    return tuple(found.values())


def used_abbreviations(text: str, *defined: Sequence[Abbreviation]) -> tuple[Abbreviation, ...]:
    """Return the abbreviations that a text uses, in the order of their first use.

    Args:
        text: any.
        defined: by several texts, the nearest first: a caption's own definition goes before the article's.
    """
    places: dict[str, tuple[int, Abbreviation]] = {}
    for item in (item for group in defined for item in group):
        if item.short in places or item.short not in text:
            continue
        use = re.search(rf"(?<![^\W_]){re.escape(item.short)}s?(?![^\W_])", text)
        if use is not None:
            places[item.short] = (use.start(), item)
    return tuple(item for _, item in sorted(places.values(), key=lambda place: place[0]))


def _candidates(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield (short form, long form or None) of everything that looks like a definition."""
    for start, end in _brackets(text):
        inside = text[start + 1 : end]
        before = text[max(0, start - _MAX_LONG) : start].rstrip()
        lead = _LEAD.match(inside)
        piece = _PIECE_END.split(inside[lead.end() if lead else 0 :], maxsplit=1)[0].strip(" .-–\"'“”‘’")
        short = _short_form(piece)
        if short is not None:
            yield short, _long_form_before(short, before)
        elif " " in piece:
            word = before.rsplit(" ", 1)[-1].lstrip("(\"'“‘")
            short = _short_form(word)
            if short is not None and sum(map(str.isupper, short)) > 1:
                yield short, piece if _fits(short, piece) else None
    for entry in _ENTRY.finditer(text):
        short = _short_form(entry["short"])
        if short is not None and any(map(str.isupper, short)):
            yield short, _long_form_behind(short, text, entry.end())


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Yield (opening, closing) of every pair of brackets that holds little text, in the order of their ends."""
    opened: list[int] = []
    for sign in re.finditer(r"[()\[\]]", text):
        if sign.group() in "([":
            opened.append(sign.start())
        elif opened:
            start = opened.pop()
            if 1 < sign.start() - start <= _MAX_LONG and start > 0:
                yield start, sign.start()


def _short_form(text: str) -> str | None:
    """Return a text as a short form, in the singular; None when it cannot be one."""
    short = _PLURAL.sub("", text)
    letters = sum(map(str.isalpha, short))
    if not 2 <= len(short) <= _MAX_SHORT or letters == 0 or short.count(" ") > 1:
        return None
    if _SHORT.fullmatch(short) is None or _NO_SHORT.fullmatch(short):
        return None
    if short.islower() and (len(short) > 4 or letters < len(short)):
        return None
    if (short.istitle() and letters > 4) or short.endswith("."):
        return None  # "Figure", "Switzerland"; "H.F.", an author
    return short


def _letters(short: str) -> str:
    """Return the letters and digits of a short form, folded; a hydroxy group as the letter of its name."""
    plain = short.replace("(OH)", "h")
    return "".join(filter(str.isalnum, plain)).translate(_FOLDED).casefold()


def _long_form_before(short: str, before: str) -> str | None:
    """Return the long form that ends a text; None when none does: the shortest of those that leave out least."""
    bounds = [match.end() for match in _BOUND.finditer(before)]
    begin = bounds[-1] if bounds else 0
    words = list(_WORD.finditer(before, begin))
    letters = _letters(short)
    most = min(len(letters) + 5, 2 * len(letters))
    words = words[-most:] if short != short.lower() else words[-len(letters) :]
    best: tuple[int, int] | None = None
    for first in range(len(words) - 1, -1, -1):
        cost = _cost([word.group() for word in words[first:]], letters, strict=short.islower())
        if cost is not None and (best is None or cost < best[0]):
            best = (cost, words[first].start())
    if best is None:
        return None
    long = before[best[1] :].strip(" -–")
    return long if _is_longer(short, long) else None


def _long_form_behind(short: str, text: str, start: int) -> str | None:
    """Return the long form that stands behind a short form in a list, up to the end of its entry."""
    window = text[start : start + _MAX_LONG]
    end = _ENTRY_END.search(window)
    piece = window[: end.start()].strip() if end else ""
    if _fits(short, piece):
        return piece
    shorter, sign, _ = piece.rpartition(" and ")
    return shorter if sign and _fits(short, shorter) else None


def _fits(short: str, long: str) -> bool:
    words = _WORD.findall(long)
    strict = short.islower()
    return (
        0 < len(words) <= 2 * len(short)
        and _is_longer(short, long)
        and _cost(words, _letters(short), strict=strict) is not None
    )


def _is_longer(short: str, long: str) -> bool:
    """Say whether a text says more than its short form: it does not hold it, and has a word of small letters."""
    return len(long) > len(short) + 1 and short not in long.split() and any(map(str.islower, long))


def _cost(words: Sequence[str], letters: str, *, strict: bool) -> int | None:
    """Return how badly letters come from the words of a long form, 0 at best; None when they do not.

    Each word gives none, or its first letter and then letters of its inside, all in order; first and last word give
    some. Small words ("of") are left out for nothing, of others at most one, and only of three letters and more. A
    word that is left out costs more than a letter from the inside of a word.

    Args:
        words: of the long form.
        letters: of the short form, folded.
        strict: every word gives its first letter alone.
    """
    folded = [word.translate(_FOLDED).casefold() for word in words]
    allowed = 1 if len(letters) > 2 and not strict else 0
    states = {(0, 0): 0}  # (letters given so far, words left out) -> least cost
    for n, word in enumerate(folded):
        following: dict[tuple[int, int], int] = {}
        for (given, left), cost in states.items():
            for count in _takes(word, letters[given:], strict=strict):
                _keep(following, (given + count, left), cost + count - 1)
            if 0 < n < len(folded) - 1:
                out = word not in _SMALL
                if left + out <= allowed:
                    _keep(following, (given, left + out), cost + _LEFT_OUT * out)
        states = following
    return min((cost for (given, _), cost in states.items() if given == len(letters)), default=None)


def _keep(states: dict[tuple[int, int], int], state: tuple[int, int], cost: int) -> None:
    if cost < states.get(state, cost + 1):
        states[state] = cost


def _takes(word: str, letters: str, *, strict: bool) -> Iterator[int]:
    """Yield how many of the letters a word can give: its first, and then those that follow inside."""
    if not letters:
        return
    if word[0] != letters[0]:
        if word[:2] not in ("oe", "ae") or letters[0] != "e":
            return  # "oedema" gives an E
        place = 1
    else:
        place = 0
    yield 1
    for count in range(2, 2 if strict else len(letters) + 1):
        place = word.find(letters[count - 1], place + 1)
        if place < 0:
            return
        yield count
