"""From a PDF to its figures: pages, captions, regions, pixels in one call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.articles.article import PackageFigure
from pmo_assets.pipeline.figures.caption_location import CaptionLocation, located_captions
from pmo_assets.pipeline.figures.figure import EmbeddedBitmap, EmbeddedText, PageBox, PdfFigure
from pmo_assets.pipeline.figures.page import PageContent, PageLimits, open_pdf, page_content
from pmo_assets.pipeline.figures.regions import FigureRegion, figure_regions
from pmo_assets.pipeline.figures.rendering import (
    MAX_DPI,
    MAX_PIXELS,
    PixelGrid,
    capped_dpi,
    ink_frame,
    joined_offsets,
    joined_pixels,
    native_dpi,
    pixel_grid,
    plain_colours,
    rendered_frame,
)
from pmo_assets.pipeline.geometry import Box, clip, covered_fraction, expand, height, intersection, width

PROBE_DPI = 144.0
"""Resolution at which ink is looked for when figures are not rendered: two pixels a point."""

MIN_HINT = 2.0
"""Bitmaps smaller than this (points) are no hint for panels."""

MAX_HINTS = 2000
"""Embedded bitmaps and text spans kept per figure; more are a picture cut into tiles or letters."""


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """How figures are extracted.

    Attributes:
        render: give pixels; without, boxes are found at low resolution only.
        max_dpi: cap of the rendering resolution.
        max_pixels: cap per figure.
        limits: refuse page bombs.
    """

    render: bool = True
    max_dpi: float = MAX_DPI
    max_pixels: int = MAX_PIXELS
    limits: PageLimits = field(default_factory=PageLimits)


@dataclass(frozen=True, slots=True)
class FigureMiss:
    """A figure that is known to exist but was not located.

    Attributes:
        image_cluster_id: the package figure; None for a caption found by layout.
        label: as printed.
        reason: one sentence for a person.
    """

    image_cluster_id: str | None
    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in one PDF.

    Attributes:
        figures: in reading order.
        misses: known figures that were not located, with the reason.
        page_count: pages of the PDF.
        text: plain text of all pages, lines joined by newlines, pages by form feeds.
        pixels: per `pdf_figure_id` uint8 (h, w, 3) RGB; empty without `FigureOptions.render`, or when each figure was
            handed to `receive`.
    """

    figures: tuple[PdfFigure, ...]
    misses: tuple[FigureMiss, ...]
    page_count: int
    text: str = field(repr=False)
    pixels: Mapping[str, NDArray[np.uint8]] = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Part:
    """A figure on one page, tight on ink: its grid, its whole pixels and, if rendered, their values."""

    page: PageContent
    bbox: Box
    grid: PixelGrid
    frame: tuple[int, int, int, int]
    pixels: NDArray[np.uint8] | None


