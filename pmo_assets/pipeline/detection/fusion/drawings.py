"""Parts of drawings that are no images: boxes of flow charts, blocks and tables of diagrams, legends, axis labels.

A drawing is one image, or, where pictures stand in it, no image at all: the pictures are (annotation guide). Detectors
see its boxes and blocks, too. One decision per panel:

* What holds nothing but writing (on paper or on one colour) is no image beside others; where all that was found is
  writing, as in a flow chart, the whole panel is the image.
* Beside photographs, blocks (one colour with a word on it or none: steps of a flow chart, layers of a network, buttons
  of a program) are no images either.
* Small cells of one colour that touch (a chequerboard, numbered fields of a matrix) are one image together.
* Beside photographs, drawn things that only the network sees, that are no larger than these and not framed as they
  are, belong to a diagram of a method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect, normalised_box, pixel_rect, trimmed
from pmo_assets.pipeline.detection.structure.images import has_grain, is_photograph, same_size, size_of
from pmo_assets.records.detections import ImageDetection, PanelDetection
from pmo_assets.records.geometry import UNIT_BOX, Box, covered_fraction, height, width

GROUND: Final = 0.5
"""Part of a region that one colour covers at least where something is written on it."""

APART: Final = 40
"""Levels by which a channel differs from that colour to be ink on it."""

LIGHT: Final = 90
"""Grey level from which one writes on a ground; dark scans have specks like letters."""

LETTER_HEIGHT: Final = 2.0
"""Height of the largest letter, in middle heights of all pieces of ink."""

WORD_WIDTH: Final = 4.0
"""Width of the longest run of touching letters, likewise."""

LINE: Final = 3.0
"""Length of a line at least, likewise."""

THICK: Final = 0.6
"""Thickness of what is no line any more, likewise."""

LEAST_HEIGHT: Final = 4
"""Height of a letter in pixels that can be told from a speck."""

LEAST_COVERED: Final = 0.03
"""Part of a region that its letters' boxes cover at least: the labels of axes cover less."""

LEAST_LETTERS: Final = 4
"""Letters that make writing."""

REST: Final = 0.2
"""Part of the ink (without straight lines) that is no letter at most."""

SAME: Final = 0.5
"""Part of the letters as large as the middle one (within a tenth) at most: the points of a scatter plot are alike."""

WRITTEN_SHARE: Final = 0.7
"""Part of a panel's images that hold nothing but writing, from which the panel is a drawing."""

SEVERAL: Final = 2
"""Photographs in a panel that make a diagram of what is drawn beside them."""

THUMBNAILS: Final = 5
"""Drawn things of one size that are pictures: stacks of masks, a row of icons has fewer."""

LARGER: Final = 1.5
"""Times the photographs' size up to which a drawn thing beside them is a part of a diagram."""

CELL: Final = 0.09
"""Longest side of a cell, as a part of the figure's."""

EVEN_SHARE: Final = 0.6
"""Part of a cell that has one colour at least: a number may stand on it."""

NEAR: Final = 1.2
"""Sides of a cell that lie between neighbours at most: cells between them may have been missed."""

LEAST_CELLS: Final = 6
"""Cells that make a board."""

COVERED: Final = 0.8
"""Part of an image within a board from which it is a part of it."""

BLOCK_GROUND: Final = 0.6
"""Part of a block that one colour covers at least, within its frame."""

BLOCK_SPREAD: Final = 5.0
"""Standard deviation of that colour, in levels of a channel, at most: a strip of a blot is grey, and not even."""

BLOCK_EDGE: Final = 0.1
"""Part of a block's shorter side that its frame may take."""

BLOCK_PIECES: Final = 60
"""Pieces of ink on a block at most: a few words; a scatter of points has more."""

RIM: Final = 0.04
"""Part of the shorter side that is looked at to see whether a picture has an edge of its own."""

DRAWING_SCORE: Final = 0.75
"""Score of a panel that is one drawing: as structure gives the only image of a panel."""


