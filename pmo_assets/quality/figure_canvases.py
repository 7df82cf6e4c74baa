"""Pictures of annotated figures, cut from their pages, and where annotated and found boxes lie on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.metrics.detection import IDENTIFIER, PANEL, LabelledBox
from pmo_assets.quality.metrics.matching import FigurePair
from pmo_assets.quality.page_renderer import PageRenderer
from pmo_assets.quality.page_views import MARGIN, MAX_ZOOM, PageView, page_view
from pmo_assets.quality.scored_articles import ScoredArticles
from pmo_assets.records.geometry import Box, expand, normalise
from pmo_assets.viewing.comparisons import stacked
from pmo_assets.viewing.overlays import Pixels

LETTER_MARGIN = 2.0
"""PDF points that an identifier's frame is drawn away from it."""


@dataclass(frozen=True)
class Canvas:
    """A figure's picture and how boxes in PDF points lie on it."""

    pixels: Pixels
    place: Callable[[Box, bool], Box]


def _figure_views(figure: AnnotatedFigure) -> list[PageView]:
    """Return the views of the annotated figure: its places, one below the other when there are several."""
    places = figure.figure_locations
    if len(places) == 1:
        return [page_view(places[0].page, [places[0].bbox], margin=MARGIN / 2)]
    longest = max(max(p.bbox[2] - p.bbox[0], p.bbox[3] - p.bbox[1]) for p in places)
    zoom = min(MAX_ZOOM, 600 / longest)
    return [PageView(place.page, place.bbox, zoom) for place in places]


def _canvas(pair: FigurePair, parts: Sequence[tuple[Pixels, Box] | None]) -> Canvas | None:
    shown = [part for part in parts if part is not None]
    if not shown:
        return None
    if len(pair.truth.figure_locations) == 1:
        frame = shown[0][1]
        return Canvas(shown[0][0], lambda box, found: normalise(box, frame))
    # Boxes of a figure over several pages refer to its parts stacked; on the page they continue beyond the first part.
    frames = [pair.truth.figure_locations[0].bbox, (pair.found or pair.truth).figure_locations[0].bbox]
    return Canvas(stacked([pixels for pixels, _ in shown], gap=0), lambda box, found: normalise(box, frames[found]))


def figure_canvases(scored: ScoredArticles, renderer: PageRenderer, pairs: Sequence[FigurePair]) -> list[Canvas | None]:
    """Return a canvas per annotated figure, rendered all at once; None where its page cannot be rendered."""
    views = [(pair.article_id, view) for pair in pairs for view in _figure_views(pair.truth)]
    rendered = iter(renderer.rendered(scored.pdfs, views))
    return [_canvas(pair, [next(rendered) for _ in pair.truth.figure_locations]) for pair in pairs]


def drawn_boxes(
    boxes: Iterable[LabelledBox], canvas: Canvas, found: bool, *, images: bool
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return boxes as `detection_comparison` takes them: panels, identifiers, images.

    Args:
        boxes: in PDF points.
        canvas: the figure's.
        found: true if they are found ones; annotated ones otherwise.
        images: true to show images.
    """
    kinds: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for box in boxes:
        place = canvas.place(box.box, found)
        if box.kind == PANEL:
            kinds[0].append((place, box.name))
        elif box.kind == IDENTIFIER:
            # A frame on the letters themselves would hide them.
            kinds[1].append((canvas.place(expand(box.box, LETTER_MARGIN), found), None))
        elif images:
            kinds[2].append((place, box.kind, box.marked))
    return kinds
