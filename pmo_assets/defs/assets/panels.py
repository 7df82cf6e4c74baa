"""Group `panels`: subcaptions and images assigned to panels, review, and the panels' pictures."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.applied import ANNOTATIONS_APPLIED, applied_metadata
from pmo_assets.defs.made import Made, usage_metadata
from pmo_assets.defs.previews import assembly_sheet, assignment_sheet, panel_sheet, preview
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.assembly.vision.steps import VisionCounts
from pmo_assets.records.panels import is_undecided

DECIDED = ("figures decided", "panels decided", "panels added", "panels removed")
"""Keys of the step's tally that stand in the metadata of `reviewed_panels`."""


def _caption_summary(made: Made) -> Mapping[str, Any]:
    methods = Counter(row["method"] or "none" for row in made.rows)
    reasons = Counter(row["reason"] for row in made.rows if row["method"] is None)
    return {
        "panels": len(made.rows),
        "with_subcaption": sum(row["subcaption"] is not None for row in made.rows),
        "methods": dg.MetadataValue.json(dict(methods.most_common())),
        "undecided": dg.MetadataValue.json(dict(reasons.most_common(10))),
        "sure": sum(
            not is_undecided(
                row["subcaption"], row["assembly"], row["confidence"], made.settings.min_assembly_confidence
            )
            for row in made.rows
        ),
        "preview": preview(
            made.context,
            "the least sure figures: panels with identifier and confidence",
            lambda: assignment_sheet(made.tables["figures"], made.rows, made.input("figure_pixels")),
        ),
    }


panel_captions = stage_table(
    "panel_captions",
    checks=[checks.boxes_inside("box")],
    summary=_caption_summary,
)


def _counted(counts: VisionCounts) -> Mapping[str, Any]:
    if counts == VisionCounts():
        return {}
    return {
        "vlm_figures": counts.figures,
        "vlm_panels": counts.panels,
        "vlm_agreed": counts.outcomes["agreed"],
        "vlm_adjudicated": counts.outcomes["adjudicated"],
        "vlm_rejected": counts.outcomes["rejected"],
        "vlm_left_undecided": counts.outcomes["left undecided"],
        "vlm_failed_figures": counts.failed,
        **usage_metadata("vlm", counts.usage),
    }


def _assembled(made: Made) -> dg.MarkdownMetadataValue:
    return preview(
        made.context,
        "a figure with its panels, each in the colour of its subcaption",
        lambda: assembly_sheet(made.tables["figures"], made.rows, made.input("figure_pixels")),
    )


panel_assembly = stage_table(
    "panel_assembly",
    counted=_counted,
    pool="llm",
    checks=[checks.boxes_inside("content_box")],
    summary=lambda made: {
        "panels": len(made.rows),
        "images": sum(len(row["images"]) for row in made.rows),
        "without_image": sum(not row["images"] for row in made.rows),
        "made_of_images": sum(row["made_of_image"] for row in made.rows),
        "unassigned_images": sum(len(row["unassigned_images"]) for row in made.rows),
        "figures": made.tables["figures"].height,
        "figures_that_do_not_go_on": dg.MetadataValue.json(dict(made.tally.most_common())),
        "preview": _assembled(made),
    },
)


def _review_summary(made: Made) -> Mapping[str, Any]:
    return {
        "panels": len(made.rows),
        **{key.replace(" ", "_"): made.tally[key] for key in DECIDED},
        **applied_metadata(made, "reviewed_panels"),
        "preview": _assembled(made),
    }


reviewed_panels = stage_table(
    "reviewed_panels",
    checks=[
        checks.boxes_inside("content_box"),
        ANNOTATIONS_APPLIED,
    ],
    summary=_review_summary,
)


def _accounted(made: Made) -> Mapping[str, int]:
    assembled = made.tables["reviewed_panels"].filter("wanted")
    rejected = checks.rejected_rows(assembled, made.rejections)
    return {"assembled": assembled.height, "cut": len(made.rows), "rejected": rejected}


panels = stage_table(
    "panels",
    checks=[checks.unique_ids("panel_id"), checks.row_count(_accounted)],
    summary=lambda made: {
        "panels": len(made.rows),
        "megapixels": round(sum(row["width"] * row["height"] for row in made.rows) / 1e6, 1),
        "preview": preview(
            made.context,
            "panels of the batch",
            lambda: panel_sheet(made.rows, made.tables["reviewed_panels"], made.input("panel_pixels")),
        ),
    },
)
