"""`pmo instruct` of a lecture: its pictures are shown as panels are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmo_assets.cli.instruct import lines_of
from pmo_assets.cli.lecture_cases import like_panels, pictures_of_lecture, rows_of_lecture
from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.instructions.video_steps import ask_about_video, separate_video_cues
from pmo_assets.records.stores import Picture
from pmo_assets.records.videos import KEYFRAMES
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets.viewing.instruction_page import instruction_page
from pmo_assets_tests.pipeline.instructions.test_video_steps import SHOWN, tables

BATCH = "0001-a"


def pair_row(pair: dict[str, Any]) -> dict[str, Any]:
    """Return a whole row of `video_pairs`."""
    return {
        **pair, "keyframe": 30.0, "words_from": "whisper", "word_count": len(pair["text"].split()), "corrected": 0,
        "print": [], "picture_width": 8, "picture_height": 6, "perceptual_hash": "0" * 16, "repeats": None,
        "name": "lecture.mp4", "license": "CC BY", "license_url": None, "commercial_use": True, "withheld": False,
        "attribution": "An institute",
    }  # fmt: skip


@pytest.fixture
def kept(tmp_path: Path) -> Tables:
    """Return the tables of a lecture with one picture of which the lecturer says what it shows."""
    pairs, words = tables(SHOWN)
    made = Tables(DataRoot(str(tmp_path)))
    cues = separate_video_cues(pairs, words).rows
    asked = ask_about_video(pairs, words, cues).rows
    for name, rows in (("video_cues", cues), ("video_instructions", asked)):
        made.write(name, BATCH, checked(schema_of(name), rows))
    made.write("video_pairs", BATCH, checked(schema_of("video_pairs"), [pair_row(pairs[0])]))
    picture = Picture("2", 8, 6, png_bytes(np.full((6, 8, 3), 200, np.uint8)))
    ParquetPixels(made.data_root, KEYFRAMES, BATCH).write(7, [picture])
    return made


def test_a_lecture_is_found_by_its_number_and_by_its_picture(kept: Tables) -> None:
    found = rows_of_lecture(kept, "7")
    (name,) = {row["pair_id"] for row in found["video_cues"]}
    assert rows_of_lecture(kept, name) == found
    assert {row["pair_id"] for row in found["video_instructions"]} == {name}
    for other in ("8", "9" * 30, "no such picture"):
        assert rows_of_lecture(kept, other) == {"video_cues": [], "video_instructions": []}
        assert pictures_of_lecture(kept, other) == []


def test_a_picture_is_shown_with_cues_scores_questions_and_verdicts(kept: Tables) -> None:
    found = rows_of_lecture(kept, "7")
    said = "\n".join(lines_of(like_panels(found)))
    assert found["video_cues"][0]["pair_id"] in said
    assert "scene    This fundus photograph shows drusen" in said
    assert "A  Drusen." in said
    assert said.count("kept by every check") == sum(row["is_kept"] for row in found["video_instructions"]) > 0


def test_the_page_shows_the_picture_and_marks_words_of_the_transcript(kept: Tables) -> None:
    (shown,) = pictures_of_lecture(kept, "7")
    page = instruction_page("Instructions of 7", [shown])
    assert "data:image/png;base64," in page
    assert "<i>transcript</i>" in page
    assert "<dt>pictures</dt><dd>1</dd>" in page
    assert "<i>subcaption</i>" not in page
    assert '<mark class="evidence">' in page
