"""The home of the Dagster instance lies with its data root, wherever the command is run from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.configuration.home import home_left_behind, home_place
from pmo_assets.settings import Settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def old_home(folder: Path) -> Path:
    (folder / "history").mkdir(parents=True)
    (folder / "history" / "runs.db").touch()
    return folder


def test_it_belongs_to_the_data_root(folder: Path) -> None:
    assert home_place(Settings()).path == folder / "data" / ".dagster"
    assert home_place(Settings(data_root="demo/data")).path == folder / "demo" / "data" / ".dagster"


def test_what_is_set_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(dagster_home=Path("mine"))
    assert home_place(settings).path == folder / "mine"
    monkeypatch.setenv("DAGSTER_HOME", str(folder / "theirs"))
    assert home_place(settings).path == folder / "theirs"
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setenv("PMO_DAGSTER_HOME", "")
    assert home_place(Settings()).path == folder / "data" / ".dagster"


def test_a_bucket_has_a_folder_of_its_own_among_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    one, same = (home_place(Settings(data_root=f"s3://bucket/eyes{end}")).path for end in ("", "/"))
    other = home_place(Settings(data_root="s3://bucket/ears")).path
    elsewhere = home_place(Settings(data_root="s3://bucket/eyes", s3_endpoint="http://127.0.0.1:9000")).path
    assert one == same
    assert len({one, other, elsewhere}) == 3
    assert one.name.startswith("bucket-eyes-")
    assert "127.0.0.1" not in str(elsewhere)


@pytest.mark.parametrize("name", [".dagster", "dagster"])
def test_a_home_from_before_beside_the_folder_data_goes_on_to_be_used(folder: Path, name: str) -> None:
    old = old_home(folder / name)
    assert home_place(Settings()).path == old
    assert str(folder / "data" / ".dagster") in home_place(Settings()).why, "says where to move it"
    (folder / "data").mkdir()
    old.rename(folder / "data" / ".dagster")
    assert home_place(Settings()).path == folder / "data" / ".dagster"


def test_the_home_of_another_data_root_is_not_taken(folder: Path) -> None:
    old = old_home(folder / ".dagster")
    here = home_place(Settings(data_root="elsewhere")).path
    assert here == folder / "elsewhere" / ".dagster"
    assert home_left_behind(here) == old, "and it is said, because it was for all data roots"
    assert home_left_behind(old) is None


def test_a_folder_of_that_name_that_is_no_home_is_left_alone(folder: Path) -> None:
    (folder / ".dagster").mkdir()
    assert home_place(Settings()).path == folder / "data" / ".dagster"
