"""The unit `clip` and its stages."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.clips.steps import count_words, read_clip  # type: ignore[import-not-found, unused-ignore]

from pmo_assets.records.stages import Stage
from pmo_assets.records.units import Unit

CLIP: Final = Unit("clip", key="clip_id", part="moment", part_name="moment", owner="file")

STAGES: Final = (
    Stage("clip_sentences", "clips", read_clip, reads=["clip_batch"], loses="units", unit=CLIP),
    Stage("clip_lengths", "clips", count_words, reads=["clip_sentences"], unit=CLIP),
)
