"""Parts that random articles are drawn from: journals, pictures, texts, labels.

Which figures are made of them is decided in `random_specs` and `assembly_specs`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pmo_assets.samples.caption_text import caption_text
from pmo_assets.samples.spec import FigureSpec, ImageSpec, JournalStyle, LabelStyle, MarkKind, PictureKind

LABELS = (
    LabelStyle("Figure {}", ".", True),
    LabelStyle("Fig. {}", ".", False),
    LabelStyle("FIGURE {}", ":", False),
    LabelStyle("Figure {}", "", True),
    LabelStyle("Figure {}", ":", True),
    LabelStyle("Fig. {}", "", True),
)
BITMAPS: tuple[PictureKind, ...] = ("cfp", "oct", "angiography", "autofluorescence", "histology")
PLOTS: tuple[PictureKind, ...] = ("line_plot", "bar_chart", "scatter_plot")
_MARKS: tuple[MarkKind, ...] = ("arrow", "arrowhead", "circle", "box", "asterisk")
_ASPECTS: dict[str, tuple[float, ...]] = {
    "cfp": (1.0, 1.2, 1.4), "oct": (1.3, 1.8, 2.4), "angiography": (1.0, 1.2), "autofluorescence": (1.0,),
    "histology": (1.0, 1.33), "line_plot": (1.2, 1.5), "bar_chart": (1.0, 1.4), "scatter_plot": (1.0, 1.3),
}  # fmt: skip
_TEXTS: dict[str, tuple[str, ...]] = {
    "cfp": ("Color fundus photography of the {eye} eye", "Fundus photograph with {sign}"),
    "oct": ("OCT scan of the {eye} eye through the fovea", "Optical coherence tomography with {sign}"),
    "angiography": ("Fluorescein angiography of the {eye} eye", "Late-phase angiogram with {sign}"),
    "autofluorescence": ("Fundus autofluorescence of the {eye} eye", "Autofluorescence with {sign}"),
    "histology": ("Section of the enucleated {eye} eye", "Haematoxylin and eosin stain with {sign}"),
    "line_plot": ("Course of the {eye} eyes over twelve months", "Visual acuity in eyes with {sign}"),
    "bar_chart": ("Mean values of the {eye} eyes", "Group means in eyes with {sign}"),
    "scatter_plot": ("Correlation with age in the {eye} eyes", "Thickness and age in eyes with {sign}"),
}
CAPTION_TERMS = ("color fundus photography", "cfp", "optical coherence tomography", "oct", "fundus")
"""Relevance rule (i); keywords and running text of a random article always meet (ii) and (iii)."""
_SIGNS = ("subretinal fluid", "hard exudates", "intraretinal cysts", "a macular hole", "drusen", "no abnormality")
INTRODUCTIONS = ("", "Imaging of the patient at baseline.", "Typical findings in the study eye.",
                  "Retinal findings of one patient before and after treatment.")  # fmt: skip
CLOSINGS = ("", "OCT: optical coherence tomography.", "Scale bars were removed.")


def random_journal(rng: np.random.Generator) -> JournalStyle:
    """Draw a page design."""
    columns: Literal[1, 2] = 1 if rng.random() < 0.35 else 2
    width, height = [(595.0, 842.0), (612.0, 792.0), (600.0, 800.0), (540.0, 720.0)][int(rng.integers(4))]
    margin = float(rng.integers(42, 72))
    return JournalStyle(
        name="Random Journal of Retina Research",
        abbreviation="Random J Retina Res",
        code="RJRR",
        page_width=width,
        page_height=height,
        margin_left=margin,
        margin_right=margin,
        columns=columns,
        column_gap=float(rng.integers(14, 28)),
        family="Times" if rng.random() < 0.6 else "Helvetica",
        body_size=float(rng.choice([9.0, 9.5, 10.0, 10.5])),
        leading=float(rng.choice([1.2, 1.25, 1.35])),
        caption_size=float(rng.choice([7.5, 8.0, 8.5, 9.0])),
        logo=bool(rng.random() < 0.3),
    )


def random_image(rng: np.random.Generator, kind: PictureKind) -> ImageSpec:
    """Draw the shape of a picture and whether it is marked."""
    aspect = float(rng.choice(_ASPECTS[kind]))
    if kind in PLOTS or rng.random() < 0.7:
        return ImageSpec(kind, aspect)
    drawn: Literal["pixels", "vector"] = "pixels" if rng.random() < 0.5 else "vector"
    return ImageSpec(kind, aspect, _MARKS[int(rng.integers(len(_MARKS)))], drawn)


def random_text(rng: np.random.Generator, kind: PictureKind) -> str:
    """Draw what a caption says of a picture, without full stop."""
    template = str(rng.choice(_TEXTS[kind]))
    return template.format(eye=rng.choice(["right", "left"]), sign=rng.choice(_SIGNS))


def names_retina(figures: tuple[FigureSpec, ...]) -> bool:
    """Say whether a caption has a term of relevance rule (i)."""
    return any(term in caption_text(figure.caption).lower() for figure in figures for term in CAPTION_TERMS)
