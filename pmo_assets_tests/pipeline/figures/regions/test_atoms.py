"""Atoms: rules that separate are none."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.figures.regions.atoms import TOUCH, grids_of, page_atoms, reach
from pmo_assets.records.geometry import Box, union_box
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import drawn_page
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import regions_of


def test_column_rule_and_head_rule_are_no_figures() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    page.draw_line((50, 48), (545, 48), width=1)
    page.draw_line((297, 60), (297, 800), width=0.5)
    manuscript.body(page, (50, 60, 285, 500))
    manuscript.body(page, (310, 60, 545, 800))
    manuscript.caption(page, 50, 520, f"Figure 1. {caption_text(1)}", 230)
    assert regions_of(manuscript, 1).regions == ()


def atoms(*boxes: Box) -> list[Box]:
    return page_atoms(np.asarray(boxes, dtype=np.float64).reshape(-1, 4), drawn_page())


def test_graphics_that_almost_touch_are_one_atom() -> None:
    left, near, below = (100.0, 100.0, 200.0, 200.0), (201.0, 100.0, 300.0, 180.0), (100.0, 260.0, 300.0, 300.0)
    assert atoms(left, near, below) == [(100.0, 100.0, 300.0, 200.0), below]
    assert atoms() == []


@pytest.mark.parametrize(
    ("boxes", "kept"),
    [
        ([(100.0, 100.0, 500.0, 101.0)], False),
        ([(100.0, 100.0, 101.0, 500.0)], False),
        ([(100.0, 100.0, 500.0, 101.0), (100.0, 103.0, 500.0, 104.0)], False),  # a double rule
        ([(100.0, 100.0, 500.0, 101.0), (100.0, 101.0, 101.0, 500.0)], True),  # axes
        ([(100.0, 100.0, 110.0, 102.0)], True),  # short and thick
        ([(100.0, 100.0, 102.0, 110.0)], True),
        ([(100.0, 100.0, 500.0, 104.0)], True),  # a bar
        ([(100.0, 100.0, 104.0, 500.0)], True),
        ([(100.0, 100.0, 500.0, 101.0), (300.0, 99.0, 310.0, 106.0)], True),  # a rule with something on it
    ],
)
def test_nothing_but_parallel_rules_is_a_separator(boxes: list[Box], kept: bool) -> None:
    assert bool(atoms(*boxes)) is kept


def test_scattered_symbols_are_clustered_more_widely() -> None:
    step = 8 + TOUCH + 3
    symbols = [(50 + step * k, 50 + step * j, 58 + step * k, 58 + step * j) for k in range(20) for j in range(20)]
    assert len(atoms(*symbols[:100])) == 100
    assert len(atoms(*symbols)) == 1


A = (100.0, 100.0, 200.0, 180.0)


@pytest.mark.parametrize(
    ("other", "together"),
    [
        ((210.0, 100.0, 310.0, 170.0), True),  # tops
        ((210.0, 120.0, 310.0, 180.0), True),  # bottoms
        ((210.0, 110.0, 310.0, 170.0), False),
        ((100.0, 200.0, 200.0, 300.0), True),  # a column needs both sides
        ((100.0, 200.0, 190.0, 300.0), False),
        ((110.0, 200.0, 200.0, 300.0), False),
        ((320.0, 100.0, 420.0, 180.0), False),  # farther apart than it is wide
        ((210.0, 100.0, 220.0, 180.0), False),  # too small
    ],
)
def test_grids_have_rows_and_columns(other: Box, together: bool) -> None:
    nothing = np.empty((0, 4))
    assert grids_of([A, other], nothing) == ([(0, 1)] if together else [])
    between = union_box([A, other])
    text = np.asarray([between])
    assert grids_of([A, other], text) == []


def test_large_pictures_of_a_grid_are_no_farther_apart_than_two_inches() -> None:
    nothing = np.empty((0, 4))
    first = (0.0, 100.0, 300.0, 400.0)
    assert grids_of([first, (440.0, 100.0, 590.0, 400.0)], nothing) == [(0, 1)]
    assert grids_of([first, (450.0, 100.0, 590.0, 400.0)], nothing) == []


def test_small_atoms_join_only_what_is_close() -> None:
    assert reach((0.0, 0.0, 14.0, 14.0)) < reach((0.0, 0.0, 16.0, 1.0)) == reach((0.0, 0.0, 1.0, 16.0))
