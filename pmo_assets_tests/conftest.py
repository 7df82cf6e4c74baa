"""Where tests find the real articles, and the sample articles that several of them share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Folder with `corpus/`, `annotations/`, …: `PMO_CORPUS`, else `shared` beside the checkout; skips if absent."""
    folder = Path(os.environ.get("PMO_CORPUS") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "corpus").is_dir():
        pytest.skip(f"the real articles are not at {folder}: set PMO_CORPUS to the folder that holds corpus/")
    return folder


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The standard sample articles: `articles/` and `truth/`."""
    from pmo_assets.pipeline.sample import write_sample_articles

    folder = tmp_path_factory.mktemp("samples")
    write_sample_articles(folder)
    return folder
