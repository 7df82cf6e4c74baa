"""The title of an article as its front pages print it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from pmo_assets.pipeline.articles.credit import letters
from pmo_assets.pipeline.articles.front_lines import SUPERSCRIPT, has_loose_accents
from pmo_assets.pipeline.articles.pdf_metadata import PdfMetadata
from pmo_assets.pipeline.figures.page import PageContent, TextLine
from pmo_assets.records.figure_names import page_number

SAME_TITLE: Final = 92
"""Similarity (0 to 100, letters and digits only) from which a title in the metadata and one on the page are the same;
what differs is then lost accents and special characters."""

LONG_TITLE: Final = 20
"""Letters and digits of a title in the metadata that is looked for inside the pages' text, where a shorter one occurs
by chance."""

TITLE_WORDS: Final = 3
"""Words of a title at least; real ones have 8 to 27."""

TITLE_LENGTH: Final = (15, 500)
"""Characters of a title, at least and at most; real ones have some 50 to 200."""

# What is set as a heading. On the front pages of real articles titles are 1.6 to 2.9 times as large as the text and
# begin in the upper fifth; the lines of one title have one size, with -0.04 to 0.28 of it between them. The bounds are
# generous: what is no title is told apart by its words.
_LARGER: Final = 1.15
"""Type of a heading, as a share of the body's."""
_UPPER_PART: Final = 0.7
"""Share of the page's height within which a title begins."""
_SAME_SIZE: Final = 0.06
"""Lines of one heading differ by no more than this share of their size."""
_LINE_GAP: Final = (-0.6, 0.9)
"""White between two lines of one heading, as shares of the type's size; below 0 where their boxes overlap."""
_RIVAL: Final = 0.95
"""A second heading of more than this share of the largest one's size leaves the title open."""


_NO_TITLE: Final = re.compile(
    r"(?:untitled|no title|title|microsoft \w+\b.*|powerpoint .*|slide ?\d*|document ?\d*|manuscript|main|template|"
    r"article|layout \d+|print|proof|paper|draft|default|unknown|full text|abstract|"
    r"research (?:article|paper)|\(?null\)?)\W*",
    re.I,
)
_FILE_NAME: Final = re.compile(
    r"\.(?:dvi|docx?|pdf|indd|tex|qxd|qxp|fm|eps|ps|rtf|odt|xml|html?|p65|3d|wpd|pages)\s*$", re.I
)
_PAGE_RANGE: Final = re.compile(r"\b\d+\s*\.\.\s*\d+\s*$")

_KIND: Final = re.compile(
    r"\W*(?:(?:original|invited|mini|systematic|clinical|brief|short|rapid|technical|special|open)\W+)*(?:research|review|case|"
    r"article|paper|report|study|communication|letter|note|investigation|series|editorial|erratum|corrigendum|correction|"
    r"retraction|commentary|perspective|protocol|methodology|opinion|access|to the editor|s)"
    r"(?:\s+(?:article|report|paper|study|series|communication|letter|protocol|access|s))*\W*",
    re.I,
)
"""The kind of article, which journals print above the title."""

_NO_HEADING: Final = re.compile(
    r"contents lists available|journal home ?page|science ?direct|open access|author manuscript|hhs public access|"
    r"you may also like|to cite this|this is a repository copy|"
    r"downloaded from|^abstract\b|^(?:1\.?\s*)?introduction\b|^keywords\b|^(?:references|contents)\W*$|"
    r"www\.|https?://|all rights reserved|received\b.*\baccepted\b|@|^vol(?:ume|\.)\s*\d|\bissn\b|^doi\b",
    re.I,
)


