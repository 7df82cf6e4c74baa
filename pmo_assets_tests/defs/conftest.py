"""The sample articles taken through the whole graph once, by Dagster itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa

from pmo_assets.definitions import build_defs
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.settings import Settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables


@dataclass
class Graph:
    """A data root that holds what the graph made, and the instance that knows how."""

    settings: Settings
    defs: dg.Definitions
    instance: dg.DagsterInstance
    registry: BatchRegistry
    tables: Tables
    batches: list[str]
    truth: Path


def settings_below(folder: Path, **options: object) -> Settings:
    """Return settings whose data root and instance lie below a folder."""
    return Settings(data_root=str(folder / "data"), dagster_home=folder / "dagster", workers=1, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def graph(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """All sample articles in two batches, every asset materialised."""
    settings = settings_below(tmp_path_factory.mktemp("graph"), specialty="ophthalmology")
    defs = build_defs(settings)
    registry = BatchRegistry(DataRoot(settings.data_root))
    added = registry.add(LocalFolder(sample_folder / "articles"), size=14)
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, registry.batches())
        for batch in registry.batches():
            run_job(defs, instance, "process_batch", batch=batch)
        run_job(defs, instance, "release")
        yield Graph(
            settings,
            defs,
            instance,
            registry,
            Tables(registry.data_root),
            [key for key, _ in added],
            sample_folder / "truth",
        )


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect what is asked of databases."""
    asked: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        asked.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
