"""Letters that stand at one place of every cell are found from a few of them; other print names no cell."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.fusion.cell_letters import letters_in_cells
from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.pipeline.detection.structure.identifier_reading import PrintedBox
from pmo_assets.records.geometry import Box
from pmo_assets.samples.drawing import print_text
from pmo_assets_tests.pipeline.detection.drawing import Picture, paper, paste, photograph

SIDE, STEP = 200, 230
WHITE = (255, 255, 255)


def grid(letters: str, columns: int, at: tuple[int, int] = (8, 8)) -> tuple[Picture, list[Box], list[PrintedBox]]:
    """Dark photographs in rows with a white letter in each; "?" is covered, " " none. Returns cells and letters."""
    rows = -(-len(letters) // columns)
    figure = paper(STEP * columns, STEP * rows)
    cells, printed = [], []
    for k, letter in enumerate(letters):
        x, y = STEP * (k % columns), STEP * (k // columns)
        paste(figure, photograph(SIDE, SIDE, seed=k, high=90), x, y)
        if letter == "?":
            noise = np.random.default_rng(k).integers(0, 255, (26, 26, 1), dtype=np.uint8)
            figure[y + at[1] : y + at[1] + 26, x + at[0] : x + at[0] + 26] = noise
        elif letter != " ":
            left, top, right, bottom = print_text(figure, x + at[0], y + at[1], letter, "hebo", 26, WHITE)
            printed.append(PrintedBox((round(left), round(top), round(right), round(bottom)), 0.8))
        cells.append(
            (x / figure.shape[1], y / figure.shape[0], (x + SIDE) / figure.shape[1], (y + SIDE) / figure.shape[0])
        )
    return figure, cells, printed


def named(figure: Picture, cells: list[Box], boxes: list[PrintedBox]) -> tuple[str, list[int]]:
    """The names, and per name the column of the figure that it stands in; -1 where no place is known."""
    found = letters_in_cells(canvas_of(figure), cells, boxes)
    if found is None:
        return "", []
    return "".join(found.names), [own[0].rect[0] // STEP if own else -1 for own in found.places]


@pytest.mark.parametrize("letters", ["ABC", "abcd"])
@pytest.mark.parametrize("at", [(8, 8), (150, 150), (88, 160)])
def test_one_letter_that_is_seen_leads_to_the_others(letters: str, at: tuple[int, int]) -> None:
    figure, cells, printed = grid(letters, len(letters), at)
    assert named(figure, cells, printed[1:2]) == (letters, list(range(len(letters))))


def test_the_order_of_the_others_names_a_cell_whose_letter_is_covered() -> None:
    figure, cells, printed = grid("AB?D", 2)
    found = letters_in_cells(canvas_of(figure), cells, printed)
    assert found is not None
    assert found.names == ("A", "B", "C", "D")
    assert (found.places[2][0].source, found.places[2][0].text_score) == ("grid", 0.0)
    assert found.read == 0.75


@pytest.mark.parametrize(
    "letters",
    [
        pytest.param("A???", id="one letter is no series"),
        pytest.param("ABQR", id="letters beyond the number of cells"),
        pytest.param("AABB", id="letters twice"),
        pytest.param("AB    ", id="two panels of several cells"),
    ],
)
def test_other_print_names_no_cells(letters: str) -> None:
    figure, cells, printed = grid(letters, 3)
    assert letters_in_cells(canvas_of(figure), cells, printed) is None


def test_letters_at_different_places_of_their_cells_are_none() -> None:
    figure, cells, printed = grid("A  ", 3)
    for k, (x, y) in enumerate([(100, 60), (40, 150)], 1):
        print_text(figure, STEP * k + x, y, "ABC"[k], "hebo", 26, WHITE)
    assert letters_in_cells(canvas_of(figure), cells, printed) is None


def test_a_single_cell_has_no_series() -> None:
    figure, cells, printed = grid("AB", 2)
    assert letters_in_cells(canvas_of(figure), cells[:1], printed) is None
