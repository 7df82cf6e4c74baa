"""Labels of captions: "Figure 3.", "Fig. S1 |", "TABLE IV", and the number in them.

Belongs here: reading a label at the start of a line. Does not belong here: whether that line is a caption or a
sentence about the figure (see `by_xml` and `by_layout`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from pmo_assets.pipeline.figures.page import LineKey

_KIND = r"(?:fig(?:ure)?s?|scheme|chart|plate|abb(?:ildung)?|illustration|table|tab|box|video|movie|algorithm)"
_NUMBER = r"(?:[a-z]{1,2}[\s.\-]?)?\d{1,3}(?:[.\-]\d{1,2})?[a-z]?|[ivx]{1,5}"
_CONTINUED = r"\s*[\(\[]?\s*(?:continued|cont['’]?d?\.?)(?=\s*(?:[\)\].:;,–—]|$))\s*[\)\]]?"
"""The word alone, set off by punctuation or the line's end: "Continued expression of ..." is a caption's sentence."""

_LABEL = re.compile(
    rf"^\W{{0,2}}(?P<prefix>(?:(?:supplementary|supplemental|supporting|extended\s+data|appendix|additional|online)\s+)*)"
    rf"(?P<kind>{_KIND})\s*\.?\s*(?P<number>{_NUMBER})(?![a-z0-9])"
    rf"(?P<continued>\s*[.:|–—\-]*{_CONTINUED})?(?P<after>\s*[.:|)–—\-]*)",
    re.IGNORECASE,
)
_COMPACT_LABEL = re.compile(r"^(?:supplementary|supplemental)?(?P<kind>fig(?:ure)?s?|table)(?P<number>[a-z]?\d{1,2})")
_CONTINUED_TAIL = re.compile(rf"^\W*?{_CONTINUED}", re.IGNORECASE)

_BOUNDING_KINDS = ("table", "tab", "box", "video", "movie", "algorithm")
"""Tables, and other things that are no figures but bound figures as a table does."""

_ROMAN = {"i": 1, "v": 5, "x": 10}


def compact_text(text: str) -> str:
    """Return only letters and digits, lower case, compatibility forms (ligatures, superscripts) resolved."""
    if text.isascii():
        return "".join(filter(str.isalnum, text)).lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text).lower() if c.isalnum())


def figure_number(label: str | None) -> str:
    """Return the number in a label: "Figure 3" -> "3", "Fig. S1" -> "s1", "FIGURE IV" -> "4"; "" without one."""
    if not label:
        return ""
    match = _LABEL.match(label.strip())
    if match:
        number = _normalised_number(match["number"])
        prefix = match["prefix"].strip().lower()
        return ("s" if prefix.startswith("suppl") and number[:1].isdigit() else "") + number
    loose = re.search(r"([A-Za-z]?\d+)", label)
    return loose.group(1).lower() if loose else ""


def _normalised_number(text: str) -> str:
    number = re.sub(r"[\s.\-](?=\d)", "", text.lower()) if text[:1].isalpha() else text.lower()
    if re.fullmatch(r"[ivx]+", number):
        values = [_ROMAN[c] for c in number]
        pairs = zip(values, [*values[1:], 0], strict=True)
        return str(sum(-value if value < after else value for value, after in pairs))
    return number


def is_continued(caption: str) -> bool:
    """Say whether a caption, its label left out, begins with "continued" as a word of its own."""
    return bool(_CONTINUED_TAIL.match(caption))


@dataclass(frozen=True, slots=True)
class LabelStart:
    """A line that begins with a label.

    Attributes:
        key: the line.
        kind: "figure", or "table" for tables and whatever else bounds figures.
        label: as printed, without punctuation behind it.
        number: normalised, see `figure_number`.
        rest: what follows label and punctuation on the line.
        continued: the label says that the figure began earlier.
        after: punctuation behind the number.
    """

    key: LineKey
    kind: str
    label: str
    number: str
    rest: str
    continued: bool
    after: str


def label_start(key: LineKey, text: str, compact: str) -> LabelStart | None:
    """Read the label at the start of a line; None if there is none.

    Args:
        key: the line.
        text: its text as printed.
        compact: `compact_text` of it.
    """
    if not compact[:1].isalpha():
        return None
    match = _LABEL.match(text)
    if match:
        kind = "table" if match["kind"].lower() in _BOUNDING_KINDS else "figure"
        label = text[: match.end("number")].strip().lstrip("([• ")
        rest = text[match.end() :]
        return LabelStart(
            key, kind, label, figure_number(label), rest, bool(match["continued"]), match["after"].strip()
        )
    # Letter-spaced labels ("F I G U R E 1") only show in the compact form.
    spaced = _COMPACT_LABEL.match(compact)
    if spaced and re.match(r"^\W*(?:\w\s+){3}", text):
        kind = "table" if spaced["kind"] == "table" else "figure"
        label = f"{spaced['kind'].capitalize()} {spaced['number'].upper()}"
        return LabelStart(key, kind, label, spaced["number"], text[_offset(text, spaced.end()) :], False, ".")
    return None


def _offset(text: str, count: int) -> int:
    """Return the position in `text` behind its first `count` compact characters."""
    seen = 0
    for k, character in enumerate(text):
        if seen >= count:
            return k
        seen += len(compact_text(character))
    return len(text)
