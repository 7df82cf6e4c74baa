"""Layouts are panels that do not overlap, inside the figure; ids decide the part of the data for good."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.geometry import area, intersection
from pmo_assets.training.synthetic.layouts import layouts_of_table, parametric_layout, split_of

HEADER = "figure,panel_x0,panel_y0,panel_x1,panel_y1,kind,label_x0,label_y0,label_x1,label_y1,label\n"


@given(st.integers(0, 2**32 - 1))
def test_parametric_panels_lie_in_the_figure_and_apart(seed: int) -> None:
    layout = parametric_layout(np.random.default_rng(seed))
    assert layout.panels
    for box in layout.panels:
        assert -1e-9 <= box[0] < box[2] <= 1 + 1e-9
        assert -1e-9 <= box[1] < box[3] <= 1 + 1e-9
    assert all(area(intersection(a, b)) < 1e-9 for a, b in combinations(layout.panels, 2))


def test_the_same_seed_gives_the_same_layout() -> None:
    assert parametric_layout(np.random.default_rng(5)) == parametric_layout(np.random.default_rng(5))


def test_a_table_gives_normalised_panels_and_the_corner_of_their_labels(tmp_path: Path) -> None:
    table = tmp_path / "layouts.csv"
    rows = "a.jpg,10,20,110,120,panel,12,100,20,118,a\na.jpg,120,20,220,120,panel,122,100,130,118,b\n"
    table.write_text(HEADER + rows)
    (layout,) = layouts_of_table(table)
    assert layout.aspect == pytest.approx(2.1)
    assert layout.panels[1] == pytest.approx((110 / 210, 0, 1, 1))
    assert layout.labelled
    assert layout.corner == (False, True)


def test_panels_without_label_and_overlapping_ones(tmp_path: Path) -> None:
    table = tmp_path / "layouts.csv"
    apart = "a.jpg,0,0,100,100,panel,,,,,\na.jpg,100,0,200,100,panel,,,,,\n"
    overlapping = "b.jpg,0,0,100,100,panel,,,,,\nb.jpg,50,0,200,100,panel,,,,,\n"
    table.write_text(HEADER + apart + overlapping)
    (layout,) = layouts_of_table(table)
    assert not layout.labelled


def test_parts_of_the_data_are_about_eight_to_one_to_one_and_never_change() -> None:
    parts = [split_of(f"article {k}") for k in range(4000)]
    assert 0.77 < parts.count("train") / 4000 < 0.83
    assert 0.08 < parts.count("test") / 4000 < 0.12
    assert [split_of("PMC1"), split_of("PMC2"), split_of("PMC5")] == ["train", "train", "train"]
