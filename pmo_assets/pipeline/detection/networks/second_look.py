"""Second pass of the figure network, at native resolution, where the first saw too little; and the joining of both.

The network sees about 147,000 pixels of a figure (`input_size`). In a large figure small pictures come out as a few of
its places, some not at all. Where it sees several boxes that small, and the figure has more pixels than it saw, it
looks again at the region around them, in tiles that overlap. A tile's edge cuts pictures in two: what ends there is
left to the tile beside it, and what is large in a tile to the first pass. Only images are looked for again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.input_size import bucket_of
from pmo_assets.pipeline.detection.networks.network_boxes import suppressed
from pmo_assets.pipeline.detection.protocols import Floats, NetworkBoxes

Tile = tuple[int, int, int, int]
"""Part of a figure in its pixels: left, top, right, bottom; right and bottom exclusive."""

SMALL_SIDE = 26.0
"""Long side, in the network's pixels, of boxes that are not resolved: three of its finest places."""

SEEN = 0.15
"""Score from which a small box says that there may be small pictures."""

LEAST_SIDE = 20.0
"""Short side, in pixels of the figure, of the pictures looked for: smaller than any thumbnail, larger than print."""

LEAST_SMALL = 4
"""Small boxes that make a second look worth its time: single ones are mostly icons and print."""

LEAST_GAIN = 1.4
"""Least factor by which the region must come out larger than in the first pass."""

TILE_SIDE = 420
"""Pixels of the figure along a tile, about what the network sees at native resolution."""

MOST_TILES = 4
"""Passes that a figure may take besides the first; regions that need more are shrunk to so many."""

OVERLAP = 0.2
"""Part of a tile that its neighbour sees as well: more than a small picture."""

LARGE_IN_TILE = 0.5
"""Boxes longer than this part of a tile are left to the first pass."""


SURE, COMMON = 0.5, 0.2
"""Score of sure boxes, and part by which sides of pictures of one size differ at most."""

MUCH_LARGER, AS_SURE = 3.0, 0.5
"""A box of so many times the area, and at least this part of the score, holds small ones as parts of its picture."""


def tiles_to_see(boxes: NetworkBoxes, width: int, height: int) -> list[Tile]:
    """Return the parts of a figure that deserve a second look; none for most figures.

    Args:
        boxes: of the first pass.
        width: of the figure in pixels.
        height: of the figure in pixels.
    """
    rows, columns = bucket_of(width, height)
    gain = min(width / columns, height / rows)
    if gain < LEAST_GAIN:
        return []
    sides = (boxes.boxes["image"][:, 2:] - boxes.boxes["image"][:, :2]) * np.asarray([columns, rows], np.float32)
    native = sides * np.asarray([width / columns, height / rows], np.float32)
    small = (sides.max(axis=1, initial=0) < SMALL_SIDE) & (native.min(axis=1, initial=1e9) >= LEAST_SIDE)
    small &= boxes.scores["image"] >= SEEN
    small &= ~_within_larger(boxes.boxes["image"], boxes.scores["image"], boxes)
    if int(small.sum()) < LEAST_SMALL:
        return []
    found = boxes.boxes["image"][small] * np.asarray([width, height] * 2, np.float32)
    margin = float((found[:, 2:] - found[:, :2]).max()) * 1.5
    left, top = np.maximum(found[:, :2].min(axis=0) - margin, 0).astype(int).tolist()
    right, bottom = np.minimum(found[:, 2:].max(axis=0) + margin, [width, height]).astype(int).tolist()
    across, down = _parts(right - left, bottom - top)
    tiles = [
        (a, c, b, d) for c, d in _stretches(top, bottom, down) for a, b in _stretches(left, right, across)
    ]  # fmt: skip
    seen = bucket_of(tiles[0][2] - tiles[0][0], tiles[0][3] - tiles[0][1])
    scale = min(seen[1] / (tiles[0][2] - tiles[0][0]), seen[0] / (tiles[0][3] - tiles[0][1]))
    return tiles if scale * gain >= LEAST_GAIN else []


