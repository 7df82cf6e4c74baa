"""A folder as it goes to the hub, for the tests of what lies in it; and `datasets` without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.release.facts import ReleaseFacts
from pmo_assets_tests.release.hub_folder import write_hub_folder


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ReleaseFacts]:
    """A folder, only to be read, and what it says of itself."""
    folder = tmp_path_factory.mktemp("hub") / "hub"
    return folder, write_hub_folder(folder)


@pytest.fixture
def hub_folder(written: tuple[Path, ReleaseFacts]) -> Path:
    """A folder, only to be read."""
    return written[0]


@pytest.fixture
def facts(written: tuple[Path, ReleaseFacts]) -> ReleaseFacts:
    """What that folder says of itself."""
    return written[1]


@pytest.fixture
def offline_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`datasets` as with HF_HUB_OFFLINE=1 and a cache of its own; both are read when it is imported."""
    datasets = pytest.importorskip("datasets")
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
