"""A small release that the tests of this room read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pmo_assets
from pmo_assets.loading import Release
from pmo_assets_tests.loading.small_release import write_release


@dataclass(frozen=True)
class Written:
    """A release on disk and what was written."""

    data_root: Path
    rows: dict[str, list[dict[str, Any]]]

    @property
    def hub(self) -> Path:
        return self.data_root / "release" / "hub"


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    data_root = tmp_path_factory.mktemp("data")
    return Written(data_root, write_release(data_root))


@pytest.fixture
def release(written: Written) -> Release:
    return pmo_assets.load(written.data_root)
