"""Stage of the group `dataset`: the rows of the dataset, before licences are applied."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.dataset.steps import make_dataset_rows
from pmo_assets.records.stages import Stage

STAGES: Final = (
    Stage(
        "dataset_rows",
        "dataset",
        make_dataset_rows,
        reads=["panels", "reviewed_panels", "figures", "articles"],
        loses="units",
    ),
)
