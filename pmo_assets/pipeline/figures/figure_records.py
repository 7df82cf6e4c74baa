"""The record of a figure: its place, the confidence in it, and the PDF's content there."""

from __future__ import annotations

from collections.abc import Sequence, Set

from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.pipeline.figures.regions.figure_regions import FigureRegion
from pmo_assets.pipeline.figures.registration import SAME_PICTURE
from pmo_assets.pipeline.figures.rendering import joined_offsets
from pmo_assets.pipeline.figures.trimming import TrimmedPart
from pmo_assets.pipeline.figures.vector_shapes import MAX_SHAPES
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText, PageBox, PageSize, PdfFigure
from pmo_assets.records.geometry import UNIT_BOX, Box, clip, covered_fraction, expand, height, width

DOUBT = 0.7
"""Factor of the confidence when the package picture does not agree. Set by hand."""

MIN_HINT = 2.0
"""Bitmaps smaller than this (points) are no hint for panels."""

HINT_INSIDE = 0.5
"""Part of a bitmap or span that lies in the figure that it is a hint for."""

HAIR = 0.05
"""Points around a shape: a line without width has an extent then."""

MAX_HINTS = 2000
"""Embedded bitmaps and text spans kept per figure; more are a picture cut into tiles or letters."""


def figure_record(
    name: str,
    region: FigureRegion,
    parts: Sequence[TrimmedPart],
    pages: Sequence[PageContent],
    dpi: float,
    package: PackageFigure | None,
    agreement: float | None,
) -> PdfFigure:
    """Return the record of a figure.

    Args:
        name: its `pdf_figure_id`.
        region: the place where it was found.
        parts: the rest of the region on each page, tight on ink; at least one.
        pages: all pages of the document, as displayed.
        dpi: resolution of the rendering.
        package: the package figure of its caption; None for a caption found by layout.
        agreement: correlation with the package picture; None when they were not compared.
    """
    caption = region.caption
    tops, (across, down) = joined_offsets([(p.frame[2] - p.frame[0], p.frame[3] - p.frame[1]) for p in parts])
    bitmaps: list[EmbeddedBitmap] = []
    texts: list[EmbeddedText] = []
    shapes: list[EmbeddedShape] = []
    for part, top in zip(parts, tops, strict=True):

        def placed(box: Box, part: TrimmedPart = part, top: int = top) -> Box:
            """Express a box in page points as fractions of the joined figure."""
            common = clip(box, part.bbox)
            grid, frame = part.grid, part.frame
            x0 = ((common[0] - grid.origin_x) * grid.scale_x - frame[0]) / across
            x1 = ((common[2] - grid.origin_x) * grid.scale_x - frame[0]) / across
            y0 = ((common[1] - grid.origin_y) * grid.scale_y - frame[1] + top) / down
            y1 = ((common[3] - grid.origin_y) * grid.scale_y - frame[1] + top) / down
            return clip((x0, y0, x1, y1), UNIT_BOX)

        for bitmap in part.page.bitmaps:
            if (
                min(width(bitmap.bbox), height(bitmap.bbox)) >= MIN_HINT
                and covered_fraction(bitmap.bbox, part.bbox) > HINT_INSIDE
            ):
                bitmaps.append(EmbeddedBitmap(placed(bitmap.bbox), bitmap.native_width, bitmap.native_height))
        for index, line in enumerate(part.page.lines):
            if (part.page.index, index) in caption.lines:
                continue
            for span in line.spans:
                if covered_fraction(span.bbox, part.bbox) > HINT_INSIDE:
                    texts.append(EmbeddedText(span.text, placed(span.bbox), span.size, span.bold))
        for shape in part.page.shapes:
            if covered_fraction(expand(shape.bbox, HAIR), part.bbox) > HINT_INSIDE:
                tip, tail = (None if at is None else placed((*at, *at))[:2] for at in (shape.tip, shape.tail))
                shapes.append(EmbeddedShape(shape.kind, placed(shape.bbox), shape.colour, shape.filled, tip, tail))
    return PdfFigure(
        pdf_figure_id=name,
        label=caption.label,
        # What is printed under the number, where that is not what the XML says: whether both are one figure is open.
        caption=package.caption if package is not None and not caption.by_number else caption.caption,
        locations=tuple(PageBox(part.page.index, part.bbox) for part in parts),
        caption_locations=caption.boxes,
        page_sizes=_page_sizes({part.page.index for part in parts} | {at.page for at in caption.boxes}, pages),
        image_cluster_id=package.image_cluster_id if package is not None else None,
        located_by=_located_by(region, package),
        confidence=round(_confidence(region, agreement), 3),
        picture_correlation=agreement,
        width=across,
        height=down,
        dpi=dpi,
        bitmaps=tuple(bitmaps[:MAX_HINTS]),
        texts=tuple(texts[:MAX_HINTS]),
        shapes=tuple(shapes[:MAX_SHAPES]),
    )


def _page_sizes(indices: Set[int], pages: Sequence[PageContent]) -> tuple[PageSize, ...]:
    return tuple(PageSize(index, pages[index].width, pages[index].height) for index in sorted(indices))


def _located_by(region: FigureRegion, package: PackageFigure | None) -> str:
    """Return how a figure was located, as in `PdfFigure.located_by`."""
    if region.side == "picture":
        return "package_image"
    return "xml_caption" if package is not None else "layout"


def _confidence(region: FigureRegion, agreement: float | None) -> float:
    """Return how certain a location is: a package picture that agrees settles it, one that does not casts doubt."""
    if agreement is None:
        return region.confidence
    return max(region.confidence, agreement) if agreement >= SAME_PICTURE else DOUBT * region.confidence
