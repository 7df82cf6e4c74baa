"""Other pages: figures away from their caption."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation
from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions
from pmo_assets.pipeline.figures.regions.growth import FigurePart
from pmo_assets.pipeline.figures.regions.other_pages import assign_other_pages
from pmo_assets.pipeline.figures.regions.page_layout import PageCaption, PageLayout
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import drawn_page
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of, regions_of


def test_all_captions_first_then_one_figure_a_page() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 400))
    for number in (1, 2, 3):
        manuscript.caption(page, 50, 420 + 60 * number, f"Figure {number}. {caption_text(number)}", 490)
    for number in (1, 2, 3):
        manuscript.picture(manuscript.page(), (100, 100, 400 + 20 * number, 500), photograph(seed=number))
    found = regions_of(manuscript, 1, 2, 3)
    assert [region.boxes[0].page for region in found.regions] == [1, 2, 3]
    assert agrees(found.regions[2].boxes[0].bbox, (100, 100, 460, 500), 0.99)


@MODES
def test_figure_on_the_facing_page(with_xml: bool) -> None:
    manuscript = Manuscript()
    manuscript.body(manuscript.page(), (50, 60, 545, 800))
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 535, 780))
    page = manuscript.page()
    manuscript.caption(page, 50, 60, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 110, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    assert [at.page for at in extraction.figures[0].locations] == [1]
    assert agrees(box_of(extraction, 1), (60, 60, 535, 780), 0.999)


PICTURE = (100.0, 100.0, 500.0, 600.0)


def layout(index: int, atoms: Sequence[Box] = (PICTURE,), body_lines: int = 0, caption: bool = False) -> PageLayout:
    """A page with unused graphics; with a figure's caption if asked for."""
    page = drawn_page(index=index)
    captions = [PageCaption(location(1, index), [], True)] if caption else []
    return PageLayout(page, 0, page, captions, list(atoms), [], np.empty((0, 4)), [], body_lines, 10.0, 500.0)


def location(number: int, *pages: int, kind: str = "figure") -> CaptionLocation:
    """A caption on these pages."""
    boxes = tuple(PageBox(page, (50.0, 700.0, 550.0, 720.0)) for page in pages)
    return CaptionLocation(kind, f"Figure {number}", str(number), "", None, (), boxes, 0, 1.0)


def pages_of(
    layouts: Sequence[PageLayout],
    captions: Sequence[CaptionLocation],
    found: dict[int, list[FigurePart]] | None = None,
    others: Sequence[CaptionLocation] = (),
) -> dict[int, list[int]]:
    """On which pages each figure lies in the end."""
    parts = defaultdict(list, found or {})
    assign_other_pages(layouts, LocatedCaptions(tuple(captions), tuple(others), ()), parts)
    return {k: [part.page for part in own] for k, own in sorted(parts.items()) if own}


EMPTY: tuple[Box, ...] = ()


@pytest.mark.parametrize("at", [1, 3])
def test_a_caption_takes_the_graphics_of_the_page_before_or_behind(at: int) -> None:
    layouts = [layout(n, [PICTURE] if n == at else EMPTY, caption=n == 2) for n in range(5)]
    assert pages_of(layouts, [location(1, 2)]) == {0: [at]}


def test_the_page_before_comes_first_and_the_one_after_the_whole_caption_too() -> None:
    layouts = [layout(n, [PICTURE] if n in (1, 3) else EMPTY, 9, n == 2) for n in range(5)]
    assert pages_of(layouts, [location(1, 2)]) == {0: [1]}
    layouts = [layout(n, [PICTURE] if n == 4 else EMPTY, caption=n in (2, 3)) for n in range(5)]
    assert pages_of(layouts, [location(1, 2, 3)]) == {0: [4]}
    far = [layout(n, [PICTURE] if n == 4 else EMPTY) for n in range(5)]
    assert pages_of(far, [location(1, 2), location(2, 0)]) == {}


def test_graphics_beside_another_caption_are_not_taken() -> None:
    layouts = [layout(0, EMPTY), layout(1, caption=True), layout(2, EMPTY, caption=True), layout(3, EMPTY)]
    assert pages_of(layouts, [location(1, 2)]) == {}


def test_a_title_page_with_pictures_only_counts_when_it_is_the_only_page() -> None:
    assert pages_of([layout(0), layout(1, EMPTY)], [location(1, 1)]) == {}
    assert pages_of([layout(0)], [location(1, 0)]) == {0: [0]}


def test_a_bare_label_says_whose_figure_a_page_holds() -> None:
    layouts = [layout(0, EMPTY), layout(1, body_lines=9), layout(2), layout(3), layout(4, EMPTY)]
    captions = [location(1, 0), location(2, 0)]
    labels = [location(2, 2), location(1, 3), location(1, 1, kind="table")]
    assert pages_of(layouts, captions, others=labels) == {0: [3], 1: [2]}


@pytest.mark.parametrize(
    ("atoms", "taken"),
    [
        ([(100.0, 100.0, 500.0, 101.0)], False),  # a rule
        ([(100.0, 100.0, 200.0, 200.0)], False),  # a logo
        ([(100.0, 100.0, 200.0, 200.0), (300.0, 100.0, 400.0, 200.0)], True),  # several make a figure
        ([PICTURE], True),
    ],
)
def test_only_large_graphics_are_a_figure(atoms: list[Box], taken: bool) -> None:
    layouts = [layout(0, EMPTY), layout(1, atoms), layout(2, EMPTY, caption=True)]
    assert bool(pages_of(layouts, [location(1, 2)])) is taken


def test_used_graphics_and_those_across_text_are_left() -> None:
    used = layout(1)
    used.used.add(0)
    across = layout(1)
    across.barriers = np.asarray([(100.0, 300.0, 500.0, 310.0)])
    for page in (used, across):
        assert pages_of([layout(0, EMPTY), page, layout(2, EMPTY, caption=True)], [location(1, 2)]) == {}


@pytest.mark.parametrize("step", [-1, 1])
def test_a_large_figure_goes_on_overleaf(step: int) -> None:
    layouts = [layout(n, [PICTURE] if n == 2 + step else EMPTY, caption=n == 2) for n in range(5)]
    tall, low = (FigurePart(2, (100.0, 100.0, 500.0, bottom), "above", 0.9) for bottom in (600.0, 400.0))
    assert pages_of(layouts, [location(1, 2)], {0: [tall]}) == {0: [2, 2 + step]}
    assert pages_of(layouts, [location(1, 2)], {0: [low]}) == {0: [2]}
    assert pages_of(layouts, [location(1, 2), location(2, 2)], {0: [tall], 1: [tall]}) == {0: [2], 1: [2]}
    layouts[2 + step].body_lines = 3
    assert pages_of(layouts, [location(1, 2)], {0: [tall]}) == {0: [2]}
