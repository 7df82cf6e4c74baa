"""The shipped networks through ONNX Runtime, and other files in their place."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
from pmo_assets.pipeline.detection.networks.onnx_detectors import DETECTOR_FILE, FigureNetwork, onnx_session
from pmo_assets.pipeline.detection.networks.onnx_marks import MARKS_FILE, OnnxMarkNetwork
from pmo_assets.records.detections import FigureView
from pmo_assets.records.stores import SystemicError


def pictures() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = ((300, 300, 3), (90, 700, 3), (300, 310, 3), (800, 200, 3), (310, 300, 3))
    return [rng.integers(0, 256, size, dtype=np.uint8) for size in sizes]


def test_figures_in_batches_get_what_they_get_alone() -> None:
    together = FigureNetwork(batch_size=2)([FigureView(p) for p in pictures()])
    for picture, found in zip(pictures(), together, strict=True):
        (alone,) = FigureNetwork()([FigureView(picture)])
        for group in ("panel", "label", "image"):
            assert found.boxes[group] == pytest.approx(alone.boxes[group], abs=1e-5)
            assert found.class_scores[group] == pytest.approx(alone.class_scores[group], abs=1e-5)


def test_a_figure_is_looked_at_once_however_often_its_picture_is_read() -> None:
    network = FigureNetwork()
    first, second = network([FigureView(picture) for picture in pictures()[:2]])
    again = network([FigureView(pictures()[1]), FigureView(pictures()[2]), FigureView(pictures()[0])])
    assert again[0] is second
    assert again[2] is first


def test_the_same_bytes_in_another_shape_are_another_figure() -> None:
    network, picture = FigureNetwork(), pictures()[1]
    (wide,), (tall,) = network([FigureView(picture)]), network([FigureView(picture.reshape(700, 90, 3))])
    assert wide is not tall


def test_own_weights_take_the_place_of_the_packages(tmp_path: Path) -> None:
    own = tmp_path / "own.onnx"
    shutil.copyfile(shipped_weights(MARKS_FILE), own)
    assert OnnxMarkNetwork(own).looks(pictures()) == OnnxMarkNetwork().looks(pictures())
    assert OnnxMarkNetwork(own).looks([]) == []


def test_a_file_that_is_no_network_fails_the_batch_and_says_which(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no network")
    with pytest.raises(SystemicError, match=r"broken\.onnx cannot be loaded"):
        FigureNetwork(broken)([FigureView(pictures()[0])])
    with pytest.raises(SystemicError, match=r"absent\.onnx"):
        OnnxMarkNetwork(tmp_path / "absent.onnx").looks(pictures())


@pytest.fixture
def unloaded() -> Iterator[None]:
    """No session is kept from other tests, nor for them."""
    onnx_session.cache_clear()
    yield
    onnx_session.cache_clear()


@pytest.mark.usefixtures("unloaded")
def test_a_runtime_that_cannot_be_imported_fails_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SystemicError, match="ONNX Runtime cannot be loaded"):
        FigureNetwork()([FigureView(pictures()[0])])
    with pytest.raises(SystemicError, match="ONNX Runtime cannot be loaded"):
        OnnxMarkNetwork().looks(pictures())


@pytest.mark.usefixtures("unloaded")
def test_memory_that_does_not_suffice_for_a_network_is_no_matter_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's limit, not a figure that is too large: the batch is not halved."""
    asked = []

    def session(*_: object, **__: object) -> None:
        asked.append(1)
        raise Fail("bfc_arena.cc:360 Failed to allocate memory for requested buffer of size 28311552")

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    with pytest.raises(MemoryError, match="to load"):
        FigureNetwork(batch_size=2)([FigureView(p) for p in (pictures()[0], pictures()[2])])
    assert asked == [1]
    asked.clear()
    with pytest.raises(MemoryError, match="to load"):
        OnnxMarkNetwork(batch_size=8).looks(pictures())
    assert asked == [1]


def test_one_network_in_the_others_place_is_refused() -> None:
    with pytest.raises(SystemicError, match="not the expected network"):
        FigureNetwork(shipped_weights(MARKS_FILE))([FigureView(pictures()[0])])
    with pytest.raises(SystemicError, match="missing outputs"):
        OnnxMarkNetwork(shipped_weights(DETECTOR_FILE)).looks(pictures())


@pytest.mark.skipif(
    "CUDAExecutionProvider" in onnxruntime.get_available_providers(), reason="this ONNX Runtime can use CUDA"
)
def test_cuda_without_its_provider_says_what_to_install() -> None:
    with pytest.raises(SystemicError, match="onnxruntime-gpu"):
        FigureNetwork(provider="cuda")([FigureView(pictures()[0])])
