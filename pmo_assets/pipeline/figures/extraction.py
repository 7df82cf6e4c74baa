"""From a PDF to its figures: pages, captions, regions, pixels in one call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions, located_captions
from pmo_assets.pipeline.figures.figure_records import figure_record
from pmo_assets.pipeline.figures.page import (
    PageContent,
    PageLimits,
    UnreadablePage,
    blank_page,
    loaded_page,
    open_pdf,
    page_content,
)
from pmo_assets.pipeline.figures.picture_search import (
    UNLIKE,
    FigureMiss,
    PackageImages,
    PictureSearch,
    no_graphics,
    parts_agreement,
    registered_region,
    whole_picture,
    with_registered_regions,
)
from pmo_assets.pipeline.figures.printed_paragraphs import PrintedParagraph, printed_paragraphs
from pmo_assets.pipeline.figures.reading_frame import displayed_caption, displayed_region, framed_page, reading_frame
from pmo_assets.pipeline.figures.regions.figure_regions import FigureRegion, LocatedRegions, figure_regions
from pmo_assets.pipeline.figures.registration import SAME_PICTURE
from pmo_assets.pipeline.figures.rendering import gray_page, joined_pixels, plain_colours
from pmo_assets.pipeline.figures.scans import SCAN_DPI, with_scan, without_backgrounds
from pmo_assets.pipeline.figures.trimming import TrimmedPart, caption_masks, trimmed_parts
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.defaults import MAX_DPI, MAX_PIXELS
from pmo_assets.records.figure import PdfFigure

ROW = 12
"""Points: tops of two figures that differ by less than a line are one row."""


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """Options of extracting figures.

    Attributes:
        render: give pixels; without, boxes are found at low resolution only.
        max_dpi: cap of the rendering resolution.
        max_pixels: cap per figure.
        limits: refuse page bombs.
        paragraphs: give the paragraphs of the running text.
    """

    render: bool = True
    max_dpi: float = MAX_DPI
    max_pixels: int = MAX_PIXELS
    limits: PageLimits = field(default_factory=PageLimits)
    paragraphs: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """Figures of one PDF, with its text and the known figures that were missed.

    Attributes:
        figures: in reading order.
        misses: known figures that were not located, with the reason.
        page_count: pages of the PDF.
        text: plain text of all pages, lines joined by newlines, pages by form feeds.
        pixels: per `pdf_figure_id` uint8 (h, w, 3) RGB; empty without `FigureOptions.render`, or when each figure was
            handed to `receive`.
        paragraphs: of the running text, without captions, tables and page furniture; empty without
            `FigureOptions.paragraphs`.
    """

    figures: tuple[PdfFigure, ...]
    misses: tuple[FigureMiss, ...]
    page_count: int
    text: str = field(repr=False)
    pixels: Mapping[str, NDArray[np.uint8]] = field(repr=False, default_factory=dict)
    paragraphs: tuple[PrintedParagraph, ...] = field(repr=False, default=())


def extract_figures(
    pdf: bytes,
    package_figures: Sequence[PackageFigure] = (),
    options: FigureOptions | None = None,
    receive: Callable[[PdfFigure, NDArray[np.uint8]], None] | None = None,
    package_image: PackageImages | None = None,
) -> Extraction:
    """Find all figures of an article's PDF.

    Package pictures confirm what was rendered, correct a region that they contradict, and find figures whose caption
    is not in the text (scans) or has no graphics near it.

    Args:
        pdf: the file's bytes; untrusted.
        package_figures: `<fig>` entries of the JATS XML; empty without XML.
        options: see `FigureOptions`.
        receive: is given each figure with its pixels, uint8 (h, w, 3) RGB, as soon as it is rendered; then
            `Extraction.pixels` stays empty, and only one figure at a time is held in memory.
        package_image: gives the encoded picture of a package figure, untrusted.

    Raises:
        UnreadablePdf: not a PDF, or damaged beyond repair.
        EncryptedPdf: a password is needed.
        PageLimit: more pages, or more on a page, than `options.limits` allows.
    """
    options = options or FigureOptions()
    printed = {figure.image_cluster_id: figure for figure in package_figures}
    search = PictureSearch()
    with plain_colours(), _opened(pdf, options.limits) as document:
        pages = _pages(document, options.limits)
        captions, located = _layout(pages, package_figures)
        regions, misses = with_registered_regions(document, pages, captions, located, printed, package_image, search)
        regions.sort(key=_reading_order)
        masks = caption_masks(pages, captions.captions)
        lists: dict[int, pymupdf.DisplayList] = {}
        trimmed = partial(
            trimmed_parts,
            pages=pages,
            masks=masks,
            max_dpi=options.max_dpi,
            max_pixels=options.max_pixels,
            render=options.render,
        )
        found = [trimmed(document, region=region, lists=lists) for region in regions if not options.render]
        lists.clear()
    figures: list[PdfFigure] = []
    pixels: dict[str, NDArray[np.uint8]] = {}
    counts: dict[int, int] = defaultdict(int)

    def add(region: FigureRegion, parts: Sequence[TrimmedPart], dpi: float, agreement: float | None = None) -> None:
        caption = region.caption
        if not parts:
            misses.append(FigureMiss(caption.image_cluster_id, caption.label or "", no_graphics(caption)))
            return
        first = parts[0].page.index
        counts[first] += 1
        package = printed.get(caption.image_cluster_id or "")
        figure = figure_record(f"p{first}-{counts[first]}", region, parts, pages, dpi, package, agreement)
        figures.append(figure)
        rendered = [part.pixels for part in parts if part.pixels is not None]
        if rendered and receive is not None:
            receive(figure, joined_pixels(rendered))
        elif rendered:
            pixels[figure.pdf_figure_id] = joined_pixels(rendered)

    if options.render and regions:
        # Opened again, because MuPDF keeps the images of a document as they were first loaded: without their profiles.
        with _opened(pdf, options.limits) as document:
            for region in regions:
                parts, dpi = trimmed(document, region=region, lists=lists)
                package = printed.get(region.caption.image_cluster_id or "")
                picture = whole_picture(package, package_image)
                agreement = parts_agreement(parts, picture)
                if picture is not None and agreement is not None and agreement < SAME_PICTURE:
                    better = registered_region(document, pages, region.caption, picture, search, agreement)
                    if better is not None:
                        region = better
                        parts, dpi = trimmed(document, region=region, lists={})
                        agreement = parts_agreement(parts, picture)
                    elif region.side == "text" and agreement < UNLIKE:
                        parts = []  # text near a caption is a guess, and the picture says that it is wrong
                add(region, parts, dpi, agreement)
            lists.clear()
    else:
        for region, (parts, dpi) in zip(regions, found, strict=True):
            add(region, parts, dpi)
    text = "\f".join("\n".join(line.text for line in page.lines) for page in pages)
    paragraphs = printed_paragraphs(located.texts) if options.paragraphs else ()
    return Extraction(tuple(figures), tuple(misses), len(pages), text, pixels, paragraphs)


def _layout(
    pages: Sequence[PageContent], package_figures: Sequence[PackageFigure]
) -> tuple[LocatedCaptions, LocatedRegions]:
    """Analyse the layout in the document's reading frame; the boxes of regions and their captions are as displayed."""
    frame = reading_frame(pages)
    framed = [framed_page(page, frame) for page in pages]
    captions = located_captions(framed, package_figures)
    located = figure_regions(framed, captions)
    return captions, LocatedRegions(
        tuple(displayed_region(region, pages, frame) for region in located.regions),
        tuple(displayed_caption(caption, pages, frame) for caption in located.without_region),
        located.texts,
    )


@contextmanager
def _opened(pdf: bytes, limits: PageLimits) -> Iterator[pymupdf.Document]:
    """Open the document, and at the end give back what MuPDF keeps of it (up to 256 MB of decoded images)."""
    document = open_pdf(pdf, limits)
    try:
        yield document
    finally:
        document.close()
        pymupdf.TOOLS.store_shrink(100)


def _reading_order(region: FigureRegion) -> tuple[int, int, float, float]:
    """Order by page, then row by row (tops that differ by less than a line are one row), then from left to right."""
    first = region.boxes[0]
    return first.page, round(first.bbox[1] / ROW), first.bbox[0], first.bbox[1]


def _pages(document: pymupdf.Document, limits: PageLimits) -> list[PageContent]:
    """Read all pages of a document, scans as their graphics, without backgrounds."""
    pages = []
    for index in range(document.page_count):
        try:
            page = loaded_page(document, index)
        except UnreadablePage:  # one damaged page does not lose the others
            pages.append(blank_page(index))
            continue
        pages.append(with_scan(page_content(page, limits), partial(gray_page, page, SCAN_DPI / 72.0)))
    return without_backgrounds(pages)
