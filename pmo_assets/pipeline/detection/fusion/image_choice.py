"""Choice between one picture and several, for a box inside which a detector sees pictures, too.

A plot whose bars look like pictures, a table of numbered cells, a scan whose layers do: the whole is the image. A panel
of thumbnails, a diagram of a method, pictures that touch: its parts are. Structure and network both see wholes and
parts. A logistic function of the certainty of either, and of the look of the parts, decides.

The weights (`weights/image_choice.json`) are fitted by `benchmarks/fit_image_choice.py`. Features are shares from 0 to
1, so that a network trained further moves them little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect, pixel_rect
from pmo_assets.pipeline.detection.structure.images import has_grain, has_two_tones, is_photograph
from pmo_assets.records.geometry import Box, area, height, width

PACKAGE_DATA = ("weights/image_choice.json",)
"""Files of the package that this module reads."""

INSIDE: Final = 0.8
"""Covered fraction from which a box lies inside another one."""

COUNTED: Final = 0.3
"""Score of the network from which a box counts as a part: weak boxes are everywhere."""

SMALL: Final = 0.12
"""Part of the figure's side below which cells of tables are."""

ALIKE: Final = 0.2
"""Part by which sides of pictures of one size differ at most."""


FEATURES: Final = (
    "seen",
    "structural",
    "unseen",
    "one",
    "many",
    "fill",
    "mean",
    "best",
    "sure",
    "by structure",
    "placed",
    "drawn",
    "all drawn",
    "drawn fill",
    "many drawn",
    "cells",
    "sure drawn",
    "photograph",
    "photograph of photographs",
    "size",
    "alike",
    "whole",
    "live",
    "surer",
    "always",
)
"""Names of the features of `choice_features`."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A box that may be an image.

    Attributes:
        box: normalised [l, t, r, b].
        structural: score that structure gives it; 0 where structure does not have it.
        seen: score that the network gives it; 0 where it does not see it.
        placed: the PDF has a bitmap of its own there.
    """

    box: Box
    structural: float
    seen: float
    placed: bool = False


def nesting(proposals: Sequence[Proposal]) -> NDArray[np.bool_]:
    """Return (n, n): whether the second proposal lies inside the first, and is smaller."""
    boxes = np.asarray([p.box for p in proposals], dtype=np.float64).reshape(-1, 4)
    sizes = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    return np.asarray((sizes[None] < sizes[:, None]) & (common >= INSIDE * np.maximum(sizes[None], 1e-12)))


def counts(part: Proposal) -> bool:
    """Say whether a proposal is strong enough to be a part."""
    return part.structural > 0 or part.seen >= COUNTED


def choice_features(
    whole: Proposal, parts: Sequence[Proposal], canvas: Callable[[], Canvas], *, live: bool
) -> dict[str, float]:
    """Return the features of a whole and its parts (at least one) by name, each 0..1; see the module's text.

    Args:
        whole: the larger box.
        parts: those inside it that count.
        canvas: the figure, asked for once there is something to look at.
        live: see `FigureView.is_live`.
    """
    tall, wide = canvas().ink.shape
    rect = pixel_rect(whole.box, wide, tall)
    drawn = [_is_drawn(canvas(), pixel_rect(part.box, wide, tall)) for part in parts]
    areas = np.asarray([area(part.box) for part in parts])
    size = max(area(whole.box), 1e-9)
    seen = np.asarray([part.seen for part in parts])
    sides = np.asarray([[width(part.box), height(part.box)] for part in parts])
    middle = np.median(sides, axis=0)
    alike = (np.abs(sides - middle) <= ALIKE * np.maximum(middle, 1e-9)).all(axis=1)
    fill = min(1.0, float(areas.sum()) / size)
    share_drawn = float(areas[drawn].sum()) / max(float(areas.sum()), 1e-9)
    many, best = min(1.0, math.log2(len(parts)) / 6), float(seen.max())
    values = {
        "seen": whole.seen,
        "structural": whole.structural,
        "unseen": float(whole.seen == 0),
        "one": float(len(parts) == 1),
        "many": many,
        "fill": fill,
        "mean": float((seen * areas).sum() / max(float(areas.sum()), 1e-9)),
        "best": best,
        "sure": float((seen >= 0.6).mean()),
        "by structure": float(np.mean([part.structural > 0 for part in parts])),
        "placed": float(np.mean([part.placed for part in parts])),
        "drawn": share_drawn,
        "all drawn": float(all(drawn)),
        "drawn fill": share_drawn * fill,
        "many drawn": share_drawn * many,
        "cells": share_drawn * many * float(middle.max() < SMALL),
        "sure drawn": share_drawn * best,
        "photograph": float(is_photograph(canvas(), rect)),
        "photograph of photographs": float(is_photograph(canvas(), rect)) * (1 - share_drawn),
        "size": math.sqrt(min(1.0, float(np.median(areas)) / size)),
        "alike": float(alike.mean()) if len(parts) > 1 else 0.0,
        "whole": math.sqrt(min(1.0, size)),
        "live": float(live),
        "surer": min(1.0, max(0.0, 0.5 + (best - whole.seen) / 2)),
    }
    return values | {"always": 1.0}


def _is_drawn(canvas: Canvas, rect: Rect) -> bool:
    """Say whether a region is even in parts, as drawings, numbered cells and masks are."""
    return not is_photograph(canvas, rect) or not has_grain(canvas, rect) or has_two_tones(canvas, rect)


@lru_cache(maxsize=1)
def choice_weights() -> Mapping[str, float]:
    """Return the package's weights.

    Raises:
        SystemicError: when they cannot be read, or one is missing.
    """
    return fitted_numbers("image_choice.json", FEATURES)


def probability_of_parts(features: Mapping[str, float], weights: Mapping[str, float] | None = None) -> float:
    """Return 0..1 that the parts are the images, and not the whole."""
    known = choice_weights() if weights is None else weights
    return 1 / (1 + math.exp(-sum(known[name] * value for name, value in features.items())))


def chosen_proposals(
    proposals: Sequence[Proposal],
    canvas: Callable[[], Canvas],
    *,
    live: bool,
    weights: Mapping[str, float] | None = None,
) -> dict[int, float]:
    """Return which proposals remain when each is either whole or in parts, decided from the largest on.

    Their values say how sure that is, 0.5..1: 1 where nothing was to be decided, else the least of the decisions that
    a proposal remains by.

    Args:
        proposals: of one figure.
        canvas: the figure.
        live: see `FigureView.is_live`.
        weights: None for the package's.
    """
    inside = nesting(proposals)
    remaining = np.ones(len(proposals), dtype=np.bool_)
    strong = np.asarray([counts(p) for p in proposals], dtype=np.bool_)
    placed = np.asarray([p.placed for p in proposals], dtype=np.bool_)
    trust = np.ones(len(proposals))
    for k in sorted(range(len(proposals)), key=lambda k: -area(proposals[k].box)):
        if not remaining[k]:
            continue
        within = inside[k] & remaining
        parts = [proposals[int(j)] for j in np.flatnonzero(within & strong)]
        if parts and not placed[k]:
            likely = probability_of_parts(choice_features(proposals[k], parts, canvas, live=live), weights)
            if likely > 0.5:
                remaining[k] = False
                trust[within & ~placed] = np.minimum(trust[within & ~placed], likely)
                continue
            trust[k] = min(trust[k], 1 - likely)
        # What the PDF places stays: it is an image even where others are around it.
        remaining[within & ~placed] = False
    return {int(k): float(trust[k]) for k in np.flatnonzero(remaining)}
