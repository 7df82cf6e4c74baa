"""Data for the tests of training."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Networks this small are slowed down by a second thread, far more so where something else runs."""
    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with six synthetic figures for training and six for validation."""
    from pmo_assets.training.data import training_data

    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_data, "SHARD_SIZE", 6)
        for split in ("train", "validation"):
            list(training_data.write_synthetic_shards(folder, split, 6, [], None))  # type: ignore[arg-type]
    return folder
