"""Score what `pmo video` finds in drawn lectures: episodes, keyframes, images, words, what is masked, speed, memory.

    python benchmarks/score_videos.py [--first 0] [--videos 10] [--threads 1] [--curve] [--speech] [--list]
        [--long MINUTES [--captions]]

Needs the extra `video` and eSpeak NG, which speaks. Lectures 0 to 9 are for development, from 10 on they are held out.
Of each: boundaries between slides (found within a second), whether a keyframe shows the retina, boxes of retinal
images (IoU), drawn faces and names that are masked on the keyframes of episodes whose pictures leave, and how many
times faster than they play the videos are read (networks loaded before).

* `--curve`: F1 of boundaries for several values of δ_c instead.
* `--speech`: word error rate of whole lectures besides, for each voice: without and with the vocabulary as a prompt, as
  `pmo video` takes it (without where a prompt loses or repeats words), and with misheard words corrected.
* `--long`: seconds, memory at each tenth, and peak memory, of a video of so many minutes and of one of a tenth of them
  (the first lecture repeated, packets copied), each in a process of its own. With `--captions` words lie beside
  it, and no speech is recognised.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rapidfuzz.distance import Levenshtein

from pmo_assets.pipeline.videos.episodes import cut_episodes, descriptor, similarity
from pmo_assets.pipeline.videos.frames import Watched, sampled_frames
from pmo_assets.pipeline.videos.speech import WhisperTranscriber, heard, merged_spans, sound_of
from pmo_assets.pipeline.videos.video import VideoOptions, load_for_speech, load_for_videos, read_video
from pmo_assets.pipeline.videos.vocabulary import corrected, prompt
from pmo_assets.pipeline.videos.words import Word, joined
from pmo_assets.records.geometry import Box, crop_box, iou
from pmo_assets_tests.samples.lectures import (
    DrawnEpisode,
    LectureTruth,
    Voice,
    drawn_lecture,
    repeated,
    typeset_lecture,
)

VOICES: tuple[Voice, ...] = ("en-us", "en-gb-x-rp")
WITHIN = 1.0
"""Seconds by which a boundary may be off."""

CURVE = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99)
COVERED = 0.98
"""Share of a drawn face or name that must be black."""


def typeset(seed: int, folder: Path) -> tuple[Path, LectureTruth, Voice]:
    """Write a lecture; every third has a variable frame rate, every fifth is a WebM."""
    voice = VOICES[seed % 2]
    path = folder / f"{seed}{'.webm' if seed % 5 == 4 else '.mp4'}"
    lecture = drawn_lecture(seed, slides=8, voice=voice, variable=seed % 3 == 0)
    return path, typeset_lecture(lecture, path), voice


def boundaries(found: Sequence[float], truth: Sequence[float]) -> tuple[int, int, int]:
    """Return how many boundaries were found rightly, found, and drawn."""
    free = list(truth)
    right = 0
    for at in found:
        near = min(free, key=lambda t: abs(t - at), default=None)
        if near is not None and abs(near - at) <= WITHIN:
            free.remove(near)
            right += 1
    return right, len(found), len(truth)


def f1(counts: Sequence[int]) -> float:
    """Return F1 of (right, found, drawn)."""
    return 2 * counts[0] / max(1, counts[1] + counts[2])


def covered(box: Box, masks: Sequence[Sequence[float]], side: int = 400) -> float:
    """Return the share of a box that masks cover, on a raster."""
    raster = np.zeros((side, side), bool)
    for mask in masks:
        left, top, right, bottom = crop_box((mask[0], mask[1], mask[2], mask[3]), side, side)
        raster[top:bottom, left:right] = True
    left, top, right, bottom = crop_box(box, side, side)
    return float(raster[top:bottom, left:right].mean())


def episode_at(found: Sequence[dict[str, Any]], drawn: DrawnEpisode) -> dict[str, Any] | None:
    """Return the found episode whose keyframe lies in a drawn one, the longest of several."""
    within = [e for e in found if e["keyframe"] is not None and drawn.start <= e["keyframe"] < drawn.end]
    return max(within, key=lambda e: e["end"] - e["start"], default=None)


class Scores:
    """Counts over all videos."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.boundaries = [0, 0, 0]
        self.keyframes: Counter[tuple[bool, bool]] = Counter()
        self.ious: list[float] = []
        self.types: Counter[bool] = Counter()
        self.faces: list[float] = []
        self.names: list[float] = []
        self.lost: list[float] = []
        self.seconds = self.taken = self.processor = 0.0

    def add(self, row: dict[str, Any], truth: LectureTruth) -> list[str]:
        """Count a video and return what went wrong."""
        faults: list[str] = []
        found, drawn = row["episodes"], truth.episodes
        counts = boundaries([e["start"] for e in found[1:]], [e.start for e in drawn[1:]])
        self.boundaries = [a + b for a, b in zip(self.boundaries, counts, strict=True)]
        if counts[0] != counts[1] or counts[0] != counts[2]:
            faults.append(f"boundaries {[e['start'] for e in found[1:]]} for {[round(e.start, 2) for e in drawn[1:]]}")
        for episode in drawn:
            own = episode_at(found, episode)
            kept = [] if own is None else [i for i in own["images"] if i["kept"]]
            self.keyframes[episode.is_retinal, bool(kept)] += 1
            if episode.is_retinal != bool(kept):
                faults.append(
                    f"{episode.kind} at {episode.start:.1f} s: retinal {episode.is_retinal}, kept {len(kept)}"
                )
            for image in episode.images if kept else ():
                if image.image_type == "Other":
                    continue
                best = max(kept, key=lambda i: iou(image.box, tuple(i["box"])))
                self.ious.append(iou(image.box, tuple(best["box"])))
                self.types[best["image_type"] == image.image_type] += 1
                self.lost.append(covered(image.box, [] if own is None else own["masked"]))
            if kept and own is not None:
                faces = [covered(box, own["masked"]) for box in episode.faces_at(own["keyframe"])]
                names = [covered(box, own["masked"]) for box in episode.names]
                self.faces, self.names = self.faces + faces, self.names + names
                if any(share < COVERED for share in faces + names):
                    faults.append(f"{episode.kind} at {episode.start:.1f} s: faces {faces}, names {names} covered")
        return faults

    def say(self) -> None:
        """Print everything."""
        right, wrong, missed = self.keyframes[True, True], self.keyframes[False, True], self.keyframes[True, False]
        print(f"boundaries       F1 {f1(self.boundaries):.3f} (right {self.boundaries[0]}, found {self.boundaries[1]}, "
              f"drawn {self.boundaries[2]})")  # fmt: skip
        print(f"retinal keyframe precision {right / max(1, right + wrong):.3f}, recall "
              f"{right / max(1, right + missed):.3f} ({right + missed} of {sum(self.keyframes.values())} episodes are "
              f"retinal)")  # fmt: skip
        print(f"retinal images   median IoU {np.median(self.ious or [0]):.3f}, share with IoU ≥ 0.5 "
              f"{np.mean(np.asarray(self.ious or [0]) >= 0.5):.3f}, type right {self.types[True]} of "
              f"{len(self.ious)}")  # fmt: skip
        for name, shares in (("faces", self.faces), ("names", self.names)):
            print(f"masked {name:9} {sum(s >= COVERED for s in shares)} of {len(shares)}")
        print(f"lost to masks    {np.mean(self.lost or [0]):.4f} of the retinal images' area")
        print(f"speed            {self.seconds / self.taken:.1f} × real time, {self.seconds / self.processor:.1f} × by "
              f"processor time ({self.seconds / 60:.1f} minutes of video)")  # fmt: skip