def _is_title(text: str) -> bool:
    """Say whether a text can be an article's title: words, not a file name, a placeholder or a page's furniture."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return (
        len(words) >= TITLE_WORDS
        and TITLE_LENGTH[0] <= len(text) <= TITLE_LENGTH[1]
        and not _NO_TITLE.fullmatch(text)
        and not _FILE_NAME.search(text)
        and not _PAGE_RANGE.search(text)
        and "\ufffd" not in text
    )


def _line_text(line: TextLine) -> str:
    """Return a line's text without the signs of notes at its end."""
    spans = list(line.spans)
    while len(spans) > 1 and spans[-1].size < SUPERSCRIPT * line.size:
        spans.pop()
    end = spans[-1].text
    text = line.text
    if len(spans) < len(line.spans):
        cut = text.rfind(end)
        text = text[: cut + len(end)] if cut >= 0 else text
    return text.rstrip(" *†‡§¶☆✩")


@dataclass(frozen=True)
class Heading:
    """Neighbouring lines in one size of type: page (from 0), index of the lines on it, and their text."""

    page: int
    lines: tuple[int, ...]
    size: float
    text: str


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        # "long-" + "term": the hyphen at a title's line end belongs to the word; titles are not hyphenated.
        text += part if not text or text.endswith(("-", "–", "/")) else f" {part}"
    return " ".join(text.split())


def _headings(number: int, page: PageContent, lines: Sequence[TextLine]) -> list[Heading]:
    """Groups of lines in the upper part of a page that are set larger than its body."""
    if not lines:
        return []
    weights: Counter[float] = Counter()
    for line in lines:
        weights[round(line.size, 1)] += len(line.text)
    body = weights.most_common(1)[0][0]
    groups: list[list[int]] = []
    for index, line in enumerate(lines):
        if line.size < _LARGER * body or line.bbox[1] > _UPPER_PART * page.height:
            continue
        previous = lines[groups[-1][-1]] if groups else None
        if (
            previous is not None
            and abs(previous.size - line.size) <= _SAME_SIZE * line.size
            and _LINE_GAP[0] * line.size <= line.bbox[1] - previous.bbox[3] <= _LINE_GAP[1] * line.size
            and min(previous.bbox[2], line.bbox[2]) > max(previous.bbox[0], line.bbox[0])
        ):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [_heading(number, lines, group) for group in groups]


def _heading(number: int, lines: Sequence[TextLine], group: Sequence[int]) -> Heading:
    """The heading of a group of lines, without the kind of article above it."""
    while len(group) > 1 and _KIND.fullmatch(lines[group[0]].text):
        group = group[1:]
    size = max(lines[i].size for i in group)
    return Heading(number, tuple(group), size, _joined(_line_text(lines[i]) for i in group))


def read_title(
    metadata: PdfMetadata, pages: Sequence[PageContent], printed: Sequence[Sequence[TextLine]], journals: Sequence[str]
) -> tuple[str | None, str, Heading | None]:
    """Return the title, where it was read, and the heading that prints it; nothing when it is not certain."""
    headings = [
        heading
        for n, (page, lines) in enumerate(zip(pages, printed, strict=True))
        for heading in _headings(n, page, lines)
    ]
    known = {letters(name) for name in journals}
    for place, stated in metadata.titles:
        if not _is_title(stated) or letters(stated) in known:
            continue
        wanted = letters(stated)
        for heading in headings:
            if fuzz.ratio(letters(heading.text), wanted) >= SAME_TITLE:
                text = stated if has_loose_accents(heading.text) else heading.text
                return text, f"page {page_number(heading.page)}, as in {place}", heading
        for number, lines in enumerate(printed):
            if len(wanted) >= LONG_TITLE and wanted in letters("".join(line.text for line in lines)):
                return stated, f"{place}, printed on page {page_number(number)}", None
    candidates = [
        heading
        for heading in headings
        if heading.page == 0
        and _is_title(heading.text)
        and not _NO_HEADING.search(heading.text)
        and not _KIND.fullmatch(heading.text)
        and letters(heading.text) not in known
    ]
    if not candidates:
        return None, "", None
    best = max(candidates, key=lambda heading: heading.size)
    rivals = [heading for heading in candidates if heading is not best and heading.size > _RIVAL * best.size]
    if rivals:
        return None, "", None
    # A title in the metadata that is printed nowhere is another article's.
    return best.text, "page 1", best
