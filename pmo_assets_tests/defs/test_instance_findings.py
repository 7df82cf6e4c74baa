"""The Dagster home as `pmo doctor` sees it: new, whole, of another version, with another configuration."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
import yaml

from pmo_assets.configuration.findings import checked
from pmo_assets.defs.instance_findings import instance_findings
from pmo_assets.defs.runner import dagster_home
from pmo_assets.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return Settings(dagster_home=tmp_path / "home")


def test_a_home_that_is_not_there_yet_is_not_made(settings: Settings, tmp_path: Path) -> None:
    assert [item.state for item in instance_findings(settings)] == ["ok"]
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
def test_a_whole_home_is_well_and_one_without_pools_is_named(settings: Settings) -> None:
    home = dagster_home(settings)
    assert [item.state for item in instance_findings(settings)] == ["ok", "ok"]
    config = yaml.safe_load((home / "dagster.yaml").read_text())
    del config["concurrency"], config["run_monitoring"]
    (home / "dagster.yaml").write_text(yaml.safe_dump(config))
    _, finding = instance_findings(settings)
    assert finding.state == "warn"
    assert "lacks concurrency.pools, run_monitoring, concurrency.runs.tag_concurrency_limits" in finding.found


def test_databases_of_another_version_are_said_with_the_command_that_migrates(settings: Settings) -> None:
    home = dagster_home(settings)
    with contextlib.closing(sqlite3.connect(home / "history" / "runs.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9f5ea1e21d9e'")
    (finding, *_) = checked("Dagster instance", lambda: instance_findings(settings))
    assert finding.state == "fail"
    assert "dagster instance migrate" in finding.mend
