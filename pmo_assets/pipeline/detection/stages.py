"""Stages of the group `detections`: panels, identifiers and images of each figure."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.detection.steps import (
    detect_article_images,
    detect_article_panels,
    load_image_detectors,
    load_panel_detectors,
)
from pmo_assets.records.stages import Stage

GROUP: Final = "detections"

STAGES: Final = (
    Stage(
        "panel_detections",
        GROUP,
        detect_article_panels,
        reads=["figures", "subcaptions"],
        prepare=load_panel_detectors,
        loses="parts",
    ),
    Stage(
        "image_detections",
        GROUP,
        detect_article_images,
        reads=["figures", "panel_detections", "panel_captions", "biomedica_matches"],
        prepare=load_image_detectors,
        loses="parts",
    ),
)
