"""Figures while they are drawn up: names, places, pictures and texts that faults may still change.

How a figure is printed and named is drawn in `assembly_specs`, what is wrong with it in `figure_faults`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from pmo_assets.samples.spec import CaptionEntry, CaptionSpec, FigureSpec, PanelSpec, PictureKind
from pmo_assets_tests.samples.random_parts import BITMAPS, PLOTS, random_image, random_text

Layout = Literal["line", "rows", "columns", "unequal", "blocks", "shuffled", "spanning", "several"]
"""One row or column; a grid that is read in rows, or in columns; rows of different length; two blocks side by side; a
grid in no order; a large panel beside a stack; a grid of panels with several pictures."""
LAYOUTS: dict[Layout, float] = {
    "line": 0.28, "rows": 0.28, "columns": 0.1, "unequal": 0.09, "blocks": 0.04, "shuffled": 0.04, "spanning": 0.08,
    "several": 0.09,
}  # fmt: skip
"""How often figures whose panels are named by a series are arranged so."""


@dataclass(slots=True)
class Draft:
    """A figure that is not finished.

    Attributes:
        layout: how the panels are arranged.
        names: identifiers in the order of their series.
        places: number in `names` of the panel at each place, in the order in which panels stand in the specification.
        panels: per name its panel; what is printed may still change.
        entries: what the caption says, in its order.
        options: fields of `FigureSpec`.
        caption: fields of `CaptionSpec`.
        features: what the figure shows.
    """

    layout: Layout
    names: list[str]
    places: list[int]
    panels: list[PanelSpec]
    entries: list[CaptionEntry] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    caption: dict[str, Any] = field(default_factory=dict)
    features: list[str] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Panels in a row of the grid."""
        return int(self.options.get("grid_columns", 1))

    def specification(self) -> FigureSpec:
        """Return the figure."""
        return FigureSpec(
            panels=tuple(self.panels[number] for number in self.places),
            caption=CaptionSpec(entries=tuple(self.entries), **self.caption),
            features=tuple(self.features),
            **self.options,
        )


def chosen(rng: np.random.Generator, shares: dict[Any, float]) -> Any:
    """Return one of the keys, as often as its share says."""
    weights = np.array(list(shares.values()))
    return list(shares)[int(rng.choice(len(shares), p=weights / weights.sum()))]


def one_of(rng: np.random.Generator, values: Sequence[Any]) -> Any:
    """Return one of the values, all equally often."""
    return values[int(rng.integers(len(values)))]


def picture_kinds(rng: np.random.Generator, count: int, *, plots: bool) -> list[PictureKind]:
    """Return kinds of pictures, most of them the same; plots and bitmaps do not mix."""
    kinds = PLOTS if plots else BITMAPS
    main = one_of(rng, kinds)
    return [main if rng.random() < 0.6 else one_of(rng, kinds) for _ in range(count)]


def panel_texts(rng: np.random.Generator, kinds: Sequence[PictureKind]) -> list[str]:
    """Return what a caption says of each picture; no two texts are the same."""
    texts: list[str] = []
    for kind in kinds:
        text = random_text(rng, kind)
        texts.append(text if text not in texts else f"{text} after {len(texts) + 2} weeks")
    return texts


def _grid(rng: np.random.Generator, layout: Layout) -> tuple[int, dict[str, Any]]:
    """Return number of panels and arrangement of a layout."""
    if layout == "line":
        count = int(rng.choice([2, 3, 4, 5], p=[0.42, 0.33, 0.17, 0.08]))
        return count, {"grid_columns": count if count > 3 or rng.random() < 0.65 else 1}
    if layout == "unequal":
        rows = one_of(rng, [(1, 2), (1, 3), (2, 1), (3, 1), (2, 3), (3, 2), (1, 2, 2)])
        return sum(rows), {"rows": rows, "grid_columns": max(rows)}
    if layout == "spanning":
        stacks = one_of(rng, [(1, 2), (1, 3), (2, 1), (3, 1), (2, 1, 2)])
        return sum(stacks), {"stacks": stacks, "grid_columns": len(stacks)}
    if layout == "blocks":
        count, columns = one_of(rng, [(8, 4), (12, 6)])
        return count, {"grid_columns": columns, "block_columns": columns // 2}
    if layout == "several":
        count = int(rng.choice([2, 3, 4]))
        return count, {"grid_columns": 1 if count == 3 or rng.random() < 0.5 else 2}
    count, columns = one_of(rng, [(4, 2), (4, 2), (6, 3), (6, 3), (6, 2), (8, 4), (9, 3), (5, 3), (7, 4)])
    if layout in ("columns", "shuffled"):
        count -= count % columns
    return count, {"grid_columns": columns}


def _order(rng: np.random.Generator, layout: Layout, count: int, columns: int) -> list[int]:
    """Return the number of the name at each place of the layout."""
    if layout == "shuffled":
        return [int(number) for number in rng.permutation(count)]
    rows = count // columns
    if layout == "columns":
        return [column * rows + row for row in range(rows) for column in range(columns)]
    if layout == "blocks":
        half = columns // 2
        block = count // 2
        return [(c // half) * block + row * half + c % half for row in range(rows) for c in range(columns)]
    return list(range(count))


def _single_places(options: dict[str, Any]) -> list[int]:
    """Return the places of panels that have a row for themselves."""
    rows: tuple[int, ...] = options.get("rows", ())
    starts = [sum(rows[:n]) for n in range(len(rows))]
    return [start for start, count in zip(starts, rows, strict=True) if count == 1]


def drafted(rng: np.random.Generator, layout: Layout, names: Sequence[str], *, plots: bool) -> Draft:
    """Return a figure in a layout: as many panels as it has room for, with pictures, without identifiers' print.

    Args:
        rng: what is drawn from.
        layout: arrangement.
        names: the series; longer than any layout needs.
        plots: draw plots instead of bitmaps.
    """
    count, options = _grid(rng, layout)
    count = min(count, len(names))
    places = _order(rng, layout, count, options["grid_columns"])
    kinds = picture_kinds(rng, count, plots=plots)
    for place in _single_places(options):
        kinds[places[place]] = "line_plot" if plots else "oct"
    panels = []
    for name, kind in zip(names, kinds, strict=False):
        images = [random_image(rng, kind) for _ in range(int(rng.choice([2, 3])) if layout == "several" else 1)]
        panels.append(PanelSpec(name, tuple(images)))
    for place in _single_places(options):
        panel = panels[places[place]]
        wide = replace(panel.images[0], aspect=1.15 * max(options["rows"]))
        panels[places[place]] = replace(panel, images=(wide,))
    draft = Draft(layout, list(names[:count]), places, panels, options=options)
    texts = panel_texts(rng, kinds)
    draft.entries = [CaptionEntry((name,), text) for name, text in zip(draft.names, texts, strict=True)]
    return draft