def _within_larger(small: Floats, scores: Floats, first: NetworkBoxes) -> NDArray[np.bool_]:
    """Say which boxes lie in much larger ones of the first pass that are as sure: parts of a picture, not pictures."""
    large, sure = first.boxes["image"], first.scores["image"]
    if not len(small) or not len(large):
        return np.zeros(len(small), dtype=np.bool_)
    low, high = np.maximum(small[:, None, :2], large[None, :, :2]), np.minimum(small[:, None, 2:], large[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    size, larger = (small[:, 2:] - small[:, :2]).prod(axis=1), (large[:, 2:] - large[:, :2]).prod(axis=1)
    inside = (common >= 0.8 * size[:, None]) & (larger[None] >= MUCH_LARGER * size[:, None])
    return np.asarray((inside & (sure[None] >= AS_SURE * scores[:, None])).any(axis=1), dtype=np.bool_)


def _parts(width: int, height: int) -> tuple[int, int]:
    """Return into how many tiles a region is divided, across and down."""
    across, down = max(1, round(width / TILE_SIDE)), max(1, round(height / TILE_SIDE))
    while across * down > MOST_TILES:
        if down == 1 or (across > 1 and width / across < height / down):
            across -= 1
        else:
            down -= 1
    return across, down


def _stretches(start: int, stop: int, count: int) -> list[tuple[int, int]]:
    """Return `count` stretches that cover a length and overlap by `OVERLAP` of their own."""
    length = (stop - start) / (count - (count - 1) * OVERLAP)
    step = length * (1 - OVERLAP)
    return [(start + round(k * step), min(stop, start + round(k * step + length))) for k in range(count)]


def joined(
    first: NetworkBoxes,
    tiles: Sequence[Tile],
    seconds: Sequence[NetworkBoxes],
    width: int,
    height: int,
    iou: float = 0.4,
) -> NetworkBoxes:
    """Return the first pass with the images that the second look saw in tiles.

    Args:
        first: boxes of the whole figure.
        tiles: parts of the figure that were looked at again.
        seconds: per tile its boxes, normalised to the tile.
        width: of the figure in pixels.
        height: of the figure in pixels.
        iou: of two boxes that overlap more, the weaker one is dropped.
    """
    boxes, scores, kinds = [first.boxes["image"]], [first.scores["image"]], [first.class_scores["image"]]
    for tile, second in zip(tiles, seconds, strict=True):
        shift = np.asarray([tile[0], tile[1]] * 2, np.float32)
        size = np.asarray([tile[2] - tile[0], tile[3] - tile[1]] * 2, np.float32)
        moved = ((second.boxes["image"] * size + shift) / np.asarray([width, height] * 2, np.float32)).astype(
            np.float32
        )
        kept = _whole(second.boxes["image"], tile, width, height)
        kept &= ~_within_larger(moved, second.scores["image"], first)
        boxes.append(moved[kept])
        scores.append(second.scores["image"][kept])
        kinds.append(second.class_scores["image"][kept])
    every: Floats = np.concatenate(boxes)
    score: Floats = np.concatenate(scores)
    best = suppressed(every, score, iou)
    best = best[(best < len(first.scores["image"])) | _of_common_size(every, score, best)]
    return NetworkBoxes(
        first.boxes | {"image": every[best]},
        first.scores | {"image": score[best]},
        first.class_scores | {"image": np.concatenate(kinds)[best]},
    )


def _of_common_size(boxes: Floats, scores: Floats, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which of the chosen boxes have the size of at least `LEAST_SMALL` sure ones: thumbnails come in grids."""
    sides = boxes[chosen, 2:] - boxes[chosen, :2]
    sure = sides[scores[chosen] >= SURE]
    ratio = sides[:, None] / np.maximum(sure[None], 1e-6)
    alike = ((ratio > 1 - COMMON) & (ratio < 1 / (1 - COMMON))).all(axis=2)
    return np.asarray(alike.sum(axis=1) >= LEAST_SMALL, dtype=np.bool_)


def _whole(boxes: Floats, tile: Tile, width: int, height: int) -> NDArray[np.bool_]:
    """Say which boxes of a tile are neither cut by an edge inside the figure, nor large, nor as small as print."""
    edge = 0.012
    inner = [tile[0] > 0, tile[1] > 0, tile[2] < width, tile[3] < height]
    cut = (boxes[:, :2] < edge) & np.asarray(inner[:2])
    cut_far = (boxes[:, 2:] > 1 - edge) & np.asarray(inner[2:])
    large = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=0) > LARGE_IN_TILE
    size = np.asarray([tile[2] - tile[0], tile[3] - tile[1]], np.float32)
    tiny = ((boxes[:, 2:] - boxes[:, :2]) * size).min(axis=1, initial=1e9) < LEAST_SIDE
    return np.asarray(~(cut.any(axis=1) | cut_far.any(axis=1) | large | tiny), dtype=np.bool_)
