"""`pmo panels`: a folder of pictures without captions becomes panels, called in this process."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.panels import panels
from pmo_assets.records.stores import SystemicError
from pmo_assets_tests.pipeline.detection.drawing import paper, paste, photograph

APP = typer.Typer()
APP.command()(panels)


def two_by_two() -> tuple[np.ndarray, list[list[int]]]:
    figure = paper(460, 360)
    places = [(20, 20), (240, 20), (20, 190), (240, 190)]
    return figure, [list(paste(figure, photograph(200, 150, seed=k), *at)) for k, at in enumerate(places)]


def test_pictures_become_panels_and_what_is_no_picture_a_row_with_its_error(tmp_path: Path) -> None:
    figure, truth = two_by_two()
    (tmp_path / "in" / "more").mkdir(parents=True)
    cv2.imwrite(str(tmp_path / "in" / "more" / "grid.png"), figure[:, :, ::-1])
    (tmp_path / "in" / "broken.jpg").write_bytes(b"no picture")
    (tmp_path / "in" / "notes.txt").write_text("not looked at")
    result = CliRunner().invoke(
        APP, [str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--detector", "structure", "--cut"]
    )
    assert result.exit_code == 0, result.output
    broken, grid = map(json.loads, (tmp_path / "out" / "panels.jsonl").read_text().splitlines())
    assert broken == {"file": "broken.jpg", "error": "it is no JPEG, PNG, GIF or TIFF"}
    assert (grid["file"], grid["width"], grid["height"]) == ("more/grid.png", 460, 360)
    assert [panel["box"] for panel in grid["panels"]] == truth
    cut = cv2.imread(str(tmp_path / "out" / "panels" / "more" / "grid.png-1.png"))
    assert cut is not None
    assert np.array_equal(cut[:, :, ::-1], figure[20:170, 20:220])


def test_panels_of_an_earlier_run_are_no_pictures_and_a_broken_disk_is_no_bad_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cv2.imwrite(str(tmp_path / "grid.png"), two_by_two()[0])
    arguments = [str(tmp_path), "--out", str(tmp_path / "out"), "--detector", "structure", "--cut"]
    for _ in range(2):
        assert CliRunner().invoke(APP, arguments).exit_code == 0
        assert len((tmp_path / "out" / "panels.jsonl").read_text().splitlines()) == 1

    def broken(path: Path) -> bytes:
        raise OSError(errno.EIO, "Input/output error", str(path))

    monkeypatch.setattr(Path, "read_bytes", broken)
    assert isinstance(CliRunner().invoke(APP, arguments).exception, SystemicError)


def test_nothing_to_split_is_said(tmp_path: Path) -> None:
    def error(*arguments: str) -> str:
        result = CliRunner().invoke(APP, [*arguments, "--out", str(tmp_path / "out")])
        assert isinstance(result.exception, CommandError)
        return str(result.exception)

    assert "no picture in" in error(str(tmp_path))
    (tmp_path / "a.png").write_bytes(b"")
    assert "could be read" in error(str(tmp_path / "a.png"), "--detector", "structure")
    assert "there is no file" in error(str(tmp_path / "a.png"), "--weights", str(tmp_path / "none.onnx"))
