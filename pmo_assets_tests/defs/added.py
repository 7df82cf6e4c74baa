"""Folders of modules that stand where they would stand in the package, added to its packages for a while."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

import pmo_assets.defs.assets
import pmo_assets.pipeline
import pmo_assets.tables
from pmo_assets.pipeline.graph import declared_stages
from pmo_assets.tables.release import holdings, hub_table, joined_columns, release_tables
from pmo_assets.tables.schemas import table_schemas

PACKAGES: tuple[ModuleType, ...] = (pmo_assets.tables, pmo_assets.pipeline, pmo_assets.defs.assets)


def written_lines(folder: Path) -> int:
    """Return how many lines below a folder are not empty."""
    written = [path.read_text(encoding="utf-8").splitlines() for path in folder.rglob("*.py")]
    return sum(1 for lines in written for line in lines if line.strip())


@contextmanager
def added(folder: Path) -> Iterator[None]:
    """Add the folders of `folder` to the package, in this process: other processes do not see them."""
    names = {path.stem for path in folder.rglob("*") if path.suffix == ".py" or path.is_dir()}
    known = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        for package in PACKAGES:
            own = folder.joinpath(*package.__name__.split(".")[1:])
            patch.setattr(package, "__path__", [*package.__path__, str(own)])
        _forget()
        try:
            yield
        finally:
            _forget()
            for name in set(sys.modules) - known:
                if names.intersection(name.split(".")) and name.startswith("pmo_assets."):
                    del sys.modules[name]


def _forget() -> None:
    for kept in (table_schemas, declared_stages, joined_columns, hub_table, release_tables, holdings):
        kept.cache_clear()
