"""Stages of the group `panels`: assembly of panels, people's decisions about them, and the panels' pictures."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.assembly.steps import (
    assemble_article,
    caption_article_panels,
    crop_article_panels,
    load_reader,
    review_article,
)
from pmo_assets.pipeline.assembly.vision.look import TASKS
from pmo_assets.pipeline.assembly.vision.steps import refine_assembly
from pmo_assets.records.stages import Stage

GROUP: Final = "panels"

STAGES: Final = (
    Stage(
        "panel_captions",
        GROUP,
        caption_article_panels,
        reads=["figures", "panel_detections", "subcaptions"],
        prepare=load_reader,
        loses="parts",
    ),
    Stage(
        "panel_assembly",
        GROUP,
        assemble_article,
        reads=["figures", "panel_captions", "image_detections", "subcaptions", "panel_detections"],
        afterwards=refine_assembly,
        asks_for="figures to the vision model",
        prompts=TASKS,
        loses="parts",
    ),
    Stage(
        "reviewed_panels",
        GROUP,
        review_article,
        reads=["figures", "panel_assembly", "subcaptions", "panel_detections", "annotations"],
        loses="parts",
    ),
    Stage("panels", GROUP, crop_article_panels, reads=["figures", "reviewed_panels"], loses="parts"),
)
