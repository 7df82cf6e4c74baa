"""Fixtures of the commands' tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import CODE, Pmo, environment
from pmo_assets_tests.forked import Forking


@pytest.fixture(scope="session")
def loaded() -> Iterator[Forking]:
    """Processes that have the code location loaded, but none of `pmo_assets.cli`."""
    server = Forking("pmo_assets.definitions")
    yield server
    server.close()


@pytest.fixture
def pmo(loaded: Forking, tmp_path: Path) -> Pmo:
    """`pmo` in a folder of the test's own, with the variables that are given besides."""

    def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return loaded.run(CODE, [*map(str, arguments)], env={**environment(tmp_path), **variables}, cwd=tmp_path)

    return run


@pytest.fixture(scope="session")
def few_articles(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first six sample articles."""
    folder = tmp_path_factory.mktemp("few")
    for package in sorted((sample_folder / "articles").iterdir())[:6]:
        shutil.copytree(package, folder / package.name)
    return folder
