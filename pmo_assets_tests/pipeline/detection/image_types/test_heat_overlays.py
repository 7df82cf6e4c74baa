"""Heat maps over pictures: the picture under the map is told, a map over nothing is not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.detection.image_types.heat_overlays import (
    detail_under,
    is_colour_under,
    is_heat_map,
    shares_under,
)
from pmo_assets.records.modalities import MODALITIES
from pmo_assets.samples.drawing import Pixels

SIDE = 200


def grey_scan(seed: int = 0) -> Pixels:
    rng = np.random.default_rng(seed)
    grey = np.clip(rng.normal(110, 35, (SIDE, SIDE)), 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def colour_photograph(seed: int = 0) -> Pixels:
    rng = np.random.default_rng(seed)
    detail = cv2.GaussianBlur(rng.normal(0, 1, (SIDE, SIDE)).astype(np.float32), (0, 0), 1) * 40
    ground = np.asarray([190, 90, 50], np.float32)
    return np.clip(ground + detail[:, :, None] * np.asarray([0.5, 1.2, 0.3]), 0, 255).astype(np.uint8)


def heat() -> Pixels:
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    level = np.exp(-((x - 0.6) ** 2 + (y - 0.4) ** 2) / 0.06)
    return np.asarray(cv2.applyColorMap((255 * level).astype(np.uint8), cv2.COLORMAP_JET)[:, :, ::-1], dtype=np.uint8)


def under(picture: Pixels, share: float = 0.45) -> Pixels:
    return np.clip((1 - share) * picture + share * heat(), 0, 255).astype(np.uint8)


def shares(**known: float) -> np.ndarray:
    names = {name.replace(" ", "_"): k for k, name in enumerate(MODALITIES)}
    result = np.zeros(len(MODALITIES), np.float32)
    for name, value in known.items():
        result[names[name]] = value
    return result


@pytest.mark.parametrize("picture", [grey_scan(), colour_photograph()])
def test_a_map_over_a_picture_is_seen_and_the_picture_alone_is_none(picture: Pixels) -> None:
    assert is_heat_map(under(picture))
    assert not is_heat_map(picture)


@pytest.mark.parametrize("times", [0.25, 4])
def test_a_map_is_seen_in_pictures_of_any_size(times: float) -> None:
    small = cv2.resize(under(grey_scan()), None, fx=times, fy=times, interpolation=cv2.INTER_LINEAR)
    assert is_heat_map(np.asarray(small, dtype=np.uint8))


def test_a_mask_has_no_picture_under_it() -> None:
    mask = np.full((SIDE, SIDE, 3), (68, 1, 84), np.uint8)
    cv2.circle(mask, (100, 100), 60, (253, 231, 37), -1)
    cv2.circle(mask, (60, 100), 30, (200, 30, 30), -1)
    assert not is_heat_map(mask)


def test_the_detail_is_grey_and_follows_the_picture_not_the_map() -> None:
    scan = grey_scan()
    detail = detail_under(under(scan))
    assert (detail[:, :, 0] == detail[:, :, 2]).all()
    small = cv2.resize(scan, (detail.shape[1], detail.shape[0]), interpolation=cv2.INTER_AREA)
    fine = small[:, :, 0].astype(float) - cv2.GaussianBlur(small[:, :, 0].astype(np.float32), (0, 0), 14)
    assert np.corrcoef(detail[:, :, 0].ravel(), fine.ravel())[0, 1] > 0.9


def test_colour_under_a_map_is_told_by_channels_that_differ() -> None:
    assert is_colour_under(under(colour_photograph()))
    assert not is_colour_under(under(grey_scan()))


def test_a_grey_looking_fundus_in_colour_counts_as_a_photograph() -> None:
    told = shares_under(shares(infrared=0.5, adaptive_optics=0.2, plot=0.3), colour=True)
    assert told is not None
    assert told[MODALITIES.index("fundus photograph")] == pytest.approx(0.7)
    assert told.sum() == pytest.approx(1)


def test_detail_that_tells_nothing_leaves_the_decision_as_it_was() -> None:
    assert shares_under(shares(plot=0.6, OCT=0.4), colour=False) is None
    scan = shares(OCT=0.9, plot=0.1)
    assert shares_under(scan, colour=True) is scan
