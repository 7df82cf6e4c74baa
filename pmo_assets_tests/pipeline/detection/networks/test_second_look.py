"""A second look: only where small pictures are unresolved, whole pictures only, none twice."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.detection.networks import onnx_detectors
from pmo_assets.pipeline.detection.networks.network_boxes import OUTPUTS
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork
from pmo_assets.pipeline.detection.networks.second_look import MOST_TILES, joined, tiles_to_see
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, iou
from pmo_assets_tests.pipeline.detection.fusion.sources import seen


def grid(side: float, pitch: float, count: int, origin: float = 0.1) -> list[Box]:
    """Normalised boxes of a square grid."""
    return [
        (origin + c * pitch, origin + r * pitch, origin + c * pitch + side, origin + r * pitch + side)
        for r in range(count)
        for c in range(count)
    ]


def scored(boxes: list[Box], score: float = 0.5) -> NetworkBoxes:
    return seen(*((box, score) for box in boxes))


def test_small_pictures_of_a_large_figure_are_looked_at_again_and_all_of_them() -> None:
    boxes = grid(0.04, 0.05, 8)
    tiles = tiles_to_see(scored(boxes), 1000, 1000)
    assert 1 <= len(tiles) <= MOST_TILES
    for box in boxes:
        left, top, right, bottom = (v * 1000 for v in box)
        assert any(t[0] <= left and t[1] <= top and right <= t[2] and bottom <= t[3] for t in tiles)


@pytest.mark.parametrize(
    ("boxes", "size"),
    [
        (grid(0.04, 0.05, 8), 400),  # the network saw every pixel
        (grid(0.2, 0.25, 3), 1500),  # large enough
        (grid(0.04, 0.05, 1), 1500),  # a single one may be an icon
        ([], 3000),
    ],
)
def test_most_figures_are_looked_at_once(boxes: list[Box], size: int) -> None:
    assert tiles_to_see(scored(boxes), size, size) == []


def test_weak_boxes_are_no_reason() -> None:
    assert tiles_to_see(scored(grid(0.04, 0.05, 8), 0.08), 1000, 1000) == []


def test_tiles_cover_a_long_region_and_overlap() -> None:
    boxes = [(k / 40, 0.45, k / 40 + 0.02, 0.55) for k in range(40)]
    tiles = tiles_to_see(scored(boxes), 2000, 400)
    assert [t[0] for t in tiles] == sorted(t[0] for t in tiles)
    assert tiles[0][0] == 0
    assert tiles[-1][2] == 2000
    for before, after in pairwise(tiles):
        assert after[0] < before[2] - 0.02 * 2000


def test_pictures_at_the_border_of_tiles_are_found_once_and_whole() -> None:
    """Of a picture in the overlap both tiles see all; one that a tile's edge cuts is the other tile's."""
    boxes = grid(0.08, 0.1, 8)
    tiles = [(0, 0, 600, 1000), (400, 0, 1000, 1000)]
    seconds = []
    for left, top, right, bottom in tiles:
        inside = []
        for box in boxes:
            cut = tuple(max(box[k] * 1000, (left, top)[k]) for k in (0, 1)) + tuple(
                min(box[k + 2] * 1000, (right, bottom)[k]) for k in (0, 1)
            )
            if cut[2] - cut[0] > 10:
                wide, tall = right - left, bottom - top
                inside.append(
                    ((cut[0] - left) / wide, (cut[1] - top) / tall, (cut[2] - left) / wide, (cut[3] - top) / tall)
                )
        seconds.append(scored(inside, 0.8))
    found = joined(scored(boxes[:3], 0.3), tiles, seconds, 1000, 1000)
    assert len(found.boxes["image"]) == len(boxes)
    assert found.scores["image"] == pytest.approx([0.8] * len(boxes))
    for box in boxes:
        assert max(iou(box, tuple(map(float, other))) for other in found.boxes["image"]) > 0.99  # type: ignore[arg-type]


def test_large_pictures_of_a_tile_are_left_to_the_first_pass() -> None:
    first = scored([(0.0, 0.0, 0.9, 0.9)], 0.4)
    found = joined(first, [(0, 0, 500, 500)], [scored([(0.0, 0.0, 0.8, 0.8)], 0.9)], 1000, 1000)
    assert found.boxes["image"] == pytest.approx(first.boxes["image"])
    empty = joined(first, [(0, 0, 500, 500)], [scored([])], 1000, 1000)
    assert empty.scores["image"] == pytest.approx(first.scores["image"])


class Session:
    """Stands in for ONNX Runtime: sees every dark square of 30 pixels and more of its input, faintly when small."""

    def __init__(self) -> None:
        self.inputs: list[tuple[int, ...]] = []

    def get_modelmeta(self) -> Any:
        return SimpleNamespace(custom_metadata_map={})

    def run(self, names: list[str], inputs: dict[str, Any]) -> list[np.ndarray]:
        import cv2

        pixels = inputs["pixels"]
        self.inputs.append(pixels.shape)
        boxes, scores = [], []
        for picture in pixels:
            _, _, stats, _ = cv2.connectedComponentsWithStats((picture[:, :, 0] < 128).astype(np.uint8))
            boxes.append([(x, y, x + w, y + h) for x, y, w, h, _ in stats[1:]])
            scores.append([0.9 if w >= 30 else 0.3 for _, _, w, _, _ in stats[1:]])
        most = max(len(b) for b in boxes)
        empty = np.zeros((len(pixels), 1, 1), np.float32), np.zeros((len(pixels), 1, 4), np.float32)
        rows = np.asarray([b + [(0, 0, 1, 1)] * (most - len(b)) for b in boxes], np.float32)
        sure = np.asarray([s + [0.0] * (most - len(s)) for s in scores], np.float32)
        assert len(names) == len(OUTPUTS)
        return [*empty, *empty, np.stack([sure, 0 * sure, 0 * sure, 0 * sure], axis=2), rows]


def test_the_network_looks_again_at_native_resolution(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    monkeypatch.setattr(onnx_detectors, "onnx_session", lambda *_: session)
    pixels = np.full((900, 900, 3), 255, np.uint8)
    for r in range(6):
        for c in range(6):
            pixels[100 + 50 * r : 140 + 50 * r, 100 + 50 * c : 140 + 50 * c] = 0
    view = FigureView(pixels)
    network = FigureNetwork()
    (found,) = network([view])
    assert len(session.inputs) == 2
    assert len(found.boxes["image"]) == 36
    assert found.scores["image"].min() > 0.8
    assert network([view])[0] is found
    assert len(session.inputs) == 2
    plain = FigureView(np.full((900, 900, 3), 255, np.uint8))
    plain.pixels[100:700, 100:700] = 0
    network([plain])
    assert len(session.inputs) == 3
