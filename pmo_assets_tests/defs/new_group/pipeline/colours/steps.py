"""Step of the group `colours`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.pictures import decoded
from pmo_assets.records.step_output import Row, StepOutput, figure_key, for_each_figure
from pmo_assets.records.stores import PixelStore


def measure_colours(
    article_id: int,
    panels: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_pixels: PixelStore,
) -> StepOutput:
    """Measure the mean colour of an article's panels: rows of `panel_colours`."""
    pictures = panel_pixels.read(article_id)
    said = {(row["image_cluster_id"], row["ordinal"]): row["subcaption"] or "" for row in reviewed_panels}

    def rows(panel: Mapping[str, Any]) -> list[Row]:
        pixels = decoded(pictures.get(panel["panel_id"]), panel["panel_id"])
        mean = pixels.reshape(-1, 3).mean(axis=0)
        words = said[panel["image_cluster_id"], panel["ordinal"]].split()
        return [
            {
                **figure_key(panel),
                "panel_id": panel["panel_id"],
                "colour": mean.tolist(),
                "brightness": ("dark", "medium", "bright")[int(mean.mean() // 86)],
                "opening": words[0] if words else "",
            }
        ]

    return for_each_figure(panels, "panel_colours", rows)
