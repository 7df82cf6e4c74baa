"""Steps of the group `videos`: rows in, rows out; one video is watched and heard from its source."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.videos.steps import hear_video, pair_video, watch_video
from pmo_assets.pipeline.videos.video import VideoOptions
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.sources.video_folders import open_videos
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets_tests.samples.lectures import LectureTruth

VIDEO = {
    "video_id": 7, "name": "a.mp4", "license": "CC BY", "license_url": None, "commercial_use": True, "withheld": False,
    "attribution": "Eye Channel",
}  # fmt: skip
KEPT = {
    "box": [0.5, 0.2, 0.9, 0.8], "image_type": "CFP", "modality": None, "modality_score": 0.0, "score": 0.9,
    "kept": True,
}  # fmt: skip


def episode(number: int, own_hash: int | None, **changed: Any) -> dict[str, Any]:
    picture: dict[str, Any] = dict.fromkeys(("picture_width", "picture_height", "picture_sha256", "perceptual_hash"))
    if own_hash is not None:
        picture = {
            "picture_width": 40, "picture_height": 60, "picture_sha256": "00",
            "perceptual_hash": own_hash.to_bytes(32, "big").hex(),
        }  # fmt: skip
    return {
        "video_id": 7, "episode": number, "start": number * 20.0, "end": number * 20.0 + 20,
        "keyframe": number * 20 + 9.0,
        "frame_width": 100, "frame_height": 100, "images": [KEPT], "masked": [], "print": ["Drusen"], "has_sound": True,
        **picture, **changed,
    }  # fmt: skip


def word(number: int, text: str, at: float, original: str | None = None) -> dict[str, Any]:
    return {
        "video_id": 7, "ordinal": number, "text": text, "start": at, "end": at + 0.4, "probability": 0.9,
        "original": original, "words_from": "a.vtt",
    }  # fmt: skip


def test_a_picture_and_what_is_said_around_it_are_a_pair() -> None:
    words = [word(0, "Before", 16.0), word(1, "here:", 18.0), word(2, "drusen.", 30.0, "brusen."), word(3, "Now", 44.0)]
    (row,) = pair_video(VIDEO, [episode(0, None), episode(1, 1 << 200)], words).rows
    assert (row["episode"], row["text"], row["word_count"], row["corrected"]) == (1, "here: drusen.", 2, 1)
    (image,) = row["images"]
    assert image == {name: value for name, value in KEPT.items() if name != "kept"} | {"box": [0.0, 0.0, 1.0, 1.0]}
    assert (row["license"], row["attribution"], row["print"]) == ("CC BY", "Eye Channel", ["Drusen"])
    checked(schema_of("video_pairs"), [row])


def test_boxes_are_of_the_picture_which_is_cropped_around_all_that_is_kept() -> None:
    other = {**KEPT, "box": [0.1, 0.2, 0.3, 0.4], "image_type": "OCT"}
    dropped = {**KEPT, "box": [0.0, 0.0, 0.1, 0.1], "kept": False}
    (row,) = pair_video(VIDEO, [episode(0, 1, images=[KEPT, other, dropped])], [word(0, "Drusen", 1.0)]).rows
    assert [image["box"] for image in row["images"]] == [[0.5, 0.0, 1.0, 1.0], [0.0, 0.0, 0.25, 0.333333]]


def test_a_slide_that_is_shown_again_names_the_first() -> None:
    first, near, far = (1 << 255) - 1, (1 << 255) - 1 - (2**32 - 1), 1 << 255
    shown = [episode(number, own) for number, own in enumerate((first, far, near, 0, 0))]
    rows = pair_video(VIDEO, shown, [word(n, "word", n * 20 + 5.0) for n in range(5)]).rows
    assert [row["repeats"] for row in rows] == [None, None, 0, None, None], "what shows nothing resembles nothing"


def test_silence_makes_no_pair() -> None:
    assert pair_video(VIDEO, [episode(0, 1)], []).rows == []


def listing(path: Path, **stated: Any) -> dict[str, Any]:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    own = {"video_id": 7, "name": path.name, "source": str(path.parent), "sha256": sha256, "people": []}
    return own | {"captions": None, "captions_sha256": None} | stated


def test_a_video_is_watched_where_it_lies_and_its_pictures_are_stored(
    silent_lecture: tuple[Path, LectureTruth],
) -> None:
    path, truth = silent_lecture
    pixels = MemoryPixels()
    output = watch_video(listing(path), open_videos, VideoOptions(), pixels)
    checked(schema_of("video_episodes"), output.rows)
    assert [row["picture_sha256"] is not None for row in output.rows] == [item.is_retinal for item in truth.episodes]
    stored = pixels.read(7)
    for row in output.rows:
        if row["picture_sha256"] is not None:
            key = str(row["episode"])
            assert hashlib.sha256(stored[key].png).hexdigest() == row["picture_sha256"]
            assert decoded(stored[key], key).shape[:2] == (row["picture_height"], row["picture_width"])
    assert len(stored) == sum(item.is_retinal for item in truth.episodes)


def test_captions_beside_a_video_are_its_words(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"any")
    (tmp_path / "a.vtt").write_text("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nDrusen here.\n")
    own = listing(tmp_path / "a.mp4", captions="a.vtt", captions_sha256=listing(tmp_path / "a.vtt")["sha256"])
    rows = hear_video(own, [episode(0, 1)], open_videos, VideoOptions()).rows
    assert [(row["text"], row["words_from"], row["probability"]) for row in rows] == [
        ("Drusen", "a.vtt", 1.0), ("here.", "a.vtt", 1.0),
    ]  # fmt: skip
    checked(schema_of("video_words"), rows)


class Elsewhere:
    """A source whose files have other names here, as a bucket's."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @contextmanager
    def as_file(self, name: str, sha256: str) -> Any:
        yield self.place


def test_words_are_said_to_be_of_the_file_at_the_source(tmp_path: Path) -> None:
    copied = tmp_path / "video.vtt"
    copied.write_text("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nDrusen.\n")
    own = {"video_id": 7, "name": "a.mp4", "source": "s3://b", "sha256": "", "captions": "a.vtt", "captions_sha256": ""}
    rows = hear_video(own, [episode(0, 1)], lambda uri: Elsewhere(copied), VideoOptions()).rows
    assert rows[0]["words_from"] == "a.vtt"


def test_nothing_is_heard_where_nothing_is_shown() -> None:
    assert hear_video({"source": "nowhere"}, [episode(0, None)], open_videos, VideoOptions()).rows == []


def test_a_silent_video_has_no_words(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"any")
    own = listing(tmp_path / "a.mp4")
    assert hear_video(own, [episode(0, 1, has_sound=False)], open_videos, VideoOptions()).rows == []
