"""Grids of thumbnails and comparisons: every picture has its exact box, whatever stands between and around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pmo_assets.training.synthetic import thumbnail_grids
from pmo_assets.training.synthetic.figure_styles import Style, figure_style
from pmo_assets.training.synthetic.layouts import Layout
from pmo_assets.training.synthetic.masks import mask_picture, overlaid_picture
from pmo_assets.training.synthetic.thumbnail_grids import LEAST, MOST, MOST_ROWS, comparison, thumbnails
from pmo_assets.training.synthetic.tiles import Tile
from pmo_assets_tests.training.pools import small_pool, striped

POOL = small_pool()
LAYOUT = Layout(1.0, ((0, 0, 1, 1),), False, (False, False))


def style_of(seed: int) -> Style:
    style = figure_style(np.random.default_rng(seed), LAYOUT, 700, 700)
    return replace(style, ground=(255, 255, 255), types=("OCT", "CFP"), mark_share=0.0, print_share=0.0)


def ink_outside(tile: Tile) -> np.ndarray:
    """What is not paper once the images are taken out."""
    ink = tile.pixels.min(axis=2) < 250
    for image in tile.images:
        left, top, right, bottom = (round(v) for v in image.box)
        ink[top:bottom, left:right] = False
    return ink


@pytest.mark.parametrize("seed", range(25))
def test_thumbnails_fill_their_boxes_and_nothing_else(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnail_grids, "_print_headings", lambda *_: None)
    tile = thumbnails(np.random.default_rng(seed), POOL, style_of(seed), 700, 640)
    assert tile is not None
    assert tile.pixels.shape[0] <= 640
    assert tile.pixels.shape[1] <= 700
    scale = 0
    for image in tile.images:
        left, top, right, bottom = (round(v) for v in image.box)
        assert LEAST - 1 <= max(right - left, bottom - top) <= MOST + 1
        assert min(right - left, bottom - top) >= 10
        if image.image_type != "Other":  # masks may be as white as paper
            body = tile.pixels[top:bottom, left:right]
            assert (body.min(axis=2) < 250).mean() > 0.9
    outside = ink_outside(tile)
    columns = np.flatnonzero(outside.any(axis=0))
    if columns.size:  # a colour scale beside the pictures
        scale = int(columns[0])
        assert scale >= max(i.box[2] for i in tile.images)
    assert not outside[:, : scale or None].any()
    sizes = {(round(i.box[2] - i.box[0]), round(i.box[3] - i.box[1])) for i in tile.images}
    assert len(sizes) == 1


@pytest.mark.slow  # many figures
def test_grids_reach_ten_rows_and_columns_with_and_without_gutters() -> None:
    touching = apart = most = 0
    for seed in range(60):
        tile = thumbnails(np.random.default_rng(seed), POOL, style_of(seed), 800, 800)
        assert tile is not None
        lefts = sorted({i.box[0] for i in tile.images})
        rows = len({i.box[1] for i in tile.images})
        most = max(most, len(lefts), rows)
        if len(lefts) > 1:
            gap = lefts[1] - lefts[0] - (tile.images[0].box[2] - tile.images[0].box[0])
            touching, apart = touching + (gap == 0), apart + (gap >= 2)
    assert most == MOST_ROWS
    assert min(touching, apart) >= 8


@pytest.mark.parametrize("seed", range(20))
def test_comparisons_show_pictures_their_masks_and_overlays(seed: int) -> None:
    tile = comparison(np.random.default_rng(seed), POOL, style_of(seed), 700, 500)
    if tile is None:
        return
    assert tile.pixels.shape[0] <= 500
    assert tile.pixels.shape[1] <= 700
    boxes = [i.box for i in tile.images]
    assert len(boxes) == len(set(boxes)) >= 2
    assert all(0 <= b[0] < b[2] <= 700 and 0 <= b[1] < b[3] <= 500 for b in boxes)


def test_without_room_there_is_no_grid() -> None:
    rng = np.random.default_rng(0)
    assert thumbnails(rng, POOL, style_of(0), 40, 20) is None
    assert comparison(rng, POOL, style_of(0), 50, 20) is None


@pytest.mark.slow  # many figures
def test_masks_are_flat_and_outlines_are_marks() -> None:
    picture = striped(3)
    colours = [len(np.unique(mask_picture(np.random.default_rng(s), picture, "OCT").reshape(-1, 3), axis=0))
               for s in range(40)]  # fmt: skip
    assert sum(count <= 12 for count in colours) >= 28
    marks = set()
    for seed in range(30):
        overlaid, marked = overlaid_picture(np.random.default_rng(seed), picture.copy(), "CFP")
        assert overlaid.shape == picture.shape
        assert (overlaid != picture).any()
        marks.add(marked)
    assert marks == {True, None}
