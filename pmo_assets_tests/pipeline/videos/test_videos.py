"""Whole lectures with exact truth, and files that are no lectures."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmo_assets.cli.console import write_json
from pmo_assets.pipeline.videos.containers import NoPicture, NotAFile, UnreadableVideo, opened
from pmo_assets.pipeline.videos.frames import LONGEST_GAP, Watched, sampled_frames
from pmo_assets.pipeline.videos.speech import RATE, merged_spans, sound_of
from pmo_assets.pipeline.videos.video import VideoOptions, captions_of, load_for_videos, read_video
from pmo_assets.pipeline.videos.video_file import people_of, video_output
from pmo_assets.records.geometry import covered_fraction, iou
from pmo_assets.records.reading import ReadText
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError
from pmo_assets.records.videos import UnreadableVideoMetadata
from pmo_assets.samples.drawing import Pixels
from pmo_assets.workers.pool import WorkerPool
from pmo_assets_tests.pipeline.videos.damages import DAMAGES, KINDS
from pmo_assets_tests.samples.lectures import Lecture, LectureTruth, Slide, repeated, typeset_lecture

Written = tuple[Path, LectureTruth]
Result = tuple[dict[str, Any], dict[int, Pixels]]


@pytest.fixture(scope="session")
def silent_result(silent_lecture: Written) -> Result:
    pictures: dict[int, Pixels] = {}
    return read_video(silent_lecture[0], VideoOptions(), pictures.__setitem__), pictures


def test_episodes_are_the_slides(silent_lecture: Written, silent_result: Result) -> None:
    row, truth = silent_result[0], silent_lecture[1]
    assert [e["start"] for e in row["episodes"]] == pytest.approx([e.start for e in truth.episodes], abs=1.0)
    assert row["episodes"][-1]["end"] == row["seconds"] == pytest.approx(truth.seconds, abs=0.2)
    assert all(e["start"] < e["keyframe"] < e["end"] for e in row["episodes"])


def test_retinal_images_are_found_where_they_are_drawn(silent_lecture: Written, silent_result: Result) -> None:
    for found, drawn in zip(silent_result[0]["episodes"], silent_lecture[1].episodes, strict=True):
        kept = [image for image in found["images"] if image["kept"]]
        assert len(kept) == len(drawn.images)
        for image in drawn.images:
            assert max(iou(image.box, tuple(other["box"])) for other in kept) > 0.85


def test_faces_and_names_are_masked(silent_lecture: Written, silent_result: Result) -> None:
    patient, drawn = silent_result[0]["episodes"][2], silent_lecture[1].episodes[2]
    for box in (*drawn.faces_at(patient["keyframe"]), *drawn.names):
        assert max(covered_fraction(box, tuple(mask)) for mask in patient["masked"]) > 0.95
    assert not any("Patient" in line or "DOB" in line for line in patient["print"])


def test_pictures_are_of_episodes_with_retinal_images(silent_result: Result) -> None:
    row, pictures = silent_result
    assert sorted(pictures) == [1, 2, 4]
    assert all(picture.mean() > 5 for picture in pictures.values())
    assert [e["reason"] for e in row["episodes"]] == [
        "no retinal image on its keyframe", "nothing is said", "nothing is said", "no retinal image on its keyframe",
        "nothing is said",
    ]  # fmt: skip
    assert "it has no sound" in row["notes"]


def test_captions_beside_a_video_are_preferred(silent_lecture: Written, tmp_path: Path) -> None:
    path = Path(shutil.copy(silent_lecture[0], tmp_path / "talk.mp4"))
    (tmp_path / "talk.en.vtt").write_text("WEBVTT\n\n00:00:13.000 --> 00:00:14.500\nNote the drusen.\n")
    row = read_video(path)
    assert row["words_from"] == "talk.en.vtt"
    assert [e["transcript"] for e in row["episodes"]] == ["", "Note the drusen.", "Note the drusen.", "", ""]
    assert row["episodes"][2]["reason"] is None


def test_the_same_file_gives_the_same_bytes(silent_lecture: Written, tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        output = video_output(silent_lecture[0], VideoOptions(), tmp_path / name)
        files.append((output.rows, {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()}))
    assert files[0] == files[1]
    assert sorted(files[0][1]) == ["silent-0002.png", "silent-0003.png", "silent-0005.png"]


@pytest.mark.slow
def test_what_is_killed_at_any_moment_gives_the_same_bytes_afterwards(silent_lecture: Written, tmp_path: Path) -> None:
    path = Path(shutil.copy(silent_lecture[0], tmp_path / "talk.mp4"))
    path.with_suffix(".vtt").write_text("WEBVTT\n\n00:00:13.000 --> 00:00:14.500\nNote the drusen.\n")
    load_for_videos(options := VideoOptions(), path)

    def read(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        (row,) = video_output(path, options, folder).rows
        write_json(folder / "out.json", row)

    def written(folder: Path) -> dict[str, bytes]:
        return {item.name: item.read_bytes() for item in folder.iterdir()} if folder.exists() else {}

    read(tmp_path / "whole")
    start = time.perf_counter()
    read(tmp_path / "timed")
    seconds, expected = time.perf_counter() - start, written(tmp_path / "whole")
    assert len(expected) == 4
    assert written(tmp_path / "timed") == expected
    killed = 0
    for moment in range(10):
        folder = tmp_path / f"killed{moment}"
        child = os.fork()
        if not child:
            try:
                read(folder)
            finally:
                os._exit(0)
        time.sleep(seconds * (moment + 0.5) / 10)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        left = {name: content for name, content in written(folder).items() if name in expected}
        assert left.items() <= expected.items(), "nothing that has its name is half written"
        read(folder)
        again = written(folder)
        assert {name: again.get(name) for name in expected} == expected
    assert killed >= 5


def test_speech_is_recognised_around_its_episode(spoken_lecture: Written) -> None:
    row = read_video(spoken_lecture[0])
    assert row["words_from"].startswith("faster-whisper")
    pair = row["episodes"][1]
    assert {"photograph", "macula", "right", "eye."} & set(pair["transcript"].lower().split())
    assert all(pair["start"] - 3 <= (w["start"] + w["end"]) / 2 <= pair["end"] + 3 for w in pair["words"])
    assert row["episodes"][4]["words"], "the last slide is spoken, too"


def test_names_of_the_metadata_are_people(tmp_path: Path) -> None:
    (tmp_path / "a.info.json").write_text('{"channel": "Jane Miller; Eye Channel", "uploader": 3, "title": "x"}')
    (tmp_path / "b.info.json").write_text("[" * 100_000)
    assert people_of(tmp_path / "a.mp4") == ("Jane Miller", "Eye Channel")
    assert people_of(tmp_path / "c.mp4") == ()
    (tmp_path / "d.info.json").write_text('["Jane Miller"]')
    (tmp_path / "e.info.json").mkdir()
    for name in "bde":  # their names could not be masked
        with pytest.raises(UnreadableVideoMetadata):
            people_of(tmp_path / f"{name}.mp4")


def test_captions_of_another_video_or_none_are_not_read(tmp_path: Path) -> None:
    for name in ("talk.2.vtt", "talk.chapter.vtt", "talks.en.vtt"):
        (tmp_path / name).touch()
    (tmp_path / "talk.en.vtt").mkdir()
    assert captions_of(tmp_path / "talk.mp4") is None
    for name in ("talk.de.vtt", "talk.en-orig.vtt", "talk.vtt"):  # from the last choice to the first
        (tmp_path / name).touch()
        assert captions_of(tmp_path / "talk.mp4") == tmp_path / name


class Reads:
    """A reader of print that sees one name, and not where."""

    def __init__(self, reads: bool = True) -> None:
        self.reads = reads

    def reader(self) -> Any:
        return (lambda frames: [(ReadText("Dr Jane Miller", 1.0, None),) for _ in frames]) if self.reads else None


def test_no_picture_leaves_with_a_name_at_an_unknown_place_or_without_a_reader(silent_lecture: Written) -> None:
    pictures: dict[int, Pixels] = {}
    options = VideoOptions(most_hours=12 / 3600, reading=Reads())  # type: ignore[arg-type]
    read_video(silent_lecture[0], options, pictures.__setitem__)
    assert pictures
    assert not any(picture.any() for picture in pictures.values())
    with pytest.raises(SystemicError, match="cannot be masked"):
        read_video(silent_lecture[0], replace(options, reading=Reads(False)))  # type: ignore[arg-type]


def test_memory_that_ran_out_is_no_damage(silent_lecture: Written) -> None:
    av = pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    with pytest.raises(MemoryError), opened(silent_lecture[0]):
        raise av.error.MemoryError(12, "Cannot allocate memory")


def frames_of(path: Path, most_hours: float = 4.0) -> tuple[list[float], Watched]:
    watched = Watched()
    return [frame.seconds for frame in sampled_frames(path, watched, most_hours=most_hours)], watched


def test_a_frame_of_a_variable_rate_is_seen_at_its_beginning_and_before_its_end(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    still = Lecture(3, (Slide("text"), Slide("text")), voice=None, least=20.0, variable=True, presenter=False)
    typeset_lecture(still, tmp_path / "still.mp4")
    seconds, watched = frames_of(tmp_path / "still.mp4")
    assert watched.frames < 8
    assert seconds[:3] == pytest.approx([0.0, 19.5, 20.0], abs=0.2)
    assert watched.seconds == pytest.approx(40.0, abs=0.5)


def test_only_the_first_hours_are_read(silent_lecture: Written) -> None:
    seconds, watched = frames_of(silent_lecture[0], 10 / 3600)
    assert max(seconds) <= 10.0
    assert any("only the first" in note for note in watched.notes)


def test_few_frames_are_held_however_long_a_video_is(silent_lecture: Written, tmp_path: Path) -> None:
    repeated(silent_lecture[0], tmp_path / "long.mp4", 3)
    seconds, watched = frames_of(tmp_path / "long.mp4")
    assert watched.seconds == pytest.approx(3 * silent_lecture[1].seconds, abs=1.0)
    assert seconds == sorted(seconds)


@pytest.mark.parametrize(("suffix", "damage"), KINDS)
def test_a_damaged_file_is_rejected_or_read_as_far_as_it_goes(
    damage: str, suffix: str, small_videos: dict[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"video{suffix}"
    path.write_bytes(DAMAGES[damage](small_videos[suffix]))
    watched = Watched()
    with contextlib.suppress(ArticleError):
        assert list(sampled_frames(path, watched, most_hours=4))
    assert watched.seconds <= LONGEST_GAP
    with contextlib.suppress(ArticleError):
        assert sum(samples.size for _, samples in sound_of(path, [(0.0, 30.0)])) <= 30 * RATE


def test_a_gigabyte_of_zeros_is_not_read(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    path = tmp_path / "zeros.mp4"
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(UnreadableVideo, match="empty"):
        frames_of(path)


@pytest.mark.slow
def test_no_damage_ends_a_worker(small_videos: dict[str, bytes], tmp_path: Path) -> None:
    paths = []
    for number, (suffix, damage) in enumerate(KINDS):
        paths.append(tmp_path / f"{number}{suffix}")
        paths[-1].write_bytes(DAMAGES[damage](small_videos[suffix]))
    options = VideoOptions()
    with WorkerPool(1, timeout=120, memory_mb=4096) as pool:
        work = list(enumerate((path, options) for path in paths))
        found = pool.map_units("video", video_output, work, partial(load_for_videos, options))
    assert len(found) == len(paths) > 50
    rejected = {
        path.name: item.error_class for path, output in zip(paths, found, strict=True) for item in output.rejections
    }
    assert set(rejected.values()) <= {"UnreadableVideo", "NoPicture", "FrameTooLarge"}, rejected
    assert len(rejected) < len(paths), "some are read as far as they go"


@pytest.fixture(scope="module")
def small_videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Bytes of a video of eight seconds as MP4 and WebM."""
    pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    folder, made = tmp_path_factory.mktemp("small"), {}
    for suffix in (".mp4", ".webm"):
        lecture = Lecture(2, (Slide("text"), Slide("picture", ("cfp",))), size=(320, 180), voice=None, least=4.0)
        typeset_lecture(lecture, folder / f"small{suffix}")
        made[suffix] = (folder / f"small{suffix}").read_bytes()
    return made


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"PK\x03\x04" + bytes(40), "an archive"), (bytes(99), "empty"), (b"GIF89a" * 9, "something else")],
)
def test_what_is_no_video_is_named(content: bytes, words: str, tmp_path: Path) -> None:
    pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    path = tmp_path / "lecture.mp4"
    path.write_bytes(content)
    with pytest.raises(UnreadableVideo, match=words):
        frames_of(path)
    with pytest.raises(NotAFile):
        frames_of(tmp_path / "missing.mp4")


