"""Captions as lines of the document: the text in which they are looked for, and the record made of the lines found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pmo_assets.pipeline.figures.caption_location.labels import LabelStart, compact_text, label_start
from pmo_assets.pipeline.figures.page import LineKey, PageContent, TextLine
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box, union_box


@dataclass(frozen=True, slots=True)
class CaptionLocation:
    """A caption on the page.

    Attributes:
        kind: "figure" or "table" (tables claim their own surroundings, so that no figure does).
        label: as printed, without punctuation behind it; from the XML when that has one.
        number: normalised number, e.g. "3", "s1", "a2"; "" when there is none.
        caption: text in the PDF without the label, hyphenation at line ends undone.
        image_cluster_id: the package figure it was located by; None when found by layout.
        lines: its lines in reading order.
        boxes: one per page, in page order, points as displayed.
        quarter_turns: reading direction, see `TextLine`.
        similarity: 0..1, how well the PDF's text agrees with the XML's; without XML how certain
            the layout is (see `by_layout`).
        is_continuation: says that it continues an earlier figure ("Figure 3 (continued)").
        by_number: nothing but its number led to it: its words are not those of the XML.
    """

    kind: str
    label: str | None
    number: str
    caption: str
    image_cluster_id: str | None
    lines: tuple[LineKey, ...]
    boxes: tuple[PageBox, ...]
    quarter_turns: int
    similarity: float
    is_continuation: bool = False
    by_number: bool = False


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The document's lines, once as printed and once compact.

    Attributes:
        pages: all pages of the document.
        compact: per page and line its `compact_text`.
        starts: the lines that begin with a label, in the PDF's order.
        words: hyphenated words that the document writes within a line, lower case.
    """

    pages: Sequence[PageContent]
    compact: list[list[str]]
    starts: list[LabelStart]
    words: set[str]

    def line(self, key: LineKey) -> TextLine:
        """Return a line by its key."""
        return self.pages[key[0]].lines[key[1]]

    def compact_lines(self, keys: Iterable[LineKey]) -> str:
        """Return the compact text of some lines, joined."""
        return "".join(self.compact[page][index] for page, index in keys)

    def label_at(self, key: LineKey) -> LabelStart | None:
        """Return the label at the start of a line, None if there is none."""
        return label_start(key, self.line(key).text, self.compact[key[0]][key[1]])


def document_text(pages: Sequence[PageContent]) -> DocumentText:
    """Read the lines of all pages of a document."""
    compact = [[compact_text(line.text) for line in page.lines] for page in pages]
    starts = []
    words: set[str] = set()
    for p, page in enumerate(pages):
        for i, line in enumerate(page.lines):
            words.update(re.findall(r"\w+-\w+", line.text.lower()))
            start = label_start((p, i), line.text, compact[p][i])
            if start is not None:
                starts.append(start)
    return DocumentText(pages, compact, starts, words)


def caption_of_lines(
    text: DocumentText,
    keys: Sequence[LineKey],
    kind: str,
    label: str | None,
    number: str,
    image_cluster_id: str | None,
    similarity: float,
    is_continuation: bool = False,
) -> CaptionLocation:
    """Return the record of the caption that consists of these lines; see `CaptionLocation` for the arguments."""
    return CaptionLocation(
        kind=kind,
        label=label,
        number=number,
        caption=_printed_caption(text, keys),
        image_cluster_id=image_cluster_id,
        lines=tuple(keys),
        boxes=one_box_per_page(PageBox(key[0], text.line(key).bbox) for key in keys),
        quarter_turns=text.line(keys[0]).quarter_turns,
        similarity=similarity,
        is_continuation=is_continuation,
    )


def _printed_caption(text: DocumentText, keys: Sequence[LineKey]) -> str:
    """Join the lines without the label; a hyphen at a line end goes unless the document writes the word with it."""
    joined = ""
    for k, key in enumerate(keys):
        piece = text.line(key).text
        if k == 0:
            start = text.label_at(key)
            if start is not None:
                piece = start.rest
        piece = piece.strip()
        if not joined:
            joined = piece.lstrip(".:|–—- ")
        elif joined[-1] in "-‐\u00ad" and piece[:1].islower():
            before = re.findall(r"\w+$", joined[:-1])
            after = re.findall(r"^\w+", piece)
            is_compound = bool(before and after) and f"{before[0]}-{after[0]}".lower() in text.words
            joined = (joined if is_compound else joined[:-1]) + piece
        elif joined[-1] in "-–/" and piece[:1].isalnum():
            joined += piece
        elif piece:
            joined += " " + piece
    return re.sub(r"\s+", " ", joined).replace("\u00ad", "").strip()


def one_box_per_page(boxes: Iterable[PageBox]) -> tuple[PageBox, ...]:
    """Join the boxes of each page; in page order."""
    by_page: dict[int, list[Box]] = defaultdict(list)
    for box in boxes:
        by_page[box.page].append(box.bbox)
    return tuple(PageBox(page, union_box(by_page[page])) for page in sorted(by_page))
