"""One writer per partition, as runs meet it: from the first step to the end, and directly before a table appears."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.run_leases import RELEASE, batch_lease
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.settings import Settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import Lease, holder_of, holding, take
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables


@dataclass
class Room:
    """A batch of one article without content: its manifest can be read, which is enough of a step."""

    instance: dg.DagsterInstance
    root: DataRoot
    batch: str
    settings: Settings

    def run(self, *assets: str, job: str = "process_batch") -> set[str]:
        batch = self.batch if job == "process_batch" else None
        return run_job(build_defs(self.settings), self.instance, job, batch=batch, assets=assets)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    package = tmp_path / "source" / "PMC1"
    package.mkdir(parents=True)
    (package / "article.pdf").write_bytes(b"%PDF")
    settings = Settings(data_root=str(tmp_path / "data"), dagster_home=tmp_path / "home", workers=1)
    registry = BatchRegistry(DataRoot(settings.data_root))
    ((batch, _),) = registry.add(LocalFolder(tmp_path / "source"), size=1)
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, [batch])
        yield Room(instance, registry.data_root, batch, settings)


def elsewhere(action: Callable[[], object]) -> object:
    """Do something without the leases that this test holds: as another process does."""
    return contextvars.Context().run(action)


def test_a_run_whose_batch_another_one_writes_fails_at_once_and_writes_nothing(room: Room) -> None:
    with holding(room.root, batch_lease(room.batch), "`pmo run`"):
        with pytest.raises(
            RunFailed, match=rf"batch {room.batch} is being written by `pmo run`, process \d+ on .*again"
        ):
            elsewhere(lambda: room.run("article_batch"))
        assert not Tables(room.root).exists("article_batch", room.batch)
    assert room.run("article_batch") == {"article_batch"}


def test_a_command_that_holds_the_lease_runs_the_batch(room: Room) -> None:
    with holding(room.root, batch_lease(room.batch)) as lease:
        assert room.run("article_batch", "article_packages") == {"article_batch", "article_packages"}
        lease.renew()


def test_the_lease_is_kept_from_step_to_step_and_free_afterwards(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def read(tables: Tables, *arguments: object) -> object:
        seen.append(holder_of(room.root, batch_lease(room.batch)))
        return original(tables, *arguments)  # type: ignore[arg-type]

    original = Tables.read
    monkeypatch.setattr(Tables, "read", read)
    room.run("article_batch", "article_packages")
    assert seen, "the second step has read the first one's table"
    assert all("(process_batch), process" in str(holder) for holder in seen)
    assert holder_of(room.root, batch_lease(room.batch)) is None


def test_a_run_that_fails_gives_its_lease_back(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def manifest(registry: BatchRegistry, batch: str) -> object:
        raise OSError("the disk is gone")

    monkeypatch.setattr(BatchRegistry, "manifest", manifest)
    with pytest.raises(RunFailed):
        room.run("article_batch")
    assert holder_of(room.root, batch_lease(room.batch)) is None


def test_a_run_that_lost_its_lease_writes_no_table(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody takes the lease over while the step works: its process was stopped for longer than that holds."""
    successors: list[Lease] = []
    original = BatchRegistry.manifest

    def manifest(registry: BatchRegistry, batch: str) -> object:
        name = batch_lease(batch)
        successors.append(take(room.root, name, "the successor", is_over=lambda _: True))
        return original(registry, batch)

    monkeypatch.setattr(BatchRegistry, "manifest", manifest)
    with pytest.raises(RunFailed, match=r"went to the successor.*nothing more is written"):
        room.run("article_batch")
    assert not Tables(room.root).exists("article_batch", room.batch)
    successors[0].renew()
    successors[0].give_back()


def test_two_releases_at_once_are_one(room: Room) -> None:
    with (
        holding(room.root, RELEASE, "`pmo run`"),
        pytest.raises(RunFailed, match="release is being written by `pmo run`"),
    ):
        elsewhere(lambda: room.run("retractions", job="release"))
    assert room.run("retractions", job="release") == {"retractions"}
