"""Examples for the mark classifier: pictures as they come out of figures, marks drawn on half of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from pmo_assets.records.geometry import covered_fraction
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.samples.drawing import Colour, Pixels, grey_of, print_text
from pmo_assets.training.synthetic.device_print import draw_device_print, draw_line_ends, draw_reflexes, draw_times
from pmo_assets.training.synthetic.drawings import PAPER_KINDS, drawn
from pmo_assets.training.synthetic.drawn_marks import MARK_KINDS, SEEN_PIXELS, DrawnMark, draw_marks
from pmo_assets.training.synthetic.filled_pictures import heat_map, segmentation, spots
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.worn_pictures import worn

Crop = tuple[Pixels, bool]
"""A picture and whether it is marked."""

DrawnCrop = tuple[Pixels, bool, Pixels]
"""A picture, whether it is marked, and how much its marks changed it: (height, width) uint8, levels of the channel that
changed most; 0 where nothing was drawn."""

SIDES = (110, 620)
"""Sides (root of the area, pixels) of examples, as pictures have them in figures at 300 dpi."""

THIN = 0.3
"""Part of the mark classifier's marked pictures whose marks are thin outlines."""

OUTLINES = tuple(float(name in ("circle", "box", "outline")) for name, _, _ in MARK_KINDS)
"""Odds of the kinds of marks (`MARK_KINDS`) among thin outlines."""

OPEN = 0.06
"""Part of the marked pictures whose marks are arrows with an open head."""

OPEN_ARROWS = tuple(float(name == "open arrow") for name, _, _ in MARK_KINDS)
"""Odds of the kinds of marks among these."""

REFLEXES, TIMED, REACHED = 0.3, 0.25, 0.14
"""Part of the pictures of the pool that have reflexes of light, and parts of all that have numbers or times, and into
which lines from elsewhere reach."""

LEFT = 24
"""Levels that must be left of marks after the wear of the picture, in at least `SEEN_PIXELS` pixels: else it is
unmarked to people, too."""

CRISP = 0.15
"""Part of the marked pictures whose marks are drawn last, on top of the wear: vectors over an embedded picture."""


_DRAWN_SHARE = 0.22
"""Part of the examples whose grounds are drawn."""


def mark_example(seed: int, pool: PicturePool) -> DrawnCrop:
    """Return a picture, half of them marked, as they come out of figures: with labels, print and compression.

    It counts as marked when its marks can still be seen (`LEFT`).
    """

    def draw(rng: np.random.Generator, pixels: Pixels) -> list[DrawnMark]:
        look = rng.random()
        thin = look < THIN
        return draw_marks(rng, pixels, odds=OUTLINES if thin else OPEN_ARROWS if look < THIN + OPEN else (), thin=thin)

    pixels, _, change, _ = _example(seed, pool, draw, 0.57)
    marked = int((change >= LEFT).sum()) >= SEEN_PIXELS
    return pixels, marked, change if marked else np.zeros_like(change)


EVEN_ODDS = (3, 3, 2, 2, 2.5, 1.5, 1.5, 1, 1, 0.8, 0.7, 1.5, 0)
"""Odds of the kinds of marks when a detector learns to tell them apart: rare kinds more often than authors use them."""

MARKED, SECOND = 0.72, 0.5
"""Part of a detector's examples that are marked, and part of these with marks of further kinds."""


def marks_example(seed: int, pool: PicturePool, more: int = 0) -> tuple[Pixels, list[DrawnMark]]:
    """Return a picture as `mark_example` makes them, more of them marked, with its marks as it shows them.

    Args:
        seed: decides all.
        pool: of pictures.
        more: times that marks of further kinds are drawn; those that later ones cover are left out then.
    """
    rng = np.random.default_rng((seed, 2))
    even = EVEN_ODDS if rng.random() < 0.6 else ()

    def draw(inner: np.random.Generator, pixels: Pixels) -> list[DrawnMark]:
        marks = draw_marks(inner, pixels, odds=even)
        for _ in range(more or int(rng.random() < SECOND)):
            marks += [*draw_marks(inner, pixels, odds=EVEN_ODDS)]
        return _seen_ones(marks) if more else marks

    pixels, _, _, marks = _example(seed, pool, draw, MARKED)
    if (pixels == pixels[:, :, :1]).all():  # copied in grey
        marks = [replace(mark, colour=as_grey(mark.colour)) for mark in marks]
    return pixels, marks


def _seen_ones(marks: list[DrawnMark]) -> list[DrawnMark]:
    """Return the marks whose middle no later one covers."""
    return [
        mark
        for k, mark in enumerate(marks)
        if not any(covered_fraction(mark.box, other.box) > 0.3 for other in marks[k + 1 :])
    ]


def as_grey(colour: Colour) -> Colour:
    """Return the grey of a colour."""
    grey = int(grey_of(np.asarray([[colour]], np.uint8))[0, 0])
    return (grey, grey, grey)


