"""Random articles for property tests: layouts that nobody thought of."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pmo_assets.samples.caption_text import caption_text
from pmo_assets.samples.spec import (
    FIRST_ARTICLE_NUMBER,
    ArticleSpec,
    CaptionEntry,
    CaptionSpec,
    CaptionStyle,
    FigureSpec,
    ImageSpec,
    JournalStyle,
    LabelStyle,
    MarkKind,
    PanelSpec,
    PictureKind,
)

_LABELS = (
    LabelStyle("Figure {}", ".", True),
    LabelStyle("Fig. {}", ".", False),
    LabelStyle("FIGURE {}", ":", False),
    LabelStyle("Figure {}", "", True),
    LabelStyle("Figure {}", ":", True),
    LabelStyle("Fig. {}", "", True),
)
_BITMAPS: tuple[PictureKind, ...] = ("cfp", "oct", "angiography", "autofluorescence", "histology")
_PLOTS: tuple[PictureKind, ...] = ("line_plot", "bar_chart", "scatter_plot")
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
_CAPTION_TERMS = ("color fundus photography", "cfp", "optical coherence tomography", "oct", "fundus")
"""Relevance rule (i); keywords and running text of a random article always meet (ii) and (iii)."""
_SIGNS = ("subretinal fluid", "hard exudates", "intraretinal cysts", "a macular hole", "drusen", "no abnormality")
_INTRODUCTIONS = ("", "Imaging of the patient at baseline.", "Typical findings in the study eye.",
                  "Retinal findings of one patient before and after treatment.")  # fmt: skip
_CLOSINGS = ("", "OCT: optical coherence tomography.", "Scale bars were removed.")


def _journal(rng: np.random.Generator) -> JournalStyle:
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


def _image(rng: np.random.Generator, kind: PictureKind) -> ImageSpec:
    aspect = float(rng.choice(_ASPECTS[kind]))
    if kind in _PLOTS or rng.random() < 0.7:
        return ImageSpec(kind, aspect)
    drawn: Literal["pixels", "vector"] = "pixels" if rng.random() < 0.5 else "vector"
    return ImageSpec(kind, aspect, _MARKS[int(rng.integers(len(_MARKS)))], drawn)


def _text(rng: np.random.Generator, kind: PictureKind) -> str:
    template = str(rng.choice(_TEXTS[kind]))
    return template.format(eye=rng.choice(["right", "left"]), sign=rng.choice(_SIGNS))


def _figure(rng: np.random.Generator) -> FigureSpec:
    count = int(rng.integers(1, 7))
    form = str(rng.choice(["bitmap", "flat", "vector"], p=[0.5, 0.3, 0.2]))
    choices = _PLOTS if form == "vector" else _BITMAPS
    # Panels of one figure mostly share their kind.
    main = choices[int(rng.integers(len(choices)))]
    kinds = [main if rng.random() < 0.6 else choices[int(rng.integers(len(choices)))] for _ in range(count)]
    grid_columns = int(rng.integers(1, min(count, 3) + 1))
    texts = [_text(rng, kind) for kind in kinds]
    introduction, closing = str(rng.choice(_INTRODUCTIONS)), str(rng.choice(_CLOSINGS))
    wide = bool(rng.random() < 0.5) or (form == "vector" and grid_columns == 3)
    places: tuple[Literal["below", "above", "beside"], ...] = ("below", "below", "below", "above", "beside")
    caption_place = places[int(rng.integers(len(places) if wide else 4))]
    label = _LABELS[int(rng.integers(len(_LABELS)))]
    options = {"wide": wide, "flat": form == "flat", "gutter": float(rng.integers(4, 21))}
    if count == 1:
        panels: tuple[PanelSpec, ...] = (PanelSpec(None, (_image(rng, kinds[0]),)),)
        caption = CaptionSpec(" ".join(t for t in (introduction, texts[0] + ".", closing) if t))
        place, printed = "none", "({})"
    else:
        letters = "ABCDEF" if rng.random() < 0.5 else "abcdef"
        panels = tuple(PanelSpec(n, (_image(rng, k),)) for n, k in zip(letters, kinds, strict=False))
        styles: tuple[CaptionStyle, ...] = ("sentences", "semicolons", "listing", "trailing")
        style = styles[int(rng.integers(len(styles)))]
        caption = CaptionSpec(
            "" if style == "trailing" else introduction,
            tuple(CaptionEntry((n,), t) for n, t in zip(letters, texts, strict=False)),
            closing,
            style=style,
            bracket="({})",
        )
        # An identifier inside a plot would be printed over its axis title.
        place = str(rng.choice(["below", "above"] if form == "vector" else ["below", "above", "inside"]))
        printed = "({})" if rng.random() < 0.5 else "{}"
    identifier_place: Literal["below", "above", "inside", "none"] = place  # type: ignore[assignment]
    return FigureSpec(
        panels=panels,
        caption=caption,
        grid_columns=grid_columns,
        flat=bool(options["flat"]),
        width="page" if options["wide"] else "column",
        width_share=float(rng.uniform(0.65, 1.0)),
        gutter=float(options["gutter"]),
        identifier_place=identifier_place,
        identifier_print=printed,
        identifier_size=float(rng.choice([7.0, 8.0, 9.0, 10.0])),
        caption_place=caption_place,
        label=label,
        pages=2 if wide and count >= 4 and grid_columns <= 2 and caption_place == "below" and rng.random() < 0.2 else 1,
    )


def random_spec(seed: int) -> ArticleSpec:
    """Return an article with one to four figures in a random layout; the same seed gives the same article."""
    rng = np.random.default_rng([seed, 77])
    figures = tuple(_figure(rng) for _ in range(int(rng.integers(1, 5))))
    return ArticleSpec(
        number=FIRST_ARTICLE_NUMBER + 100_000 + seed,
        seed=seed,
        journal=_journal(rng),
        title="Structural Changes of the Retina in a Random Sample of Patients",
        keywords=("optical coherence tomography", "retina"),
        mesh_terms=("Retina",),
        figures=figures,
        license_code=str(rng.choice(["CC BY", "CC BY-NC", "CC0"])),
        floats_group=bool(rng.random() < 0.3),
        paragraphs=int(rng.integers(2, 4)),
        features=("random",),
        relevant=any(term in caption_text(f.caption).lower() for f in figures for term in _CAPTION_TERMS),
    )
