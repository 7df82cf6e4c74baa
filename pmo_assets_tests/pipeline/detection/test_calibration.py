"""What scores are worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.calibration import (
    Curve,
    DetectedKind,
    curve_name,
    fitted_curves,
    probability,
    scores_worth,
)
from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.figure import EmbeddedText

KINDS: tuple[DetectedKind, ...] = ("panel", "identifier", "image")
SOURCES = {
    "panel": {"gutter", "identifier", "figure", "network"},
    "identifier": {"text", "glyph", "network", "grid"},
    "image": {"bitmap", "gutter", "network", "grid"},
}
"""Every source of a kind that the package's detectors have."""


def test_every_source_has_a_curve() -> None:
    for kind, of_kind in fitted_curves().items():
        assert {name.removesuffix(", live").removesuffix(", flat") for name in of_kind} == {"", *SOURCES[kind]}
        # Too rare in typeset articles for a curve of live figures: there the curve of the source serves.
        rare = {"grid", "network"} if kind == "image" else {"grid"}
        assert all(curve_name(source, True) in of_kind for source in SOURCES[kind] - rare)
        assert SOURCES[kind] <= set(of_kind)


@given(st.sampled_from(KINDS), st.data(), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_a_probability_rises_with_the_score(
    kind: DetectedKind, data: st.DataObject, one: float, other: float, live: bool
) -> None:
    source = data.draw(st.sampled_from([*sorted(SOURCES[kind]), "something new"]))
    low, high = sorted((one, other))
    assert 0 <= probability(kind, source, low, live) <= probability(kind, source, high, live) <= 1


def test_a_curve_shifts_the_log_odds() -> None:
    curves: dict[DetectedKind, dict[str, Curve]] = {
        "panel": {"": Curve(0.0, 1.0), "gutter": Curve(1.0, 0.0), curve_name("gutter", True): Curve(2.0, 0.0)}
    }
    assert scores_worth(curves, "panel", "network", 0.7, True) == pytest.approx(0.7)
    assert scores_worth(curves, "panel", "gutter", 0.1, False) == pytest.approx(1 / (1 + np.exp(-1)))
    assert scores_worth(curves, "panel", "gutter", 0.1, True) == pytest.approx(1 / (1 + np.exp(-2)))


def test_detections_say_what_their_scores_are_worth() -> None:
    pixels = np.full((80, 200, 3), 255, np.uint8)
    pixels[10:70, 10:90] = pixels[10:70, 110:190] = 90
    view = FigureView(pixels)

    def panels(views: object) -> list[list[PanelDetection]]:
        return [[PanelDetection("panel", (0.0, 0.0, 0.5, 1.0), 0.6, "gutter"),
                 PanelDetection("identifier", (0.0, 0.0, 0.1, 0.1), 0.8, "glyph", "A")]]  # fmt: skip

    def nothing(views: object) -> list[list[PanelDetection]]:
        return [[]]

    panel, identifier = detect_panels(view, panels)
    assert panel.probability == probability("panel", "gutter", 0.6, False) > 0
    assert identifier.probability == probability("identifier", "glyph", 0.8, False) > 0
    (whole,) = detect_panels(view, nothing)
    assert whole.probability == probability("panel", "figure", whole.score, False) > 0
    (live,) = detect_panels(replace(view, texts=(EmbeddedText("A", (0.0, 0.0, 0.1, 0.1), 8.0, True),)), nothing)
    assert live.probability == probability("panel", "figure", whole.score, True)
    images = detect_images(view, (panel,))
    assert images
    assert all(image.probability == probability("image", image.source, image.score, False) > 0 for image in images)
