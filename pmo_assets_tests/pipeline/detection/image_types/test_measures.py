"""Measures of a picture: each means what its name says."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.detection.image_types.measures import FEATURES, picture_features
from pmo_assets_tests.pipeline.detection.drawing import Picture, fundus, oct_scan, paper, photograph


def test_every_measure_has_a_name() -> None:
    assert picture_features(fundus()).shape == (len(FEATURES),)
    assert np.isfinite(picture_features(np.zeros((20, 20, 3), np.uint8))).all()


def measures(picture: Picture) -> dict[str, float]:
    """The measures of a picture by name."""
    return dict(zip(FEATURES, picture_features(picture).tolist(), strict=True))


@pytest.mark.parametrize(
    ("hue", "saturation", "expected"),
    [
        (0, 0.8, {"warm"}),
        (20, 0.8, {"warm", "orange"}),
        (20, 0.3, {"warm"}),
        (44, 0.8, {"warm"}),
        (60, 0.8, set()),
        (100, 0.8, {"green"}),
        (200, 0.8, {"blue"}),
        (300, 0.8, set()),
        (350, 0.8, {"warm"}),
        (20, 0.05, {"grey"}),
    ],
)
def test_a_colour_counts_for_its_name(hue: int, saturation: float, expected: set[str]) -> None:
    patch = np.asarray([[[hue // 2, round(255 * saturation), 200]]], dtype=np.uint8)
    found = measures(np.full((60, 60, 3), cv2.cvtColor(patch, cv2.COLOR_HSV2RGB)[0, 0], np.uint8))
    assert {name for name in ("warm", "orange", "green", "blue", "grey") if found[name] > 0.99} == expected
    assert all(found[name] < 0.01 for name in {"warm", "orange", "green", "blue", "grey"} - expected)
    assert found["saturation"] == pytest.approx(saturation, abs=0.01)
    assert found["top_colour"] == 1


@pytest.mark.parametrize("corner", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_each_corner_counts(corner: tuple[int, int]) -> None:
    picture = paper(100, 100, colour=200)
    rows, columns = (slice(0, 20) if side == 0 else slice(80, 100) for side in corner)
    picture[rows, columns] = 0
    found = measures(picture)
    assert found["corner_dark"] == 0.25
    assert found["rim_dark"] == pytest.approx(0.1, abs=0.01)
    assert found["black"] == pytest.approx(0.04, abs=0.005)
    assert found["top_dark"] == pytest.approx(0.2 if corner[0] == 0 else 0, abs=0.02)
    assert found["bottom_dark"] == pytest.approx(0.2 if corner[0] == 1 else 0, abs=0.02)


def test_layers_lie_across_and_a_field_is_round() -> None:
    stripes = paper(200, 100, colour=20)
    stripes[10:30] = 220
    found = measures(stripes)
    assert found["log_aspect"] == pytest.approx(np.log(2))
    assert found["layered"] == pytest.approx(1, abs=0.02)
    assert found["band_height"] == pytest.approx(0.2, abs=0.02)
    assert found["rows_varied"] > 0.3 > 0.001 > found["columns_varied"]
    assert found["edges_across"] > 0.01 > found["edges_down"]
    turned = measures(np.ascontiguousarray(stripes.transpose(1, 0, 2)))
    assert turned["layered"] == pytest.approx(-1, abs=0.02)
    assert turned["log_aspect"] == pytest.approx(-np.log(2))
    assert turned["edges_down"] == pytest.approx(found["edges_across"])
    assert turned["edges"] == pytest.approx(found["edges"], abs=0.002)
    assert measures(fundus())["round_field"] > 0.9
    hole = paper(100, 100)
    cv2.circle(hole, (50, 50), 40, (0, 0, 0), -1)
    assert measures(hole)["round_field"] < -0.9


def test_shares_and_means_of_two_colours() -> None:
    picture = paper(100, 100, colour=0)
    picture[:70] = (200, 150, 50)
    found = measures(picture)
    assert found["top_colour"] == pytest.approx(0.7, abs=0.02)
    assert found["second_colour"] == pytest.approx(0.3, abs=0.02)
    assert found["red_over_green"] == pytest.approx(50 / 255, abs=0.01)
    assert found["green_over_blue"] == pytest.approx(100 / 255, abs=0.01)
    assert found["warm"] == pytest.approx(1, abs=0.02), "of what is lit"
    assert found["white"] == 0
    grey = paper(100, 100, colour=255)
    grey[:40] = 0
    found = measures(grey)
    assert found["median"] == 1
    assert found["white"] == pytest.approx(0.6, abs=0.02)
    assert found["contrast"] == pytest.approx(np.sqrt(0.24), abs=0.01)
    assert measures(photograph(100, 100))["fine"] < measures(oct_scan(100, 100))["fine"]
