"""Episodes: the stretches of a video in which the same slide is shown, and the candidates for their keyframes.

A frame's descriptor is what stands out from the ground, cell by cell, and its detail; two frames show the same slide
when the cosine of their descriptors is at least δ_c (OphIn-Engine compares DINOv3's embeddings, δ_c = 0.95; for this
descriptor δ_c was measured on drawn lectures: `benchmarks/score_videos.py --curve`). Frames are compared with the
episode they may belong to and not only with the frame before, so that a slow fade is found, and what moves (a presenter
in a corner, a pointer) is no cut. Frames of a fade belong to no episode: its middle is the boundary.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.videos.frames import Frame

SAME_SLIDE: Final = 0.95
"""δ_c: least cosine of two frames of one episode."""

STEADY: Final = 0.96
"""Least cosine of a frame and the one of `SETTLES` seconds before, when it is not in the middle of a change."""

SETTLES: Final = 1.5
"""Seconds after which a change is over, if nothing has changed meanwhile."""

LONGEST_CHANGE: Final = 6.0
"""Seconds that a change may take; what moves for longer is footage, and is cut there."""

SHORTEST: Final = 1.5
"""Seconds; a shorter stretch is part of a change."""

CANDIDATES: Final = 3
"""Frames that an episode keeps to choose its keyframe from."""

_COLUMNS, _ROWS = 96, 54
"""Cells of a descriptor."""

_DETAIL, _BLUR = 3.0, 2.0
"""Weight of what differs from the surroundings, and their size in cells: two scans of one shape differ in detail."""

_SOFT: Final = 24.0
"""Grey levels from the ground that count half: a dark picture weighs no more than print."""

_AS_SHARP: Final = 0.05
"""Frames whose sharpness differs by less than this share count as equally sharp."""

_BLANK: Final = 0.02
"""Mean share of a descriptor's cells below which a frame is blank: black, or empty ground."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A frame that may become the keyframe: seconds, pixels, and sharpness (variance of the Laplacian)."""

    seconds: float
    pixels: NDArray[np.uint8]
    sharpness: float


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """A stretch of a video: start and end in seconds, and its candidates, best first; none when it is all change."""

    start: float
    end: float
    candidates: tuple[Candidate, ...]


def descriptor(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return what stands out from the ground in a frame, cell by cell, and its detail: (cells × 6,) float32.

    Args:
        pixels: (height, width, 3) uint8 RGB.
    """
    small = cv2.resize(pixels, (_COLUMNS * 2, _ROWS * 2), interpolation=cv2.INTER_AREA).astype(np.float32)
    away = small - np.median(small.reshape(-1, 3), axis=0)
    softened = away / (np.abs(away) + _SOFT)
    cells = cv2.resize(softened, (_COLUMNS, _ROWS), interpolation=cv2.INTER_AREA)
    detail = _DETAIL * (cells - cv2.GaussianBlur(cells, (0, 0), _BLUR))
    return np.concatenate([cells, detail], axis=2).astype(np.float32).reshape(-1)


def is_blank(own: NDArray[np.float32]) -> bool:
    """Say whether a descriptor is that of a frame of one colour."""
    return float(np.abs(own).mean()) < _BLANK


def similarity(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Return the cosine of two descriptors; of two blank ones 1, of a blank one and another 0."""
    blank = [is_blank(item) for item in (first, second)]
    if any(blank):
        return float(all(blank))
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def sharpness(pixels: NDArray[np.uint8]) -> float:
    """Return the variance of a frame's Laplacian at 320 pixels across: more is sharper."""
    wide = 320
    small = cv2.resize(
        pixels, (wide, max(1, round(pixels.shape[0] * wide / pixels.shape[1]))), interpolation=cv2.INTER_AREA
    )
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_32F).var())


@dataclass
class _Open:
    """The episode at hand: where it began, its descriptor, its candidates."""

    start: float
    anchor: NDArray[np.float32]
    candidates: list[Candidate] = field(default_factory=list)

    def take(self, frame: Frame, own: NDArray[np.float32]) -> None:
        """Note a steady frame of the episode: the sharpest are kept, of equally sharp ones the latest."""
        self.anchor = np.asarray(0.9 * self.anchor + 0.1 * own, np.float32)
        self.candidates.append(Candidate(frame.seconds, frame.pixels, sharpness(frame.pixels)))
        self.candidates.sort(key=lambda c: (-round(math.log1p(c.sharpness) / _AS_SHARP), -c.seconds))
        del self.candidates[CANDIDATES:]

    def closed(self, end: float) -> Episode:
        return Episode(self.start, end, tuple(self.candidates))


def cut_episodes(
    frames: Iterable[Frame], *, same_slide: float = SAME_SLIDE, steady: float = STEADY
) -> Iterator[Episode]:
    """Yield the episodes of a video as they end; few frames are held at a time.

    The end of the last episode is the time of the last frame: whoever knows how long that is shown puts it right.

    Args:
        frames: in order of time.
        same_slide: δ_c.
        steady: least cosine of frames outside of changes.
    """
    waiting: Episode | None = None
    for episode in _cut(frames, same_slide, steady):
        if waiting is None:
            waiting = episode
        elif episode.end - episode.start < SHORTEST:
            # Part of a slow change: it belongs to neither neighbour, and the boundary lies in its middle.
            middle = (episode.start + episode.end) / 2
            waiting = replace(waiting, end=middle)
        else:
            yield waiting
            waiting = replace(episode, start=waiting.end)
    if waiting is not None:
        yield waiting


def _cut(frames: Iterable[Frame], same_slide: float, steady: float) -> Iterator[Episode]:
    current: _Open | None = None
    recent: deque[tuple[float, NDArray[np.float32]]] = deque()
    unsettled: float | None = None  # when a change may have begun
    changing = False
    last = 0.0
    for frame in frames:
        own = descriptor(frame.pixels)
        last = frame.seconds
        if current is None:
            current = _Open(frame.seconds, own)
            current.take(frame, own)
            recent.append((frame.seconds, own))
            continue
        while len(recent) > 1 and recent[0][0] < frame.seconds - SETTLES:
            recent.popleft()
        settled, earlier = recent[0]
        quiet = similarity(earlier, own) >= steady and not is_blank(own)
        if similarity(current.anchor, own) >= same_slide:
            if quiet:  # as before; or it is back after a flash, or after someone who stood before the slide
                current.take(frame, own)
                unsettled, changing = None, False
            elif unsettled is None:
                unsettled = frame.seconds
        elif not changing:
            changing, unsettled = True, frame.seconds if unsettled is None else unsettled
        elif unsettled is not None and (quiet or frame.seconds - unsettled >= LONGEST_CHANGE):
            boundary = (unsettled + max(settled, unsettled)) / 2 if quiet else unsettled
            yield current.closed(boundary)
            current = _Open(boundary, own)
            current.take(frame, own)
            unsettled, changing = None, False
        recent.append((frame.seconds, own))
    if current is not None:
        yield current.closed(last)
