"""The shipped image type network through ONNX Runtime."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from pmo_assets.pipeline.detection.image_types.decision import type_shares_of
from pmo_assets.pipeline.detection.networks.onnx_detectors import shipped_weights
from pmo_assets.pipeline.detection.networks.type_input import LOOKED_AT, TYPE_SIDE, reduced_picture, type_input
from pmo_assets.pipeline.detection.networks.type_network import TYPES_FILE, OnnxTypeNetwork
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES
from pmo_assets.records.stores import SystemicError
from pmo_assets_tests.pipeline.detection.drawing import fundus, oct_scan, paper, plot


def drawn_plot() -> np.ndarray:
    figure = paper(420, 380)
    plot(figure, 10, 10, 400, 360)
    return figure


@pytest.mark.parametrize("size", [(12, 12), (3000, 40), (40, 3000), (160, 160)])
def test_every_picture_is_brought_to_one_size(size: tuple[int, int]) -> None:
    assert type_input(np.full((*size, 3), 77, np.uint8)).shape == (TYPE_SIDE, TYPE_SIDE, 3)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((1600, 1200), (LOOKED_AT, 240)),
        ((4000, 200), (3200, TYPE_SIDE)),
        ((200, 100), (200, 100)),
        ((3000, 30), (3000, 30)),
        ((0, 40), (0, 40)),
    ],
)
def test_large_pictures_are_reduced_once_and_strips_keep_what_they_have(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert reduced_picture(np.zeros((*size, 3), np.uint8)).shape[:2] == expected


def test_pictures_in_batches_get_what_they_get_alone() -> None:
    pictures = [fundus(), oct_scan(), drawn_plot(), fundus()[:100]]
    together = OnnxTypeNetwork(batch_size=3)(pictures)
    for picture, shares in zip(pictures, together, strict=True):
        assert shares.shape == (len(MODALITIES),)
        assert float(shares.sum()) == pytest.approx(1, abs=1e-4)
        assert shares == pytest.approx(OnnxTypeNetwork()([picture])[0], abs=1e-4)


def test_plain_cases_are_right() -> None:
    shares = [type_shares_of(s) for s in OnnxTypeNetwork()([oct_scan(), drawn_plot()])]
    assert [IMAGE_TYPES[int(s.argmax())] for s in shares] == ["OCT", "Other"]


def test_own_weights_take_the_place_of_the_packages(tmp_path: Path) -> None:
    own = tmp_path / "own.onnx"
    shutil.copyfile(shipped_weights(TYPES_FILE), own)
    assert OnnxTypeNetwork(own)([fundus()])[0] == pytest.approx(OnnxTypeNetwork()([fundus()])[0])
    with pytest.raises(SystemicError, match=r"absent\.onnx"):
        OnnxTypeNetwork(tmp_path / "absent.onnx")([fundus()])
    with pytest.raises(SystemicError, match="not the expected network"):
        OnnxTypeNetwork(shipped_weights("figure_detector.onnx"))([fundus()])
