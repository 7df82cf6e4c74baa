"""One thread for PyTorch: networks this small are slowed down by a second one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pmo_assets_tests.encoders.tiny import write_tiny_encoder
from pmo_assets_tests.loading.small_release import write_release


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that open_clip loads, with random weights."""
    pytest.importorskip("open_clip", reason="open_clip is in the extra `encoders` (make test-models)")
    return write_tiny_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture(scope="session")
def pairs_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a small release: figures, panels and regions with their texts."""
    root = tmp_path_factory.mktemp("release")
    write_release(root, articles=10)
    return root