def test_sound_without_a_picture_is_rejected(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    with av.open(str(tmp_path / "sound.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=RATE)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, RATE), np.float32), format="fltp", layout="mono")
        frame.sample_rate = RATE
        for packet in [*stream.encode(frame), *stream.encode()]:
            container.mux(packet)
    with pytest.raises(NoPicture):
        frames_of(tmp_path / "sound.mp4")


def test_stretches_of_sound_do_not_overlap_and_are_short() -> None:
    assert merged_spans([(5, 9), (-2, 3), (8, 12), (20, 20)]) == [(0.0, 3), (5, 12)]
    assert merged_spans([(0, 600), (700, 900)], longest=300) == [(0, 300), (300, 600), (700, 900)]


def test_sound_is_laid_where_it_is_heard(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    tone = np.zeros(20 * RATE, np.float32)
    tone[7 * RATE : 8 * RATE] = 0.5 * np.sin(np.arange(RATE) * 0.2)
    with av.open(str(tmp_path / "tone.mkv"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        for first in range(0, len(tone), RATE):
            part = np.asarray(tone[first : first + RATE] * 32767, np.int16)[None]
            frame = av.AudioFrame.from_ndarray(part, format="s16", layout="mono")
            frame.sample_rate, frame.pts = RATE, first
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    spans = [(0.0, 6.5), (6.5, 7.5), (7.5, 15.0), (30.0, 31.0)]
    heard = dict(sound_of(tmp_path / "tone.mkv", spans))
    loud = {span: float(np.abs(samples).max()) > 0.1 for span, samples in heard.items() if samples.size}
    assert loud == {(0.0, 6.5): False, (6.5, 7.5): True, (7.5, 15.0): True}
    first_half = np.flatnonzero(np.abs(heard[6.5, 7.5]) > 0.1)[0] / RATE
    assert first_half == pytest.approx(0.5, abs=0.01)
