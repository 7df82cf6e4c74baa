"""The marks detector learns from drawn marks: what places should say, the loss of it, a run and its export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

import torch

from pmo_assets.pipeline.regions.marks_network import STRIDE, FoundBox, MarksNetwork
from pmo_assets.training.architectures.export import export_marks_detector
from pmo_assets.training.loop.train_marks_detector import (
    PLACES,
    WINDOW,
    detection_loss,
    goals,
    measured_boxes,
    train_marks_detector,
    varied_window,
)
from pmo_assets.training.options import MarksDetectorOptions
from pmo_assets.training.synthetic.drawn_marks import DrawnMark
from pmo_assets_tests.training.pools import small_pool

ARROW = DrawnMark("arrow", (40.0, 80.0, 120.0, 120.0), (120.0, 80.0), (255, 255, 0))


def test_the_detector_trains_goes_on_and_exports(tmp_path: Path) -> None:
    options = MarksDetectorOptions(
        steps=2, batch_size=2, evaluate_every=2, validation_pictures=2, workers=0, threads=1, warm_up=1
    )
    (record,) = train_marks_detector(tmp_path / "run", small_pool(), small_pool(), options)
    assert 0 <= record["AP"] <= 1
    (again,) = train_marks_detector(
        tmp_path / "other", small_pool(), small_pool(), options, tmp_path / "run" / "best.pt"
    )
    assert again["step"] == 2
    target = tmp_path / "marks.onnx"
    assert export_marks_detector(tmp_path / "run" / "best.pt", target) < 2e-2
    assert target.stat().st_size < 4e6
    assert len(MarksNetwork(target).boxes([np.zeros((90, 120, 3), np.uint8)])) == 1


def test_the_middle_of_a_mark_says_its_box() -> None:
    goal = goals([ARROW])
    row, column = int(100 / STRIDE), int(80 / STRIDE)
    assert goal[0, row, column] == 1.0
    assert (goal[0] == 1.0).sum() == 1
    assert goal[3:7, row, column].tolist() == list(ARROW.box)
    assert goals([], [(0.0, 0.0, 40.0, 40.0)])[1, : 40 // STRIDE, : 40 // STRIDE].sum() == 0


def test_maps_that_say_what_they_should_lose_least() -> None:
    goal = torch.from_numpy(goals([ARROW]))[None]
    x = (torch.arange(PLACES) + 0.5).expand(PLACES, PLACES)
    box = goal[0, 3:7] / STRIDE
    sides = torch.stack([x - box[0], x.T - box[1], box[2] - x, box[3] - x.T]).clamp(min=0.05).log()[None]
    right = {"score": (goal[:, :1] == 1.0) * 24.0 - 12.0, "sides": sides}
    least, _ = detection_loss(right, goal)
    assert float(least) < 0.05
    for name, values in right.items():
        more, _ = detection_loss({**right, name: values + 3.0 * torch.randn(values.shape)}, goal)
        assert more > least


def test_marks_move_with_the_window_that_shows_them() -> None:
    pixels = np.full((200, 300, 3), 100, np.uint8)
    pixels[80:120, 40:120] = (255, 255, 0)
    shown = 0
    for seed in range(40):
        window, marks, cut = varied_window(np.random.default_rng(seed), pixels, [ARROW])
        assert window.shape == (WINDOW, WINDOW, 3)
        assert len(marks) + len(cut) <= 1
        for mark in marks:
            left, top, right, bottom = (round(v) for v in mark.box)
            inside = window[top + 3 : bottom - 3, left + 3 : right - 3].astype(int)
            assert np.abs(inside - np.asarray(mark.colour)).max() <= 12
            shown += 1
    assert shown > 20


def test_what_is_measured_are_the_boxes() -> None:
    pixels = np.zeros((200, 200, 3), np.uint8)
    found = FoundBox((0.2, 0.4, 0.6, 0.6), 0.9)
    assert measured_boxes([(pixels, [ARROW])], [[found]]) == {"AP": 1.0}
    assert measured_boxes([(pixels, [ARROW])], [[]]) == {"AP": 0.0}
