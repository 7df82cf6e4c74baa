"""`pmo video`: JSON and pictures of one lecture."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pmo_assets.cli.video import video
from pmo_assets.records.rejections import rejection_from
from pmo_assets.records.step_output import StepOutput
from pmo_assets.workers.pool import WorkerDied, WorkerPool
from pmo_assets_tests.cli.command_line import Pmo
from pmo_assets_tests.samples.lectures import Lecture, Slide, typeset_lecture

SAID = "This scan shows subretinal fluid under the fovea."
HAS_EXTRA = find_spec("av") is not None


@pytest.mark.skipif(HAS_EXTRA, reason="the extra `video` is installed")
def test_without_the_extra_the_command_says_what_to_install(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"any")
    result = pmo("video", tmp_path / "a.mp4", "--out", tmp_path / "a.json")
    assert result.returncode == 1
    assert "pip install 'pmo-assets[video]'" in result.stderr


@pytest.mark.skipif(not HAS_EXTRA, reason="PyAV is in the extra `video` (make test-models)")
def test_a_lecture_becomes_json_and_pictures(pmo: Pmo, tmp_path: Path) -> None:
    path = tmp_path / "talk.mp4"
    slides = (Slide("text"), Slide("picture", ("oct",)))
    typeset_lecture(Lecture(1, slides, voice=None, least=4.0, presenter=False), path)
    (tmp_path / "talk.vtt").write_text(f"WEBVTT\n\n00:00:05.000 --> 00:00:07.000\n{SAID}\n")
    out = tmp_path / "deep" / "talk.json"
    result = pmo("video", path, "--out", out, "--pictures", tmp_path / "pictures")
    assert result.returncode == 0, result.stderr
    assert "2 episodes, 1 with a retinal image and words" in result.stderr
    found = json.loads(out.read_text())
    assert found["rejection"] is None
    assert [episode["picture"] for episode in found["episodes"]] == [None, "talk-0002.png"]
    assert found["episodes"][1]["transcript"] == SAID
    asked = {row["asked"]: row["messages"][-1]["content"] for row in found["episodes"][1]["instructions"]}
    assert asked["subretinal fluid"] == "Under the fovea."
    assert found["episodes"][0]["instructions"] == []
    assert (tmp_path / "pictures" / "talk-0002.png").is_file()


@pytest.mark.skipif(not HAS_EXTRA, reason="PyAV is in the extra `video` (make test-models)")
def test_what_no_decision_explains_is_no_rejection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died = rejection_from(WorkerDied("ended its worker process twice"), stage="video", unit_id=0)
    monkeypatch.setattr(WorkerPool, "map_units", lambda *_: [StepOutput(rejections=[died])])
    (tmp_path / "a.mp4").write_bytes(b"any")
    app = typer.Typer()
    app.command()(video)
    result = CliRunner().invoke(app, [str(tmp_path / "a.mp4"), "--out", str(tmp_path / "a.json")])
    assert "WorkerDied" in str(result.exception)
    assert not (tmp_path / "a.json").exists()


@pytest.mark.skipif(not HAS_EXTRA, reason="PyAV is in the extra `video` (make test-models)")
def test_an_archive_is_rejected_with_its_reason(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"PK\x03\x04" + bytes(99))
    result = pmo("video", tmp_path / "a.mp4", "--out", tmp_path / "a.json")
    assert result.returncode == 1
    assert json.loads((tmp_path / "a.json").read_text())["rejection"]["error"] == "UnreadableVideo"
    assert "by its first bytes it is an archive" in result.stderr
