"""Styles that the panels of one figure share: their subject, their names, the place of their identifiers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.samples.drawing import Colour, Rng
from pmo_assets.training.synthetic.layouts import Layout
from pmo_assets.training.synthetic.words_and_colours import some_words

PAPER: Colour = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Style:
    """Style that the panels of one figure share; `worded`: words follow the identifiers below the panels."""

    ground: Colour
    subject: str
    types: tuple[ImageType, ...]
    mark_share: float
    print_share: float
    face: str
    size: int
    case: str
    wrapping: str
    position: str
    right: bool
    low: bool
    patch: bool
    framed: bool
    tinted: bool
    worded: bool = False


SUBJECTS = (
    "pictures", "picture grids", "plots", "plot grids", "blots", "diagram", "mixed", "explained", "retina",
    "thumbnails", "comparisons", "methods",
)  # fmt: skip
SUBJECT_ODDS = (0.15, 0.1, 0.18, 0.07, 0.03, 0.04, 0.11, 0.03, 0.07, 0.08, 0.06, 0.08)
"""Shares of the subjects among panels, in the order of `SUBJECTS`."""


def figure_style(rng: Rng, layout: Layout, width: int, height: int) -> Style:
    """Return the style of a figure of this size in pixels, at random; where identifiers lie is the layout's."""
    ground: Colour = PAPER if rng.random() < 0.94 else (0, 0, 0) if rng.random() < 0.7 else (236, 240, 245)
    mixed = rng.random() < 0.3
    one = str(rng.choice(IMAGE_TYPES, p=[0.24, 0.22, 0.18, 0.36]))
    types = tuple(t for t in IMAGE_TYPES if mixed or t == one)
    side = float(np.sqrt(width * height))
    size = int(np.clip(side * np.exp(rng.uniform(np.log(0.02), np.log(0.06))), 9, 46))
    outside = rng.random()
    position = "inside" if outside < 0.42 else "above" if outside < 0.72 else "below" if outside < 0.92 else "beside"
    subject = str(rng.choice(SUBJECTS, p=SUBJECT_ODDS))
    if (
        subject in ("thumbnails", "comparisons", "methods") and position == "inside"
    ):  # nobody prints over small pictures
        position = "above"
    return Style(
        ground=ground,
        subject=subject,
        types=types,
        mark_share=float(rng.choice([0.0, 0.4, 0.9], p=[0.5, 0.3, 0.2])),
        print_share=float(rng.choice([0.0, 0.3, 0.9], p=[0.4, 0.4, 0.2])),
        face=str(rng.choice(["hebo", "helv", "tiro", "tibo", "heit"], p=[0.42, 0.28, 0.16, 0.1, 0.04])),
        size=size,
        case=str(
            rng.choice(["upper", "lower", "number", "roman", "nested", "words"], p=[0.56, 0.31, 0.03, 0.02, 0.04, 0.04])
        ),
        wrapping=str(rng.choice(["", "()", ")", ".", "[]"], p=[0.62, 0.26, 0.05, 0.05, 0.02])),
        position=position,
        right=layout.corner[0],
        low=layout.corner[1],
        patch=bool(rng.random() < 0.2),
        framed=bool(rng.random() < 0.06),
        tinted=bool(rng.random() < 0.05),
    )


def typeset_style(rng: Rng, style: Style) -> Style:
    """Return a style with identifiers as LaTeX sets them: "(a)" in small letters of the text below every panel."""
    return replace(
        style,
        face="tiro" if rng.random() < 0.85 else "helv",
        size=int(np.clip(style.size, 10, 18)),
        case="lower" if rng.random() < 0.93 else "number",
        wrapping="()" if rng.random() < 0.93 else "",
        position="below",
        patch=False,
        framed=False,
        subject=str(
            rng.choice(["pictures", "plots", "picture grids", "comparisons", "methods"], p=[0.5, 0.25, 0.1, 0.1, 0.05])
        ),
        worded=bool(rng.random() < 0.35),
    )


def identifier_names(rng: Rng, case: str, n: int) -> list[str]:
    """Return the identifiers of n panels: letters, numbers, Roman numerals, letter and digit, or words."""
    upper = [chr(65 + k) if k < 26 else chr(65 + k // 26 - 1) + chr(65 + k % 26) for k in range(n)]
    if case == "upper":
        return upper
    if case == "lower":
        return [name.lower() for name in upper]
    if case == "number":
        return [str(k + 1) for k in range(n)]
    if case == "roman":
        return ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", *upper[10:]][:n]
    if case == "nested":
        per = int(rng.integers(2, 4))
        return [f"{chr(65 + k // per)}{k % per + 1}" for k in range(n)]
    return [f"{some_words(rng, 1, 1)} {k + 1}" if k % 3 else some_words(rng, 1, 2) for k in range(n)]
