"""Pictures of parts of a page, rendered from the article's PDF: they exist whether a figure was found or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pymupdf

from pmo_assets.records.geometry import Box, area, expand, intersection, union_box
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import ObjectStore

MARGIN = 12.0
"""PDF points around what is shown."""
LONGEST_SIDE = 900
"""Pixels of the longer side of a picture, at most; and at most `MAX_ZOOM` pixels per point."""
MAX_ZOOM = 2.0


@dataclass(frozen=True, slots=True)
class PageView:
    """A part of a page.

    Attributes:
        page: from 0.
        frame: PDF points.
        zoom: pixels per point.
    """

    page: int
    frame: Box
    zoom: float


def page_view(page: int, boxes: Sequence[Box], *, margin: float = MARGIN, longest: int = LONGEST_SIDE) -> PageView:
    """Return the view that holds all boxes (PDF points) with a margin.

    Raises:
        ValueError: if there is no box.
    """
    frame = expand(union_box(boxes), margin)
    return PageView(page, frame, min(MAX_ZOOM, longest / max(frame[2] - frame[0], frame[3] - frame[1], 1.0)))


def rendered_views(pdf: str, objects: ObjectStore, views: Sequence[PageView]) -> StepOutput:
    """Render parts of a PDF's pages.

    Args:
        pdf: object key.
        objects: store that holds it.
        views: to render.

    Returns:
        One row {view, frame, zoom, png} per view whose part of the page exists; frame is what of it lies on the page.
    """
    rows = []
    with pymupdf.open(stream=objects.get(pdf), filetype="pdf") as document:
        for number, view in enumerate(views):
            if view.page >= document.page_count:
                continue
            page = document[view.page]
            frame = intersection(view.frame, tuple(page.rect))
            if area(frame) < 1:
                continue
            pixmap = page.get_pixmap(
                matrix=pymupdf.Matrix(view.zoom, view.zoom),
                clip=pymupdf.Rect(frame),
                alpha=False,
                colorspace=pymupdf.csRGB,
            )
            # The pixmap's edges are whole pixels: say where they lie on the page.
            frame = tuple(value / view.zoom for value in pixmap.irect)
            rows.append({"view": number, "frame": list(frame), "zoom": view.zoom, "png": pixmap.tobytes("png")})
    return StepOutput(rows)
