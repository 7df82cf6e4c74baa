"""Stages of the group `context`: what the running text says of each panel."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.context.steps import mention_article_panels
from pmo_assets.records.stages import Stage

GROUP: Final = "context"

STAGES: Final = (
    Stage(
        "panel_mentions",
        GROUP,
        mention_article_panels,
        reads=["figures", "reviewed_panels", "subcaptions", "articles"],
        goes_on=True,
    ),
)
