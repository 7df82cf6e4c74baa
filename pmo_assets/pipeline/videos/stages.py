"""Stages of the group `videos`: which lectures are read, what each shows, what is said, and both as pairs."""

from __future__ import annotations

from typing import Final

import polars as pl

from pmo_assets.pipeline.videos.steps import (
    hear_video,
    load_to_hear,
    load_to_watch,
    pair_video,
    select_video,
    watch_video,
)
from pmo_assets.records.stages import Stage
from pmo_assets.records.units import VIDEO

GROUP: Final = "videos"

STAGES: Final = (
    Stage("videos", GROUP, select_video, reads=["video_batch"], loses="units", unit=VIDEO),
    Stage(
        "video_episodes",
        GROUP,
        watch_video,
        reads=["videos", "video_batch"],
        where=pl.col("is_selected"),
        prepare=load_to_watch,
        loses="units",
        unit=VIDEO,
    ),
    Stage(
        "video_words",
        GROUP,
        hear_video,
        reads=["video_episodes", "video_batch"],
        where=pl.col("picture_sha256").is_not_null(),
        prepare=load_to_hear,
        loses="units",
        unit=VIDEO,
    ),
    Stage("video_pairs", GROUP, pair_video, reads=["videos", "video_episodes", "video_words"], unit=VIDEO),
)