def is_written(canvas: Canvas, rect: Rect) -> bool:
    """Say whether a region holds letters and straight lines on one colour, and nothing else."""
    part = canvas.rgb[rect[1] : rect[3], rect[0] : rect[2]]
    if min(part.shape[:2]) < 4:
        return False
    # Channel by channel, and counted, not sorted: NumPy takes ten times as long over an axis of three, or to sort.
    coarse = (part >> 4).astype(np.uint16)
    codes = (coarse[..., 0] << 8) | (coarse[..., 1] << 4) | coarse[..., 2]
    counts = np.bincount(codes.ravel())
    common = int(counts.argmax())
    if float(counts[common]) < GROUND * codes.size:
        return False
    ground = np.median(part[codes == common].reshape(-1, 3), axis=0)
    if float(ground.mean()) < LIGHT:
        return False
    apart = np.abs(np.arange(256)[:, None] - ground) >= APART
    ink = (apart[part[..., 0], 0] | apart[part[..., 1], 1] | apart[part[..., 2], 2]).astype(np.uint8)
    _, labels, pieces, _ = cv2.connectedComponentsWithStats(np.ascontiguousarray(ink), connectivity=8)
    letter = _letter_height(pieces[1:])
    if letter < LEAST_HEIGHT:
        return False
    heights, widths, sizes = pieces[:, 3], pieces[:, 2], pieces[:, 4].astype(np.float64)
    letters = (
        (heights <= LETTER_HEIGHT * letter) & (widths <= WORD_WIDTH * letter) & (heights >= letter / LETTER_HEIGHT)
    )
    large = (heights > LETTER_HEIGHT * letter) | (widths > WORD_WIDTH * letter)
    letters[0] = large[0] = False  # the ground
    # Of what is larger than letters, a box is nothing but straight lines; of a plot curves and areas remain.
    rest = float(((ink - _straight_lines(ink, letter)) * large[labels]).sum())
    covered = float((widths[letters] * heights[letters]).sum())
    if int(letters.sum()) < LEAST_LETTERS or covered < LEAST_COVERED * ink.size:
        return False
    if rest > REST * (float(sizes[letters].sum()) + rest):
        return False
    middle = float(np.median(sizes[letters]))
    return float((np.abs(sizes[letters] - middle) <= 0.1 * middle).mean()) <= SAME


def _letter_height(pieces: NDArray[np.int32]) -> float:
    """Return the middle height of pieces of ink, by area; 0 without enough of them."""
    small = pieces[(pieces[:, 4] >= LEAST_HEIGHT) & (pieces[:, 3] >= LEAST_HEIGHT)]
    if len(small) < LEAST_LETTERS:
        return 0.0
    return float(np.median(small[:, 3]))


def _straight_lines(ink: NDArray[np.uint8], letter: float) -> NDArray[np.uint8]:
    """Return the ink of long, thin horizontal and vertical lines."""
    length, side = max(10, round(LINE * letter)), max(5, round(THICK * letter))
    solid = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((side, side), np.uint8))
    thin = np.asarray(ink & (1 - cv2.dilate(solid, np.ones((3, 3), np.uint8))), dtype=np.uint8)
    lines = np.zeros_like(ink)
    for shape in ((1, length), (length, 1)):
        lines |= np.asarray(cv2.morphologyEx(thin, cv2.MORPH_OPEN, np.ones(shape, np.uint8)), dtype=np.uint8)
    return lines


def is_block(canvas: Canvas, rect: Rect) -> bool:
    """Say whether a region is a filled or framed rectangle of one colour with a few words on it, or nothing."""
    edge = max(2, round(BLOCK_EDGE * min(rect[2] - rect[0], rect[3] - rect[1])))
    part = canvas.rgb[rect[1] + edge : rect[3] - edge, rect[0] + edge : rect[2] - edge]
    if min(part.shape[:2]) < LEAST_HEIGHT or not has_edge_of_its_own(canvas, rect):
        return False
    coarse = (part >> 4).astype(np.uint16)
    codes = (coarse[..., 0] << 8) | (coarse[..., 1] << 4) | coarse[..., 2]
    counts = np.bincount(codes.ravel())
    ground = np.median(part[codes == int(counts.argmax())].reshape(-1, 3), axis=0)
    apart = np.abs(np.arange(256)[:, None] - ground) >= APART
    ink = (apart[part[..., 0], 0] | apart[part[..., 1], 1] | apart[part[..., 2], 2]).astype(np.uint8)
    if float(ink.mean()) > 1 - BLOCK_GROUND or float(ground.mean()) < LIGHT:
        return False
    if float(part[ink == 0].reshape(-1, 3).std(axis=0).max()) > BLOCK_SPREAD:
        return False
    letter = max(float(LEAST_HEIGHT), canvas.glyph)
    ink -= _straight_lines(ink, letter)
    count, _, pieces, _ = cv2.connectedComponentsWithStats(np.ascontiguousarray(ink), connectivity=8)
    large = (pieces[1:, 3] > LETTER_HEIGHT * letter) | (pieces[1:, 2] > WORD_WIDTH * letter)
    return count - 1 <= BLOCK_PIECES and not large.any()


def has_edge_of_its_own(canvas: Canvas, rect: Rect) -> bool:
    """Say whether a region is a filled rectangle, as pictures and masks are: its rim is no paper."""
    side = max(2, round(RIM * min(rect[2] - rect[0], rect[3] - rect[1])))
    ink = canvas.ink[rect[1] : rect[3], rect[0] : rect[2]]
    rims = (ink[:side], ink[-side:], ink[:, :side], ink[:, -side:])
    return all(float(rim.mean()) >= 0.8 for rim in rims if rim.size)


