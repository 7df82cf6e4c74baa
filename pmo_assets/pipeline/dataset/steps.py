"""Step of the group `dataset`: an article's panels as rows of the dataset.

A step takes rows of tables and gives a `StepOutput`: this is what a worker process runs for one article, and what
`pmo article` and a notebook call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.rows import Entry, dataset_rows
from pmo_assets.records.article import ArticleCredit
from pmo_assets.records.figure import Figure
from pmo_assets.records.panels import Panel, PanelPicture
from pmo_assets.records.step_output import StepOutput
from pmo_assets.tables.rows import record_of


def make_dataset_rows(
    article: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    panels: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    specialty: Specialty,
    min_assembly_confidence: float,
) -> StepOutput:
    """Build an article's rows of the dataset from its panels; the tally says why the others are left out.

    Args:
        article: row of `articles`.
        figures: its rows of `figures`.
        panels: its rows of `panels`; others have no picture and stay out.
        reviewed_panels: its rows of that table.
        specialty: says which image types a panel must hold.
        min_assembly_confidence: least confidence that rules gave a panel the right subcaption, 0..1.
    """
    shown = {row["image_cluster_id"] for row in panels}
    reviewed = {(row["image_cluster_id"], row["ordinal"]): row for row in reviewed_panels}
    rows, left_out = dataset_rows(
        (
            (record_of(Panel, reviewed[row["image_cluster_id"], row["ordinal"]]), record_of(PanelPicture, row))
            for row in panels
        ),
        {row["image_cluster_id"]: record_of(Figure, row) for row in figures if row["image_cluster_id"] in shown},
        record_of(ArticleCredit, article),
        Entry(specialty.image_types, min_assembly_confidence),
    )
    return StepOutput(rows, tally=Counter(item.reason for item in left_out))
