"""Results of a quality asset: numbers, a row per figure, plots, and pictures of the worst cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pmo_assets.quality.metrics.matching import FigurePair
from pmo_assets.quality.metrics.metric import Metric
from pmo_assets.viewing.comparisons import WIDTH
from pmo_assets.viewing.overlays import Pixels

WORST_CASES = 40
"""Cases on an asset's page."""


@dataclass(frozen=True)
class Case:
    """A figure that went wrong, as a picture: title, what is wrong, how bad it is."""

    title: str
    problems: Sequence[str]
    pixels: Pixels


@dataclass(frozen=True)
class Measured:
    """Results of a quality asset.

    Attributes:
        metrics: numbers.
        rows: rows of its table of figures.
        plots: title and PNG.
        cases: the worst ones first.
        note: one sentence on the things compared.
    """

    metrics: Sequence[Metric]
    rows: Sequence[dict[str, Any]]
    plots: Sequence[tuple[str, bytes]]
    cases: Sequence[Case]
    note: str


def figure_title(name: str, label: str | None) -> str:
    """Return the title of a figure on a page: its package's name and its label."""
    return f"{name} · {label or 'no label'}"


def blank_page() -> Pixels:
    """Return the white strip that stands where a case has no picture."""
    return np.full((24, WIDTH, 3), 255, np.uint8)


def record_key(pair: FigurePair, cluster: str | None) -> dict[str, Any]:
    """Return the columns that every table of the group begins a figure's row with.

    Args:
        pair: the annotated figure.
        cluster: image_cluster_id of the found one; None when none was found.
    """
    return {
        "article_id": pair.article_id,
        "record": f"a{pair.ordinal}",
        "name": pair.name,
        "label": pair.truth.label or "",
        "image_cluster_id": cluster,
    }
