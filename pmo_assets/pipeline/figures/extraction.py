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

from pmo_assets.pipeline.figures.caption_location import (
    CaptionLocation,
    LocatedCaptions,
    figure_number,
    located_captions,
)
from pmo_assets.pipeline.figures.page import (
    PageContent,
    PageLimits,
    UnreadablePage,
    blank_page,
    loaded_page,
    open_pdf,
    page_content,
)
from pmo_assets.pipeline.figures.reading_frame import displayed_caption, displayed_region, framed_page, reading_frame
from pmo_assets.pipeline.figures.regions import FigureRegion, LocatedRegions, figure_regions
from pmo_assets.pipeline.figures.registration import (
    SAME_PICTURE,
    PageRaster,
    correlation,
    gray_rendering,
    package_gray,
    page_raster,
    registered,
)
from pmo_assets.pipeline.figures.rendering import (
    MAX_DPI,
    MAX_PIXELS,
    PixelGrid,
    capped_dpi,
    gray_page,
    ink_frame,
    joined_offsets,
    joined_pixels,
    native_dpi,
    pixel_grid,
    plain_colours,
    rendered_frame,
)
from pmo_assets.pipeline.figures.scans import SCAN_DPI, with_scan, without_backgrounds
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedText, PageBox, PdfFigure
from pmo_assets.records.geometry import (
    Box,
    clip,
    covered_fraction,
    expand,
    height,
    intersection,
    iou,
    union_box,
    width,
)

PROBE_DPI = 144.0
"""Resolution at which ink is looked for when figures are not rendered: two pixels a point."""

MIN_HINT = 2.0
"""Bitmaps smaller than this (points) are no hint for panels."""

MIN_GAIN = 0.02
"""A registered region replaces a located one when it agrees with the package picture by so much better."""

UNLIKE = 0.5
"""Two pictures that correlate less have nothing to do with each other."""

MAX_SEARCHED_PAGES = 40
"""Pages on which one figure is looked for by its picture: a third of a second each."""

MAX_PAGE_LOOKS = 300
"""Pages that are searched for pictures of one article, all its figures together: an XML that lists dozens of figures
which the PDF does not have must not take the article's whole time."""

MIN_DRAWINGS = 20
"""Pages with no bitmaps and fewer paths than this have rules and frames, but hardly a figure."""

REGISTRATION_SLACK = 1.5
"""Points by which a registered box may be off: two pixels of the raster."""

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


PackageImages = Callable[[str], bytes | None]
"""Gives the encoded package picture of an image_cluster_id; None when there is none."""


@dataclass(slots=True)
class _PictureSearch:
    """What the search for package pictures keeps for an article's next figure: pages as seen, and looks left."""

    rasters: dict[int, PageRaster] = field(default_factory=dict)
    left: int = MAX_PAGE_LOOKS


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
    search = _PictureSearch()
    with plain_colours(), _opened(pdf, options.limits) as document:
        pages = _pages(document, options.limits)
        captions, located = _layout(pages, package_figures)
        regions, misses = _with_registered_regions(document, pages, captions, located, printed, package_image, search)
        regions.sort(key=_reading_order)
        masks = _masks(pages, captions.captions)
        lists: dict[int, pymupdf.DisplayList] = {}
        found = [_parts(document, pages, region, masks, lists, options) for region in regions if not options.render]
        lists.clear()
    figures: list[PdfFigure] = []
    pixels: dict[str, NDArray[np.uint8]] = {}
    counts: dict[int, int] = defaultdict(int)

    def add(region: FigureRegion, parts: Sequence[_Part], dpi: float, agreement: float | None = None) -> None:
        caption = region.caption
        if not parts:
            misses.append(FigureMiss(caption.image_cluster_id, caption.label or "", _no_graphics(caption)))
            return
        first = parts[0].page.index
        counts[first] += 1
        package = printed.get(caption.image_cluster_id or "")
        figure = _pdf_figure(f"p{first}-{counts[first]}", region, parts, dpi, package, agreement)
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
                parts, dpi = _parts(document, pages, region, masks, lists, options)
                package = printed.get(region.caption.image_cluster_id or "")
                picture = _package_gray(package, package_image)
                agreement = _agreement(parts, picture)
                if picture is not None and agreement is not None and agreement < SAME_PICTURE:
                    better = _registered_region(document, pages, region.caption, picture, search, agreement)
                    if better is not None:
                        region = better
                        parts, dpi = _parts(document, pages, region, masks, {}, options)
                        agreement = _agreement(parts, picture)
                    elif region.side == "text" and agreement < UNLIKE:
                        parts = []  # text near a caption is a guess, and the picture says that it is wrong
                add(region, parts, dpi, agreement)
            lists.clear()
    else:
        for region, (parts, dpi) in zip(regions, found, strict=True):
            add(region, parts, dpi)
    text = "\f".join("\n".join(line.text for line in page.lines) for page in pages)
    return Extraction(tuple(figures), tuple(misses), len(pages), text, pixels)


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
    )


