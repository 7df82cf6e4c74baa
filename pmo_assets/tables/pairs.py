"""Columns of the hub's table `pairs`: a picture region with a text, made of the hub's figures, panels and videos.

It is no asset's table and has no rows of its own in a batch: `pipeline.dataset.pair_rows` makes it of rows whose
licences are applied. What names an article or a figure is null in the rows of lecture videos.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dataframely as dy

from pmo_assets.records.pairs import PAIR_LEVELS, PICTURE_CONFIGS, TEXT_KINDS
from pmo_assets.tables.columns import box_column
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.released import FACTS, TEXT, nullable, released

_ROWS = DatasetRows.columns()
_FACT: Final = released(FACTS, "pairs")

PAIR_COLUMNS: Final[Mapping[str, dy.Column]] = {
    "pair_id": dy.String(
        primary_key=True,
        description="The same in every release in which figure, panel, box, kind and text are the same",
        metadata=_FACT,
    ),
    "level": dy.Enum(
        PAIR_LEVELS, description="Whole figure, panel, region of a panel, or picture of a lecture (levels M, P, R, V)",
        metadata=_FACT,
    ),
    "text_kind": dy.Enum(
        TEXT_KINDS,
        description="Of a figure: caption, mention; of a panel: subcaption, summary, mention; of a region: fragment "
        "(the authors' words for what a mark shows), description (a model's); of a lecture video: transcript",
        metadata=_FACT,
    ),
    "text": dy.String(
        description="Text; never null: a text that is withheld makes no pair", metadata=released(TEXT, "pairs")
    ),
    "generated": dy.Bool(
        description="A model wrote the text; else it is the article's, verbatim, or what is said in a lecture",
        metadata=_FACT,
    ),
    "confidence": dy.Float64(
        nullable=True,
        min=0,
        max=1,
        description="That the text is of this panel (assembly_confidence), or of this region; null for figures and "
        "lectures, where nothing is estimated",
        metadata=_FACT,
    ),
    "picture_config": dy.Enum(PICTURE_CONFIGS, description="Config that holds the picture", metadata=_FACT),
    "picture_row": dy.Int64(
        min=0, description="Row of the picture among those of its config's same split, from 0", metadata=_FACT
    ),
    "box": box_column(
        "What the text is of, as fractions of the picture; [0, 0, 1, 1] but for regions", metadata=_FACT
    ),
    "figure_box": nullable(box_column("The same, normalised to the figure; null for lectures", metadata=_FACT)),
    "article_id": nullable(_ROWS["article_id"]),
    "image_cluster_id": nullable(_ROWS["image_cluster_id"]),
    "figure_id": dy.String(
        nullable=True, description="article_id and image_cluster_id, joined by _; null for lectures", metadata=_FACT
    ),
    "panel_id": dy.String(nullable=True, description="Panel; null for figures and lectures", metadata=_FACT),
    "region_id": dy.String(
        nullable=True, description="Region: the panel and a digest of its box; null for others",
        metadata=_FACT,
    ),
    "panel_name": _ROWS["panel_name"],
    "figure_panels": dy.Int64(
        nullable=True, min=1,
        description="Panels of the figure in the dataset; 1: figure and panel show much the same; null for lectures",
        metadata=_FACT,
    ),
    "video_id": dy.Int64(
        nullable=True, min=1, description="Number of the lecture video; null for what is of an article", metadata=_FACT
    ),
    "license": _ROWS["license"],
    "license_url": _ROWS["license_url"],
    "commercial_use": _ROWS["commercial_use"],
    "attribution": _ROWS["attribution"],
}  # fmt: skip
"""Columns in their order, but the split, which all of the hub's tables have."""