def without_drawn_parts(
    canvas: Callable[[], Canvas], panels: Sequence[PanelDetection], images: Sequence[ImageDetection]
) -> list[ImageDetection]:
    """Return a figure's images without those that are parts of drawings; see the module's text.

    Args:
        canvas: the figure.
        panels: with or without identifiers; none count as one panel.
        images: of the whole figure; bitmaps that the PDF places remain.
    """
    if len(images) < 2:
        return list(images)
    boxes = [p.box for p in panels if p.kind == "panel"] or [UNIT_BOX]
    owner = [max(range(len(boxes)), key=lambda k: covered_fraction(image.box, boxes[k])) for image in images]
    kept: list[ImageDetection] = []
    for k, box in enumerate(boxes):
        own = [image for image, panel in zip(images, owner, strict=True) if panel == k]
        kept += _of_panel(canvas(), box, own) if len(own) > 1 else own
    order = {id(image): n for n, image in enumerate(images)}
    return sorted(kept, key=lambda image: order.get(id(image), len(order)))


def _of_panel(canvas: Canvas, panel: Box, images: list[ImageDetection]) -> list[ImageDetection]:
    tall, wide = canvas.ink.shape
    images = _with_joined_cells(canvas, images)
    rects = [pixel_rect(image.box, wide, tall) for image in images]
    placed = [image.source == "bitmap" for image in images]
    written = [not p and is_written(canvas, r) for p, r in zip(placed, rects, strict=True)]
    if sum(written) >= WRITTEN_SHARE * len(images) and not any(placed):
        whole = trimmed(canvas.ink, pixel_rect(panel, wide, tall))
        pictures = [i for i, r in zip(images, rects, strict=True) if is_photograph(canvas, r) and has_grain(canvas, r)]
        if whole is not None and not pictures:
            box = normalised_box(whole, wide, tall)
            return [replace(images[0], box=box, score=DRAWING_SCORE, source="gutter", seen_types={})]
    photographs = [
        size_of(r)
        for p, r in zip(placed, rects, strict=True)
        if p or (is_photograph(canvas, r) and has_grain(canvas, r))
    ]
    usual = float(np.median(photographs)) if len(photographs) >= SEVERAL else 0.0
    largest = max(photographs, default=0)
    blocks = [
        not p and size_of(r) <= LARGER * largest and is_block(canvas, r) for p, r in zip(placed, rects, strict=True)
    ]
    written = [w or b for w, b in zip(written, blocks, strict=True)]
    unwritten = [r for r, on_page in zip(rects, written, strict=True) if not on_page]

    def is_part(image: ImageDetection, rect: Rect, on_page: bool) -> bool:
        alike = sum(same_size(rect, other) for other in unwritten)
        if on_page:
            return alike == 0
        # Several of one size are thumbnails.
        return image.source == "network" and alike < THUMBNAILS and _is_drawn_beside(canvas, rect, usual)

    return [image for image, rect, p in zip(images, rects, written, strict=True) if not is_part(image, rect, p)]


def _with_joined_cells(canvas: Canvas, images: list[ImageDetection]) -> list[ImageDetection]:
    """Return the images with cells that touch each other joined to one, in the first one's place."""
    tall, wide = canvas.ink.shape
    cells = [k for k, image in enumerate(images) if _is_cell(canvas, image, wide, tall)]
    groups: list[list[int]] = []
    for k in cells:
        near = [group for group in groups if any(_touch(images[k].box, images[j].box) for j in group)]
        groups = [group for group in groups if group not in near] + [[k, *(j for group in near for j in group)]]
    joined: dict[int, ImageDetection | None] = {}
    for group in groups:
        if len(group) >= LEAST_CELLS:
            boxes = [images[k].box for k in group]
            hull = (
                min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes),
            )  # fmt: skip
            inside = [k for k, image in enumerate(images) if covered_fraction(image.box, hull) >= COVERED]
            best = max(group, key=lambda k: images[k].score)
            joined.update(dict.fromkeys(inside))
            joined[min(group)] = replace(images[best], box=hull, source="gutter", seen_types={})
    kept = [joined.get(k, image) for k, image in enumerate(images)]
    return [image for image in kept if image is not None]


def _is_cell(canvas: Canvas, image: ImageDetection, wide: int, tall: int) -> bool:
    """Say whether an image is small and, but for a number, of one colour."""
    if image.source == "bitmap" or max(width(image.box), height(image.box)) > CELL:
        return False
    left, top, right, bottom = pixel_rect(image.box, wide, tall)
    edge = max(1, min(right - left, bottom - top) // 6)
    part = canvas.rgb[top + edge : bottom - edge, left + edge : right - edge]
    if part.size == 0:
        return False
    codes = (part >> 5).astype(np.int32) @ np.asarray([64, 8, 1], dtype=np.int32)
    return float(np.unique(codes, return_counts=True)[1].max()) >= EVEN_SHARE * codes.size


def _touch(a: Box, b: Box) -> bool:
    gap_x = max(a[0], b[0]) - min(a[2], b[2])
    gap_y = max(a[1], b[1]) - min(a[3], b[3])
    return gap_x <= NEAR * width(a) and gap_y <= NEAR * height(a)


def _is_drawn_beside(canvas: Canvas, rect: Rect, usual: float) -> bool:
    """Say whether a region is drawn, unframed, and no larger than the photographs of its panel (`usual` pixels)."""
    if size_of(rect) > LARGER * usual or has_edge_of_its_own(canvas, rect):
        return False
    return not (is_photograph(canvas, rect) and has_grain(canvas, rect))