def _package_gray(package: PackageFigure | None, package_image: PackageImages | None) -> NDArray[np.uint8] | None:
    """Return the package picture that shows the whole figure; None without one, or where it is one of several."""
    if package is None or package_image is None or len(package.graphics) > 1:
        return None
    return package_gray(package_image(package.image_cluster_id))


def _agreement(parts: Sequence[_Part], picture: NDArray[np.uint8] | None) -> float | None:
    """Return how well a rendering agrees with its package picture, -1..1; None when either is missing."""
    rendered = [part.pixels for part in parts if part.pixels is not None]
    if picture is None or not rendered:
        return None
    gray = gray_rendering(joined_pixels(rendered))
    return round(correlation(gray, picture), 4) if gray is not None else 0.0


def _with_registered_regions(
    document: pymupdf.Document,
    pages: Sequence[PageContent],
    captions: LocatedCaptions,
    located: LocatedRegions,
    printed: Mapping[str, PackageFigure],
    package_image: PackageImages | None,
    search: _PictureSearch,
) -> tuple[list[FigureRegion], list[FigureMiss]]:
    """Look for the figures that layout did not find by their package pictures; returns all regions, and the misses."""
    regions = list(located.regions)
    misses = []
    lost = [(_unprinted(figure), "its caption is not in the text of the PDF") for figure in captions.missing]
    lost += [(caption, _no_graphics(caption)) for caption in located.without_region]
    for caption, reason in lost:
        figure = printed.get(caption.image_cluster_id or "")
        picture = _package_gray(figure, package_image)
        region = _registered_region(document, pages, caption, picture, search) if picture is not None else None
        if region is not None and not _is_taken(region, regions):
            regions.append(region)
            continue
        if picture is not None:
            reason += ", and its package picture is on no page"
        elif figure is not None:
            reason += ", and the package has no picture of all of it to look for"
        misses.append(FigureMiss(caption.image_cluster_id, caption.label or "", reason))
    return regions, misses


def _unprinted(figure: PackageFigure) -> CaptionLocation:
    """Return the record of a caption that is nowhere in the PDF's text."""
    return CaptionLocation(
        kind="figure",
        label=figure.label or None,
        number=figure_number(figure.label),
        caption=figure.caption,
        image_cluster_id=figure.image_cluster_id,
        lines=(),
        boxes=(),
        quarter_turns=0,
        similarity=0.0,
    )


def _is_taken(region: FigureRegion, regions: Sequence[FigureRegion]) -> bool:
    """Say whether a region is already another figure's, and the picture does not say otherwise for certain."""
    if region.confidence >= SAME_PICTURE:
        return False
    mine = region.boxes[0]
    return any(box.page == mine.page and iou(box.bbox, mine.bbox) > 0.5 for other in regions for box in other.boxes)


