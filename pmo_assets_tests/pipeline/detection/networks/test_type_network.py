"""The shipped image type network through ONNX Runtime."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.detection.image_types.decision import type_shares_of
from pmo_assets.pipeline.detection.networks import type_network
from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
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


def session_of(side: object, modalities: object) -> SimpleNamespace:
    """A session of a network for pictures of this side that answers with so many shares."""
    pixels = SimpleNamespace(name="pixels", shape=["n", side, side, 3])
    other = SimpleNamespace(name="features", shape=["n", 1280])
    shares = SimpleNamespace(name="shares", shape=["n", modalities])
    return SimpleNamespace(get_inputs=lambda: [pixels], get_outputs=lambda: [other, shares])


@pytest.mark.parametrize(
    ("side", "modalities"), [(TYPE_SIDE, len(MODALITIES) - 1), (TYPE_SIDE, len(MODALITIES) + 1), (224, len(MODALITIES))]
)
def test_networks_of_other_modalities_are_refused_before_any_picture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, side: int, modalities: int
) -> None:
    """Every picture would fail by itself, or be called by the wrong name."""
    monkeypatch.setattr(type_network, "onnx_session", lambda *_: session_of(side, modalities))
    with pytest.raises(
        SystemicError, match=r"own\.onnx is no image type network of this version.*pmo train image-type"
    ):
        OnnxTypeNetwork(tmp_path / "own.onnx").load()


def test_sizes_that_a_file_leaves_open_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session: Any = session_of("side", None)
    monkeypatch.setattr(type_network, "onnx_session", lambda *_: session)
    assert OnnxTypeNetwork(tmp_path / "own.onnx").load() is session
