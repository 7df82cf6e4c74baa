"""Stages of the group `context`: what the running text says of each panel."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.context.entities import load_terms
from pmo_assets.pipeline.context.model_summaries import TASKS, rewrite_summaries
from pmo_assets.pipeline.context.steps import (
    decide_article_modalities,
    find_article_entities,
    mention_article_panels,
    summarise_article_panels,
)
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
    Stage(
        "panel_summaries",
        GROUP,
        summarise_article_panels,
        reads=["figures", "reviewed_panels", "panel_mentions", "articles"],
        afterwards=rewrite_summaries,
        asks_for="panels to the language model",
        prompts=TASKS,
        goes_on=True,
    ),
    Stage(
        "panel_entities",
        GROUP,
        find_article_entities,
        prepare=load_terms,
        reads=["figures", "reviewed_panels", "panel_summaries"],
        goes_on=True,
    ),
    Stage(
        "panel_modality",
        GROUP,
        decide_article_modalities,
        reads=["figures", "reviewed_panels", "panel_mentions", "biomedica_matches"],
        goes_on=True,
    ),
)
