"""Plots of how good the pipeline is: pictures of a sensible size, also of nothing, and the same bytes again."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from PIL import Image

from pmo_assets.viewing.quality_plots import (
    calibration_plot,
    confusion_plot,
    coverage_plot,
    precision_recall_plot,
    recall_plot,
    reliability_plot,
    stacked_shares_plot,
)

BIN = SimpleNamespace(mean_confidence=0.4, right_share=0.5, mean_bleu=0.8, captions=12, likely_right=(0.3, 0.7))
PART = SimpleNamespace(share=0.5, lowest_confidence=0.7, summary=SimpleNamespace(mab=0.9, unprocessed_share=0.1))
CLAIMED = [SimpleNamespace(count=9, mean_claimed=0.4, right_share=0.5)]
COLOURS = {"right": "#0072B2", "wrong": "#D55E00"}

PLOTS: dict[str, Callable[[], bytes]] = {
    "curves": lambda: precision_recall_plot({"panel": ((0.5, 1.0), (1.0, 0.8))}, {"panel": 0.9}, title="t"),
    "no curves": lambda: precision_recall_plot({"panel": ((), ())}, {}, title="t"),
    "confusion": lambda: confusion_plot({("OCT", "CFP"): 3}, ["OCT"], ["CFP", "OCT", "missed"], title="t"),
    "no confusion": lambda: confusion_plot({}, [], [], title="t"),
    "calibration": lambda: calibration_plot([BIN], error=0.1, title="t"),
    "no calibration": lambda: calibration_plot([], error=0.0, title="t"),
    "coverage": lambda: coverage_plot([PART], title="t"),
    "no coverage": lambda: coverage_plot([], title="t"),
    "recall": lambda: recall_plot([0.0, 0.6, 1.0], title="t"),
    "no recall": lambda: recall_plot([], title="t"),
    "reliability": lambda: reliability_plot({"panel": (CLAIMED, CLAIMED), "image": (CLAIMED, CLAIMED)}, title="t"),
    "no reliability": lambda: reliability_plot({"panel": ([], [])}, title="t"),
    "shares": lambda: stacked_shares_plot({"all": {"right": 3, "wrong": 1}}, COLOURS, title="t"),
    "no shares": lambda: stacked_shares_plot({"all": {}}, COLOURS, title="t"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_a_small_png_and_the_same_again(name: str) -> None:
    png = PLOTS[name]()
    picture = Image.open(io.BytesIO(png))
    assert picture.format == "PNG"
    assert 250 < picture.width < 1000
    assert len(png) < 28_000
    assert PLOTS[name]() == png


def test_a_plot_shows_its_values() -> None:
    def plot(precision: float) -> bytes:
        return precision_recall_plot({"panel": ((0.5, 1.0), (1.0, precision))}, {"panel": 0.9}, title="t")

    assert plot(0.8) != plot(0.6)
