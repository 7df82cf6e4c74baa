"""WebVTT captions beside a video, as words with times.

Captions made by machines (yt-dlp saves YouTube's) carry a time before each word and show every line twice; captions
made by people have the times of their cue alone, over which its words are spread by their length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pmo_assets.pipeline.videos.words import Word

LARGEST: Final = 64 * 2**20
"""Bytes of a file of captions that are read: a lecture of ten hours has 5 MB."""

_TIMING: Final = re.compile(r"^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{3})\s+-->\s+((?:\d+:)?\d{1,2}:\d{2}[.,]\d{3})")
_INNER: Final = re.compile(r"<((?:\d+:)?\d{1,2}:\d{2}\.\d{3})>")
# What opens is no part of what is enclosed: else a line of a million brackets takes their square.
_TAG: Final = re.compile(r"<[^<>]*>")
_SOUND: Final = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|♪")


def _seconds(text: str) -> float:
    parts = [float(part) for part in text.replace(",", ".").split(":")]
    return float(sum(value * 60**power for power, value in enumerate(reversed(parts))))


def read_captions(path: Path) -> list[Word]:
    """Return the words of a WebVTT file in order; none when it is no such file, or empty."""
    with path.open("rb") as file:
        text = file.read(LARGEST).decode("utf-8-sig", errors="replace")
    return caption_words(text) if text.lstrip().startswith("WEBVTT") else []


def caption_words(text: str) -> list[Word]:
    """Return the words of WebVTT in order of time; a line that a cue repeats from the one before counts once."""
    words: list[Word] = []
    shown: list[str] = []
    # A line with a blank is part of a cue: YouTube's captions have one above what is said.
    for block in re.split(r"\n\n+", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.split("\n")
        at = next((k for k, line in enumerate(lines) if _TIMING.match(line)), None)
        if at is None:
            continue
        timing = _TIMING.match(lines[at])
        assert timing is not None
        start, end = _seconds(timing[1]), _seconds(timing[2])
        if end <= start:
            continue
        own = [line for line in lines[at + 1 :] if _plain(line)]
        fresh = [line for line in own if _plain(line) not in shown]
        shown = [_plain(line) for line in own]
        words.extend(_timed(fresh, start, end))
    return sorted(words, key=lambda word: word.start)


def _plain(line: str) -> str:
    return " ".join(_SOUND.sub(" ", html.unescape(_TAG.sub("", line))).split())


def _timed(lines: Sequence[str], start: float, end: float) -> list[Word]:
    """Return the words of a cue's lines: those between two inner times share that time by their length."""
    pieces: list[tuple[float, str]] = []
    at = start
    for line in lines:
        parts = _INNER.split(line)
        pieces.append((at, _plain(parts[0])))
        for time, said in zip(parts[1::2], parts[2::2], strict=True):
            at = min(max(_seconds(time), at), end)
            pieces.append((at, _plain(said)))
    merged: list[tuple[float, str]] = []
    for begin, said in pieces:
        if merged and merged[-1][0] == begin:
            merged[-1] = (begin, f"{merged[-1][1]} {said}".strip())
        else:
            merged.append((begin, said))
    words: list[Word] = []
    for (begin, said), until in zip(merged, [*(at for at, _ in merged[1:]), end], strict=bool(merged)):
        parts = said.split()
        letters = sum(len(part) + 1 for part in parts)
        for part in parts:
            length = (until - begin) * (len(part) + 1) / letters
            words.append(Word(part, begin, begin + length, 1.0))
            letters -= len(part) + 1
            begin += length
    return words
