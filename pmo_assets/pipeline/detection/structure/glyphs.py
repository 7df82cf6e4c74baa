"""Isolated printed glyphs: finds and reads single letters such as "A", "(b)" or "c." in a figure's pixels.

This is no OCR: only short isolated glyphs are looked at, and each is compared with letters of the PDF base fonts (sans
and serif, regular and bold), which is what publishers print panel identifiers with. Words and texture are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.components import connected_components
from pmo_assets.pipeline.detection.structure.gutters import Rect

SIDE = 20
"""Glyphs are compared at 20 x 20 pixels; their aspect ratio is compared apart."""

FONTS = ("helv", "hebo", "tiro", "tibo")
"""Helvetica and Times, regular and bold: built into PyMuPDF, metrically what Arial and Times New Roman are."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz123456789"

ALIKE = 0.8
"""Least correlation with a template for a match; other letters of the same print score 0.4 to 0.7."""

ALIKE_IN_BRACKETS = 0.6
"""The same for a letter in brackets: the brackets prove that it is an identifier, only which one is open."""

SMALL_SIDE = 1300
"""Figures with a shorter long side are doubled before reading: letters of 8 px blur beyond recognition."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """An isolated glyph that looks like a printed identifier.

    Attributes:
        rect: pixels, brackets included.
        name: the letter it resembles most among the wanted ones.
        style: "plain", "brackets", "bracket" (closing only) or "dot".
        score: 0..1 correlation with the template.
        polarity: "dark" (ink on light) or "light" (white in a dark picture).
    """

    rect: Rect
    name: str
    style: str
    score: float
    polarity: str


@dataclass(frozen=True, slots=True, eq=False)
class Templates:
    """Printed letters: unit vectors, aspect ratios and names, aligned by row."""

    vectors: NDArray[np.float32]
    aspects: NDArray[np.float64]
    names: tuple[str, ...]


def unit_vector(patch: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return a grey patch resized to SIDE x SIDE as a zero-mean vector of length 1 (all zero for a flat patch)."""
    interpolation = cv2.INTER_AREA if min(patch.shape) >= SIDE else cv2.INTER_LINEAR
    vector = np.asarray(cv2.resize(patch, (SIDE, SIDE), interpolation=interpolation), dtype=np.float32).ravel()
    vector = vector - vector.mean()
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length > 0 else vector, dtype=np.float32)


