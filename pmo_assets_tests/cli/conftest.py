"""Fixtures of the commands' tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo, command, environment


@pytest.fixture
def pmo(tmp_path: Path) -> Pmo:
    def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {**environment(tmp_path), **variables}
        return subprocess.run(
            command(*arguments), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )

    return run


@pytest.fixture(scope="session")
def few_articles(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first six sample articles."""
    folder = tmp_path_factory.mktemp("few")
    for package in sorted((sample_folder / "articles").iterdir())[:6]:
        shutil.copytree(package, folder / package.name)
    return folder