def text_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return re.findall(r"[a-z]+", text.lower().replace("-", ""))


def errors_of_speech(path: Path, truth: LectureTruth, transcriber: WhisperTranscriber) -> dict[str, tuple[int, int]]:
    """Return (errors, words) of a whole lecture: plain, prompted, as `pmo video` takes it, and corrected."""
    drawn = text_words(" ".join(episode.text for episode in truth.episodes))
    said: dict[str, list[Word]] = defaultdict(list)
    for _, samples in sound_of(path, merged_spans([(0.0, truth.seconds)])):
        said["plain"] += transcriber(samples, "")
        said["prompted"] += transcriber(samples, prompt())
        taken = heard(samples, prompt(), transcriber)
        said["taken"] += taken
        said["taken, corrected"] += corrected(taken, transcriber.knows)
    return {name: (Levenshtein.distance(text_words(joined(words)), drawn), len(drawn)) for name, words in said.items()}


def say_curve(videos: Sequence[tuple[Path, LectureTruth, Voice]]) -> None:
    """Print F1 of boundaries for each δ_c, and how alike frames of one slide and of neighbouring ones are."""
    frames = [list(sampled_frames(path, Watched(), most_hours=1)) for path, _, _ in videos]
    same: list[float] = []
    other: list[float] = []
    for (_, truth, _), shown in zip(videos, frames, strict=True):
        own = [[descriptor(f.pixels) for f in shown if e.start + 0.5 < f.seconds < e.end - 0.5] for e in truth.episodes]
        same += [similarity(a, b) for slide in own for a, b in pairwise(slide)]
        other += [similarity(a[-1], b[0]) for a, b in pairwise(own) if a and b]
    print(f"same slide: least {min(same):.3f}, 1st percentile {np.percentile(same, 1):.3f}; next slide: greatest "
          f"{max(other):.3f}, 99th percentile {np.percentile(other, 99):.3f}")  # fmt: skip
    for least in CURVE:
        counts = [0, 0, 0]
        for (_, truth, _), shown in zip(videos, frames, strict=True):
            starts = [e.start for e in cut_episodes(iter(shown), same_slide=least)][1:]
            right = boundaries(starts, [e.start for e in truth.episodes[1:]])
            counts = [a + b for a, b in zip(counts, right, strict=True)]
        print(f"δ_c {least:.2f}  F1 {f1(counts):.3f}  (right {counts[0]}, found {counts[1]}, drawn {counts[2]})")


