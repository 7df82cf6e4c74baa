"""Batches shrink until they fit into memory, with the errors that ONNX Runtime really raises."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

from pmo_assets.pipeline.detection.networks.memory_batches import (
    DeviceMemoryExhausted,
    MemoryBatches,
    batch_size_for,
    loading,
)
from pmo_assets.pipeline.detection.networks.retinanet_config import CheckpointError
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError

ARENA = (
    "[ONNXRuntimeError] : 1 : FAIL : bfc_arena.cc:360 Failed to allocate memory for requested buffer of size 28311552"
)


class Machine:
    """Doubles numbers, up to `room` at once; beyond, it fails as ONNX Runtime does."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.batches: list[int] = []

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.batches.append(len(items))
        if len(items) > self.room:
            raise Fail(ARENA)
        return [2 * item for item in items]


@given(st.integers(0, 40), st.integers(1, 20), st.integers(1, 20))
def test_every_item_is_answered_once_and_in_order(count: int, size: int, room: int) -> None:
    machine = Machine(room)
    assert MemoryBatches(lambda: size)(range(count), machine) == [2 * k for k in range(count)]


def test_the_size_is_halved_until_it_fits_and_stays_so() -> None:
    batches, machine = MemoryBatches(lambda: 8), Machine(3)
    batches(range(5), machine)
    assert machine.batches == [5, 2, 2, 1]
    machine.batches.clear()
    batches(range(5), machine)
    assert machine.batches == [2, 2, 1]


def test_cached_memory_is_given_back_before_the_next_try() -> None:
    released: list[int] = []
    batches, machine = MemoryBatches(lambda: 4, release=lambda: released.append(1)), Machine(1)
    batches(range(2), machine)
    assert len(released) == 1
    batches(range(2), machine)
    assert len(released) == 1


def test_what_does_not_fit_alone_is_raised() -> None:
    with pytest.raises(MemoryError, match="bfc_arena") as caught:
        MemoryBatches(lambda: 8)([1, 2], Machine(0))
    assert isinstance(caught.value.__cause__, Fail)
    with pytest.raises(DeviceMemoryExhausted, match="PMO_DETECTOR_WORKERS"):
        MemoryBatches(lambda: 8, "cuda")([1, 2], Machine(0))


def test_what_is_systemic_is_not_repeated_whatever_its_words() -> None:
    calls = []

    def run(items: Sequence[int]) -> list[int]:
        calls.append(len(items))
        raise SystemicError("CUDA out of memory while loading")

    with pytest.raises(SystemicError):
        MemoryBatches(lambda: 8, "cuda")([1, 2, 3], run)
    assert calls == [3]


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'pkg_resources'"),
        OSError("libcudart.so.12: cannot open shared object file"),
        KeyError(101),
        ArticleError("an article's"),
    ],
)
def test_whatever_goes_wrong_while_loading_is_systemic(error: Exception) -> None:
    with (
        pytest.raises(
            SystemicError, match=f"the network cannot be loaded .{type(error).__name__}.*: mend it"
        ) as caught,
        loading("the network", mend="mend it"),
    ):
        raise error
    assert caught.value.__cause__ is error


def test_memory_that_does_not_suffice_for_loading_is_the_workers_or_the_gpus() -> None:
    with pytest.raises(MemoryError, match="to load the network"), loading("the network"):
        raise Fail(ARENA)
    with pytest.raises(SystemicError, match="PMO_DETECTOR_WORKERS"), loading("the network", "cuda"):
        raise RuntimeError("CUDA error: out of memory")
    with pytest.raises(CheckpointError, match="as it is"), loading("the network"):
        raise CheckpointError("as it is")


def test_errors_that_have_nothing_to_do_with_memory_are_not_repeated() -> None:
    calls = []

    def run(items: Sequence[int]) -> list[int]:
        calls.append(len(items))
        raise Fail("no kernel")

    with pytest.raises(Fail, match="no kernel"):
        MemoryBatches(lambda: 8)([1, 2, 3], run)
    assert calls == [3]


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for nvidia-smi is a shell script")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [("echo 4096", 4), ("echo 999999", 16), ("echo 10", 1), ("echo '[N/A]'", 8), ("exit 9", 8)],
)
def test_a_gpus_free_memory_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, expected: int
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f'#!/bin/sh\n[ "$1" = --id=3 ] || exit 1\n{answer}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,4")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert batch_size_for("cuda", 256 * 2**20, 8) == expected, "a quarter of the free memory, 256 MiB each"
    assert batch_size_for("cpu", 256 * 2**20, 8) == 8


LIMITED = """
import json, resource, sys
import numpy as np
from pmo_assets.records.detections import FigureView
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork

rng = np.random.default_rng(0)
views = [FigureView(rng.integers(0, 256, (400, 400, 3), dtype=np.uint8)) for _ in range(32)]
network = FigureNetwork(batch_size=32)
network([FigureView(np.zeros((400, 400, 3), np.uint8))])
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
limit = int(status["VmSize"].split()[0]) * 1024 + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
boxes = network(views)
print(json.dumps([network.batches.size, [float(b.scores["image"].sum()) for b in boxes]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited and measured as on Linux")
@pytest.mark.slow
def test_the_shipped_network_works_with_less_memory_in_smaller_batches() -> None:
    def answer(megabytes: int) -> tuple[int, list[float]]:
        command = [sys.executable, "-c", LIMITED, str(megabytes)]
        size, scores = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return size, scores

    size, scores = answer(60)
    assert 1 <= size < 32
    whole, expected = answer(2000)
    assert whole == 32
    assert scores == pytest.approx(expected, abs=1e-4)
