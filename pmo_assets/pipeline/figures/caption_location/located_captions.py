"""Location of captions: those of the XML by their words, the others by layout, each number once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pmo_assets.pipeline.figures.caption_location.by_layout import captions_by_layout
from pmo_assets.pipeline.figures.caption_location.by_xml import captions_by_xml
from pmo_assets.pipeline.figures.caption_location.labels import is_continued
from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation, document_text
from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.records.article import PackageFigure


@dataclass(frozen=True, slots=True)
class LocatedCaptions:
    """All captions of a document.

    Attributes:
        captions: figures in reading order, by XML or by layout; each number once, continuations besides.
        others: tables and captions that are not used (duplicates, lists of legends): they still bound regions.
        missing: package figures whose caption is not in the text.
    """

    captions: tuple[CaptionLocation, ...]
    others: tuple[CaptionLocation, ...]
    missing: tuple[PackageFigure, ...]


def located_captions(pages: Sequence[PageContent], package_figures: Sequence[PackageFigure] = ()) -> LocatedCaptions:
    """Find the caption of each package figure, and by layout alone those that the XML does not have.

    Args:
        pages: all pages of the document, in order.
        package_figures: from the XML; empty without XML.
    """
    text = document_text(pages)
    by_xml, missing = captions_by_xml(text, package_figures)
    used = {key for caption in by_xml for key in caption.lines}
    by_layout = [c for c in captions_by_layout(text) if not used.intersection(c.lines)]
    return _merged(by_xml, by_layout, missing)


def _merged(
    by_xml: Sequence[CaptionLocation], by_layout: Sequence[CaptionLocation], missing: Sequence[PackageFigure]
) -> LocatedCaptions:
    """Put captions of both origins in order: the XML's before those by layout, of these the most certain per number."""
    numbers = {caption.number for caption in by_xml}
    others: list[CaptionLocation] = []
    best: dict[str, CaptionLocation] = {}
    continuations: list[CaptionLocation] = []
    for caption in by_layout:
        if caption.kind != "figure" or not caption.number:
            others.append(caption)
        elif caption.is_continuation or is_continued(caption.caption):
            continuations.append(replace(caption, is_continuation=True))
        elif caption.number in numbers:
            others.append(caption)
        elif caption.number not in best or caption.similarity > best[caption.number].similarity:
            if caption.number in best:
                others.append(best[caption.number])
            best[caption.number] = caption
        else:
            others.append(caption)
    captions = [*by_xml, *best.values(), *continuations]
    captions.sort(key=lambda c: (c.boxes[0].page, c.boxes[0].bbox[1], c.boxes[0].bbox[0]))
    return LocatedCaptions(tuple(captions), tuple(others), tuple(missing))
