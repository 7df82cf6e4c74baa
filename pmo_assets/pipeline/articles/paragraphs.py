"""Running text of an article as its table holds it: paragraphs with their sections, bounded in size.

Add here: what makes a paragraph of the XML or the PDF one of the table. Keep out: reading either of them (`jats_text`,
the room `figures`), and references in the text (`references`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.articles.mentions import MAX_PARAGRAPH, MAX_TEXT, ReferringParagraph
from pmo_assets.pipeline.articles.references import references
from pmo_assets.pipeline.articles.sections import section_class
from pmo_assets.pipeline.figures.printed_paragraphs import PrintedParagraph
from pmo_assets.records.context import CrossReference, RunningParagraph, SectionClass
from pmo_assets.records.rejections import ArticleError

MAX_REFERENCES: Final = 1_000
"""Cross-references kept per paragraph, whose text has 20,000 characters at most; real ones have a dozen."""

MAX_PARAGRAPHS: Final = 20_000
"""Paragraphs kept per article; a long monograph has 5,000."""

MIN_PIECE: Final = MAX_PARAGRAPH // 2
"""Characters from which a long paragraph may be cut at the end of a sentence, or else at a blank."""

_REFERENCES: Final = re.compile(r"(?:\d{1,2}\.?\s)?(?:references|bibliography|literature cited)\W*", re.IGNORECASE)


class RunningTextCut(ArticleError):
    """An article has more running text, paragraphs or cross-references than are kept."""


def paragraphs_of_xml(
    paragraphs: Iterable[ReferringParagraph], clusters: Mapping[str, str]
) -> Iterator[RunningParagraph]:
    """Yield paragraphs of the XML with their cross-references as figures; titles stand with the paragraphs below them.

    A title that refers to a figure is a paragraph, too.

    Args:
        paragraphs: as the XML has them.
        clusters: image_cluster_id by id of an element.
    """
    for paragraph in paragraphs:
        found = dict.fromkeys(
            CrossReference(offset, clusters[target]) for offset, target in paragraph.references if target in clusters
        )
        if paragraph.is_title and not found and not references(paragraph.text[:MAX_PARAGRAPH]):
            continue
        yield RunningParagraph(paragraph.section, paragraph.section_title, paragraph.text, tuple(found))


def paragraphs_of_pdf(paragraphs: Iterable[PrintedParagraph]) -> Iterator[RunningParagraph]:
    """Yield paragraphs of the PDF with the classes of their headings; a heading without a class goes on with the last.

    What stands below "References" is no running text.
    """
    section: SectionClass = "other"
    for before, paragraph in pairwise((None, *paragraphs)):
        if paragraph is None:
            continue
        if before is None or paragraph.heading != before.heading:
            named = section_class(paragraph.heading)
            section = named if named != "other" else section
        if not _REFERENCES.fullmatch(paragraph.heading or ""):
            yield RunningParagraph(section, paragraph.heading, paragraph.text, source="pdf")


def bounded(paragraphs: Iterable[RunningParagraph]) -> tuple[tuple[RunningParagraph, ...], RunningTextCut | None]:
    """Return the paragraphs that are kept, and what was cut; a paragraph that is too long is several.

    They hold `MAX_TEXT` characters at most, in paragraphs of `MAX_PARAGRAPH` characters, `MAX_PARAGRAPHS` of them.
    """
    kept: list[RunningParagraph] = []
    room = MAX_TEXT
    left_out = references_left_out = 0
    for paragraph in paragraphs:
        for piece in _pieces(paragraph):
            if len(piece.text) > room or len(kept) >= MAX_PARAGRAPHS:
                left_out += len(piece.text)
                room = 0 if left_out else room
                continue
            room -= len(piece.text)
            references_left_out += max(0, len(piece.references) - MAX_REFERENCES)
            kept.append(replace(piece, references=piece.references[:MAX_REFERENCES]))
    cut = [
        f"{count} {what}"
        for count, what in ((left_out, "characters of text"), (references_left_out, "cross-references"))
        if count
    ]
    reason = RunningTextCut(
        f"{' and '.join(cut)} are left out: an article's running text is kept up to {MAX_TEXT} characters in "
        f"{MAX_PARAGRAPHS} paragraphs with {MAX_REFERENCES} cross-references each; sentences there are no mentions"
    )
    return tuple(kept), reason if cut else None


def _pieces(paragraph: RunningParagraph) -> Iterator[RunningParagraph]:
    text = paragraph.text
    if len(text) <= MAX_PARAGRAPH:
        yield paragraph
        return
    marks: Sequence[CrossReference] = paragraph.references
    start = n = 0
    while start < len(text):
        end = min(len(text), start + MAX_PARAGRAPH)
        if end < len(text):
            stop = text.rfind(". ", start + MIN_PIECE, end)
            blank = text.rfind(" ", start + MIN_PIECE, end)
            end = stop + 2 if stop >= 0 else blank + 1 if blank >= 0 else end
        own = []
        while n < len(marks) and marks[n].offset < end:
            own.append(CrossReference(marks[n].offset - start, marks[n].image_cluster_id))
            n += 1
        piece = text[start:end].rstrip()
        yield RunningParagraph(paragraph.section, paragraph.section_title, piece, tuple(own), paragraph.source)
        start = end
