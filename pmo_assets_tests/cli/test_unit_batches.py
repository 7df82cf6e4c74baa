"""`pmo batches add --videos`: what is registered, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pmo_assets.cli.main import app


@pytest.fixture
def videos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PMO_DATA_ROOT", str(tmp_path / "data"))
    monkeypatch.setenv("PMO_DAGSTER_HOME", str(tmp_path / "dagster"))
    folder = tmp_path / "videos"
    folder.mkdir()
    for name in ("a.mp4", "b.mp4", "b.webm", "notes.txt"):
        (folder / name).write_text(name)
    (folder / "a.info.json").write_text('{"title": "The retina"}')
    return folder


@pytest.mark.slow
def test_videos_are_registered_once_and_what_is_not_is_named(videos: Path) -> None:
    first = CliRunner().invoke(app, ["batches", "add", "--videos", str(videos)])
    assert first.exit_code == 0, first.output
    assert "1 video\n" in first.stdout
    assert "b.mp4, b.webm have one name" in first.stderr
    assert "notes.txt: no video" in first.stderr
    again = CliRunner().invoke(app, ["batches", "add", "--videos", str(videos)])
    assert "nothing new" in again.stdout


@pytest.mark.slow
def test_a_batch_is_listed_taken_out_and_brought_back(videos: Path) -> None:
    def pmo(*words: str) -> str:
        return CliRunner().invoke(app, ["batches", *words], catch_exceptions=False).output

    batch = pmo("add", "--videos", str(videos)).split()[0]
    assert f"{batch}  1 video  next: video_batch" in pmo("list")
    assert f"removed {batch}, of videos" in pmo("remove", batch)
    assert batch not in pmo("list")
    pmo("restore", batch)
    assert batch in pmo("list")


def test_one_kind_at_a_time_and_a_folder_without_videos_is_said(videos: Path, tmp_path: Path) -> None:
    both = CliRunner().invoke(app, ["batches", "add", str(videos), "--videos", str(videos)])
    assert "are registered apart" in str(both.exception)
    (tmp_path / "empty").mkdir()
    none = CliRunner().invoke(app, ["batches", "add", "--videos", str(tmp_path / "empty")])
    assert "holds no video" in str(none.exception)
