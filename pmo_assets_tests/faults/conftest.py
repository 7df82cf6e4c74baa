"""Sound articles that hostile ones are made from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pmo_assets_tests.faults.material import sound_packages


@pytest.fixture(scope="session")
def fault_sources(sample_folder: Path) -> list[str]:
    """Folders of sample articles, and of a few small real ones where they are at hand."""
    found = sound_packages(sample_folder / "articles")
    shared = Path(os.environ.get("PMO_CORPUS") or Path(__file__).resolve().parents[3] / "shared")
    if (shared / "corpus").is_dir():
        found += sound_packages(shared / "corpus", limit=4)
    return found
