"""Colour scales: found beside the panels, left out there, and nothing else is taken for one."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.structure.colour_scales import colour_bars, without_scales
from pmo_assets.pipeline.detection.structure.gutters import Rect, canvas_of
from pmo_assets.pipeline.detection.structure.panels import panels_by_number
from pmo_assets_tests.pipeline.detection.drawing import Picture, live_text, paper, paste, photograph

BAR: Rect = (840, 20, 860, 320)


def rainbow(height: int, width: int) -> Picture:
    """From red over green to blue, top to bottom."""
    ramp = np.linspace(1, 0, height)[:, None]
    column = np.concatenate([255 * ramp, 255 * (1 - np.abs(2 * ramp - 1)), 255 * (1 - ramp)], axis=1)
    return np.repeat(column.astype(np.uint8)[:, None], width, axis=1)


def two_photographs() -> Picture:
    figure = paper(920, 400)
    paste(figure, photograph(400, 380, 1), 0, 10)
    paste(figure, photograph(400, 380, 2), 420, 10)
    return figure


def with_scale() -> Picture:
    figure = two_photographs()
    paste(figure, rainbow(BAR[3] - BAR[1], BAR[2] - BAR[0]), BAR[0], BAR[1])
    for text, top in (("400", 20), ("0", 305)):
        live_text(figure, text, 868, top, 14)
    return figure


def test_a_bar_that_runs_through_colours_is_found() -> None:
    assert colour_bars(canvas_of(with_scale())) == [BAR]


@pytest.mark.parametrize("picture", [
    np.full((300, 20, 3), 90, np.uint8),
    photograph(20, 300, 3),
    rainbow(300, 20)[np.random.default_rng(0).permutation(300)],
    rainbow(300, 120),
    rainbow(40, 20),
])  # fmt: skip
def test_other_rectangles_are_no_bars(picture: Picture) -> None:
    figure = paper(920, 400)
    paste(figure, picture, 600, 20)
    assert colour_bars(canvas_of(figure)) == []


def test_a_scale_beside_the_panels_is_left_out_with_its_numbers() -> None:
    assert without_scales(canvas_of(with_scale())) == (0, 10, 820, 390)
    assert without_scales(canvas_of(two_photographs())) == (0, 10, 820, 390)


def test_a_scale_with_an_identifier_beside_it_stays() -> None:
    canvas = canvas_of(with_scale())
    assert without_scales(canvas, ((868, 20, 890, 32),))[2] > BAR[2]


def test_a_scale_between_panels_stays() -> None:
    figure = paper(920, 400)
    paste(figure, photograph(400, 380, 1), 0, 10)
    paste(figure, rainbow(300, 20), 430, 20)
    paste(figure, photograph(400, 380, 2), 480, 10)
    assert without_scales(canvas_of(figure)) == (0, 10, 880, 390)


def test_a_scale_is_not_counted_as_a_panel() -> None:
    rects = [part.rect for part in panels_by_number(canvas_of(with_scale()), ("a", "b"))]
    assert rects == [(0, 10, 400, 390), (420, 10, 820, 390)]
    assert len(panels_by_number(canvas_of(with_scale()), ("a", "b", "c"))) == 1
