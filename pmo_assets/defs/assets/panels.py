"""Group `panels`: what belongs to which panel, and the panels' pictures."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import article_table
from pmo_assets.defs.made import Made, usage_metadata
from pmo_assets.defs.previews import panel_sheet
from pmo_assets.defs.step_options import figure_reader
from pmo_assets.pipeline.assembly.steps import assemble_article, caption_article_panels, crop_article_panels
from pmo_assets.pipeline.assembly.vision.look import TASKS
from pmo_assets.pipeline.assembly.vision.steps import refine_assembly

GROUP = "panels"


def _caption_summary(made: Made) -> Mapping[str, Any]:
    methods = Counter(row["method"] or "none" for row in made.rows)
    reasons = Counter(row["reason"] for row in made.rows if row["method"] is None)
    return {
        "panels": len(made.rows),
        "with_subcaption": sum(row["subcaption"] is not None for row in made.rows),
        "methods": dg.MetadataValue.json(dict(methods.most_common())),
        "undecided": dg.MetadataValue.json(dict(reasons.most_common(10))),
    }


panel_captions = article_table(
    "panel_captions",
    group=GROUP,
    step=caption_article_panels,
    reads=["figures", "panel_detections", "subcaptions"],
    checks=[checks.boxes_inside("box")],
    summary=_caption_summary,
)

_LOOKED_AT = ("figures", "subcaptions", "panel_detections", "image_detections")
"""What a vision model's question is made of, besides the panels themselves."""


def _looked_at(made: Made) -> Made:
    """Put the panels that rules leave open to the vision model, if there is one."""
    resources = made.context.resources
    reader = figure_reader(made.settings, resources.vision)
    if reader is None:
        return made
    refined, counts = refine_assembly(
        {name: made.tables[name].to_dicts() for name in _LOOKED_AT},
        made.rows,
        reader,
        made.input("figure_pixels"),
        lambda done, total: resources.workers.progress("figures to the vision model", done, total),
    )
    metadata = {
        "vlm_figures": counts.figures,
        "vlm_panels": counts.panels,
        "vlm_agreed": counts.outcomes["agreed"],
        "vlm_adjudicated": counts.outcomes["adjudicated"],
        "vlm_rejected": counts.outcomes["rejected"],
        "vlm_left_open": counts.outcomes["left open"],
        "vlm_failed_figures": counts.failed,
        **usage_metadata("vlm", counts.usage),
    }
    return replace(
        made,
        rows=refined.rows,
        rejections=[*made.rejections, *refined.rejections],
        metadata={**made.metadata, **metadata},
    )


panel_assembly = article_table(
    "panel_assembly",
    group=GROUP,
    step=assemble_article,
    reads=["figures", "panel_captions", "image_detections", "subcaptions", "panel_detections"],
    afterwards=_looked_at,
    makers=[refine_assembly],
    prompts=TASKS,
    pixels=True,
    pool="llm",
    resources=["vision"],
    checks=[checks.boxes_inside("content_box")],
    summary=lambda made: {
        "panels": len(made.rows),
        "images": sum(len(row["images"]) for row in made.rows),
        "without_image": sum(not row["images"] for row in made.rows),
        "made_of_images": sum(row["made_of_image"] for row in made.rows),
        "stray_images": sum(len(row["stray_images"]) for row in made.rows),
        "figures": made.tables["figures"].height,
        "figures_that_do_not_go_on": dg.MetadataValue.json(dict(made.tally.most_common())),
    },
)


def _accounted(made: Made) -> Mapping[str, int]:
    assembled = made.tables["panel_assembly"].filter("wanted")
    rejected = checks.rejected_rows(assembled, made.rejections)
    return {"assembled": assembled.height, "cut": len(made.rows), "rejected": rejected}


panels = article_table(
    "panels",
    group=GROUP,
    step=crop_article_panels,
    reads=["figures", "panel_assembly"],
    checks=[checks.unique_ids("panel_id"), checks.row_count(_accounted)],
    summary=lambda made: {
        "panels": len(made.rows),
        "megapixels": round(sum(row["width"] * row["height"] for row in made.rows) / 1e6, 1),
        "preview": panel_sheet(made.rows, made.input("panel_pixels")),
    },
)
