"""Group `regions`: marks on the images of each panel, phrases that name them, and what they point at."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.applied import ANNOTATIONS_APPLIED, applied_metadata
from pmo_assets.defs.made import Made, usage_metadata
from pmo_assets.defs.previews import preview, regions_preview
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.regions.model_regions import RegionCounts
from pmo_assets.pipeline.regions.steps import MARKS_DECIDED, PANELS_DECIDED, REGIONS_DECIDED


def _tally(values: list[Any]) -> dg.MetadataValue:
    return dg.MetadataValue.json(dict(Counter(map(str, values)).most_common()))


def _preview(made: Made, alternative: str, own: str) -> dg.MarkdownMetadataValue:
    """Return a figure with what the group's assets up to `own` found in it."""

    def draw() -> Any:
        before = {name: made.tables[name].to_dicts() for name in ("marks", "region_phrases") if name in made.tables}
        return regions_preview(
            made.tables["figures"],
            made.tables["reviewed_panels"],
            made.tables.get("panel_summaries"),
            {**before, own: made.rows},
            made.input("figure_pixels"),
        )

    return preview(made.context, alternative, draw)


def _mark_summary(made: Made) -> Mapping[str, Any]:
    marks = [mark for row in made.rows for mark in row["marks"]]
    return {
        "panels": len(made.rows),
        "marked_panels": sum(bool(row["marks"]) for row in made.rows),
        "marks": len(marks),
        "kinds": _tally([mark["kind"] for mark in marks]),
        "colours": _tally([mark["colour"] for mark in marks]),
        "sources": _tally([mark["source"] for mark in marks]),
        **{key.replace(" ", "_"): made.tally[key] for key in (PANELS_DECIDED, MARKS_DECIDED)},
        **applied_metadata(made, "marks"),
        "preview": _preview(made, "a figure with the marks on its images, their tips and directions", "marks"),
    }


def _phrase_summary(made: Made) -> Mapping[str, Any]:
    phrases = [phrase for row in made.rows for phrase in row["phrases"]]
    return {
        "panels": len(made.rows),
        "phrases": len(phrases),
        "linked": sum(bool(phrase["marks"]) and phrase["undecided"] is None for phrase in phrases),
        "kinds": _tally([phrase["kind"] for phrase in phrases]),
        "undecided": _tally([phrase["undecided"] for phrase in phrases if phrase["undecided"] is not None]),
        "preview": _preview(
            made, "a figure with its marks, and the phrases that name them in their colours", "region_phrases"
        ),
    }


def _region_summary(made: Made) -> Mapping[str, Any]:
    regions = [region for row in made.rows for region in row["regions"]]
    return {
        "panels": len(made.rows),
        "panels_with_regions": sum(bool(row["regions"]) for row in made.rows),
        "regions": len(regions),
        "with_words": sum(region["text"] is not None for region in regions),
        "sources": _tally([region["source"] for region in regions]),
        **{key.replace(" ", "_"): made.tally[key] for key in (PANELS_DECIDED, REGIONS_DECIDED)},
        **applied_metadata(made, "regions"),
        "preview": _preview(
            made, "a figure with its marks, the regions that they show, and the words about them", "regions"
        ),
    }


marks = stage_table("marks", checks=[checks.panel_rows(), ANNOTATIONS_APPLIED], summary=_mark_summary)

region_phrases = stage_table("region_phrases", checks=[checks.panel_rows()], summary=_phrase_summary, pixels=True)


def _counted(counts: RegionCounts) -> Mapping[str, Any]:
    if counts == RegionCounts():
        return {}
    return {
        "vlm_panels": counts.panels,
        "vlm_boxes": counts.named,
        "vlm_boxes_kept": counts.kept,
        "vlm_refused": counts.refused,
        **usage_metadata("vlm", counts.usage),
    }


regions = stage_table(
    "regions", counted=_counted, pool="llm", checks=[checks.panel_rows(), ANNOTATIONS_APPLIED], summary=_region_summary
)
