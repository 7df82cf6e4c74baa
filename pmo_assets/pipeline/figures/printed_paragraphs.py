"""Paragraphs of a PDF's running text: lines joined, hyphens at line ends resolved, headings above what they head.

Belongs here: what becomes of the lines that the layout calls running text and headings. Does not belong here: which
lines those are (`running_text`, `regions.page_layout`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.figures.page import TextLine
from pmo_assets.records.geometry import height

INDENT: Final = (4.0, 40.0)
"""Points by which the first line of a paragraph is set in; more is another column or a formula."""

GAP: Final = 0.6
"""Line heights of white above a line that begins a paragraph, in a document that does not set first lines in."""

SAME_ROW: Final = 0.5
"""Share of the lower line's height by which two pieces of one printed line overlap."""

_ENDS: Final = re.compile(r"[.!?:;][\"'”’)\]]{0,2}(?:\s?\[?\d{1,3}(?:[,–-]\s?\d{1,3}){0,9}\]?)?\Z")
_HYPHEN: Final = re.compile(r"(\w+)[-‐\u00ad]\Z")
_FIRST_WORD: Final = re.compile(r"\w+")
_WORD: Final = re.compile(r"\w+(?:[-‐]\w+)*")


@dataclass(frozen=True, slots=True)
class PrintedParagraph:
    """A paragraph of running text: the heading above it, None before the first one, and its text in one line."""

    heading: str | None
    text: str


@dataclass(frozen=True, slots=True)
class PrintedText:
    """Lines of a page that are running text and headings, in the PDF's order; `body`, `headings`: their positions."""

    lines: Sequence[TextLine]
    body: Set[int]
    headings: Set[int]


def printed_paragraphs(pages: Iterable[PrintedText]) -> tuple[PrintedParagraph, ...]:
    """Return the paragraphs of a document, in the PDF's order; one that goes on in the next column or page is one.

    A hyphen at the end of a line goes if the rest of the document has the word without it, or not with it.
    """
    parts = list(_parts(pages))
    known = Counter(word for _, lines in parts for line in lines for word in _WORD.findall(line.lower()))
    return tuple(PrintedParagraph(heading, _joined(lines, known)) for heading, lines in parts)


def _parts(pages: Iterable[PrintedText]) -> Iterator[tuple[str | None, list[str]]]:
    """Headings and the lines of the paragraphs below them."""
    heading: list[str] = []
    lines: list[str] = []
    is_heading = False
    last: TextLine | None = None
    for page in pages:
        for i, line in enumerate(page.lines):
            if i in page.headings:
                if lines:
                    yield " ".join(heading) or None, lines
                heading, lines, last = [*(heading if is_heading else ()), line.text], [], None
                is_heading = True
            elif i in page.body:
                if lines and last is not None and _begins(last, line, lines[-1]):
                    yield " ".join(heading) or None, lines
                    lines = []
                lines.append(line.text)
                last, is_heading = line, False
    if lines:
        yield " ".join(heading) or None, lines


def _begins(last: TextLine, line: TextLine, before: str) -> bool:
    """Say whether a line begins a paragraph: the text before it ended, and it is set in, or stands apart."""
    if not _ENDS.search(before):
        return False
    top, bottom = line.bbox[1], last.bbox[3]
    overlap = min(bottom, line.bbox[3]) - max(last.bbox[1], top)
    if overlap > SAME_ROW * height(line.bbox) and line.bbox[0] >= last.bbox[2] - 1:
        return False  # a piece of the same printed line
    is_below = top >= last.bbox[1] and abs(line.bbox[0] - last.bbox[0]) < INDENT[1]
    if not is_below:
        return line.text[:1].isupper()  # in the next column or page
    is_set_in = INDENT[0] <= line.bbox[0] - last.bbox[0] <= INDENT[1]
    return is_set_in or top - bottom > GAP * height(line.bbox) or line.block != last.block


def _joined(lines: Sequence[str], known: Counter[str]) -> str:
    text = ""
    pieces: list[str] = []
    for line in lines:
        hyphen = _HYPHEN.search(text) if text else None
        following = _FIRST_WORD.match(line)
        if hyphen and following and following.group()[0].islower():
            first, second = hyphen.group(1).lower(), following.group().lower()
            if known[first + second] or not (known[f"{first}-{second}"] or known[f"{first}‐{second}"]):
                pieces[-1] = pieces[-1][:-1]
        elif pieces and not hyphen:
            pieces.append(" ")
        pieces.append(line)
        text = line
    return " ".join("".join(pieces).split())
