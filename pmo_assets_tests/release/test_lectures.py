"""Lectures in a release: what goes out, in which split, what looks the same, what is left out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from pmo_assets.loading import load
from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.records.units import VIDEO
from pmo_assets.records.videos import VIDEO_PAIRS, video_pair_id
from pmo_assets.release.gallery_pages import gallery_lectures
from pmo_assets.release.hub.instruction_files import write_instructions
from pmo_assets.release.instruction_checks import instruction_faults
from pmo_assets.release.keys import HUB
from pmo_assets.release.lectures import Lectures, lecture_instructions, release_lectures
from pmo_assets.release.pair_checks import pair_faults
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import finish, make
from pmo_assets_tests.release.instruction_rows import spoken_rows

IMAGE = {"box": [0.0, 0.0, 1.0, 1.0], "image_type": "CFP", "modality": None, "modality_score": 0.0, "score": 0.9}


def listing(video_id: int, digest: str = "d") -> dict[str, Any]:
    nothing = (
        "captions", "captions_sha256", "place", "problem", "title", "description", "channel", "stated_seconds",
        "license_statement", "url", "published",
    )  # fmt: skip
    own = {"video_id": video_id, "name": f"{video_id}.mp4", "source": "file:///v", "digest": digest, "size": 1}
    return own | {"sha256": "s", "tags": [], "people": []} | dict.fromkeys(nothing)


def pair(video_id: int, episode: int, looks: int, text: str = "drusen", code: str | None = "CC BY") -> dict[str, Any]:
    own_hash = (0x5A << 248 | looks).to_bytes(32, "big").hex()
    return {
        "video_id": video_id, "episode": episode, "start": episode * 9.0, "end": episode * 9.0 + 8,
        "keyframe": episode * 9.0,
        "text": text, "words_from": "a.vtt", "word_count": 1, "corrected": 0, "images": [IMAGE], "print": [],
        "picture_width": 4, "picture_height": 3, "picture_sha256": f"{looks:064x}", "perceptual_hash": own_hash,
        "repeats": None, "name": f"{video_id}.mp4", "license": code, "license_url": None, "commercial_use": True,
        "withheld": withheld(code), "attribution": "Eyes",
    }  # fmt: skip


FAR = (1 << 200) - 1
"""Changes 200 bits of a hash."""


class Videos:
    """A data root with batches of videos."""

    def __init__(self, root: DataRoot) -> None:
        self.root, self.tables, self.manifests = root, Tables(root), Manifests(root, VIDEO)

    def add(self, *rows: dict[str, Any], digest: str = "d", process: bool = True) -> str:
        numbers = sorted({row["video_id"] for row in rows})
        ((batch, _),) = self.manifests.add([listing(number, digest) for number in numbers], size=99)
        if process:
            self.tables.write(VIDEO_PAIRS, batch, list(rows))
        return batch

    def released(self, **options: Any) -> Lectures:
        return release_lectures(self.root, self.tables, **options)


@pytest.fixture
def videos(tmp_path: Path) -> Videos:
    return Videos(DataRoot(str(tmp_path)))


def test_only_what_may_be_passed_on_goes_out(videos: Videos) -> None:
    videos.add(
        pair(1, 0, 0), pair(2, 0, FAR, code=None), pair(3, 0, 1, code="CC BY-ND"), pair(4, 0, FAR, code="CC BY-NC")
    )
    found = videos.released()
    assert (found.rows["video_id"].to_list(), found.withheld) == ([1, 4], 2)
    without = videos.released(noncommercial=False)
    assert (without.rows["video_id"].to_list(), without.withheld, without.noncommercial) == ([1], 2, 1)


def test_a_video_counts_as_its_last_batch_says_and_not_at_all_until_that_is_processed(videos: Videos) -> None:
    videos.add(pair(1, 0, 0, "before"), pair(2, 0, FAR))
    again = videos.add(pair(1, 0, 0, code=None), digest="changed", process=False)
    assert videos.released().rows["video_id"].to_list() == [2], "the new metadata may state another licence"
    videos.tables.write(VIDEO_PAIRS, again, [pair(1, 0, 0, "after")])
    assert sorted(videos.released().rows["text"]) == ["after", "drusen"]


def test_the_same_picture_with_the_same_words_goes_out_once_and_with_others_in_one_split(videos: Videos) -> None:
    rows = [
        pair(number, 0, 3 if number % 2 else FAR, text) for number, text in ((1, "a"), (3, "a"), (5, "b"), (2, "a"))
    ]
    videos.add(*rows)
    found = videos.released()
    assert (found.rows["video_id"].to_list(), found.repeated) == ([1, 2, 5], 1)
    groups = dict(found.rows.select("video_id", "picture_group").iter_rows())
    assert groups[2] is None
    assert groups[1] == groups[5] == found.rows.filter(pl.col("video_id") == 1)["pair_id"].item()
    shared = found.rows.filter(pl.col("picture_group").is_not_null())
    assert shared["split"].n_unique() == 1


def test_no_video_is_in_two_splits(videos: Videos) -> None:
    rng = np.random.default_rng(1)
    videos.add(*(pair(number, k, int.from_bytes(rng.bytes(30), "big")) for number in range(1, 40) for k in range(3)))
    split = videos.released().rows.group_by("video_id").agg(pl.col("split").n_unique())
    assert set(split["split"]) == {1}
    assert videos.released().rows["split"].n_unique() > 1


def test_without_videos_there_are_none(videos: Videos) -> None:
    assert videos.released().rows.is_empty()
    videos.add(pair(1, 0, 0, code=None))
    assert (videos.released().rows.is_empty(), videos.released().withheld) == (True, 1)


@pytest.mark.slow
def test_a_release_carries_them_with_their_pictures_and_nothing_of_what_is_closed(videos: Videos) -> None:
    finish(videos.tables, "0001-a", {3: {}})
    batch = videos.add(pair(1, 0, 0), pair(1, 4, FAR, "fovea"), pair(2, 0, 1, "closed words", code=None))
    with pytest.raises(StorageError, match="keyframes"):
        make(videos.tables)
    pixels = {k: np.full((3, 4, 3), 40 * k, np.uint8) for k in (0, 4)}
    pictures = [Picture(str(k), 4, 3, png_bytes(shown)) for k, shown in pixels.items()]
    ParquetPixels(videos.root, "keyframes", batch).write(1, pictures)
    made = make(videos.tables)
    counts = made.manifest.counts
    assert (counts["videos"], counts["lectures"], counts["lectures_withheld"]) == (2, 1, 1)
    opened = load(videos.root.root, verify=True)
    first, second = opened.videos
    assert [(row.text, row.attribution, row.license, row.boxes) for row in (first, second)] == [
        ("drusen", "Eyes", "CC BY", ((0.0, 0.0, 1.0, 1.0),)), ("fovea", "Eyes", "CC BY", ((0.0, 0.0, 1.0, 1.0),)),
    ]  # fmt: skip
    assert np.array_equal(second.pixels(), pixels[4])
    assert repr(second) == "<VideoPair 1.mp4 at 36 s: fovea>"
    assert second._repr_html_()
    assert [
        (p.level, p.text_kind, p.text, p.video_id, p.article_id, p.pair_id) for p in opened.pairs.filter(level="video")
    ] == [("video", "transcript", row.text, 1, None, row.pair_id) for row in (first, second)]
    shown = {pair.text: pair.pixels() for pair in opened.pairs.filter(level="video")}
    assert np.array_equal(shown["fovea"], pixels[4])
    assert pair_faults(videos.root, HUB) == {"no picture": 0, "withheld": 0, "box": 0, "text": 0}
    assert (counts["pairs_video_transcript"], counts["paired_video"]) == (2, 2)
    assert "Level `video`" in videos.root.read(f"{HUB}/README.md").decode()
    for key in videos.root.tree(HUB):
        content = videos.root.read(f"{HUB}/{key}")
        said = str(pq.read_table(io.BytesIO(content)).to_pydict()) if key.endswith(".parquet") else content.decode()
        assert "closed words" not in said, key


def said_of(videos: Videos, batch: str, *answers: str) -> None:
    """Write the instructions of the pairs of a batch: whether there are drusen, by turns of answers."""
    made: dict[str, list[dict[str, Any]]] = {"video_cues": [], "video_instructions": []}
    rows = videos.tables.read(VIDEO_PAIRS, batch).iter_rows(named=True)
    for row, answer in zip(rows, answers, strict=True):
        name = video_pair_id(*(row[part] for part in ("video_id", "start", "end", "picture_sha256", "text")))
        own = spoken_rows(name, video_id=row["video_id"], episode=row["episode"], answer=answer)
        made = {table: [*found, *own[table]] for table, found in made.items()}
    for table, found in made.items():
        videos.tables.write(table, batch, found)


def test_instructions_about_lectures_stand_beside_those_about_panels_in_one_balance(videos: Videos) -> None:
    finish(videos.tables, "0001-a", {number: {"rows": 1} for number in (1, 2, 3)})  # each says yes
    batch = videos.add(pair(1, 0, 0), pair(2, 0, FAR, "closed words", code=None), pair(3, 0, 1 << 100, "fovea"))
    said_of(videos, batch, "No.", "No.", "No.")
    pictures = ParquetPixels(videos.root, "keyframes", batch)
    for number in (1, 2, 3):
        pictures.write(number, [Picture("0", 4, 3, png_bytes(np.full((3, 4, 3), 40 * number, np.uint8)))])
    made = make(videos.tables)
    assert instruction_faults(videos.root, HUB) == dict.fromkeys(
        ("no picture", "withheld", "messages", "box", "balance"), 0
    )
    opened = load(videos.root.root, verify=True)
    shown = {item.pair_id: item for item in opened.videos}
    asked = list(opened.instructions.filter(picture_config="videos"))
    assert {item.video_id for item in asked} == {1, 3}, "a licence closes the other"
    assert all(np.array_equal(np.asarray(item.image()), shown[item.pair_id].pixels()) for item in asked)
    assert "A lie." not in str([item.chat() for item in asked])
    assert made.manifest.counts["instructed_lectures"] == 2
    for split in ("train", "validation", "test"):
        said = [item.messages[-1].content for item in opened.instructions.filter(kind="yes_no", split=split)]
        assert said.count("Yes.") == said.count("No.")
    assert "No." in str([item.chat() for item in asked]), "some of a lecture balances a panel's yes"
    card = videos.root.read(f"{HUB}/README.md").decode()
    assert "and 2 pictures of lectures" in card
    target = Path(videos.root.root, "out")
    write_instructions(Path(videos.root.root, HUB), target)
    lines = [json.loads(line) for path in sorted(target.glob("t*.jsonl")) for line in path.read_text().splitlines()]
    lecture = next(line for line in lines if line.get("video_id") == 3)
    assert (target / lecture["images"][0]).read_bytes() == shown[lecture["id"].partition("_")[0]].picture()
    assert lecture["attribution"] == "Eyes"


def test_instructions_of_a_batch_that_were_never_made_are_none(videos: Videos) -> None:
    batch = videos.add(pair(1, 0, 0))
    assert [table.height for table in lecture_instructions(videos.tables, videos.released())] == [0, 0]
    said_of(videos, batch, "Yes.")
    asked, cues = lecture_instructions(videos.tables, videos.released())
    assert (asked.height, cues.height) == (2, 1), "what a check discards stays out"


def test_a_release_without_them_has_no_such_config(videos: Videos) -> None:
    finish(videos.tables, "0001-a", {3: {}})
    make(videos.tables)
    assert len(load(videos.root.root).videos) == 0
    assert "videos" not in videos.root.read(f"{HUB}/README.md").decode()


def test_a_release_of_lectures_alone_works(videos: Videos) -> None:
    batch = videos.add(pair(1, 0, 0), pair(2, 0, FAR, "fovea"))
    pictures = ParquetPixels(videos.root, "keyframes", batch)
    for number in (1, 2):
        pictures.write(number, [Picture("0", 4, 3, png_bytes(np.full((3, 4, 3), 40 * number, np.uint8)))])
    made = make(videos.tables)
    assert (made.manifest.counts["panels"], made.manifest.counts["pairs"], made.manifest.counts["videos"]) == (0, 2, 2)
    opened = load(videos.root.root, verify=True)
    assert (len(opened.panels), sorted(pair.text for pair in opened.pairs)) == (0, ["drusen", "fovea"])
    assert [pair.pixels().max() for pair in opened.pairs.filter(text="fovea")] == [80]


def test_the_gallery_shows_what_goes_out_with_its_place_and_nothing_of_what_is_closed(videos: Videos) -> None:
    batch = videos.add(pair(1, 2, 0), pair(2, 0, FAR, "closed words", code=None))
    pictures = ParquetPixels(videos.root, "keyframes", batch)
    for number in (1, 2):
        pictures.write(number, [Picture("2", 4, 3, png_bytes(np.full((3, 4, 3), number, np.uint8)))])
    said_of(videos, batch, "Yes.", "Yes.")
    (shown,) = gallery_lectures(videos.root, videos.tables, videos.released(), ())
    asked, technique = shown.instructions
    assert asked.turns == (("user", "Are there drusen?"), ("assistant", "Yes."))
    assert (asked.evidence.texts, technique.evidence.others) == (
        [("transcript", [("drusen", "evidence")])],
        ["modality: OCT"],
    )
    assert (shown.video, shown.text, shown.license, shown.attribution) == ("1.mp4", "drusen", "CC BY", "Eyes")
    assert shown.picture == png_bytes(np.full((3, 4, 3), 1, np.uint8))


def test_pictures_that_look_like_a_panel_are_listed_with_both_splits_and_stay(videos: Videos) -> None:
    finish(videos.tables, "0001-a", {3: {}})
    panel = videos.tables.read("dataset_rows", "0001-a").row(0, named=True)
    near = int(panel["perceptual_hash"], 16) ^ 0b1011
    rows = [pair(1, 0, 0) | {"perceptual_hash": near.to_bytes(32, "big").hex()}, pair(1, 1, FAR)]
    batch = videos.add(*rows)
    shown = [Picture(str(k), 4, 3, png_bytes(np.full((3, 4, 3), 40 * k, np.uint8))) for k in (0, 1)]
    ParquetPixels(videos.root, "keyframes", batch).write(1, shown)
    made = make(videos.tables)
    listed = pl.read_parquet(io.BytesIO(videos.root.read(f"{HUB}/lecture_panels.parquet")))
    opened = load(videos.root.root, verify=True)
    assert made.manifest.counts["videos"] == 2
    (first,) = [video for video in opened.videos if video.start == 0]
    (own,) = [row for row in opened.panels if row.panel_id == panel["panel_id"]]
    assert listed.rows() == [(first.pair_id, own.panel_id, 3, 3, first.split, own.split)]