def memory() -> float:
    """Return what this process holds now, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def say_long(path: Path, threads: int) -> None:
    """Read a video in this process and print seconds, and memory: at each tenth of it, and the peak."""
    load_for_videos(options := VideoOptions(transcriber=WhisperTranscriber(threads=threads)))
    held: list[tuple[float, float]] = []
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.perf_counter()
    processor = time.process_time()
    row = read_video(path, options, lambda number, pixels: None, lambda seconds: held.append((seconds, memory())))
    taken, used = time.perf_counter() - start, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    edges = np.linspace(0, row["seconds"], 11)
    tenths = [max((own for at, own in held if low <= at <= high), default=0.0) for low, high in pairwise(edges)]
    print(f"{row['seconds'] / 60:.0f} minutes, {len(row['episodes'])} episodes: {taken:.0f} s, "
          f"{row['seconds'] / taken:.1f} × real time, {row['seconds'] / used:.1f} × by processor time; peak memory "
          f"{peak:.0f} MiB, {before:.0f} MiB before")  # fmt: skip
    print("at most in each tenth while it is watched:", " ".join(f"{own:.0f}" for own in tenths), "MiB", flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--videos", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1, help="that recognise speech")
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--speech", action="store_true")
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--captions", action="store_true")
    parser.add_argument("--list", action="store_true", help="print what went wrong")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    if arguments.read:
        say_long(arguments.read, arguments.threads)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.long:
            path, truth, _ = typeset(arguments.first, folder)
            for minutes in (arguments.long // 10, arguments.long):
                out = folder / f"long{minutes}{path.suffix}"
                repeated(path, out, max(1, round(minutes * 60 / truth.seconds)))
                if arguments.captions:
                    said = (
                        f"{n // 60:02}:{n % 60:02}:10.000 --> {n // 60:02}:{n % 60:02}:50.000" for n in range(minutes)
                    )
                    out.with_suffix(".vtt").write_text("WEBVTT\n\n" + "".join(f"{at}\nFovea.\n\n" for at in said))
                subprocess.run(
                    [sys.executable, __file__, "--read", out, "--threads", str(arguments.threads)], check=True
                )
            return
        videos = [typeset(seed, folder) for seed in range(arguments.first, arguments.first + arguments.videos)]
        if arguments.curve:
            say_curve(videos)
            return
        load_for_videos(options := VideoOptions(transcriber=WhisperTranscriber(threads=arguments.threads)))
        load_for_speech(options)
        reader = options.reading.reader()
        if reader is not None:
            reader([np.zeros((64, 64, 3), np.uint8)])  # text detection is loaded at its first use
        scores = Scores()
        errors: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
        for path, truth, voice in videos:
            start, processor = time.perf_counter(), time.process_time()
            row = read_video(path, options)
            scores.taken += time.perf_counter() - start
            scores.processor += time.process_time() - processor
            scores.seconds += row["seconds"]
            faults = scores.add(row, truth)
            for fault in faults if arguments.list else ():
                print(f"{path.name}: {fault}")
            if arguments.speech:
                for kind, own in errors_of_speech(path, truth, WhisperTranscriber()).items():
                    errors[voice, kind] = [a + b for a, b in zip(errors[voice, kind], own, strict=True)]
        scores.say()
        for (name_of_voice, kind), (wrong, all_words) in sorted(errors.items()):
            print(f"word error rate  {name_of_voice:12} {kind:20} {wrong / all_words:.3f} ({all_words} words)")


if __name__ == "__main__":
    main()
