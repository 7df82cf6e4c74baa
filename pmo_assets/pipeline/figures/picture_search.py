"""Package pictures against the pages: does a rendering agree with its picture, and where is the picture if not.

Belongs here: for which figures, and on which pages, a picture is looked for. Does not belong here: comparing pictures
(see `registration`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.caption_location.labels import figure_number
from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation
from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions
from pmo_assets.pipeline.figures.page import PageContent, UnreadablePage, loaded_page
from pmo_assets.pipeline.figures.regions.figure_regions import FigureRegion, LocatedRegions
from pmo_assets.pipeline.figures.registration import (
    SAME_PICTURE,
    PageRaster,
    package_gray,
    page_raster,
    registered,
    rendering_correlation,
)
from pmo_assets.pipeline.figures.rendering import joined_pixels
from pmo_assets.pipeline.figures.trimming import TrimmedPart
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PageBox
from pmo_assets.records.figure_names import page_number
from pmo_assets.records.geometry import Box, covered_fraction, expand, intersection, iou, union_box

MIN_GAIN = 0.02
"""A registered region replaces a located one when it agrees with the package picture by so much better."""

UNLIKE = 0.5
"""Two pictures that correlate less have nothing to do with each other."""

TAKEN = 0.5
"""IoU from which two regions are the same."""

MAX_SEARCHED_PAGES = 40
"""Pages on which one figure is looked for by its picture: a third of a second each."""

MAX_PAGE_LOOKS = 300
"""Pages that are searched for pictures of one article, all its figures together: an XML that lists dozens of figures
which the PDF does not have must not take the article's whole time."""

NEAR_PAGES = 2
"""Pages from its caption within which a figure is looked for first, the nearest before the others."""

MIN_DRAWINGS = 20
"""Pages with no bitmaps and no more paths than this have rules and frames, but hardly a figure."""

REGISTRATION_SLACK = 1.5
"""Points by which a registered box may be off: two pixels of the raster."""

DRAWN_INSIDE = 0.98
"""Part of what the page draws that lies in a registered box when it is the picture's: all, but for rounding."""

EXACT = 0.9
"""IoU of the registered box with the box of what the page draws there, from which that is the exact one."""

PackageImages = Callable[[str], bytes | None]
"""Gives the encoded package picture of an image_cluster_id; None when there is none."""


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


@dataclass(slots=True)
class PictureSearch:
    """State that the search for package pictures keeps for an article's next figure.

    Attributes:
        rasters: pages as seen, by index.
        left: number of pages that may still be looked at.
    """

    rasters: dict[int, PageRaster] = field(default_factory=dict)
    left: int = MAX_PAGE_LOOKS


def whole_picture(package: PackageFigure | None, package_image: PackageImages | None) -> NDArray[np.uint8] | None:
    """Return the package picture that shows the whole figure; None without one, or where it is one of several."""
    if package is None or package_image is None or len(package.graphics) > 1:
        return None
    return package_gray(package_image(package.image_cluster_id))


def parts_agreement(parts: Sequence[TrimmedPart], picture: NDArray[np.uint8] | None) -> float | None:
    """Return how well a rendering agrees with its package picture, -1..1; None when either is missing.

    A rendering of which nothing is left without its white margins agrees with no picture: 0.
    """
    rendered = [part.pixels for part in parts if part.pixels is not None]
    if picture is None or not rendered:
        return None
    agreement = rendering_correlation(joined_pixels(rendered), picture)
    return 0.0 if agreement is None else agreement


def with_registered_regions(
    document: pymupdf.Document,
    pages: Sequence[PageContent],
    captions: LocatedCaptions,
    located: LocatedRegions,
    printed: Mapping[str, PackageFigure],
    package_image: PackageImages | None,
    search: PictureSearch,
) -> tuple[list[FigureRegion], list[FigureMiss]]:
    """Look for the figures that layout did not find by their package pictures; returns all regions, and the misses."""
    regions = list(located.regions)
    misses = []
    lost = [(_unprinted(figure), "its caption is not in the text of the PDF") for figure in captions.missing]
    lost += [(caption, no_graphics(caption)) for caption in located.without_region]
    for caption, reason in lost:
        figure = printed.get(caption.image_cluster_id or "")
        picture = whole_picture(figure, package_image)
        region = registered_region(document, pages, caption, picture, search) if picture is not None else None
        if region is not None and not _is_taken(region, regions):
            regions.append(region)
            continue
        if picture is not None:
            reason += ", and its package picture is on no page"
        elif figure is not None:
            reason += ", and the package has no picture of all of it to look for"
        misses.append(FigureMiss(caption.image_cluster_id, caption.label or "", reason))
    return regions, misses


def no_graphics(caption: CaptionLocation) -> str:
    """Return the reason why a caption has no figure."""
    where = f" on page {page_number(caption.boxes[0].page)}" if caption.boxes else ""
    return f"no graphics near its caption{where}"


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
    return any(box.page == mine.page and iou(box.bbox, mine.bbox) > TAKEN for other in regions for box in other.boxes)


def registered_region(
    document: pymupdf.Document,
    pages: Sequence[PageContent],
    caption: CaptionLocation,
    picture: NDArray[np.uint8],
    search: PictureSearch,
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
    return FigureRegion(caption, (PageBox(found.page, bbox),), "picture", found.correlation)


def _search_order(pages: Sequence[PageContent], caption: CaptionLocation) -> list[int]:
    """Return the pages on which a figure may be, the likeliest first: near its caption, then any with graphics."""
    homes = [box.page for box in caption.boxes]

    def rank(page: PageContent) -> tuple[bool, int, int]:
        has_graphics = page.scan is not None or bool(page.bitmaps) or int((~page.white).sum()) > MIN_DRAWINGS
        distance = min((abs(page.index - home) for home in homes), default=len(pages))
        return (not has_graphics, distance if distance <= NEAR_PAGES else len(pages), page.index)

    return [page.index for page in sorted(pages, key=rank)][:MAX_SEARCHED_PAGES]


def _structured(page: PageContent, bbox: Box) -> Box:
    """Return the exact box of the page's drawing inside a registered box, which is good to a pixel or two."""
    around = expand(bbox, REGISTRATION_SLACK)
    boxes = [bitmap.bbox for bitmap in page.bitmaps] + [line.bbox for line in page.lines]
    boxes += [(a, b, c, d) for a, b, c, d in page.drawings[~page.white].tolist()]
    inside = [box for box in boxes if covered_fraction(box, around) > DRAWN_INSIDE]
    exact = intersection(union_box(inside), around) if inside else bbox
    return exact if iou(exact, bbox) > EXACT else intersection(around, page.frame)
