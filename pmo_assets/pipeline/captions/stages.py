"""Stage of the group `captions`: one subcaption per panel that a caption names."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.captions.model_split import TASKS
from pmo_assets.pipeline.captions.steps import reread_captions, split_article_captions
from pmo_assets.records.stages import Stage

STAGES: Final = (
    Stage(
        "subcaptions",
        "captions",
        split_article_captions,
        reads=["figures"],
        afterwards=reread_captions,
        asks_for="captions to the language model",
        prompts=TASKS,
        loses="parts",
        goes_on=True,  # without subcaptions
    ),
)
