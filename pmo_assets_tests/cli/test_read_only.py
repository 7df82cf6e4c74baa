"""A data root on a read-only disk: what only reads, reads; what writes says that it cannot, and what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pmo_assets.records.packages import PackageFile, PackageListing
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import holder_of, take
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.cli.command_line import command, environment
from pmo_assets_tests.disks import on_read_only, skip_without_mounts


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data root with a batch, one of which a killed command wrote the claim alone, and a lease that is held."""
    skip_without_mounts()
    root = DataRoot(str(tmp_path / "data"))
    for number in (1, 2):
        file = PackageFile("pdf", f"{number}.pdf", 1, f"{number:064d}", None)
        listing = PackageListing(
            article_id=number, name=f"PMC{number}", version=1, digest=f"{number:064d}", license_code="CC BY",
            is_retracted=False, title=None, citation=None, files=(file,), problems=(),
        )  # fmt: skip
        ((batch, _),) = BatchRegistry(root).add_listings("file:///x", [listing], 10)
    root.delete(f"manifests/{batch}.parquet")
    take(root, "batches/0001-aaaaaaaa", "a run elsewhere").give_back(between_processes=True)
    return tmp_path / "data"


def on_a_read_only_root(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**environment(data.parent), "PMO_DAGSTER_HOME": "", "COLUMNS": "300"}
    env = {name: value for name, value in env.items() if value}
    return subprocess.run(
        on_read_only(data, command(*arguments)), env=env, cwd=data.parent, capture_output=True, text=True, check=False
    )


@pytest.mark.slow  # a process
def test_batches_are_listed(data: Path) -> None:
    """It failed on the lock file of the Dagster home."""
    done = on_a_read_only_root(data, "batches", "list")
    assert done.returncode == 0, done.stderr
    _, listed = (line.split() for line in done.stdout.splitlines())
    assert listed[0].startswith("0001-"), "what a killed command left unwritten waits for a disk that can be written"
    assert listed[1] == "1"


@pytest.mark.slow
def test_what_writes_says_what_to_do(data: Path) -> None:
    done = on_a_read_only_root(data, "home")
    assert done.returncode == 1
    assert "is on a read-only disk: this command writes there; set PMO_DATA_ROOT or PMO_DAGSTER_HOME" in done.stderr
    assert len(done.stderr.splitlines()) == 1


QUESTION = """
import sys
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import held_below
print(held_below(DataRoot(sys.argv[1])))
"""


def test_who_holds_a_lease_is_told(data: Path) -> None:
    """How old the lease is, is a question to the disk's clock, for which a file is written where that can be done."""
    said = subprocess.run(
        on_read_only(data, [sys.executable, "-c", QUESTION, str(data)]), capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "['batches/0001-aaaaaaaa']"
    assert holder_of(DataRoot(str(data)), "batches/0001-aaaaaaaa") is not None
