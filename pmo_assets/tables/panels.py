"""Tables of the group `panels`: what belongs to which panel."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.tables.columns import SEGMENTS, FigureKey, box_column

_IDENTIFIERS = dy.List(
    dy.Struct(
        {"id": dy.String(), "box": dy.List(dy.Float64()), "score": dy.Float64(), "text": dy.String(nullable=True)}
    ),
    description="Identifiers printed in the panel: detection, normalised box, score, text",
)


_IMAGES = dy.List(
    dy.Struct(
        {
            "id": dy.String(),
            "box": dy.List(dy.Float64()),
            "score": dy.Float64(),
            "image_type": dy.String(nullable=True),
            "type_score": dy.Float64(),
            "marked": dy.Bool(nullable=True),
            "mark_score": dy.Float64(),
        }
    ),
    description="Images in the panel: detection, normalised box, type and mark status with scores",
)


class PanelAssembly(FigureKey):
    """Which identifier, images and subcaption belong to which panel."""

    panel = dy.String(primary_key=True, description="Panel detection (p0, p1 …)")
    box = box_column("Panel as detected, normalised to the figure")
    content_box = box_column("Panel with all that was assigned to it, normalised to the figure")
    score = dy.Float64(min=0, max=1, description="Score of the panel detection")
    name = dy.String(nullable=True, description="Panel identifier; null for a single panel or when undecided")
    subcaption = dy.String(nullable=True, description="Subcaption; null when it cannot be decided")
    segments = dy.List(dy.List(dy.Int64()), nullable=True, description=SEGMENTS)
    caption_confidence = dy.Float64(nullable=True, min=0, max=1, description="Confidence of the caption's split")
    method = dy.String(nullable=True, description="How the subcaption was assigned; null when it was not")
    reason = dy.String(description="Why this subcaption, or why none")
    identifiers = _IDENTIFIERS
    images = _IMAGES


class Panels(PanelAssembly):
    """Panels ready for the dataset; their pixels lie in the pixel store `panels`."""

    panel_id = dy.String(unique=True, description="Stable and unique over all articles")
    width = dy.Int64(min=1, description="Pixels of the panel picture")
    height = dy.Int64(min=1, description="Pixels of the panel picture")
    sha256 = dy.String(description="Of the panel picture (PNG)")


SCHEMAS: dict[str, type[dy.Schema]] = {"panel_assembly": PanelAssembly, "panels": Panels}
"""The schema of each asset of the group that is a table."""
