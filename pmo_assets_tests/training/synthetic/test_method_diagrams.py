"""Diagrams of methods: their pictures are images with exact boxes, the rest of the drawing is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pmo_assets.records.geometry import area, intersection
from pmo_assets.training.synthetic import method_diagrams
from pmo_assets.training.synthetic.figure_styles import Style, figure_style
from pmo_assets.training.synthetic.layouts import Layout
from pmo_assets.training.synthetic.method_diagrams import DRAWN, method_diagram
from pmo_assets_tests.training.pools import small_pool

POOL = small_pool()
LAYOUT = Layout(1.4, ((0, 0, 1, 1),), False, (False, False))


def style_of(seed: int) -> Style:
    style = figure_style(np.random.default_rng(seed), LAYOUT, 700, 500)
    return replace(style, ground=(255, 255, 255), types=("OCT", "CFP"), mark_share=0.0, print_share=0.0)


@pytest.mark.parametrize("seed", range(30))
def test_pictures_lie_whole_in_the_diagram_and_apart(seed: int) -> None:
    tile = method_diagram(np.random.default_rng(seed), POOL, style_of(seed), 700, 500)
    assert tile is not None
    assert tile.images
    boxes = [i.box for i in tile.images]
    for k, box in enumerate(boxes):
        assert 0 <= box[0] < box[2] <= 700
        assert 0 <= box[1] < box[3] <= 500
        assert min(box[2] - box[0], box[3] - box[1]) >= 12
        assert not any(area(intersection(box, other)) for other in boxes[k + 1 :])


@pytest.mark.slow  # many pictures
def test_the_box_of_a_picture_is_where_its_pixels_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """On nothing but paper and pictures, every line of ink belongs to a picture, and pictures are full of ink."""
    monkeypatch.setattr(method_diagrams, "_draw_arrow", lambda *_: None)
    monkeypatch.setattr(method_diagrams, "_draw_containers", lambda *_: None)
    monkeypatch.setattr(method_diagrams, "DRAWN", ((lambda *_: None, 1.0),))
    monkeypatch.setattr(method_diagrams, "print_text", lambda *_, **__: (0, 0, 0, 0))
    checked = 0
    for seed in range(40):
        tile = method_diagram(np.random.default_rng(seed), POOL, style_of(seed), 700, 500)
        assert tile is not None
        ink = tile.pixels.min(axis=2) < 250
        for image in tile.images:
            left, top, right, bottom = (round(v) for v in image.box)
            if image.image_type == "Other":
                continue
            assert ink[top:bottom, left:right].mean() > 0.8  # the rim of a stack is white
            # A picture of a stack hides those behind it; left of it and below there is paper or its neighbour.
            if left > 6:
                checked += not ink[top + 2 : bottom - 2, left - 6].any()
    assert checked > 60


def test_everything_that_is_drawn_stays_in_its_box() -> None:
    for seed in range(40):
        for draw, _ in DRAWN:
            canvas = np.full((200, 260, 3), 255, np.uint8)
            draw(np.random.default_rng(seed), canvas, (60, 50, 200, 150), (0, 0, 0))
            changed = np.argwhere((canvas != 255).any(axis=2))
            assert changed.size, draw
            assert changed.min(axis=0).tolist() >= [40, 50], draw
            assert changed[:, 0].max() <= 160, draw
            assert changed[:, 1].max() <= 210, draw


def test_without_room_there_is_no_diagram() -> None:
    assert method_diagram(np.random.default_rng(0), POOL, style_of(0), 60, 60) is None