@lru_cache(maxsize=1)
def templates() -> Templates:
    """Render every letter in every font once per process."""
    cell, size, columns = 64, 40, 32
    entries = [(name, font) for name in LETTERS for font in FONTS]
    rows = -(-len(entries) // columns)
    vectors, aspects, names = [], [], []
    with pymupdf.open() as document:
        page = document.new_page(width=columns * cell, height=rows * cell)
        for font in FONTS:
            writer = pymupdf.TextWriter(page.rect)
            face = pymupdf.Font(font)
            for index, (name, own) in enumerate(entries):
                if own == font:
                    y, x = divmod(index, columns)
                    writer.append((x * cell + 8, y * cell + 46), name, font=face, fontsize=size)
            writer.write_text(page)
        pixmap = page.get_pixmap(colorspace=pymupdf.csGRAY, alpha=False)
        picture = 255 - np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)
    for index, (name, _) in enumerate(entries):
        y, x = divmod(index, columns)
        patch = picture[y * cell : (y + 1) * cell, x * cell : (x + 1) * cell]
        ys, xs = np.nonzero(patch > 96)
        if ys.size == 0:
            continue
        patch = patch[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
        vectors.append(unit_vector(np.ascontiguousarray(patch)))
        aspects.append(patch.shape[1] / patch.shape[0])
        names.append(name)
    return Templates(np.stack(vectors), np.asarray(aspects), tuple(names))


def is_bracket(picture: NDArray[np.uint8], rect: Rect, closing: bool) -> bool:
    """Say whether a piece is a round or square bracket: tall and narrow, its middle on the outer side."""
    left, top, right, bottom = rect
    if right - left > 0.55 * (bottom - top):
        return False
    patch = picture[top:bottom, left:right].astype(np.float64)
    if closing:
        patch = patch[:, ::-1]
    third = max(1, (bottom - top) // 4)
    columns = np.arange(patch.shape[1])

    def middle(part: NDArray[np.float64]) -> float:
        total = part.sum()
        return float((part.sum(axis=0) * columns).sum() / total) if total > 0 else 0.0

    centre_column = middle(patch[third:-third] if patch.shape[0] > 2 * third else patch)
    return middle(patch[:third]) > centre_column + 0.05 and middle(patch[-third:]) > centre_column + 0.05


def letter_of(picture: NDArray[np.uint8], pieces: tuple[Rect, ...]) -> tuple[str, Rect] | None:
    """Split a glyph into brackets, dot and letter; return (style, box of the letter) or None when it is something else.

    Args:
        picture: (height, width) uint8, glyphs bright.
        pieces: boxes of the glyph's connected pieces, sorted by left edge.
    """
    inner = list(pieces)
    tallest = max(p[3] - p[1] for p in inner)
    opening = closing = dotted = False
    if len(inner) >= 3 and is_bracket(picture, inner[0], closing=False):
        opening, inner = True, inner[1:]
    if len(inner) >= 2 and is_bracket(picture, inner[-1], closing=True):
        closing, inner = True, inner[:-1]
    if opening != closing and opening:
        return None
    if not closing and len(inner) >= 2:
        last = inner[-1]
        if last[3] - last[1] <= 0.3 * tallest and last[1] >= inner[0][3] - 0.4 * tallest:
            dotted, inner = True, inner[:-1]
    if not 1 <= len(inner) <= 2:
        return None
    if len(inner) == 2 and max(inner[0][0], inner[1][0]) >= min(inner[0][2], inner[1][2]):
        return None  # two pieces side by side are two letters; one above the other is i or j
    box = (min(p[0] for p in inner), min(p[1] for p in inner), max(p[2] for p in inner), max(p[3] for p in inner))
    style = "brackets" if opening and closing else "bracket" if closing else "dot" if dotted else "plain"
    return style, box


def sum_around(
    integral: NDArray[np.int32], boxes: NDArray[np.int64], across: NDArray[np.int64], down: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return sums over boxes and what lies around them, (n,), from an integral image.

    Args:
        integral: as OpenCV reckons it, one larger than the picture on each axis.
        boxes: (n, 4) of left, top, width, height in pixels.
        across: (n,) pixels by which each box is wider on the left and on the right; cut off at the picture's edge.
        down: (n,) the same above and below.
    """
    left, top, width, height = boxes.T
    x0, x1 = (np.clip(v, 0, integral.shape[1] - 1) for v in (left - across, left + width + across))
    y0, y1 = (np.clip(v, 0, integral.shape[0] - 1) for v in (top - down, top + height + down))
    sums: NDArray[np.int64] = (integral[y1, x1] - integral[y0, x1] - integral[y1, x0] + integral[y0, x0]).astype(
        np.int64
    )
    return np.asarray(sums, dtype=np.int64)


def isolated_glyphs(
    mask: NDArray[np.uint8],
    sure: NDArray[np.uint8],
    quiet: NDArray[np.uint8],
    lowest: float,
    highest: float,
    most: int = 600,
) -> list[tuple[Rect, ...]]:
    """Return the pieces (boxes, sorted by left edge) of glyphs of 1 to 4 pieces with free space around them.

    Args:
        mask: (height, width) uint8, 1 where there is something.
        sure: the same for pure black or white: print inside photographs has it, their texture hardly ever.
        quiet: 1 where the surroundings are not paper.
        lowest: least height of a glyph's tallest piece in pixels.
        highest: largest height.
        most: with more pieces than this the picture is texture; the best isolated ones are kept.
    """
    found = connected_components(mask)
    left, top, width, height = found.boxes.T
    shaped = np.flatnonzero((height >= lowest) & (height <= highest) & (width <= 1.6 * height))
    sizes = found.sizes(shaped)
    full = sizes >= 0.1 * width[shaped] * height[shaped]
    shaped, sizes = shaped[full], sizes[full]
    if not shaped.size:
        return []
    boxes, tall = found.boxes[shaped], height[shaped]
    integral = np.asarray(cv2.integral(mask), dtype=np.int32)

    def reach(heights: float) -> NDArray[np.int64]:
        return np.asarray(np.ceil(heights * tall), dtype=np.int64)

    # "(m)" is the widest: within 1.1 heights left and right there is little besides the letter itself.
    crowd = sum_around(integral, boxes, reach(1.1), reach(0.35)) / np.maximum(sizes, 1)
    pure = sum_around(np.asarray(cv2.integral(sure), dtype=np.int32), boxes, reach(0), reach(0)) >= 0.5 * sizes
    noise = sum_around(np.asarray(cv2.integral(quiet), dtype=np.int32), boxes, reach(0.25), reach(0.25))
    chosen = np.flatnonzero((crowd <= 3.5) & (pure | (noise <= 2.2 * sizes + 4)))
    if chosen.size > most:
        chosen = np.sort(chosen[np.argsort(crowd[chosen], kind="stable")[:most]])
    order = np.argsort(left, kind="stable")
    sorted_left = left[order]
    glyphs: set[tuple[Rect, ...]] = set()
    for k in shaped[chosen].tolist():
        x0, x1, h = left[k], left[k] + width[k], height[k]
        lo, hi = np.searchsorted(sorted_left, [x0 - 2.2 * h, x1 + 0.9 * h])
        near = order[lo:hi]
        gap = np.maximum(np.maximum(left[near] - x1, x0 - left[near] - width[near]), 0)
        above = np.maximum(np.maximum(top[near] - top[k] - h, top[k] - top[near] - height[near]), 0)
        parts = near[(gap <= 0.45 * h) & (above <= 0.3 * h) & (height[near] <= 2.2 * h) & (width[near] <= 1.6 * h)]
        box = (
            int(left[parts].min()),
            int(top[parts].min()),
            int((left + width)[parts].max()),
            int((top + height)[parts].max()),
        )
        if parts.size > 4 or box[2] - box[0] > 3.6 * h or box[3] - box[1] > 2.3 * h:
            continue
        free = max(2, int(0.3 * h))
        x0, y0 = max(0, box[0] - free), max(0, box[1] - free)
        x1, y1 = min(mask.shape[1], box[2] + free), min(mask.shape[0], box[3] + free)
        total = int(integral[y1, x1] - integral[y0, x1] - integral[y1, x0] + integral[y0, x0])
        if total <= 1.05 * int(found.sizes(parts).sum()):
            pieces = (
                (int(left[i]), int(top[i]), int(left[i] + width[i]), int(top[i] + height[i])) for i in parts.tolist()
            )
            glyphs.add(tuple(sorted(pieces)))
    return sorted(glyphs)


def find_glyphs(rgb: NDArray[np.uint8], wanted: tuple[str, ...], lowest: float, highest: float) -> list[Glyph]:
    """Return the isolated glyphs that look like one of the `wanted` letters, best first.

    A bracketed glyph is returned once per wanted letter it may be (the set decides); any other only as the letter it
    resembles most of all letters.

    Args:
        rgb: (height, width, 3) uint8.
        wanted: single characters out of `LETTERS`; others are ignored.
        lowest: least height of a letter in pixels.
        highest: largest height.
    """
    names = {name for name in wanted if len(name) == 1 and name in LETTERS}
    if not names:
        return []
    if max(rgb.shape[:2]) < SMALL_SIDE:
        double = np.asarray(cv2.resize(rgb, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        scale = 2
    else:
        double, scale = rgb, 1
    known = templates()
    grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(double), cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    # The templates of one letter are adjacent.
    starts = [j for j, name in enumerate(known.names) if j == 0 or known.names[j - 1] != name]
    letters = [known.names[j] for j in starts]
    lower = np.asarray([name.lower() for name in letters])
    found: list[Glyph] = []
    dark = 255 - grey
    for polarity, threshold, picture in (("dark", 127, dark), ("light", 190, grey)):
        mask, sure, quiet = ((picture > level).astype(np.uint8) for level in (threshold, 225, 55))
        if polarity == "light":
            quiet = np.ones_like(mask)
        for pieces in isolated_glyphs(mask, sure, quiet, lowest * scale, highest * scale):
            split = letter_of(picture, pieces)
            if split is None:
                continue
            style, (left, top, right, bottom) = split
            likeness = known.vectors @ unit_vector(np.ascontiguousarray(picture[top:bottom, left:right]))
            # A factor of 1.5 in aspect ratio separates "i" from "o" but allows narrow and wide cuts of a font.
            aspect = (right - left) / (bottom - top)
            likeness[np.abs(np.log(aspect / known.aspects)) > np.log(1.5)] = -1
            scores = np.maximum.reduceat(likeness, starts)
            rect = (
                min(p[0] for p in pieces) // scale,
                min(p[1] for p in pieces) // scale,
                -(-max(p[2] for p in pieces) // scale),
                -(-max(p[3] for p in pieces) // scale),
            )
            for name in sorted(names):
                score = float(scores[letters.index(name)])
                # c/C, o/O, s/S … have one shape: the other case must not win over the wanted one.
                rival = float(scores[lower != name.lower()].max())
                if style == "brackets":
                    if score >= ALIKE_IN_BRACKETS and score >= rival - 0.12:
                        found.append(Glyph(rect, name, style, min(1.0, 0.2 + 0.8 * score), polarity))
                elif score >= ALIKE and score >= rival:
                    found.append(Glyph(rect, name, style, score, polarity))
    return sorted(found, key=lambda g: (-g.score, g.rect, g.name))
