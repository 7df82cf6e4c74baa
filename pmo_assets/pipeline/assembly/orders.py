"""In which orders a figure's panels may be lettered, and how common each order is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pmo_assets.records.geometry import Box, column_order, reading_order

ROWS, COLUMNS, BLOCKS, BANDS = (
    "row by row",
    "column by column",
    "row by row, block by block",
    "column by column, band by band",
)

COMMON = {ROWS: 0.84, COLUMNS: 0.11, BLOCKS: 0.03, BANDS: 0.02}
"""Prior of each order; chosen by hand, as are the two below. Orders that agree on a figure add up."""

FREE = 0.02
"""Prior of letters that follow no order at all."""


@dataclass(frozen=True, slots=True)
class PanelOrder:
    """An order of a figure's panels: what it is called, panels by index, and how common it is, 0..1."""

    name: str
    panels: tuple[int, ...]
    share: float


def panel_orders(boxes: Sequence[Box]) -> list[PanelOrder]:
    """Return the different orders of panels, the most common first; their shares sum to 1."""
    flipped = [(box[1], box[0], box[3], box[2]) for box in boxes]
    found = {
        ROWS: reading_order(boxes),
        COLUMNS: column_order(boxes),
        BLOCKS: _by_blocks(boxes),
        BANDS: _by_blocks(flipped),
    }
    orders: dict[tuple[int, ...], PanelOrder] = {}
    for name, order in found.items():
        key = tuple(order)
        known = orders.get(key)
        orders[key] = PanelOrder(known.name if known else name, key, COMMON[name] + (known.share if known else 0.0))
    return sorted(orders.values(), key=lambda order: -order.share)


def _by_blocks(boxes: Sequence[Box]) -> list[int]:
    """Return indices block by block, from left to right, row by row in each: a block ends where no box goes on."""
    blocks: list[list[int]] = []
    reach = float("-inf")
    for index in sorted(range(len(boxes)), key=lambda i: (boxes[i][0], boxes[i][1])):
        box = boxes[index]
        if blocks and box[0] < reach - 0.1 * (box[2] - box[0]):
            blocks[-1].append(index)
        else:
            blocks.append([index])
        reach = max(reach, box[2])
    # Every column would be a block of its own: blocks are two or three, as wide as two panels at least.
    joined = _halves(blocks, boxes)
    return [block[i] for block in joined for i in reading_order([boxes[k] for k in block])]


def _halves(columns: list[list[int]], boxes: Sequence[Box]) -> list[list[int]]:
    """Return the columns in two blocks, cut at the widest space between two of them; as one if none is wider."""
    if len(columns) < 3:
        return [[i for column in columns for i in column]]
    ends = [max(boxes[i][2] for i in column) for column in columns]
    starts = [min(boxes[i][0] for i in column) for column in columns]
    spaces = [starts[k + 1] - ends[k] for k in range(len(columns) - 1)]
    widest = max(range(len(spaces)), key=lambda k: spaces[k])
    others = [space for k, space in enumerate(spaces) if k != widest]
    if spaces[widest] <= 1.5 * max(*others, 0.0) + 0.005:
        return [[i for column in columns for i in column]]
    cut = widest + 1
    return [[i for column in part for i in column] for part in (columns[:cut], columns[cut:])]
