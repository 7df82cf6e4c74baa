"""Commands that register at the same time, or are killed: every article version once, every sequence number once."""

from __future__ import annotations

import collections
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import sequence_of
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.examples import examples

ADD = """
import os, sys, time
from pathlib import Path
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
root, endpoint, source, barrier, number, killed = sys.argv[1:]
if killed == "killed":
    DataRoot.write = lambda self, key, content: os._exit(9)  # the claim is there, the manifest is not
registry = BatchRegistry(DataRoot(root, endpoint or None))
registry.batches()
(Path(barrier) / number).touch()
while not (Path(barrier) / "go").exists():
    time.sleep(0.001)
for key, count in registry.add(LocalFolder(Path(source)), size=2):
    print(key, count)
"""


def write_source(folder: Path, numbers: range | list[int]) -> Path:
    for number in numbers:
        package = folder / f"PMC{number}"
        package.mkdir(parents=True)
        (package / "article.pdf").write_bytes(f"%PDF {number}".encode())
    return folder


def add_together(root: DataRoot, sources: list[Path], barrier: Path, killed: int = 0) -> list[list[str]]:
    """Register the sources by as many processes at once, the first of them killed; return the keys each one made."""
    barrier.mkdir()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, root.root, root.endpoint or "", str(source), str(barrier), str(number),
             "killed" if number < killed else ""],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number, source in enumerate(sources)
    ]  # fmt: skip
    while len(list(barrier.iterdir())) < len(processes):
        assert all(process.poll() is None for process in processes), [p.communicate() for p in processes if p.poll()]
    (barrier / "go").touch()
    outputs = [process.communicate(timeout=120) for process in processes]
    codes = [process.returncode for process in processes]
    assert codes == [9] * killed + [0] * (len(processes) - killed), [error for _, error in outputs]
    return [[line.split()[0] for line in output.splitlines()] for output, _ in outputs]


def must_be_sound(registry: BatchRegistry, articles: set[int]) -> None:
    keys = registry.batches()
    assert [sequence_of(key) for key in keys] == list(range(1, len(keys) + 1)), "every place is taken once"
    held = collections.Counter(article for key in keys for article in registry.manifest(key)["article_id"])
    assert held == dict.fromkeys(articles, 1), "every article is registered once"
    assert registry.batches() == keys
    assert set(registry.data_root.keys("manifests")) == {f"{key}.parquet" for key in keys}


@pytest.mark.slow  # processes; make test-leases runs them too
def test_adds_of_one_source_at_the_same_time(data_root: DataRoot, tmp_path: Path) -> None:
    source = write_source(tmp_path / "source", range(1, 8))
    made = add_together(data_root, [source] * 3, tmp_path / "barrier")
    registry = BatchRegistry(data_root)
    must_be_sound(registry, set(range(1, 8)))
    assert sorted(key for keys in made for key in keys) == registry.batches(), "each batch is one command's"


@pytest.mark.slow  # processes
def test_adds_of_several_sources_at_the_same_time_with_one_killed(data_root: DataRoot, tmp_path: Path) -> None:
    sources = [write_source(tmp_path / f"source{n}", range(10 * n + 1, 10 * n + 6)) for n in range(3)]
    add_together(data_root, sources, tmp_path / "barrier", killed=1)
    registry = BatchRegistry(data_root)
    registry.add(LocalFolder(sources[0]), size=2)
    must_be_sound(registry, {10 * n + k for n in range(3) for k in range(1, 6)})


@pytest.mark.slow
def test_a_claim_without_its_manifest_is_completed_by_whoever_looks(data_root: DataRoot, tmp_path: Path) -> None:
    source = write_source(tmp_path / "source", range(1, 3))
    add_together(data_root, [source], tmp_path / "barrier", killed=1)
    registry = BatchRegistry(data_root)
    assert data_root.keys("claims") == ["0001.parquet"]
    assert data_root.keys("manifests") == []
    (key,) = registry.batches()
    assert registry.manifest(key)["article_id"].to_list() == [1, 2]
    assert registry.add(LocalFolder(source), size=2) == []


def test_a_data_root_from_before_claims_goes_on(data_root: DataRoot, tmp_path: Path) -> None:
    import polars as pl

    from pmo_assets.storage.parquet import parquet_bytes

    source = write_source(tmp_path / "source", [1, 2])
    registry = BatchRegistry(data_root)
    ((key, _),) = registry.add(LocalFolder(source), size=9)
    old = registry.manifest(key).drop("problems", "license_unknown", "doi", "is_manuscript")
    data_root.write(f"manifests/{key}.parquet", parquet_bytes(old))
    data_root.delete("claims/0001.parquet")
    write_source(source, [3])
    ((second, _),) = registry.add(LocalFolder(source), size=9)
    assert sequence_of(second) == 2
    must_be_sound(registry, {1, 2, 3})
    assert registry.manifest(key)["license_unknown"].to_list() == [False, False]
    assert registry.manifest(key)["doi"].to_list() == registry.manifest(key)["is_manuscript"].to_list() == [None, None]
    assert registry.manifest(key)["problems"].dtype == pl.List(
        pl.Struct({"path": pl.String, "error_class": pl.String, "message": pl.String})
    )


class Killed(BaseException):
    """Stands for SIGKILL in the schedules below."""


@dataclass(frozen=True)
class Interrupted(DataRoot):
    """A data root at which others register, or the process dies, just before or after a place is taken."""

    events: list[str] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)

    def create(self, key: str, content: bytes) -> bool:
        event = self.events.pop(0) if self.events else ""
        if event == "other" and self.others:
            BatchRegistry(DataRoot(self.root)).add(LocalFolder(self.others.pop()), size=2)
        if event == "die before":
            raise Killed
        taken = super().create(key, content)
        if event == "die after":
            raise Killed
        return taken


@pytest.mark.slow
@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(
    commands=st.lists(
        st.tuples(
            st.sampled_from(["all", "even", "odd"]),
            st.integers(1, 4),
            st.lists(st.sampled_from(["", "other", "die before", "die after"]), max_size=4),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_the_schedule_each_article_is_registered_once(commands: list[tuple[str, int, list[str]]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        chosen = {"all": [*range(1, 7)], "even": [2, 4, 6], "odd": [1, 3, 5]}
        sources = {name: write_source(folder / name, numbers) for name, numbers in chosen.items()}
        for name, size, events in commands:
            others = [sources["even"], sources["odd"], sources["all"]]
            root = Interrupted(str(folder / "data"), events=list(events), others=others)
            try:
                BatchRegistry(root).add(LocalFolder(sources[name]), size)
            except Killed:
                continue
        registry = BatchRegistry(DataRoot(str(folder / "data")))
        registry.add(LocalFolder(sources["all"]), size=3)
        must_be_sound(registry, set(chosen["all"]))


def test_a_damaged_claim_is_named(tmp_path: Path) -> None:
    from pmo_assets.records.stores import StorageError

    root = DataRoot(str(tmp_path))
    root.create("claims/0001.parquet", b"not Parquet")
    with pytest.raises(StorageError, match=r"0001\.parquet is damaged.*register"):
        BatchRegistry(root).batches()
