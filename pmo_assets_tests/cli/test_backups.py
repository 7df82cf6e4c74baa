"""A data root that is lost is restored from a copy that was made while a run was at work, and carried on."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo, command, environment, files_below

pytestmark = pytest.mark.faults

IN_ORDER = ("manifests", "claims", "objects", "tables", "rejections", "pixels", "answers", "release/versions")
"""What docs/operations.md says is to be copied, tables before the pictures that they tell of."""


def copied(data_root: Path, backup: Path) -> list[str]:
    """Copy a data root, folder by folder, and return the tables that are in the copy."""
    for name in IN_ORDER:
        if (data_root / name).exists():
            shutil.copytree(data_root / name, backup / name)
    return sorted(path.parent.name for path in (backup / "tables").rglob("*.parquet"))


@pytest.mark.parametrize("home", ["kept", "lost"])
def test_a_copy_that_was_made_during_a_run_is_carried_on(
    pmo: Pmo, few_articles: Path, tmp_path: Path, home: str
) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    assert pmo("batches", "add", "--source", few_articles).returncode == 0
    running = subprocess.Popen(command("run"), env=environment(tmp_path), cwd=tmp_path)
    while not list((data / "tables").glob("panel_detections/*.parquet")):
        assert running.poll() is None, "it ended before it could be copied"
        time.sleep(0.02)
    known = copied(data, backup)
    assert running.wait(timeout=300) == 0
    assert "panel_detections" in known
    assert "dataset_rows" not in known, "the copy is of the middle of a run"
    made = files_below(data)

    shutil.rmtree(data)
    shutil.copytree(backup, data)
    if home == "lost":
        shutil.rmtree(tmp_path / "dagster")
    restored = pmo("run")
    assert restored.returncode == 0, restored.stderr
    found = files_below(data)
    assert [name for name in {**made, **found} if made.get(name) != found.get(name)] == []
    assert "is up to date" in pmo("run").stderr
