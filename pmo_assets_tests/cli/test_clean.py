"""`pmo clean` shows what can go, and deletes only when it is told to."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import holding
from pmo_assets_tests.cli.command_line import Pmo


@pytest.mark.slow
def test_it_shows_first_and_deletes_when_told_to(pmo: Pmo, tmp_path: Path) -> None:
    data = tmp_path / "data"
    old, young = data / "objects" / "ab" / ".x.pdf.1-host-1.part", data / "tables" / "panels" / "0009-aaaaaaaa.parquet"
    for file in (old, young):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x" * 2_000_000)
    day_before = time.time() - 2 * 86_400
    os.utime(old, (day_before, day_before))

    shown = pmo("clean", PMO_DATA_ROOT=str(data))
    assert shown.returncode == 0, shown.stderr
    assert "half-written files" in shown.stdout
    assert "2.0 MB could go" in shown.stdout
    assert old.exists()

    deleted = pmo("clean", "--yes", PMO_DATA_ROOT=str(data))
    assert "deleted: 2.0 MB" in deleted.stdout
    assert not old.exists()
    assert young.exists(), "a run may be about to need what is younger than a day"
    assert "nothing to delete" in pmo("clean", "--yes", PMO_DATA_ROOT=str(data)).stdout


@pytest.mark.slow
def test_objects_wait_while_anybody_writes_below_the_data_root(pmo: Pmo, tmp_path: Path) -> None:
    data = tmp_path / "data"
    unused = data / "objects" / "ab" / ("ab" * 32 + ".pdf")
    unused.parent.mkdir(parents=True)
    unused.write_bytes(b"x" * 2_000_000)
    day_before = time.time() - 2 * 86_400
    os.utime(unused, (day_before, day_before))

    with holding(DataRoot(str(data)), "batches/0001-aaaaaaaa", "another machine's run"):
        waiting = pmo("clean", "--yes", PMO_DATA_ROOT=str(data))
    assert "objects are left alone: 1 run is at work" in waiting.stderr
    assert unused.exists()
    assert "deleted: 2.0 MB" in pmo("clean", "--yes", PMO_DATA_ROOT=str(data)).stdout
    assert not unused.exists()
