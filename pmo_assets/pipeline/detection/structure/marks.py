"""Mark status: does an arrow, arrowhead, circle, box, asterisk or star on the image point at a region?

Two kinds of evidence. The caption's words ("arrow", "circled", "asterisk") are strong: authors explain their marks. The
pixels show marks as small solid shapes of one colour, pure white, black or strongly coloured, with straight or regular
outlines; an arrow is recognised by a head wider than its shaft. Plots are not searched: their asterisks mean
significance, and arrows there annotate curves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.protocols import VectorEvidence
from pmo_assets.pipeline.detection.reducing import reduced

MARK_WORDS = re.compile(
    r"\b(arrows?|arrow-?heads?|asterisks?|stars?|triangles?|circles?|circled|encircled|ellipses?|box(es)?|boxed"
    r"|rectangles?|squares?|outlined?|outlines|braces?|brackets|call?ipers?|(dashed|dotted|solid) (lines?|circles?)"
    r"|pointers?|crosse?s?|contours?|delineated|pointing|highlighted)\b",
    re.IGNORECASE,
)
"""Words with which captions explain marks (the kinds of marks the annotation guide names)."""

SIDE = 448
"""Images are searched at 448 pixels on the long side: a mark of 2 % is then 9 pixels, enough to see a head."""

DENSE = 0.55
"""Below this share of non-white pixels the image is a plot or drawing (as in `images.py`)."""

MANY = 12
"""More candidates of one colour than this are texture or print, not marks."""

WORDS_SCORE, SHAPE_SCORE, BOTH_SCORE, PLAIN_SCORE, PLOT_SCORE = 0.8, 0.65, 0.95, 0.15, 0.05
"""Scores by evidence: caption words only, shapes only, both, none, none and a plot."""


def is_plot(crop: NDArray[np.uint8]) -> bool:
    """Say whether most of the picture is paper."""
    red, green, blue = cv2.split(np.ascontiguousarray(crop))
    lowest = np.asarray(cv2.min(cv2.min(red, green), blue))
    return float(np.count_nonzero(lowest < 230)) / lowest.size < DENSE


def has_head(points: NDArray[np.float64]) -> bool:
    """Say whether a solid shape, given by its pixels' (x, y), is an arrow: long, one end widening into a head.

    The pixels are turned onto their main axis and the widths at ten steps compared: the head (the wider third) is at
    least 1.6 times as wide as the shaft, and behind its widest place the shape narrows to a tip.
    """
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    along, across = centred @ axes[0], centred @ axes[1]
    length = float(np.ptp(along))
    if length < 6:
        return False
    steps = np.minimum(((along - along.min()) / length * 10).astype(int), 9)
    widths = np.asarray([np.ptp(across[steps == k]) + 1 if (steps == k).any() else 0.0 for k in range(10)])
    if widths[:5].max() > widths[5:].max():
        widths = widths[::-1]
    shaft = float(np.median(widths[:5]))
    top = 5 + int(np.argmax(widths[5:]))
    slender = length >= 1.3 * widths.max()
    # Symmetric about the axis: the tail of a vessel or a letter's arm is not.
    middles = [(across[steps == k].max() + across[steps == k].min()) / 2 for k in range(10) if (steps == k).any()]
    balanced = float(np.std(middles)) < 0.12 * widths.max()
    return bool(slender and balanced and widths[top] >= 1.6 * max(shaft, 1.0) and widths[:5].max() <= 1.5 * shaft + 1)


def is_polygon(piece: NDArray[np.bool_]) -> bool:
    """Say whether a shape is solid and drawn with few straight edges (3 to 9 corners), as arrows and arrowheads are.

    The polygon through its corners (within 4 % of its diagonal) must fill the same pixels: drawn shapes agree to 85 %
    and more, highlights, vessels and letters of that size do not.
    """
    padded = np.pad(piece.astype(np.uint8), 1)
    outlines, _ = cv2.findContours(padded, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if len(outlines) != 1:
        return False  # a hole: a letter or a ring
    corners = cv2.approxPolyDP(outlines[0], 0.04 * float(np.hypot(*piece.shape)), True)
    if not 3 <= len(corners) <= 9:
        return False
    drawn = np.zeros_like(padded)
    cv2.fillPoly(drawn, [corners], 1)
    common = int((drawn & padded).sum())
    return common >= 0.85 * int((drawn | padded).sum())


def stands_out(window: NDArray[np.uint8], piece: NDArray[np.bool_]) -> bool:
    """Say whether a shape differs sharply from what surrounds it: by 60 of 255 levels in a channel, on most of its rim.

    Drawn marks have hard edges; a glossy highlight or a patch of strong colour fades out.
    """
    shape = piece.astype(np.uint8)
    kernel = np.ones((3, 3), np.uint8)
    ring = np.asarray(cv2.dilate(shape, kernel, iterations=2)) - np.asarray(cv2.dilate(shape, kernel))
    if not ring.any():
        ring = 1 - shape
    inside = window[piece].astype(np.float64).mean(axis=0)
    outside = window[ring.astype(bool)].astype(np.float64)
    return bool(len(outside)) and float((np.abs(outside - inside).max(axis=1) >= 60).mean()) >= 0.7


def mark_shapes(crop: NDArray[np.uint8]) -> int:
    """Return the number of arrow-like solid shapes of pure or strong colour in a (height, width, 3) uint8 picture."""
    scale = min(1.0, SIDE / max(crop.shape[:2]))
    size = (max(8, round(crop.shape[1] * scale)), max(8, round(crop.shape[0] * scale)))
    rgb = reduced(crop, size)
    hsv = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV))
    hue, strong = hsv[:, :, 0], (hsv[:, :, 1] > 190) & (hsv[:, :, 2] > 150)
    red, green, blue = cv2.split(rgb)
    low, high = np.asarray(cv2.min(cv2.min(red, green), blue)), np.asarray(cv2.max(cv2.max(red, green), blue))
    masks = [low > 235, high < 18]
    # Yellow, red, green, cyan/blue, magenta: the colours that editors offer. Orange-red is the fundus itself, so that
    # red must be pure (hue within 5 degrees).
    masks += [strong & (hue >= a) & (hue <= b) for a, b in ((26, 34), (0, 2), (50, 70), (85, 125), (140, 160))]
    masks[3] |= strong & (hue >= 177)
    found = 0
    area = rgb.shape[0] * rgb.shape[1]
    for mask in masks:
        _, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
        left, top, w, h, n = (np.asarray(stats[:, k], dtype=np.int64) for k in range(5))
        inside = (left > 0) & (top > 0) & (left + w < rgb.shape[1]) & (top + h < rgb.shape[0])
        sized = (n >= max(24, 0.0004 * area)) & (n <= 0.03 * area) & (np.maximum(w, h) <= 0.4 * max(rgb.shape[:2]))
        chosen = np.flatnonzero(inside & sized)
        chosen = chosen[chosen > 0]
        if chosen.size > MANY:
            continue
        for k in chosen.tolist():
            piece = np.asarray(labels[top[k] : top[k] + h[k], left[k] : left[k] + w[k]] == k)
            window = rgb[top[k] - 1 : top[k] + h[k] + 1, left[k] - 1 : left[k] + w[k] + 1]
            if is_polygon(piece) and stands_out(window, np.pad(piece, 1)):
                ys, xs = np.nonzero(piece)
                found += has_head(np.stack([xs, ys], axis=1).astype(np.float64))
    return found


def classify_mark(crop: NDArray[np.uint8], words: str = "") -> tuple[bool | None, float]:
    """Return (marked, score that it is marked) of an image.

    Args:
        crop: (height, width, 3) uint8 RGB.
        words: subcaption (or caption) of the panel; "" when unknown.

    Returns:
        None for `marked` when the image is too small to see a mark and the words do not name one.
    """
    named = bool(MARK_WORDS.search(words))
    if crop.ndim != 3 or min(crop.shape[:2], default=0) < 12:
        return (True, WORDS_SCORE) if named else (None, 0.3)
    if is_plot(crop):
        # On plots "circles", "squares" and asterisks are symbols of the data; only arrows are marks.
        pointed = bool(re.search(r"\barrows?\b", words, re.IGNORECASE))
        return (True, SHAPE_SCORE) if pointed else (False, PLOT_SCORE)
    shapes = mark_shapes(crop) > 0
    if named:
        return True, BOTH_SCORE if shapes else WORDS_SCORE
    return (True, SHAPE_SCORE) if shapes else (False, PLAIN_SCORE)


class StructureMarkClassifier:
    """`classify_mark` as a `protocols.MarkClassifier`."""

    def __call__(
        self,
        crops: Sequence[NDArray[np.uint8]],
        words: Sequence[str],
        drawn: Sequence[VectorEvidence] = (),
        figures: Sequence[int] = (),
    ) -> list[tuple[bool | None, float]]:
        """Return (marked, score) per crop."""
        shapes = drawn or ("none",) * len(crops)
        return [
            (True, BOTH_SCORE)
            if shape == "lone mark" or (shape == "mark" and not is_plot(crop))
            else classify_mark(crop, text)
            for crop, text, shape in zip(crops, words, shapes, strict=True)
        ]
