"""Letters in rows and columns: what the read ones say of the others, and when they say nothing."""

from __future__ import annotations

from collections.abc import Collection

from pmo_assets.pipeline.detection.structure.gutters import Rect
from pmo_assets.pipeline.detection.structure.letter_grid import letter_grid

NONE: frozenset[int] = frozenset()


def letter(x: int, y: int) -> Rect:
    return (x - 8, y - 10, x + 8, y + 10)


def grid_of(columns: int, count: int, but: Collection[int] = ()) -> dict[int, Rect]:
    """Letters 200 pixels apart, some not read."""
    return {
        k: letter(100 + 200 * (k % columns), 150 + 200 * (k // columns)) for k in range(count) if k not in but
    }  # fmt: skip


def test_a_letter_between_others_is_at_its_place() -> None:
    whole = grid_of(5, 10)
    found = letter_grid(10, grid_of(5, 10, but=(2, 7, 9)), NONE)
    assert found is not None
    assert (found.columns, found.astray, dict(found.places)) == (5, (), whole)


def test_rows_and_columns_at_uneven_places_are_known_where_a_letter_of_each_is_read() -> None:
    read = {0: letter(50, 100), 1: letter(130, 100), 2: letter(400, 103), 3: letter(50, 300), 5: letter(400, 301)}
    found = letter_grid(6, read, NONE)
    assert found is not None
    assert found.places[4] == letter(130, 300)


def test_a_misread_letter_is_astray_unless_it_is_live_text() -> None:
    read = grid_of(3, 9) | {4: letter(350, 220)}
    found = letter_grid(9, read, NONE)
    assert found is not None
    assert (found.astray, found.places[4]) == ((4,), letter(300, 350))
    assert letter_grid(9, read, frozenset({4})) is None


def test_a_last_row_in_the_middle_says_nothing_about_its_own_letters() -> None:
    read = grid_of(4, 4) | {4: letter(200, 350), 5: letter(400, 350)}
    found = letter_grid(6, {k: r for k, r in read.items() if k != 1}, NONE)
    assert found is not None
    assert found.places[1] == letter(300, 150)
    assert 4 not in found.places


def test_few_letters_or_letters_without_order_show_no_grid() -> None:
    assert letter_grid(6, {0: letter(100, 150), 5: letter(500, 350)}, NONE) is None
    assert (
        letter_grid(4, {0: letter(100, 100), 1: letter(400, 170), 2: letter(90, 500), 3: letter(250, 610)}, NONE)
        is None
    )
