"""Orders in which panels may be lettered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.orders import BLOCKS, COLUMNS, ROWS, panel_orders
from pmo_assets.records.geometry import Box


def grid(rows: int, columns: int, gap_after: int | None = None) -> list[Box]:
    """Panels of 0.1 with 0.01 between them, and 0.05 behind one column."""
    found = []
    for row in range(rows):
        for column in range(columns):
            left = 0.11 * column + (0.04 if gap_after is not None and column > gap_after else 0.0)
            found.append((left, 0.11 * row, left + 0.1, 0.11 * row + 0.1))
    return found


def orders(boxes: list[Box]) -> dict[str, tuple[int, ...]]:
    return {order.name: order.panels for order in panel_orders(boxes)}


def test_one_row_has_one_order() -> None:
    (only,) = panel_orders(grid(1, 4))
    assert (only.name, only.panels) == (ROWS, (0, 1, 2, 3))
    assert only.share == pytest.approx(1.0)


def test_a_grid_may_be_read_in_rows_and_in_columns() -> None:
    found = orders(grid(2, 3))
    assert found[ROWS] == (0, 1, 2, 3, 4, 5)
    assert found[COLUMNS] == (0, 3, 1, 4, 2, 5)
    assert BLOCKS not in found


def test_a_wide_space_makes_two_blocks() -> None:
    assert orders(grid(2, 4, gap_after=1))[BLOCKS] == (0, 1, 4, 5, 2, 3, 6, 7)


def test_rows_are_the_most_common() -> None:
    assert panel_orders(grid(2, 2))[0].name == ROWS


boxes = st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.05, 0.2), st.floats(0.05, 0.2)).map(
    lambda v: (v[0], v[1], v[0] + v[2], v[1] + v[3])
)


@given(st.lists(boxes, min_size=1, max_size=9))
def test_every_order_holds_every_panel_and_the_shares_add_up(panels: list[Box]) -> None:
    found = panel_orders(panels)
    assert all(sorted(order.panels) == list(range(len(panels))) for order in found)
    assert sum(order.share for order in found) == pytest.approx(1.0)
