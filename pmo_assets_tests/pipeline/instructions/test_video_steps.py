"""Instructions about pictures of lectures: what is asked, what it rests on, and what nothing is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pmo_assets.pipeline.instructions.video_steps import ask_about_video, separate_video_cues
from pmo_assets.pipeline.videos.words import Word, joined, words_within
from pmo_assets.records.stores import StorageError
from pmo_assets.records.videos import video_pair_id
from pmo_assets.tables.schemas import checked, schema_of

FUNDUS = {
    "box": [0.0, 0.0, 1.0, 1.0], "image_type": "CFP", "modality": "fundus photograph", "modality_score": 0.97,
    "score": 0.9,
}  # fmt: skip
SCAN = {**FUNDUS, "image_type": "OCT", "modality": "OCT"}
SHOWN = "This fundus photograph shows drusen in the macula of the right eye."
START, END = 20.0, 60.0


def tables(
    text: str,
    images: list[dict[str, Any]] | None = None,
    at: float = START + 1,
    sure: Mapping[str, float] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row of `video_pairs` and rows of `video_words`: half a second a word."""
    words = [
        Word(word, at + 0.5 * n, at + 0.5 * n + 0.4, (sure or {}).get(word, 0.95))
        for n, word in enumerate(text.split())
    ]
    said = words_within(words, START, END)
    pair = {
        "video_id": 7, "episode": 2, "start": START, "end": END, "text": joined(said), "picture_sha256": "0a",
        "images": [FUNDUS] if images is None else images,
    }  # fmt: skip
    rows = [
        {
            "video_id": 7, "ordinal": n, "text": word.text, "start": word.start, "end": word.end,
            "probability": word.probability, "original": None, "words_from": "whisper",
        }
        for n, word in enumerate(words)
    ]  # fmt: skip
    return [pair], rows


def made(text: str, **changed: Any) -> list[dict[str, Any]]:
    """Return the kept instructions of a picture of which a text is said."""
    pairs, words = tables(text, **changed)
    cues = separate_video_cues(pairs, words).rows
    return [row for row in ask_about_video(pairs, words, cues).rows if row["is_kept"]]


def answers(rows: list[dict[str, Any]], kind: str) -> dict[str, str]:
    return {row["asked"]: row["messages"][-1]["content"] for row in rows if row["kind"] == kind}


def test_what_a_lecturer_points_at_is_asked_for_and_rests_on_words_with_their_seconds() -> None:
    rows = made(SHOWN)
    assert answers(rows, "yes_no")["drusen"] == "Yes."
    assert answers(rows, "yes_no")["fundus photograph"] == "Yes."
    assert answers(rows, "what") == {
        "drusen": "Drusen.",
        "fundus photograph": "Fundus photography.",
        "OD": "Right eye.",
    }
    told = next(row for row in rows if row["asked"] == "drusen")
    (words,) = told["evidence"]
    assert SHOWN[words["start"] : words["end"]] == words["text"]
    assert (words["from_second"], words["to_second"]) == (21.0, pytest.approx(26.9))
    assert 0 < told["confidence"] <= 0.95
    checked(schema_of("video_instructions"), rows)


def test_cues_stand_in_the_transcript_and_fit_their_table() -> None:
    pairs, words = tables(f"Good morning. {SHOWN}")
    (row,) = separate_video_cues(pairs, words).rows
    assert row["pair_id"] == video_pair_id(7, START, END, "0a", pairs[0]["text"])
    (scene, *_) = row["scenes"]
    assert pairs[0]["text"][scene["start"] : scene["end"]] == scene["text"]
    assert (row["is_kept"], row["modality"], row["eye"]) == (True, "fundus photograph", "OD")
    checked(schema_of("video_cues"), [row])


def test_no_is_said_only_where_the_lecturer_denies() -> None:
    rows = made("In this fundus photograph of the left eye there is no haemorrhage.")
    assert answers(rows, "yes_no")["hemorrhage"] == "No."


@pytest.mark.parametrize(
    "changed",
    [
        {"sure": {"shows": 0.1}},
        {"images": [{**FUNDUS, "modality": "plot", "image_type": "Other"}]},
        {"at": START - 2},
        {"at": END - 3},
    ],
    ids=["a word in doubt", "no picture of a body", "begins before the slide", "ends after it"],
)
def test_nothing_is_made_where_anything_is_in_doubt(changed: dict[str, Any]) -> None:
    assert made(SHOWN, **changed) == []


@pytest.mark.parametrize(
    "text",
    [
        "In the previous case there was a retinal detachment in the macula of the right eye.",
        "Patients with diabetes often develop microaneurysms in the macula.",
        "If you saw drusen in the macula you would think of macular degeneration.",
        "Is there any drusen in the macula of the right eye?",
    ],
)
def test_what_is_said_of_something_else_makes_nothing(text: str) -> None:
    assert made(text) == []


def test_what_another_sentence_denies_is_neither_there_nor_not() -> None:
    rows = made(f"{SHOWN} There are no drusen in the other eye.")
    assert "drusen" not in answers(rows, "yes_no")


def test_who_names_two_techniques_or_shows_two_is_not_asked_for_one() -> None:
    for rows in (
        made(f"{SHOWN} The fluorescein angiogram was made later."),
        made(SHOWN, images=[FUNDUS, SCAN]),
    ):
        assert {row["topic"] for row in rows}.isdisjoint({"imaging"})


def test_words_of_another_making_are_refused() -> None:
    pairs, words = tables(SHOWN)
    words[0]["text"] = "That"
    with pytest.raises(StorageError, match="not those"):
        separate_video_cues(pairs, words)


def test_the_same_words_give_the_same_instructions() -> None:
    assert made(SHOWN) == made(SHOWN)
