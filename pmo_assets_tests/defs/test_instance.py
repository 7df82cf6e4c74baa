"""A Dagster home is made once, however many commands begin on it; one that was made badly is mended or explained."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from filelock import FileLock

from pmo_assets.defs import instance as home_module
from pmo_assets.defs.instance import DATABASES, LOCK_NAME, opened_home
from pmo_assets.records.stores import SystemicError

BEGIN_TOGETHER = """
import sys, time
from pathlib import Path
from pmo_assets.defs.instance import opened_home
from pmo_assets.defs.partitions import register_partitions
home, barrier, number = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
(barrier / number).touch()
while not (barrier / "go").exists():
    time.sleep(0.001)
with opened_home(home) as instance:
    register_partitions(instance, [f"000{number}-aa"])
"""

OLDER = "5771160a95ad"
"""The revision that a process stamps which finds the tables of another one made and not stamped yet."""


def revisions(home: Path, name: str) -> list[str]:
    with sqlite3.connect(home / name) as connection:
        return [row[0] for row in connection.execute("SELECT version_num FROM alembic_version")]


def partitions(home: Path) -> set[str]:
    with opened_home(home) as instance:
        return set(instance.get_dynamic_partitions("article_batch"))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home as it is made; copy it before changing it."""
    home = tmp_path_factory.mktemp("fresh") / "home"
    with opened_home(home) as instance:
        instance.add_dynamic_partitions("article_batch", ["0001-aa"])
    return home


@pytest.fixture
def home(fresh: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fresh, tmp_path / "home"))


@pytest.mark.slow
def test_processes_that_begin_together_on_a_fresh_home_all_succeed(tmp_path: Path) -> None:
    home, barrier = tmp_path / "home", tmp_path / "barrier"
    barrier.mkdir()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", BEGIN_TOGETHER, str(home), str(barrier), str(number)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    while len(list(barrier.iterdir())) < len(processes):
        assert all(process.poll() is None for process in processes), "one ended before it could begin"
    (barrier / "go").touch()
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert [len(revisions(home, name)) for name in DATABASES] == [1, 1, 1]
    assert partitions(home) == {f"000{number}-aa" for number in range(4)}


def test_all_databases_exist_when_the_lock_is_released(fresh: Path) -> None:
    assert all((fresh / name).is_file() for name in DATABASES)
    assert "telemetry" in (fresh / "dagster.yaml").read_text()


@pytest.mark.parametrize("name", DATABASES)
def test_two_revisions_of_one_schema_are_mended_and_nothing_is_lost(home: Path, name: str) -> None:
    (newest,) = revisions(home, name)
    with sqlite3.connect(home / name) as connection:
        connection.execute("INSERT INTO alembic_version VALUES (?)", (OLDER,))
    with pytest.raises(Exception, match="more than one head"), dg.DagsterInstance.from_config(str(home)) as instance:
        instance.get_dynamic_partitions("article_batch")
    assert partitions(home) == {"0001-aa"}
    assert revisions(home, name) == [newest]


def test_tables_that_were_not_made_yet_are_made(home: Path) -> None:
    with sqlite3.connect(home / DATABASES[1]) as connection:
        connection.execute("DROP TABLE dynamic_partitions")
    assert partitions(home) == set()


@pytest.mark.parametrize(
    "damage",
    [
        "INSERT INTO alembic_version VALUES ('of the future')",
        f"UPDATE alembic_version SET version_num = '{OLDER}'; INSERT INTO alembic_version VALUES ('4e1b5f2b9a07')",
        "ALTER TABLE run_tags DROP COLUMN value",
    ],
)
def test_what_cannot_be_mended_says_what_to_delete_and_what_that_costs(home: Path, damage: str) -> None:
    with sqlite3.connect(home / DATABASES[0]) as connection:
        connection.execute("DROP INDEX IF EXISTS idx_run_tags")
        for index in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'run_tags'"
        ):
            connection.execute(f'DROP INDEX IF EXISTS "{index[0]}"')
        connection.executescript(damage)
    with pytest.raises(SystemicError, match=r"runs\.db.*delete .*history.*processed again.*stay below the data root"):
        partitions(home)
    shutil.rmtree(home / "history")
    shutil.rmtree(home / "schedules")
    assert partitions(home) == set(), "the advice works"


def test_a_file_that_is_no_database_is_explained(home: Path) -> None:
    (home / DATABASES[2]).write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(SystemicError, match=r"schedules\.db.*delete"):
        partitions(home)


def test_waiting_for_the_lock_says_so_and_ends(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(home_module, "PATIENCE", 0.05)
    monkeypatch.setattr(home_module, "LOCK_TIMEOUT", 0.1)
    with FileLock(home / LOCK_NAME), pytest.raises(SystemicError, match=r"opening\.lock.*delete that file"):
        partitions(home)
    assert "waiting" in capsys.readouterr().err
    assert partitions(home) == {"0001-aa"}


def test_a_busy_database_is_not_taken_for_a_damaged_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout: real(path, timeout=0.1))
    with contextlib.closing(real(home / "history" / "runs.db", isolation_level=None)) as other:
        other.execute("INSERT INTO alembic_version VALUES (?)", (OLDER,))  # what needs mending needs writing
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SystemicError, match=r"locked.*run again") as caught, opened_home(home):
            pass
    assert "delete" not in str(caught.value)


def test_opening_a_sound_home_needs_no_right_to_write_its_databases(home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / "history" / "runs.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with opened_home(home):
            pass