def extract_figures(
    pdf: bytes,
    package_figures: Sequence[PackageFigure] = (),
    options: FigureOptions | None = None,
    receive: Callable[[PdfFigure, NDArray[np.uint8]], None] | None = None,
) -> Extraction:
    """Find all figures of an article's PDF.

    Args:
        pdf: the file's bytes; untrusted.
        package_figures: `<fig>` entries of the JATS XML; empty without XML.
        options: see `FigureOptions`.
        receive: is given each figure with its pixels, uint8 (h, w, 3) RGB, as soon as it is rendered; then
            `Extraction.pixels` stays empty, and only one figure at a time is held in memory.

    Raises:
        UnreadablePdf: not a PDF, or damaged beyond repair.
        EncryptedPdf: a password is needed.
        PageLimit: more pages, or more on a page, than `options.limits` allows.
    """
    options = options or FigureOptions()
    with plain_colours(), _opened(pdf, options.limits) as document:
        pages = _pages(document, options.limits)
        captions = located_captions(pages, package_figures)
        located = figure_regions(pages, captions)
        regions = sorted(located.regions, key=_reading_order)
        masks = _masks(pages, captions.captions)
        lists: dict[int, pymupdf.DisplayList] = {}
        found = [_parts(document, pages, region, masks, lists, options) for region in regions if not options.render]
        lists.clear()
    misses = [
        FigureMiss(figure.image_cluster_id, figure.label, "its caption is not in the text of the PDF")
        for figure in captions.missing
    ]
    misses += [
        FigureMiss(caption.image_cluster_id, caption.label or "", _no_graphics(caption))
        for caption in located.without_region
    ]
    printed = {figure.image_cluster_id: figure for figure in package_figures}
    figures: list[PdfFigure] = []
    pixels: dict[str, NDArray[np.uint8]] = {}
    counts: dict[int, int] = defaultdict(int)

    def add(region: FigureRegion, parts: Sequence[_Part], dpi: float) -> None:
        caption = region.caption
        if not parts:
            misses.append(FigureMiss(caption.image_cluster_id, caption.label or "", _no_graphics(caption)))
            return
        first = parts[0].page.index
        counts[first] += 1
        package = printed.get(caption.image_cluster_id or "")
        figure = _pdf_figure(f"p{first}-{counts[first]}", region, parts, dpi, package)
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
                add(region, *_parts(document, pages, region, masks, lists, options))
            lists.clear()
    else:
        for region, (parts, dpi) in zip(regions, found, strict=True):
            add(region, parts, dpi)
    text = "\f".join("\n".join(line.text for line in page.lines) for page in pages)
    return Extraction(tuple(figures), tuple(misses), len(pages), text, pixels)


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
    return first.page, round(first.bbox[1] / 12), first.bbox[0], first.bbox[1]


def _no_graphics(caption: CaptionLocation) -> str:
    return f"no graphics near its caption on page {caption.boxes[0].page + 1}"


def _pages(document: pymupdf.Document, limits: PageLimits) -> list[PageContent]:
    pages = []
    for index in range(document.page_count):
        try:
            page = document.load_page(index)
        except Exception:  # one damaged page does not lose the others
            empty = np.zeros((0, 4), dtype=np.float64)
            none = np.zeros(0, dtype=bool)
            pages.append(PageContent(index, 612.0, 792.0, (), (), empty, none, none))
            continue
        pages.append(page_content(page, limits))
    return pages


def _masks(pages: Sequence[PageContent], captions: Sequence[CaptionLocation]) -> dict[int, list[Box]]:
    """Return the caption lines per page: their ink is not the figures'."""
    masks: dict[int, list[Box]] = defaultdict(list)
    for caption in captions:
        for page, index in caption.lines:
            masks[page].append(pages[page].lines[index].bbox)
    return masks


def _parts(
    document: pymupdf.Document,
    pages: Sequence[PageContent],
    region: FigureRegion,
    masks: Mapping[int, list[Box]],
    lists: dict[int, pymupdf.DisplayList],
    options: FigureOptions,
) -> tuple[list[_Part], float]:
    """Trim a region to its ink on each page and render it; returns its parts and the resolution (dpi).

    `lists` keeps the display lists of the pages that are still needed.
    """
    rough = []
    for box in region.boxes:
        page = pages[box.page]
        bbox = intersection(expand(box.bbox, 0.5), page.frame)
        if width(bbox) > 1 and height(bbox) > 1:
            rough.append((page, bbox))
    native = native_dpi(rough, options.max_dpi)
    dpi = capped_dpi([bbox for _, bbox in rough], native, options.max_pixels)
    parts = []
    for index in [index for index in lists if index < region.boxes[0].page]:
        del lists[index]
    for page, bbox in rough:
        if page.index not in lists:
            lists[page.index] = document[page.index].get_displaylist(annots=0)
        grid = pixel_grid(page, bbox, dpi)
        probe = grid if options.render else pixel_grid(page, bbox, min(dpi, PROBE_DPI))
        frame = probe.pixel_frame(bbox)
        pixels = rendered_frame(lists[page.index], probe, frame, gray=not options.render)
        ignored = []
        for mask in masks.get(page.index, ()):
            common = intersection(mask, bbox)
            if width(common) > 0 and height(common) > 0:
                a, b, c, d = probe.pixel_frame(common)
                ignored.append((a - frame[0], b - frame[1], c - frame[0], d - frame[1]))
        ink = ink_frame(pixels, ignored)
        if ink is None:
            continue
        tight = (ink[0] + frame[0], ink[1] + frame[1], ink[2] + frame[0], ink[3] + frame[1])
        exact = intersection(_snapped(probe.points(tight), page, 1.0 / probe.scale_x), page.frame)
        final = grid.pixel_frame(exact)
        cut = None
        if options.render:
            final = _inside(final, frame)
            cut = pixels
            if final != frame:
                left, top = final[0] - frame[0], final[1] - frame[1]
                cut = pixels[top : top + final[3] - final[1], left : left + final[2] - final[0]].copy()
        parts.append(_Part(page, exact, grid, final, cut))
    return parts, dpi


