"""Group `detections`: panels, identifiers and images of each figure."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.made import Made
from pmo_assets.defs.previews import detection_sheet, preview
from pmo_assets.defs.stage_table import stage_table

GPU_POOL = "gpu"
"""Detection may use an accelerator; the pool's limit (`dagster.yaml`) says how many steps may at once."""


def _panel_summary(made: Made) -> Mapping[str, Any]:
    kinds = Counter(row["kind"] for row in made.rows)
    figures = made.tables["figures"]
    return {
        "figures": figures.height,
        "panels": kinds["panel"],
        "identifiers": kinds["identifier"],
        "preview": preview(
            made.context,
            "figures with panels and identifiers",
            lambda: detection_sheet(figures, made.rows, None, made.input("figure_pixels")),
        ),
    }


panel_detections = stage_table(
    "panel_detections",
    workers="detector_workers",
    pool=GPU_POOL,
    checks=[checks.boxes_inside("box")],
    summary=_panel_summary,
)


def _image_summary(made: Made) -> Mapping[str, Any]:
    types = Counter(row["image_type"] or "undecided" for row in made.rows)
    modalities = Counter(row["modality"] for row in made.rows if row["modality"])
    figures, panels = made.tables["figures"], made.tables["panel_detections"]
    return {
        "images": len(made.rows),
        "types": dg.MetadataValue.json(dict(sorted(types.items()))),
        "modalities": dg.MetadataValue.json(dict(modalities.most_common())),
        "marked": sum(row["marked"] is True for row in made.rows),
        "preview": preview(
            made.context,
            "figures with panels, identifiers and images",
            lambda: detection_sheet(figures, panels.to_dicts(), made.rows, made.input("figure_pixels")),
        ),
    }


image_detections = stage_table(
    "image_detections",
    workers="detector_workers",
    pool=GPU_POOL,
    checks=[checks.boxes_inside("box")],
    summary=_image_summary,
)
