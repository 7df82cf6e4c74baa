"""Images inside panels from structure: embedded bitmaps first, else regions of the pixels."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.frames import framed_grid
from pmo_assets.pipeline.detection.structure.gutters import (
    Canvas,
    Rect,
    Region,
    canvas_of,
    cut_tree,
    ink_share,
    leaves,
    normalised_box,
    overlap,
    pixel_rect,
    trimmed,
)
from pmo_assets.pipeline.detection.structure.panels import FLAT_SHARE, glyph_share, picture_boxes
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import area, covered_fraction, intersection

DENSE = 0.55
"""Photographs, scans and heat maps fill most of their box with ink; plots and drawings rarely reach a third."""

LEAST_SIDE = 2.5
"""An image is at least this many glyphs high and wide; smaller pictures are icons and legend keys."""


SMALL_PHOTOGRAPH = 1.2
"""The same for photographs with grain that come in several of one size, as in flow diagrams."""

EVEN = 0.2
"""Share of neighbouring pixels of a thumbnail that are equal: photographs have grain everywhere (under a tenth), icons
and groups of bars are painted evenly (over a third along one direction)."""


TONE_LEVELS, TWO_TONES = 12, 0.8
"""Grey levels to either side that are one tone, and the part of a region that two tones cover in a drawing: the rest
are the edges of print in small cells."""


def without_identifiers(canvas: Canvas, identifiers: Sequence[PanelDetection]) -> Canvas:
    """Return the canvas with identifiers outside pictures erased, so that they do not stretch image boxes."""
    ink = canvas.ink.copy()
    tall, wide = ink.shape
    for identifier in identifiers:
        left, top, right, bottom = pixel_rect(identifier.box, wide, tall)
        pad = 2
        region = canvas.rgb[max(0, top - pad) : bottom + pad, max(0, left - pad) : right + pad]
        # On white (most pixels light) the identifier stands beside the picture; inside a picture it is part of it.
        if region.size and float(np.median(region)) >= 232:
            ink[max(0, top - pad) : bottom + pad, max(0, left - pad) : right + pad] = 0
    return Canvas(canvas.rgb, ink, canvas.glyph, canvas)


def large_enough(canvas: Canvas, rect: Rect, least: float = LEAST_SIDE) -> bool:
    """Say whether a region is more than an icon: at least so many glyphs high and wide."""
    return min(rect[2] - rect[0], rect[3] - rect[1]) >= least * canvas.glyph


def is_photograph(canvas: Canvas, rect: Rect) -> bool:
    """Say whether a region is a continuous-tone picture: filled, and with many colours or grey levels."""
    if ink_share(canvas, rect) < DENSE:
        return False
    small = _thumbnail(canvas, rect) >> 4
    codes = (small[:, :, 0] << 8) | (small[:, :, 1] << 4) | small[:, :, 2]
    # Of 4,096 coarse colours a drawing uses under a dozen (plus its antialiasing); a grey scan uses its 16 grey levels.
    levels, counts = np.unique(codes, return_counts=True)
    if len(levels) < 10 or float(counts.max()) / codes.size >= 0.9:
        return False
    # Bars with a gradient have many levels too, but vary along one direction only: without the mean of every row and
    # column nothing remains of them.
    grey = np.asarray(cv2.cvtColor(np.asarray(small << 4, dtype=np.uint8), cv2.COLOR_RGB2GRAY)).astype(np.float64)
    inner = grey[5:-5, 5:-5]
    rest = inner - inner.mean(axis=0, keepdims=True) - inner.mean(axis=1, keepdims=True) + inner.mean()
    return float(rest.std()) >= 5.0


def _thumbnail(canvas: Canvas, rect: Rect) -> NDArray[np.uint16]:
    """Return a region as (48, 48, 3)."""
    part = np.ascontiguousarray(canvas.rgb[rect[1] : rect[3], rect[0] : rect[2]])
    return np.asarray(cv2.resize(part, (48, 48), interpolation=cv2.INTER_AREA), dtype=np.uint16)


def has_two_tones(canvas: Canvas, rect: Rect) -> bool:
    """Say whether nearly all of a region has one of two grey levels: a number on an even ground, a mask, an icon."""
    small = _thumbnail(canvas, rect).astype(np.uint8)
    grey = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)).ravel().astype(np.int32)
    ground = np.abs(grey - np.median(grey)) <= TONE_LEVELS
    rest = grey[~ground]
    print_on_it = int((np.abs(rest - np.median(rest)) <= TONE_LEVELS).sum()) if rest.size else 0
    return bool((int(ground.sum()) + print_on_it) / grey.size >= TWO_TONES)


def has_grain(canvas: Canvas, rect: Rect) -> bool:
    """Say whether neighbouring pixels differ nearly everywhere, but for black: the dark around a fundus is even."""
    small = _thumbnail(canvas, rect).astype(np.int32)
    lit = small.max(axis=2) > 16
    for axis in (0, 1):
        equal = (np.diff(small, axis=axis) == 0).all(axis=2)
        counted = lit[1:] if axis == 0 else lit[:, 1:]
        if not counted.any() or float(equal[counted].mean()) > EVEN:
            return False
    return True


def solid_blobs(canvas: Canvas, rect: Rect) -> list[Rect]:
    """Return photographs that lines, arrows or leader texts tie to other things; small ones only with grain.

    Opening the ink with a square of half a glyph wipes out lines and print; what remains in one piece and looks like a
    photograph is one.
    """
    part = canvas.ink[rect[1] : rect[3], rect[0] : rect[2]]
    side = max(5, round(canvas.glyph / 2)) | 1  # an even square would shift what it opens by half a pixel
    # Padding keeps pictures that touch the region's rim whole.
    padded = np.pad(part, side)
    opened = np.asarray(cv2.morphologyEx(padded, cv2.MORPH_OPEN, np.ones((side, side), np.uint8)), dtype=np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(opened, connectivity=4)
    found: list[Rect] = []
    for left, top, width, height, size in stats[1:].tolist():
        x, y = rect[0] + left - side, rect[1] + top - side
        blob = (max(rect[0], x), max(rect[1], y), min(rect[2], x + width), min(rect[3], y + height))
        if size < 0.7 * width * height or not large_enough(canvas, blob, SMALL_PHOTOGRAPH):
            continue
        if is_photograph(canvas, blob) and (large_enough(canvas, blob) or has_grain(canvas, blob)):
            found.append(blob)
    return found


def pictures_within(canvas: Canvas, rect: Rect, least: float) -> list[Region]:
    """Return the leaves of the cut tree without text attached; filled leaves are cut again at the thinnest gutters."""
    tree = cut_tree(canvas, rect, least, attach=False)
    if tree is None:
        return []
    result: list[Region] = []
    tied: list[tuple[Region, list[Rect]]] = []
    for leaf in leaves(tree):
        fine = cut_tree(canvas, leaf.rect, 2, attach=False) if not leaf.text_only else None
        parts = [p for p in leaves(fine) if large_enough(canvas, p.rect)] if fine is not None and fine.children else []
        filled = [p for p in parts if ink_share(canvas, p.rect) >= 0.8]
        size = sum((p.rect[2] - p.rect[0]) * (p.rect[3] - p.rect[1]) for p in filled)
        whole = (leaf.rect[2] - leaf.rect[0]) * (leaf.rect[3] - leaf.rect[1])
        if filled and size >= 0.5 * whole:
            result += filled
        elif leaf.text_only or ink_share(canvas, leaf.rect) >= 0.85:
            result.append(leaf)
        else:
            tied.append((leaf, solid_blobs(canvas, leaf.rect)))
    blobs = [blob for _, found in tied for blob in found]
    for leaf, found in tied:
        # One small blob may be anything; several of one size are a row of thumbnails.
        kept = [
            blob
            for blob in found
            if large_enough(canvas, blob) or any(same_size(blob, other) for other in blobs if other is not blob)
        ]
        result += [Region(blob, certain=True) for blob in kept] or [leaf]
    return result


def size_of(rect: Rect) -> int:
    """Return the number of pixels of a rectangle."""
    return (rect[2] - rect[0]) * (rect[3] - rect[1])


def same_size(a: Rect, b: Rect) -> bool:
    """Say whether two rectangles have the same height and width within a tenth."""
    pairs = ((a[2] - a[0], b[2] - b[0]), (a[3] - a[1], b[3] - b[1]))
    return all(min(p) >= 0.9 * max(p) for p in pairs)


def alike(a: Rect, b: Rect) -> bool:
    """Say whether two rectangles have the same height or width within a tenth (members of one row or column)."""
    pairs = ((a[2] - a[0], b[2] - b[0]), (a[3] - a[1], b[3] - b[1]))
    return any(min(p) >= 0.9 * max(p) for p in pairs) and 0.4 <= size_of(a) / max(1, size_of(b)) <= 2.5


def with_text(canvas: Canvas, plots: list[Rect], texts: list[Rect], others: list[Rect]) -> list[Rect]:
    """Grow plots by the text that is nearest to them (axis labels, ticks); text nearer to a photograph is left out."""
    grown = list(plots)
    for text in texts:
        distances = [(distance(text, rect), 0, i) for i, rect in enumerate(plots)]
        distances += [(distance(text, rect), 1, i) for i, rect in enumerate(others)]
        if not distances:
            continue
        gap, kind, index = min(distances)
        if kind == 0 and gap <= 3 * canvas.glyph:
            own = grown[index]
            hull = (min(own[0], text[0]), min(own[1], text[1]), max(own[2], text[2]), max(own[3], text[3]))
            if not any(overlap(hull, rect) for i, rect in enumerate(grown) if i != index):
                grown[index] = hull
    return grown


def distance(a: Rect, b: Rect) -> float:
    """Return the gap between two rectangles; 0 when they touch."""
    return max(0, a[0] - b[2], b[0] - a[2]) + max(0, a[1] - b[3], b[1] - a[3])


def pixel_images(canvas: Canvas, rect: Rect) -> list[Rect]:
    """Return the images of a panel from its pixels.

    Frames in a row or grid are images each, with the photographs beside them. Else photographs are images each, and
    with them filled regions of the same size (masks beside scans) and plots at least as large. Without photographs,
    plots are images each when the large ones make up the panel (a row or grid of plots); anything else, such as a flow
    diagram, is one image.
    """
    whole = trimmed(canvas.ink, rect)
    if whole is None:
        return []
    parts = pictures_within(canvas, whole, max(3.0, canvas.glyph / 5))
    large = [p.rect for p in parts if not p.text_only and (p.certain or large_enough(canvas, p.rect))]
    rest = [p.rect for p in parts if p.rect not in large]
    framed = framed_grid(canvas, whole, LEAST_SIDE * canvas.glyph)
    if framed:
        free = [r for r in large if not any(overlap(r, frame) for frame in framed)]
        return sorted([*framed, *(r for r in free if is_photograph(canvas, r))], key=lambda r: (r[1], r[0]))
    if len(large) <= 1 and not (large and is_photograph(canvas, large[0])):
        return [whole]
    photographs = [r for r in large if is_photograph(canvas, r)]
    if photographs:
        filled = [r for r in large if r not in photographs and ink_share(canvas, r) >= DENSE]
        pictures = photographs + [r for r in filled if any(alike(r, p) for p in photographs)]
        reference = float(np.median([size_of(p) for p in pictures]))
        plots = [r for r in large if r not in pictures and size_of(r) >= reference]
        return sorted([*pictures, *with_text(canvas, plots, rest, pictures)], key=lambda r: (r[1], r[0]))
    biggest = max(size_of(r) for r in large)
    plots = [r for r in large if size_of(r) >= 0.35 * biggest]
    if len(plots) >= 2 and sum(size_of(r) for r in plots) >= 0.4 * size_of(whole):
        others = [r for r in [*rest, *large] if r not in plots]
        return with_text(canvas, plots, others, [])
    return [whole]


def montage_parts(canvas: Canvas, rect: Rect) -> list[Rect]:
    """Return the pictures inside one bitmap when it is clearly a montage on white, else the bitmap itself."""
    parts = [p.rect for p in pictures_within(canvas, rect, max(3.0, canvas.glyph / 5))]
    parts = [p for p in parts if large_enough(canvas, p)]
    if len(parts) < 2 or any(ink_share(canvas, p) < 0.8 for p in parts):
        return [rect]
    # 60 %: labels and gutters take the rest; a photograph with a white spot would leave much more.
    return parts if sum(size_of(p) for p in parts) >= 0.6 * size_of(rect) else [rect]


def structure_images(view: FigureView, panels: Sequence[PanelDetection]) -> list[ImageDetection]:
    """Return the images of one figure, without type and mark.

    Scores: 0.95 for an embedded bitmap of its own, 0.8 for one of several regions of the pixels, 0.75 for the only one
    of a panel, 0.6 for the only one of the figure.
    """
    canvas = canvas_of(view.pixels, (), glyph_share(view))
    identifiers = [p for p in panels if p.kind == "identifier"]
    clean = without_identifiers(canvas, identifiers)
    tall, wide = canvas.ink.shape
    # A bitmap that is not filled but among many labels is the data area of a plot, whose axes lie around it: no picture
    # of its own. A pale picture (PET, drawing) has no labels: at most three, one of them the identifier.
    pictures = picture_boxes(view.bitmaps)
    labelled = len(view.texts) > 3 * len(pictures)
    pictures = tuple(b for b in pictures if not labelled or ink_share(canvas, pixel_rect(b, wide, tall)) >= DENSE)
    found: list[ImageDetection] = []
    for panel in (p for p in panels if p.kind == "panel"):
        rect = pixel_rect(panel.box, wide, tall)
        own = [
            box for box in pictures if covered_fraction(box, panel.box) >= 0.7 and area(box) >= 0.01 * area(panel.box)
        ]
        own = [box for box in own if large_enough(canvas, pixel_rect(box, wide, tall))]
        flat = any(area(box) >= FLAT_SHARE for box in own) and len(own) == 1
        covered = sum(area(intersection(box, panel.box)) for box in own) / max(area(panel.box), 1e-9)
        if own and not flat and covered >= 0.25:
            for box in own:
                rect_of_box = pixel_rect(box, wide, tall)
                montage = montage_parts(canvas, rect_of_box)
                if montage == [rect_of_box]:
                    found.append(ImageDetection(box, 0.95, "bitmap", None, 0.0))
                else:
                    found += [ImageDetection(normalised_box(p, wide, tall), 0.8, "gutter", None, 0.0) for p in montage]
            continue
        parts = pixel_images(clean, rect)
        score = 0.8 if len(parts) > 1 else 0.6 if panel.source == "figure" else 0.75
        for part in parts:
            tight = trimmed(clean.ink, part) or part
            found.append(ImageDetection(normalised_box(tight, wide, tall), score, "gutter", None, 0.0))
    return found


class StructureImageDetector:
    """The structural image detector as a `protocols.ImageDetector`."""

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return the images per figure."""
        return [structure_images(view, found) for view, found in zip(views, panels, strict=True)]
