"""Random articles for property tests: layouts that nobody thought of."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pmo_assets.samples.spec import (
    FIRST_ARTICLE_NUMBER,
    ArticleSpec,
    CaptionEntry,
    CaptionSpec,
    CaptionStyle,
    FigureSpec,
    PanelSpec,
)
from pmo_assets_tests.samples.random_parts import (
    BITMAPS,
    CLOSINGS,
    INTRODUCTIONS,
    LABELS,
    PLOTS,
    names_retina,
    random_image,
    random_journal,
    random_text,
)


def _figure(rng: np.random.Generator) -> FigureSpec:
    count = int(rng.integers(1, 7))
    form = str(rng.choice(["bitmap", "flat", "vector"], p=[0.5, 0.3, 0.2]))
    choices = PLOTS if form == "vector" else BITMAPS
    # Panels of one figure mostly share their kind.
    main = choices[int(rng.integers(len(choices)))]
    kinds = [main if rng.random() < 0.6 else choices[int(rng.integers(len(choices)))] for _ in range(count)]
    grid_columns = int(rng.integers(1, min(count, 3) + 1))
    texts = [random_text(rng, kind) for kind in kinds]
    introduction, closing = str(rng.choice(INTRODUCTIONS)), str(rng.choice(CLOSINGS))
    wide = bool(rng.random() < 0.5) or (form == "vector" and grid_columns == 3)
    places: tuple[Literal["below", "above", "beside"], ...] = ("below", "below", "below", "above", "beside")
    caption_place = places[int(rng.integers(len(places) if wide else 4))]
    label = LABELS[int(rng.integers(len(LABELS)))]
    options = {"wide": wide, "flat": form == "flat", "gutter": float(rng.integers(4, 21))}
    if count == 1:
        panels: tuple[PanelSpec, ...] = (PanelSpec(None, (random_image(rng, kinds[0]),)),)
        caption = CaptionSpec(" ".join(t for t in (introduction, texts[0] + ".", closing) if t))
        place, printed = "none", "({})"
    else:
        letters = "ABCDEF" if rng.random() < 0.5 else "abcdef"
        panels = tuple(PanelSpec(n, (random_image(rng, k),)) for n, k in zip(letters, kinds, strict=False))
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
        journal=random_journal(rng),
        title="Structural Changes of the Retina in a Random Sample of Patients",
        keywords=("optical coherence tomography", "retina"),
        mesh_terms=("Retina",),
        figures=figures,
        license_code=str(rng.choice(["CC BY", "CC BY-NC", "CC0"])),
        floats_group=bool(rng.random() < 0.3),
        paragraphs=int(rng.integers(2, 4)),
        features=("random",),
        relevant=names_retina(figures),
    )
