"""The marks reader learns from boxes with and without marks: what they show, where it points, a run and its export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

import torch

from pmo_assets.pipeline.regions.marks_network import READ_KINDS, tip_of_places
from pmo_assets.training.architectures.export import export_marks_reader
from pmo_assets.training.loop.train_marks_reader import (
    NONE,
    labelled_boxes,
    measured_readings,
    read_example,
    reading_loss,
    tip_goals,
    train_marks_reader,
)
from pmo_assets.training.options import MarksReaderOptions
from pmo_assets.training.synthetic.drawn_marks import DrawnMark
from pmo_assets_tests.training.pools import small_pool

ARROW = DrawnMark("arrow", (80.0, 40.0, 120.0, 60.0), (118.5, 50.5), (255, 255, 255))


def test_the_reader_trains_and_exports(tmp_path: Path) -> None:
    options = MarksReaderOptions(
        steps=2, batch_size=2, evaluate_every=2, validation_pictures=3, workers=0, threads=1, warm_up=1
    )
    (record,) = train_marks_reader(tmp_path / "run", small_pool(), small_pool(), options)
    assert 0 <= record["none"] <= 1
    target = tmp_path / "reader.onnx"
    assert export_marks_reader(tmp_path / "run" / "best.pt", target) < 2e-2
    assert target.stat().st_size < 4e6


def test_boxes_show_the_mark_that_they_overlap_and_none_where_they_overlap_none() -> None:
    pixels = np.zeros((100, 200, 3), np.uint8)
    half = (0.4, 0.4, 0.5, 0.62)  # too little of the arrow to be it, too much to be none
    found = [(0.4, 0.4, 0.6, 0.62), (0.1, 0.1, 0.2, 0.2), half]
    kinds = dict(labelled_boxes(np.random.default_rng(3), (pixels, [ARROW], found)))
    assert kinds[0.4, 0.4, 0.6, 0.62] is ARROW
    assert kinds[0.1, 0.1, 0.2, 0.2] is None
    assert half not in kinds


def test_tips_move_with_the_view() -> None:
    pixels = np.full((100, 200, 3), 40, np.uint8)
    pixels[49:52, 117:120] = 255
    for seed in range(40):
        view, kind, (u, v, has) = read_example(np.random.default_rng(seed), pixels, (0.4, 0.4, 0.6, 0.6), ARROW)
        assert (view.shape, kind, has) == ((64, 64, 3), READ_KINDS.index("arrow"), 1.0)
        spot = np.abs(view.astype(int) - np.median(view, axis=(0, 1))).max(axis=2)
        row, column = np.argwhere(spot >= 0.9 * spot.max()).mean(axis=0)
        assert (column / 64, row / 64) == pytest.approx((u, v), abs=0.06)
        assert read_example(np.random.default_rng(seed), pixels, (0.0, 0.0, 0.2, 0.2), None)[1] == NONE


@pytest.mark.parametrize("tip", [(0.2, 0.7), (0.06, 0.94), (0.5, 0.5)])
def test_the_places_that_a_tip_asks_for_say_it(tip: tuple[float, float]) -> None:
    (places,) = tip_goals(torch.tensor([[*tip, 1.0]])).numpy()
    assert places.sum() == pytest.approx(1.0)
    assert tip_of_places(places) == pytest.approx(tip, abs=0.02)
    assert tip_goals(torch.tensor([[*tip, 0.0]]))[0, -1] == 1.0


def test_right_answers_lose_least_and_count() -> None:
    goal, tip = torch.tensor([0, NONE]), torch.tensor([[0.2, 0.7, 1.0], [0.5, 0.5, 0.0]])
    kinds = torch.nn.functional.one_hot(goal, len(READ_KINDS)) * 12.0
    tips = torch.log(tip_goals(tip) + 1e-6)
    least, _ = reading_loss(kinds, tips, goal, tip)
    assert least < reading_loss(kinds.flip(0), tips, goal, tip)[0]
    assert least < reading_loss(kinds, tips.flip(0), goal, tip)[0]
    shares = torch.softmax(kinds, dim=1).numpy()
    places = torch.softmax(tips, dim=1).numpy()
    assert measured_readings(shares, places, goal.numpy(), tip.numpy()) == {"kinds": 1.0, "none": 1.0, "tips": 1.0}