def _inside(frame: tuple[int, int, int, int], outer: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    return (max(frame[0], outer[0]), max(frame[1], outer[1]), min(frame[2], outer[2]), min(frame[3], outer[3]))


def _snapped(box: Box, page: PageContent, pixel: float) -> Box:
    """Move each edge that ends within a pixel of a bitmap's edge onto it: the PDF knows it exactly."""
    edges = list(box)
    for side in range(4):
        near = [b.bbox[side] for b in page.bitmaps if covered_fraction(b.bbox, expand(box, pixel)) > 0.99]
        near = [edge for edge in near if abs(edge - edges[side]) <= pixel * 1.01]
        if near:
            edges[side] = min(near, key=lambda edge: (abs(edge - box[side]), edge))
    return (edges[0], edges[1], edges[2], edges[3])


def _pdf_figure(
    name: str, region: FigureRegion, parts: Sequence[_Part], dpi: float, package: PackageFigure | None
) -> PdfFigure:
    caption = region.caption
    tops, (across, down) = joined_offsets([(p.frame[2] - p.frame[0], p.frame[3] - p.frame[1]) for p in parts])
    bitmaps: list[EmbeddedBitmap] = []
    texts: list[EmbeddedText] = []
    for part, top in zip(parts, tops, strict=True):

        def placed(box: Box, part: _Part = part, top: int = top) -> Box:
            """Express a box in page points as fractions of the joined figure."""
            common = clip(box, part.bbox)
            grid, frame = part.grid, part.frame
            x0 = ((common[0] - grid.origin_x) * grid.scale_x - frame[0]) / across
            x1 = ((common[2] - grid.origin_x) * grid.scale_x - frame[0]) / across
            y0 = ((common[1] - grid.origin_y) * grid.scale_y - frame[1] + top) / down
            y1 = ((common[3] - grid.origin_y) * grid.scale_y - frame[1] + top) / down
            return clip((x0, y0, x1, y1), (0.0, 0.0, 1.0, 1.0))

        for bitmap in part.page.bitmaps:
            if (
                min(width(bitmap.bbox), height(bitmap.bbox)) >= MIN_HINT
                and covered_fraction(bitmap.bbox, part.bbox) > 0.5
            ):
                bitmaps.append(EmbeddedBitmap(placed(bitmap.bbox), bitmap.native_width, bitmap.native_height))
        for index, line in enumerate(part.page.lines):
            if (part.page.index, index) in caption.lines:
                continue
            for span in line.spans:
                if covered_fraction(span.bbox, part.bbox) > 0.5:
                    texts.append(EmbeddedText(span.text, placed(span.bbox), span.size, span.bold))
    return PdfFigure(
        pdf_figure_id=name,
        label=caption.label,
        caption=package.caption if package is not None else caption.caption,
        locations=tuple(PageBox(part.page.index, part.bbox) for part in parts),
        caption_locations=caption.boxes,
        image_cluster_id=package.image_cluster_id if package is not None else None,
        located_by="xml_caption" if package is not None else "layout",
        confidence=round(region.confidence, 3),
        width=across,
        height=down,
        dpi=dpi,
        bitmaps=tuple(bitmaps[:MAX_HINTS]),
        texts=tuple(texts[:MAX_HINTS]),
    )
