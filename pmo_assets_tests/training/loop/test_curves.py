"""Curves of a run are kept, cut back after a kill, and drawn."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pmo_assets.training.loop.curves import add_to_curves, curves_png, forget_after, read_curves


def write(path: Path, steps: list[int]) -> None:
    for step in steps:
        add_to_curves(path, {"step": step, "loss": 10 / step, "mAP": step / 100})


def test_records_come_back_in_order(tmp_path: Path) -> None:
    write(tmp_path / "curves.csv", [20, 10])
    assert read_curves(tmp_path / "curves.csv") == [
        {"step": 10, "loss": 1.0, "mAP": 0.1},
        {"step": 20, "loss": 0.5, "mAP": 0.2},
    ]


def test_columns_are_those_of_the_first_record(tmp_path: Path) -> None:
    write(tmp_path / "curves.csv", [10])
    add_to_curves(tmp_path / "curves.csv", {"step": 20, "new": 3})
    assert read_curves(tmp_path / "curves.csv")[1] == {"step": 20}


def test_records_after_the_last_checkpoint_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    forget_after(path, 5)  # nothing there yet
    write(path, [10, 20, 30])
    forget_after(path, 20)
    write(path, [30])
    assert [row["step"] for row in read_curves(path)] == [10, 20, 30]


@pytest.mark.slow
def test_a_picture_shows_the_curves(tmp_path: Path) -> None:
    write(tmp_path / "curves.csv", [10, 20, 30, 40])
    drawn = curves_png(tmp_path / "curves.csv", ("mAP", "annotated_mAP"))
    assert drawn == curves_png(tmp_path / "curves.csv", ("mAP", "annotated_mAP"))
    picture = np.asarray(Image.open(io.BytesIO(drawn)).convert("RGB")).astype(int)
    coloured = (picture.max(axis=2) - picture.min(axis=2)) > 60
    half = picture.shape[1] // 2
    assert coloured[:, :half].sum() > 100
    assert coloured[:, half:].sum() > 100
    assert len(drawn) < 28_000


def test_an_empty_file_counts_as_new(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    path.touch()
    assert read_curves(path) == []
    forget_after(path, 5)
    write(path, [10])
    assert read_curves(path) == [{"step": 10, "loss": 1.0, "mAP": 0.1}]


def test_lines_that_were_cut_off_or_run_together_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    write(path, [10])
    with path.open("a") as file:
        file.write("11,0.9,0.1,12,0.8,0.1\n15,0.")
    assert [row["step"] for row in read_curves(path)] == [10]
    forget_after(path, 20)
    write(path, [20])
    assert [row["step"] for row in read_curves(path)] == [10, 20]


def test_a_last_line_without_its_end_is_not_joined_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("step,loss\n10,1.0")
    forget_after(path, 10)
    add_to_curves(path, {"step": 20, "loss": 0.5})
    assert [row["step"] for row in read_curves(path)] == [10, 20]
