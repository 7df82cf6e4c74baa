"""Recipes of compound figures: which layouts, gaps, labels and pictures a paper's generator draws, with what odds.

A recipe is data; `compound_figures.py` composes what it says. Numbers of `OPEN_PMC_18M` are the paper's ("paper")
and, where it is silent, those of its generator
(github.com/Negiiiin/open-pmc-18m, openpmcvl/compound_figure_generation: "code").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PictureSource = Literal["radiology", "histopathology", "dermatology", "retina", "plots"]
"""Kinds of pictures that figures are made of."""

Series = Literal["lower", "upper", "number", "roman"]
"""Names in a row: a, b …; A, B …; 1, 2 …; i, ii …"""

Placement = Literal["over the top", "over the bottom", "left", "below", "above"]
"""Places of an identifier: printed over the picture's upper or lower left, or on padding beside the picture."""

Special = Literal["extra column", "extra row", "wide row", "tall column"]
"""Where one panel stands beside a square grid: a cell of its own beside or above it, or one as wide or high as it."""


@dataclass(frozen=True, slots=True)
class FigureRecipe:
    """Odds by which figures are planned; pairs of numbers are the least and the most, both included.

    Attributes:
        name: what the command line calls it.
        train, validation: figures of a part, unless another number is asked for.
        sides: rows, and columns, of a grid; every combination is equally likely.
        special_share: part of the figures whose layout is a square grid and one panel more.
        special_sides: rows and columns of these grids.
        cell: pixels of a panel's shorter side, without padding.
        stretch: by how much its longer side is longer; all panels of a figure have one shape.
        gap: alpha and beta of the Beta distribution of every gap between rows and columns.
        most_gap: pixels of a gap of 1.
        closed_share: part of the figures without any gap.
        margin: pixels of ground on each side of the figure.
        series: odds of the names.
        wrappings: forms of the names of letters, numbers and of special layouts, each equally likely. "{}" is the name,
            "{r}" the row's and "{c}" the column's number.
        placements: odds of the identifiers' places.
        over: pixels from the picture's left and from its upper or lower edge to an identifier printed over it.
        padding: pixels around an identifier beside the picture, on the side of the picture and on the other.
        shift: pixels by which identifiers beside the picture are off its middle, of those left and those above or
            below.
        type_size: pixels of print.
        dark: mean level under an identifier below which it is printed in white.
        sources: kinds of pictures; a figure is of one of them, or of all, each equally likely.
    """

    name: str
    train: int
    validation: int
    sides: tuple[int, int]
    special_share: float
    special_sides: tuple[int, int]
    cell: int
    stretch: tuple[float, ...]
    gap: tuple[float, float]
    most_gap: int
    closed_share: float
    margin: tuple[int, int]
    series: Mapping[Series, float]
    letter_wrappings: tuple[str, ...]
    number_wrappings: tuple[str, ...]
    special_wrappings: tuple[str, ...]
    placements: Mapping[Placement, float]
    over: tuple[tuple[int, int], tuple[int, int]]
    padding: int
    shift: tuple[int, int]
    type_size: int
    dark: int
    sources: tuple[PictureSource, ...]


OPEN_PMC_18M = FigureRecipe(
    name="open-pmc-18m",
    train=500_000,  # paper
    validation=20_000,  # paper
    sides=(1, 5),  # code: max_grid_size
    special_share=0.1,  # code: special_layout_prob
    special_sides=(2, 4),  # code: (i, i) for i in range(2, 5)
    cell=100,  # code: base_subfig_size
    stretch=(1.0, 1.1, 1.2, 1.3, 1.4, 1.5),  # code: 1 + i / 10, of width or of height; paper: one ratio per figure
    gap=(2, 10),  # code: random_gap
    most_gap=50,  # code: max_gap
    closed_share=0.2,  # code: margin_mode
    margin=(1, 19),  # code: range(1, 20)
    series={"lower": 0.4, "upper": 0.4, "number": 0.1, "roman": 0.1},  # code: letter_type
    # code: label_content; paper: numeric, alphabetic, compound
    letter_wrappings=("{}", "({})", "{r}-{c}", "{r}{c}", "({r}-{c})", "{r}-{c})", "({r}{c})", "{r}{c})"),
    number_wrappings=("{}", "({})", "{})"),
    special_wrappings=("{}", "({})"),
    # code: label_placement; paper: inside or outside the panel
    placements={"over the top": 0.15, "over the bottom": 0.15, "left": 0.3, "below": 0.3, "above": 0.1},
    over=((5, 20), (5, 15)),  # code: add_label_to_image
    padding=5,  # code: text size + 10, print 5 from the rim
    shift=(5, 10),  # code: randint(-5, 5) of those on the left, randint(-10, 10) of the others
    type_size=15,  # code: arial.ttf, 15
    dark=128,  # code: get_contrasting_text_color
    sources=("radiology", "histopathology", "dermatology", "retina", "plots"),  # paper, each and mixed: 16.7 %
)

FIGURE_RECIPES: Mapping[str, FigureRecipe] = {recipe.name: recipe for recipe in (OPEN_PMC_18M,)}
"""Recipes by name."""
