"""Which figures and panels of two files are the same."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.geometry import UNIT_BOX, Box, denormalise, normalise
from pmo_assets.release.comparing.panel_matching import (
    PanelBoxes,
    PlacedFigure,
    best_pairs,
    common_frames,
    matched_figures,
    matched_panels,
    page_overlap,
    plain_name,
)
from pmo_assets_tests.examples import examples

PLACE: Box = (100.0, 100.0, 500.0, 300.0)
UNITS = (UNIT_BOX, UNIT_BOX)


def figure(name: str, box: Box | None = PLACE, page: int = 1) -> PlacedFigure:
    return PlacedFigure(name, {} if box is None else {page: box})


@pytest.mark.parametrize(
    ("name", "expected"),
    [("F1.JPG", "f1"), ("images/gr1.jpeg", "gr1"), ("a\\b.tif", "b"), ("9.f1", "9.f1"), (".jpg", ".jpg")],
)  # fmt: skip
def test_a_name_is_compared_without_folder_ending_and_case(name: str, expected: str) -> None:
    assert plain_name(name) == expected


def test_names_count_before_places() -> None:
    theirs = [figure("f1"), figure("F2.jpg", (0, 0, 10, 10)), figure("theirs", (0, 0, 100, 90))]
    ours = [figure("x", (0, 0, 100, 100)), figure("f2", None), figure("f1", PLACE, page=2)]
    found = [(match.first, match.second, match.matched_by, match.iou) for match in matched_figures(theirs, ours)]
    assert found == [(0, 2, "name", 0.0), (1, 1, "similar name", None), (2, 0, "place", 0.9)]


def test_a_name_that_stands_twice_says_nothing() -> None:
    theirs = [figure("f1.jpg"), figure("F1.png", PLACE, page=2)]
    ours = [figure("f1", PLACE, page=2)]
    assert [(m.first, m.second, m.matched_by) for m in matched_figures(theirs, ours)] == [(1, 0, "place")]


def test_figures_over_pages_are_compared_page_by_page() -> None:
    assert page_overlap({1: (0, 0, 10, 10), 2: (0, 0, 10, 10)}, {1: (0, 0, 10, 10)}) == 0.5
    assert page_overlap({1: (0, 0, 10, 10)}, {2: (0, 0, 10, 10)}) == 0.0
    assert page_overlap({}, {1: (0, 0, 10, 10)}) is None


def test_pairs_have_the_largest_sum_not_the_largest_first() -> None:
    assert best_pairs([[0.9, 0.8], [0.8, 0.1]]) == [(0, 1, 0.8), (1, 0, 0.8)]
    assert best_pairs([[0.9, 0.45], [0.45, 0.1]]) == [(0, 0, 0.9)], "too little counts for nothing"
    assert best_pairs([]) == best_pairs([[], []]) == []


@examples(100)
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(st.floats(0, 1), min_size=n, max_size=n), max_size=4)))
def test_no_other_pairing_is_better(overlaps: list[list[float]]) -> None:
    found = best_pairs(overlaps)
    assert len({row for row, _, _ in found}) == len({column for _, column, _ in found}) == len(found)
    columns = [*range(len(overlaps[0]) if overlaps else 0), *[None] * len(overlaps)]
    best = max(
        sum(overlaps[row][c] for row, c in enumerate(chosen) if c is not None and overlaps[row][c] >= 0.5)
        for chosen in itertools.permutations(columns, len(overlaps))
    )
    assert sum(value for _, _, value in found) == pytest.approx(best)


def test_panels_of_figures_that_are_cut_otherwise_are_compared_on_the_page() -> None:
    other: Box = (60.0, 80.0, 520.0, 310.0)
    panel: Box = (0.0, 0.0, 0.25, 1.0)
    theirs = normalise(denormalise(panel, PLACE), other)
    frames = common_frames({1: other}, {1: PLACE})
    ((_, _, overlap),) = matched_panels([PanelBoxes(theirs, None)], [PanelBoxes(panel, None)], frames)
    assert overlap == pytest.approx(1.0)
    assert common_frames({1: PLACE}, {1: PLACE}) == UNITS
    assert common_frames({1: PLACE}, {2: other}) == UNITS, "not the same page: nothing to lay them on"
    assert common_frames({1: PLACE, 2: PLACE}, {1: PLACE, 2: PLACE}) == UNITS


def test_a_panel_is_found_by_what_it_shows_or_by_what_was_detected() -> None:
    small: Box = (0.0, 0.0, 0.3, 1.0)
    ones = [PanelBoxes(small, UNIT_BOX)]
    assert matched_panels(ones, [PanelBoxes(small, small)], UNITS) == [(0, 0, 1.0)]
    assert matched_panels(ones, [PanelBoxes(None, UNIT_BOX)], UNITS) == [(0, 0, 1.0)]
    assert matched_panels(ones, [PanelBoxes(None, None)], UNITS) == []
