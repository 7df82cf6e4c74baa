"""Group `panels`: what belongs to which panel, and the panels' pictures."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import article_table
from pmo_assets.defs.made import Made
from pmo_assets.defs.previews import panel_sheet
from pmo_assets.pipeline.assembly.steps import assemble_article, caption_article_panels, crop_article_panels

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

panel_assembly = article_table(
    "panel_assembly",
    group=GROUP,
    step=assemble_article,
    reads=["figures", "panel_captions", "image_detections", "subcaptions"],
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