def _registered_region(
    document: pymupdf.Document,
    pages: Sequence[PageContent],
    caption: CaptionLocation,
    picture: NDArray[np.uint8],
    search: _PictureSearch,
    at_least: float = 0.0,
) -> FigureRegion | None:
    """Find a package picture on the pages; None unless it correlates better than `at_least`."""

    def looked_at() -> Iterator[PageRaster]:
        for index in _search_order(pages, caption)[: search.left]:
            if index not in search.rasters:
                try:
                    search.rasters[index] = page_raster(loaded_page(document, index))
                except UnreadablePage:  # holds no figure
                    continue
            search.left -= 1
            yield search.rasters[index]

    found = registered(picture, looked_at())
    if found is None or found.correlation <= at_least + MIN_GAIN:
        return None
    bbox = _structured(pages[found.page], found.bbox)
    return FigureRegion(caption, (PageBox(found.page, bbox),), "picture", found.correlation, ())


def _search_order(pages: Sequence[PageContent], caption: CaptionLocation) -> list[int]:
    """Return the pages on which a figure may be, the likeliest first: near its caption, then any with graphics."""
    homes = [box.page for box in caption.boxes]

    def rank(page: PageContent) -> tuple[bool, int, int]:
        has_graphics = page.scan is not None or bool(page.bitmaps) or int((~page.white).sum()) > MIN_DRAWINGS
        distance = min((abs(page.index - home) for home in homes), default=len(pages))
        return (not has_graphics, distance if distance <= 2 else len(pages), page.index)

    return [page.index for page in sorted(pages, key=rank)][:MAX_SEARCHED_PAGES]


def _structured(page: PageContent, bbox: Box) -> Box:
    """Return the exact box of what the page draws inside a registered box, which is good to a pixel or two."""
    around = expand(bbox, REGISTRATION_SLACK)
    boxes = [bitmap.bbox for bitmap in page.bitmaps] + [line.bbox for line in page.lines]
    boxes += [(a, b, c, d) for a, b, c, d in page.drawings[~page.white].tolist()]
    inside = [box for box in boxes if covered_fraction(box, around) > 0.98]
    exact = intersection(union_box(inside), around) if inside else bbox
    return exact if iou(exact, bbox) > 0.9 else intersection(around, page.frame)


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
    where = f" on page {caption.boxes[0].page + 1}" if caption.boxes else ""
    return f"no graphics near its caption{where}"


def _pages(document: pymupdf.Document, limits: PageLimits) -> list[PageContent]:
    pages = []
    for index in range(document.page_count):
        try:
            page = loaded_page(document, index)
        except UnreadablePage:  # one damaged page does not lose the others
            pages.append(blank_page(index))
            continue
        pages.append(with_scan(page_content(page, limits), partial(gray_page, page, SCAN_DPI / 72.0)))
    return without_backgrounds(pages)


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
            lists[page.index] = loaded_page(document, page.index).get_displaylist(annots=0)
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


def _located_by(region: FigureRegion, package: PackageFigure | None) -> str:
    if region.side == "picture":
        return "package_image"
    return "xml_caption" if package is not None else "layout"


def _confidence(region: FigureRegion, agreement: float | None) -> float:
    """Return how certain a location is: a package picture that agrees settles it, one that does not casts doubt."""
    if agreement is None:
        return region.confidence
    return max(region.confidence, agreement) if agreement >= SAME_PICTURE else 0.7 * region.confidence


def _pdf_figure(
    name: str,
    region: FigureRegion,
    parts: Sequence[_Part],
    dpi: float,
    package: PackageFigure | None,
    agreement: float | None,
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
        located_by=_located_by(region, package),
        confidence=round(_confidence(region, agreement), 3),
        picture_correlation=agreement,
        width=across,
        height=down,
        dpi=dpi,
        bitmaps=tuple(bitmaps[:MAX_HINTS]),
        texts=tuple(texts[:MAX_HINTS]),
    )
