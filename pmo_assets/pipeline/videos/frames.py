"""Frames of a video, sampled by their times, in bounded memory.

A video's times are its own: frame rates vary, headers lie, files end early. So every frame is decoded and its time
read; what a header says is reported beside what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.videos.containers import (
    LARGEST_SIDE,
    FrameTooLarge,
    NoPicture,
    UnreadableVideo,
    opened,
    origin_of,
    pyav,
)
from pmo_assets.records.faults import raise_fault

SAMPLES_PER_SECOND: Final = 2.0
"""Frames that are looked at: a change is dated to half a second."""

LONGEST_SIDE: Final = 1280
"""Pixels of sampled frames; larger ones are made smaller, which no network here sees."""

MOST_ERRORS: Final = 200
"""Packets that cannot be decoded after which a video counts as ended."""

LONGEST_GAP: Final = 1800.0
"""Seconds between two frames that are believed: a later one has a wrong time, and the video ends before it."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A frame that is looked at: seconds from the beginning, and pixels (height, width, 3) uint8 RGB."""

    seconds: float
    pixels: NDArray[np.uint8]


@dataclass
class Watched:
    """What was found out about a video while its frames were read; filled in by `sampled_frames`.

    Attributes:
        seconds: to the end of the last frame that was decoded.
        stated_seconds: as the container says; None when it does not.
        size: (width, height) of the stream in pixels.
        frames: decoded.
        errors: packets and frames that could not be decoded.
        has_sound: there is a sound stream.
        notes: sentences on what is not as it should be.
    """

    seconds: float = 0.0
    stated_seconds: float | None = None
    size: tuple[int, int] = (0, 0)
    frames: int = 0
    errors: int = 0
    has_sound: bool = False
    notes: tuple[str, ...] = ()


def sampled_frames(
    path: Path, watched: Watched, *, most_hours: float, per_second: float = SAMPLES_PER_SECOND
) -> Iterator[Frame]:
    """Yield frames of a video, in order of time, at most `per_second`; one frame is held at a time.

    A frame that stays for long (variable frame rate) is yielded at its beginning and before its end.

    Args:
        path: of the video.
        watched: is filled in.
        most_hours: what comes later is not read, and that is noted.
        per_second: frames a second.

    Raises:
        UnreadableVideo: when it cannot be opened.
        NoPicture: when there is no video stream or not one frame.
        FrameTooLarge: when frames have more pixels than are decoded here.
        SystemicError: when PyAV is not installed.
    """
    try:
        with opened(path) as container:
            yield from _sampled(path, container, watched, most_hours * 3600, 1 / per_second)
    except UnreadableVideo:
        if not watched.frames:
            raise
        watched.notes += (f"the file is damaged after {watched.seconds:.0f} s",)
    if not watched.frames:
        raise NoPicture(f"{path.name} has no frame that can be decoded")
    stated = watched.stated_seconds
    if stated is not None and abs(stated - watched.seconds) > max(2.0, 0.02 * watched.seconds):
        watched.notes += (f"it says that it lasts {stated:.0f} s, its frames last {watched.seconds:.0f} s",)
    if watched.errors:
        watched.notes += (f"{watched.errors} parts of the stream could not be decoded",)


def _sampled(path: Path, container: Any, watched: Watched, most_seconds: float, step: float) -> Iterator[Frame]:
    stream = next((s for s in container.streams.video if not _is_cover(s)), None)
    if stream is None:
        raise NoPicture(f"{path.name} has no video stream")
    if stream.codec_context is None:
        raise NoPicture(f"{path.name} has a video stream in a codec that is not known here")
    wide, tall = stream.codec_context.width, stream.codec_context.height
    _check_size(path, wide, tall)
    stream.codec_context.thread_count = 1  # parallelism comes from the worker processes
    watched.size, watched.has_sound = (wide, tall), bool(container.streams.audio)
    watched.stated_seconds = container.duration / 1_000_000 if container.duration else None
    sampler = _Sampler(step)
    for now, frame in _timed(container, stream, watched, most_seconds):
        _check_size(path, frame.width, frame.height)
        yield from sampler.until(now)
        sampler.held, sampler.since = frame, now
    yield from sampler.until(watched.seconds)


def _check_size(path: Path, wide: int, tall: int) -> None:
    if max(wide, tall) > LARGEST_SIDE:
        raise FrameTooLarge(f"{path.name} has frames of {wide} × {tall} pixels; at most {LARGEST_SIDE} are decoded")


@dataclass
class _Sampler:
    """The frame that is shown at the moment, since when, and when the next sample is due."""

    step: float
    held: Any = None
    since: float = 0.0
    due: float = 0.0
    last: float = -math.inf

    def until(self, now: float) -> Iterator[Frame]:
        """Yield the held frame if a sample falls into its time; one that stays for long also shortly before its end."""
        if self.held is None or max(self.due, self.since) >= now:
            return
        self.due = max(self.due, self.since)
        pixels = _pixels(self.held)
        for again in (False, True):
            at = self.since if not again and self.since > self.last else self.due
            yield Frame(at, pixels)
            self.last, self.due = at, self.due + self.step
            if self.due >= now:
                return
            self.due = max(self.due, now - self.step)


def _timed(container: Any, stream: Any, watched: Watched, most_seconds: float) -> Iterator[tuple[float, Any]]:
    """Yield (seconds, frame) in order of time, and note how many and how long; times that go back are left out."""
    origin, last, rate = origin_of(container), -math.inf, float(stream.average_rate or 25)
    for frame in _decoded(container, stream, watched):
        # A frame without a time follows the one before.
        own = float(frame.time) - origin if frame.time is not None else last + 1 / rate
        now = max(own, 0.0)
        watched.frames += 1
        if not last < now < math.inf:
            continue
        if math.isfinite(last) and now - last > LONGEST_GAP:
            watched.notes += (f"no frame for {now - last:.0f} s after {last:.0f} s: what follows is not read",)
            return
        if now > most_seconds:
            watched.notes += (f"only the first {most_seconds / 3600:g} hours are read",)
            return
        shown = float(frame.duration * frame.time_base) if frame.duration and frame.time_base else 1 / rate
        watched.seconds = now + min(max(shown, 0.0), LONGEST_GAP)
        last = now
        yield now, frame


def _is_cover(stream: Any) -> bool:
    """Say whether a video stream is a still cover."""
    return "attached_pic" in str(stream.disposition)


def _decoded(container: Any, stream: Any, watched: Watched) -> Iterator[Any]:
    error_class = pyav().error.FFmpegError
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except error_class as error:
            raise_fault(error)
            watched.errors += 1
            if watched.errors > MOST_ERRORS:
                watched.notes += (f"reading stopped after {MOST_ERRORS} parts that could not be decoded",)
                return
            continue
        yield from frames


def _pixels(frame: Any) -> NDArray[np.uint8]:
    share = min(1.0, LONGEST_SIDE / max(frame.width, frame.height))
    wide, tall = max(2, round(frame.width * share)), max(2, round(frame.height * share))
    pixels = np.asarray(frame.to_ndarray(width=wide, height=tall, format="rgb24"), np.uint8)
    turned = round((getattr(frame, "rotation", 0) or 0) / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, turned))
