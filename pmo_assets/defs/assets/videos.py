"""Group `videos`: lecture videos, their episodes with masked pictures, words, and both as pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from pmo_assets.defs.made import Made
from pmo_assets.defs.previews import Tile, preview
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pictures import decoded
from pmo_assets.records.step_output import Row
from pmo_assets.viewing.overlays import contact_sheet

SHOWN = 8
"""Pictures on a sheet."""


def _selection_summary(made: Made) -> Mapping[str, Any]:
    return {
        "selected": sum(row["is_selected"] for row in made.rows),
        "withheld": sum(row["withheld"] for row in made.rows),
        "licences": dg.MetadataValue.json(dict(Counter(row["license"] or "none" for row in made.rows).most_common())),
        "left_out": dg.MetadataValue.json(
            dict(Counter(row["reason"] for row in made.rows if not row["is_selected"]).most_common(10))
        ),
    }


def _sheet(made: Made, rows: Sequence[Row]) -> dg.MarkdownMetadataValue:
    def draw() -> Any:
        pixels = made.input("keyframe_pixels")
        tiles: list[Tile] = []
        for row in rows[:SHOWN]:
            found = pixels.read(row["video_id"]).get(str(row["episode"]))
            tiles.append((decoded(found, str(row["episode"])), f"{row['start']:.0f}-{row['end']:.0f} s"))
        return contact_sheet(tiles) if tiles else None

    return preview(made.context, "pictures of lectures, masked and cropped, with their times", draw)


def _episode_summary(made: Made) -> Mapping[str, Any]:
    shown = [row for row in made.rows if row["picture_sha256"] is not None]
    return {
        "episodes": len(made.rows),
        "pictures": len(shown),
        "masked": sum(len(row["masked"]) for row in shown),
        "hours": round(sum(row["end"] - row["start"] for row in made.rows) / 3600, 2),
        "preview": _sheet(made, shown),
    }


def _pair_summary(made: Made) -> Mapping[str, Any]:
    return {
        "pairs": len(made.rows),
        "repeats": sum(row["repeats"] is not None for row in made.rows),
        "withheld": sum(row["withheld"] for row in made.rows),
        "words": sum(row["word_count"] for row in made.rows),
        "preview": _sheet(made, made.rows),
    }


videos = stage_table("videos", summary=_selection_summary)
video_episodes = stage_table("video_episodes", workers="video_workers", summary=_episode_summary)
video_words = stage_table("video_words", workers="video_workers")
video_pairs = stage_table("video_pairs", summary=_pair_summary, pixels=True)
