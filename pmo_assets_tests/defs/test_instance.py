"""A Dagster home is made once, however many commands begin on it; one that cannot be used is explained."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, f"INSERT INTO alembic_version VALUES ('{OLDER}')") for name in DATABASES),
        (DATABASES[0], "INSERT INTO alembic_version VALUES ('of the future')"),
        (DATABASES[1], "ALTER TABLE dynamic_partitions RENAME COLUMN partition TO other"),
    ],
)
def test_what_cannot_be_used_says_what_to_delete_and_what_that_costs(home: Path, name: str, damage: str) -> None:
    """Two processes that made a home without the lock leave two revisions."""
    with contextlib.closing(sqlite3.connect(home / name)) as connection:
        connection.executescript(damage)
    with pytest.raises(SystemicError, match=r"delete .*history.*processed again.*stay below the data root"):
        partitions(home)
    shutil.rmtree(home / "history")
    shutil.rmtree(home / "schedules")
    assert partitions(home) == set(), "the advice works"


def test_a_file_that_is_no_database_is_explained(home: Path) -> None:
    (home / DATABASES[2]).write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(SystemicError, match=r"not a database.*delete"):
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


def test_a_busy_database_is_not_taken_for_a_damaged_one(home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / DATABASES[1], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        impatient = sqlite3.connect(home / DATABASES[1], timeout=0.1)  # Dagster itself would wait for half a minute
        with (
            pytest.raises(SystemicError, match=r"locked.*run again") as caught,
            opened_home(home),
            contextlib.closing(impatient),
        ):
            impatient.execute("DELETE FROM dynamic_partitions")
    assert "delete" not in str(caught.value)


def test_opening_a_sound_home_needs_no_right_to_write_its_databases(home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / "history" / "runs.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with opened_home(home):
            pass
