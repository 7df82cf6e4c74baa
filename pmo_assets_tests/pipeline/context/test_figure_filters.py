"""Open-PMC-18M's filters of figures: by BIOMEDICA's label, else by what most of the figure's panels are."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.figure_filters import figure_filters
from pmo_assets.records.context import FigureFilters, ModalityClass

KEPT, NOT, LABORATORY, UNDECIDED = (
    FigureFilters(True, True), FigureFilters(False, False), FigureFilters(True, False), FigureFilters(None, None),
)  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["Clinical Imaging"], KEPT),
        (["Microscopy", "Plots and Charts"], KEPT),
        (["Immuno Assays"], LABORATORY),
        (["Chemical Structures"], LABORATORY),
        (["Plots and Charts"], NOT),
    ],
)
def test_a_label_of_biomedica_decides(labels: list[str], found: FigureFilters) -> None:
    assert figure_filters(labels, [("N", 1.0)]) == found
    assert figure_filters(labels, [("V", 1.0)]) == found


@pytest.mark.parametrize(
    ("panels", "found"),
    [
        ([("V", 0.2), ("R", 0.1), ("N", 0.4)], NOT),
        ([("V", 0.3), ("R", 0.2), ("N", 0.4)], KEPT),
        ([("V", 0.5), ("N", 0.4)], KEPT),
        ([("M", 0.2), ("ambiguous", 0.8)], KEPT),
        ([("ambiguous", 1.0)], UNDECIDED),
        ([], UNDECIDED),
    ],
)
def test_without_a_label_what_most_of_the_figure_is_decides(
    panels: list[tuple[ModalityClass, float]], found: FigureFilters
) -> None:
    assert figure_filters([], panels) == found
