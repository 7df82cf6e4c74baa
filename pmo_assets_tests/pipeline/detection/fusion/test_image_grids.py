"""Regular grids complete themselves where there is something to see, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fusion.image_fusion import fused_images
from pmo_assets.pipeline.detection.fusion.image_grids import image_grids, missing_images
from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.records.detections import FigureView, ImageDetection
from pmo_assets.records.geometry import Box, iou
from pmo_assets_tests.pipeline.detection.fusion.sources import seen

SIDE, PITCH = 40, 50


def figure(empty: set[tuple[int, int]] = frozenset(), count: int = 5) -> NDArray[np.uint8]:  # type: ignore[assignment]
    """A grid of noisy squares on white; some places are left white."""
    pixels = np.full((10 + PITCH * count, 10 + PITCH * count, 3), 255, np.uint8)
    noise = np.random.default_rng(0).integers(0, 200, (SIDE, SIDE, 3), dtype=np.uint8)
    for r in range(count):
        for c in range(count):
            if (r, c) not in empty:
                pixels[10 + r * PITCH : 10 + r * PITCH + SIDE, 10 + c * PITCH : 10 + c * PITCH + SIDE] = noise
    return pixels


def place(pixels: NDArray[np.uint8], row: int, column: int) -> Box:
    tall, wide = pixels.shape[:2]
    x, y = 10 + column * PITCH, 10 + row * PITCH
    return (x / wide, y / tall, (x + SIDE) / wide, (y + SIDE) / tall)


def detections(pixels: NDArray[np.uint8], but: set[tuple[int, int]], count: int = 5) -> list[ImageDetection]:
    places = [(r, c) for r in range(count) for c in range(count) if (r, c) not in but]
    return [ImageDetection(place(pixels, *p), 0.9, "network", None, 0.0) for p in places]


def test_missing_pictures_of_a_grid_are_added_with_exact_boxes() -> None:
    pixels, missed = figure(), {(1, 2), (3, 3), (4, 0)}
    found = detections(pixels, missed)
    (grid,) = image_grids(found)
    assert (len(grid.rows), len(grid.columns)) == (5, 5)
    assert set(grid.missing()) == missed
    added = missing_images(canvas_of(pixels), found, [grid])
    assert len(added) == 3
    for p in missed:
        assert max(iou(place(pixels, *p), a.box) for a in added) > 0.97
    assert {a.source for a in added} == {"grid"}
    assert all(a.score == pytest.approx(0.9 * 0.8) for a in added)


def test_empty_places_stay_empty() -> None:
    pixels = figure({(4, 3), (4, 4)})
    found = detections(pixels, {(4, 3), (4, 4)})
    assert missing_images(canvas_of(pixels), found, image_grids(found)) == []


def test_a_place_that_another_image_takes_is_not_filled_again() -> None:
    pixels = figure()
    wide = ImageDetection((*place(pixels, 2, 2)[:2], *place(pixels, 2, 3)[2:]), 0.9, "network", None, 0.0)
    found = [*detections(pixels, {(2, 2), (2, 3)}), wide]
    assert missing_images(canvas_of(pixels), found, image_grids(found)) == []


def test_few_pictures_and_pictures_of_many_sizes_make_no_grid() -> None:
    pixels = figure()
    assert image_grids(detections(pixels, set())[:4]) == []
    row = [d for d in detections(pixels, set()) if d.box[1] < 0.1]
    assert image_grids(row) == []
    sizes = [ImageDetection((0.1 * k, 0.0, 0.1 * k + 0.02 * (k + 1), 0.03 * (k + 1)), 0.9, "network", None, 0.0)
             for k in range(9)]  # fmt: skip
    assert image_grids(sizes) == []


def test_scattered_pictures_of_one_size_make_no_grid() -> None:
    rng = np.random.default_rng(1)
    corners = rng.uniform(0, 0.9, (12, 2))
    found = [ImageDetection((x, y, x + 0.05, y + 0.05), 0.9, "network", None, 0.0) for x, y in corners.tolist()]
    assert image_grids(found) == []


def test_fusion_completes_what_structure_and_network_found() -> None:
    pixels = figure()
    boxes = [(d.box, 0.9) for d in detections(pixels, {(2, 2)})]
    found = fused_images(FigureView(pixels), [], seen(*boxes))
    assert len(found) == 25
    assert max(iou(place(pixels, 2, 2), f.box) for f in found) > 0.95
