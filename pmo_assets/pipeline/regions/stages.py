"""Stages of the group `regions`: marks on images, phrases that name them, what both show."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.regions.model_regions import TASKS, add_model_regions
from pmo_assets.pipeline.regions.steps import (
    find_article_marks,
    find_article_phrases,
    find_article_regions,
    load_marks_network,
    load_text_similarity,
)
from pmo_assets.records.stages import Stage

GROUP: Final = "regions"

STAGES: Final = (
    Stage(
        "marks",
        GROUP,
        find_article_marks,
        reads=["figures", "reviewed_panels", "annotations"],
        prepare=load_marks_network,
        goes_on=True,
    ),
    Stage(
        "region_phrases",
        GROUP,
        find_article_phrases,
        reads=["figures", "reviewed_panels", "panel_summaries", "marks"],
        goes_on=True,
    ),
    Stage(
        "regions",
        GROUP,
        find_article_regions,
        reads=["figures", "reviewed_panels", "panel_summaries", "marks", "region_phrases", "annotations"],
        prepare=load_text_similarity,
        afterwards=add_model_regions,
        asks_for="marked panels to the vision model",
        prompts=TASKS,
        goes_on=True,
    ),
)
