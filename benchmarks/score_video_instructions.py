"""Score the instructions that are made of drawn lectures, of which is known what is shown and what is said of it.

    python benchmarks/score_video_instructions.py [--bank development|held_out] [--lectures 12] [--first 0] [--speech]
        [--least 0.5] [--list] [--sure]

Needs the extra `video` and eSpeak NG. Lectures of eight slides with one picture each; one or two sentences are said of
it, and beside every second one a sentence that speaks of something else (`pmo_assets_tests/samples/lecture_sentences`).
Their words come from captions with exact times, or with `--speech` from the recogniser. What `video_instructions` keeps
is balanced as in a release and held against the truth: a yes/no question, the thing, place, eye or technique that is
asked for, of a conversation each of its turns. Then the balance, and how often an answerer is right that sees the
questions' words alone (trained on other lectures). `--least` is the probability that each word of a sentence must have,
in place of `sentences.TRUSTED`. `--list` prints what is wrong, `--sure` all.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from blind_instructions import cross_answers, interval

from pmo_assets.pipeline.context.entities import entities_of
from pmo_assets.pipeline.dataset.instruction_rows import YesNoBalance
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS
from pmo_assets.pipeline.instructions.video_steps import episode_instructions
from pmo_assets.pipeline.videos import sentences
from pmo_assets.pipeline.videos.speech import WhisperTranscriber
from pmo_assets.pipeline.videos.video import VideoOptions, load_for_speech, load_for_videos, read_video
from pmo_assets.samples.spec import PictureKind
from pmo_assets_tests.samples.lecture_sentences import (
    DEVELOPMENT,
    HELD_OUT,
    SaidSentence,
    SentenceBank,
    described_lecture,
)
from pmo_assets_tests.samples.lectures import RATE, Lecture, LectureTruth, Voice, spoken, typeset_lecture

VOICES: tuple[Voice, ...] = ("en-us", "en-gb-x-rp")
BANKS = {"development": DEVELOPMENT, "held_out": HELD_OUT}
PAUSE = 0.5
"""Seconds of silence before each sentence of a drawn lecture."""

RIGHT_MODALITIES: Mapping[PictureKind, tuple[str, ...]] = {
    "cfp": ("fundus photograph",),
    "oct": ("OCT",),
    "angiography": ("fluorescein angiography",),
    "autofluorescence": ("autofluorescence",),
}


@dataclass(frozen=True)
class Shown:
    """What a slide shows: its picture, and the sentences about it."""

    kind: PictureKind
    said: tuple[SaidSentence, ...]


def captions(lecture: Lecture, truth: LectureTruth) -> str:
    """Return captions with the times at which each sentence is spoken."""
    lines = ["WEBVTT", ""]
    for slide, episode in zip(lecture.slides, truth.episodes, strict=True):
        at = episode.start + PAUSE
        for sentence in slide.said:
            end = at + len(spoken(sentence, lecture.voice or "en-us")) / RATE
            lines += [f"{_time(at)} --> {_time(end)}", sentence, ""]
            at = end + PAUSE
    return "\n".join(lines)


def _time(seconds: float) -> str:
    return f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{seconds % 60:06.3f}"


def shown_of(lecture: Lecture, bank: SentenceBank) -> list[Shown | None]:
    """Return what each slide shows; None for a slide without a picture."""
    return [
        Shown(slide.pictures[0], tuple(s for s in bank.of_pictures[slide.pictures[0]] if s.text in slide.said))
        if slide.pictures
        else None
        for slide in lecture.slides
    ]


def words(text: str) -> list[str]:
    """Return the words of a text, small, in one spelling."""
    return re.findall(r"[a-z]+", text.lower().replace("-", "").replace("haem", "hem").replace("oedema", "edema"))


def fault(row: Mapping[str, Any], shown: Shown) -> str | None:
    """Return what is wrong with an instruction by the truth of its slide; None if nothing is."""
    turns = [turn["content"] for turn in row["messages"]]
    pairs = list(zip(turns[::2], turns[1::2], strict=True))
    if row["kind"] != "conversation":
        return _short_fault(row["kind"], row["topic"], row["asked"], *pairs[0], shown)
    told = [words(sentence.text) for sentence in shown.said]
    for question, answer in pairs:
        own = words(answer)
        if len(own) > 5:
            if not any(_holds(sentence, own) for sentence in told):
                return f"“{answer}” is not what is said of the picture"
            continue
        kinds = ["yes_no"] if answer in ("Yes.", "No.") else ["where", "what"]
        topics = ["finding", "imaging", "eye"]
        asked = _asked(question)
        if all(_short_fault(kind, topic, asked, question, answer, shown) for kind in kinds for topic in topics):
            return f"“{question}” “{answer}”"
    return None


def _holds(sentence: list[str], own: list[str]) -> bool:
    return any(sentence[at : at + len(own)] == own for at in range(len(sentence) - len(own) + 1))


def _asked(question: str) -> str:
    return next((item.term for item in entities_of(question, {}) if item.group in ("finding", "disease")), "")


def _short_fault(kind: str, topic: str, asked: str, question: str, answer: str, shown: Shown) -> str | None:
    present = {term for item in shown.said for term in item.present}
    absent = {term for item in shown.said for term in item.absent}
    eyes = {item.eye for item in shown.said if item.eye}
    right = RIGHT_MODALITIES[shown.kind]
    bare = " ".join(words(answer))
    if topic == "imaging":
        named = [name for name, said in MODALITY_WORDS.items() if " ".join(words(said)) in " ".join(words(question))]
        truth = asked in right or (kind == "yes_no" and any(name in right for name in named))
        if kind == "yes_no":
            return None if (answer == "Yes.") == truth else f"it is {right[0]}"
        return None if bare in {" ".join(words(MODALITY_WORDS[name])) for name in right} else f"it is {right[0]}"
    if topic == "eye":
        sides = {"OD": "right", "OS": "left"}
        own = {sides[eye] for eye in eyes}
        if kind == "yes_no":
            side = "right" if re.search(r"\bright\b", question.lower()) else "left"
            return None if own and (answer == "Yes.") == (side in own) else f"it is {own or 'not said'}"
        return None if {bare} == {f"{side} eye" for side in own} else f"it is {own or 'not said'}"
    if kind == "yes_no":
        if asked in present or asked in absent:
            return None if (answer == "Yes.") == (asked in present) else "the contrary is said"
        return f"{asked} is not spoken of"
    if kind == "what":
        terms = {item.term for item in entities_of(answer, {}) if item.group in ("finding", "disease")}
        return None if terms and terms <= present else f"{sorted(terms)} of {sorted(present)}"
    places = {" ".join(words(place)) for item in shown.said for own in item.places.values() for place in own}
    return None if bare in places else f"it is {sorted(places)}"


def made(
    row: Mapping[str, Any], truth: LectureTruth, shown: Sequence[Shown | None], name: str
) -> Iterator[tuple[Mapping[str, Any], Shown | None]]:
    """Yield the kept instructions of a lecture as it was read, each with what its slide shows."""
    for number, episode in enumerate(row["episodes"]):
        at = -1.0 if episode["keyframe"] is None else episode["keyframe"]
        own = next((k for k, drawn in enumerate(truth.episodes) if drawn.start <= at < drawn.end), None)
        for place, cells in enumerate(episode_instructions(episode, f"{name}-{number}")):
            named = {**cells, "id": f"{name}-{number}-{place}", "said": episode["transcript"]}
            yield named, None if own is None else shown[own]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bank", choices=sorted(BANKS), default="development")
    parser.add_argument("--lectures", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--speech", action="store_true")
    parser.add_argument("--least", type=float, default=sentences.TRUSTED)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sure", action="store_true")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    setattr(sentences, "TRUSTED", arguments.least)  # noqa: B010 - a constant to everybody else
    load_for_videos(options := VideoOptions(transcriber=WhisperTranscriber(threads=2)))
    if arguments.speech:
        load_for_speech(options)
    found: list[tuple[int, Mapping[str, Any], Shown | None]] = []
    pictures = spoken_of = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.first, arguments.first + arguments.lectures):
            lecture = described_lecture(seed, BANKS[arguments.bank], voice=VOICES[seed % 2])
            path = Path(folder, f"{seed}{'.webm' if seed % 5 == 4 else '.mp4'}")
            truth = typeset_lecture(lecture, path)
            if not arguments.speech:
                path.with_suffix(".vtt").write_text(captions(lecture, truth))
            row = read_video(path, options)
            shown = shown_of(lecture, BANKS[arguments.bank])
            pictures += sum(item is not None for item in shown)
            spoken_of += sum(episode["reason"] is None for episode in row["episodes"])
            found += [(seed, cells, own) for cells, own in made(row, truth, shown, str(seed))]
    say(found, pictures, spoken_of, arguments.list, arguments.sure)


def say(
    found: Sequence[tuple[int, Mapping[str, Any], Shown | None]], pictures: int, pairs: int, wrong: bool, every: bool
) -> None:
    """Print everything."""
    balance = YesNoBalance()
    for _, row, _ in found:
        if row["kind"] == "yes_no":
            balance.add("all", row["topic"], row["asked"], row["messages"][-1]["content"], row["id"])
    out = balance.left_out()
    counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    before: Counter[bool] = Counter()
    yes_no: list[tuple[str, str, str, str]] = []
    for seed, row, shown in found:
        why = "no slide of the lecture" if shown is None else fault(row, shown)
        before[why is None] += 1
        if (wrong and why is not None) or every:
            turns = " | ".join(turn["content"] for turn in row["messages"])
            print(f"{row['id']} {row['kind']} {'WRONG: ' + why if why else 'right'}: {turns} — said: {row['said']}")
        if row["id"] in out:
            continue
        counts[row["kind"]][why is None] += 1
        if row["kind"] == "yes_no":
            yes_no.append((str(seed), row["topic"], row["messages"][0]["content"], row["messages"][1]["content"]))
    print(f"{pictures} pictures drawn, {pairs} pairs, {len(found)} instructions kept by every check "
          f"({before[True]} right), {len(out)} left out by balance")  # fmt: skip
    for kind, own in sorted(counts.items()):
        print(f"  {kind:13} {own.total():4}, right {own[True]}")
    total = sum((own for own in counts.values()), Counter())
    print(f"  {'all':13} {total.total():4}, right {total[True]} ({total[True] / max(1, total.total()):.3f})")
    if not yes_no:
        return
    said_yes = sum(item[3] == "Yes." for item in yes_no)
    print(f"yes {said_yes}, no {len(yes_no) - said_yes}")
    right = cross_answers(yes_no)
    low, high = interval(right, [item[0] for item in yes_no])
    print(f"blind: {np.mean(right):.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