def _example(
    seed: int, pool: PicturePool, draw: Callable[[np.random.Generator, Pixels], list[DrawnMark]], share: float
) -> tuple[Pixels, bool, Pixels, list[DrawnMark]]:
    rng = np.random.default_rng(seed)
    side, aspect = float(np.exp(rng.uniform(*np.log(SIDES)))), float(np.exp(rng.normal(0.1, 0.35)))
    width, height = max(40, round(side * aspect**0.5)), max(40, round(side / aspect**0.5))
    kind = rng.random()
    pixels = _ground(rng, pool, kind, width, height)
    marked = bool(rng.random() < (0.15 if kind < _DRAWN_SHARE else share))
    if rng.random() < 0.5:
        draw_device_print(rng, pixels)
    if rng.random() < 0.35:
        _print_identifier(rng, pixels, side)
    # Of chance of their own: what else there is of a seed's example does not depend on them.
    own = np.random.default_rng((seed, 3))
    if kind >= _DRAWN_SHARE and own.random() < REFLEXES:
        draw_reflexes(own, pixels)
    if own.random() < TIMED:
        draw_times(own, pixels)
    reached, on_top = own.random() < REACHED, own.random() < 0.5
    if reached and not on_top:
        draw_line_ends(own, pixels)
    crisp = marked and rng.random() < CRISP
    if crisp:
        pixels = worn(rng, pixels)
    before = pixels.copy()
    marks = draw(rng, pixels) if marked else []
    drawn_on = (pixels != before).any(axis=2)
    if not crisp:
        # The same wear without marks: what it leaves of them is the difference.
        before = worn(copy.deepcopy(rng), before) if marked else before
        pixels = worn(rng, pixels)
    change = np.asarray(cv2.absdiff(pixels, before).max(axis=2) * drawn_on, dtype=np.uint8)
    if reached and on_top:  # a page's lines over an embedded picture, whose wear they do not share
        draw_line_ends(own, pixels)
    return pixels, marked, change, marks


def _ground(rng: np.random.Generator, pool: PicturePool, kind: float, width: int, height: int) -> Pixels:
    """Return a picture without marks: drawn, computed, or of the pool, some as grainy or as crisp as scans are."""
    if kind < 0.12:
        return np.ascontiguousarray(drawn(rng, PAPER_KINDS, width, height))
    if kind < _DRAWN_SHARE:
        return (heat_map, spots, segmentation, segmentation)[int(rng.integers(4))](rng, width, height)
    image_type = IMAGE_TYPES[int(rng.choice(4, p=[0.18, 0.24, 0.24, 0.34]))]
    pixels = np.ascontiguousarray(pool.picture(rng, image_type, width, height))
    if rng.random() < 0.3:
        grain = rng.normal(0, rng.uniform(3, 14), (height, width, 1)).astype(np.float32)
        pixels = np.clip(pixels + grain, 0, 255).astype(np.uint8)
    if rng.random() < 0.2:
        soft = np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.5))
        pixels = np.asarray(cv2.addWeighted(pixels, 1.8, soft, -0.8, 0), dtype=np.uint8)
    return np.ascontiguousarray(pixels)


def _print_identifier(rng: np.random.Generator, pixels: Pixels, side: float) -> None:
    """Print a panel identifier into a corner, perhaps on a patch."""
    size = max(8, round(side * rng.uniform(0.05, 0.15)))
    name, air = str(rng.choice(list("ABCDEFGHabcdefgh12"))), max(2, size // 3)
    x = air if rng.random() < 0.85 else pixels.shape[1] - air - size
    y = air if rng.random() < 0.7 else pixels.shape[0] - air - size
    light = bool(pixels[y : y + size, x : x + size].mean() > 128) if y >= 0 and x >= 0 else True
    if rng.random() < 0.3:
        cv2.rectangle(pixels, (x - 2, y - 2), (x + size, y + size), (255, 255, 255), -1)
        light = True
    ink = (0, 0, 0) if light else (255, 255, 255)
    print_text(pixels, x, y, name, str(rng.choice(["hebo", "helv", "tibo"])), size, ink)


def varied_crop(rng: np.random.Generator, crop: Crop) -> Crop:
    """Return an annotated picture turned, mirrored and re-coloured; whether it is marked does not change."""
    pixels, marked = crop
    pixels = np.rot90(pixels, int(rng.integers(4))) if rng.random() < 0.5 else pixels
    pixels = pixels[:, ::-1] if rng.random() < 0.5 else pixels
    levels = np.clip(255 * (np.arange(256) / 255) ** np.exp(rng.normal(0, 0.2)), 0, 255).astype(np.uint8)
    pixels = np.asarray(cv2.LUT(np.ascontiguousarray(pixels), levels), dtype=np.uint8)
    return worn(rng, pixels), marked
