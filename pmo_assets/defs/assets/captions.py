"""Group `captions`: one subcaption per panel that a caption names."""

from collections.abc import Mapping
from typing import Any

from pmo_assets.defs import checks
from pmo_assets.defs.made import Made, usage_metadata
from pmo_assets.defs.previews import caption_preview, preview
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.captions.steps import CascadeCounts


def _counted(counts: CascadeCounts) -> Mapping[str, Any]:
    return {
        "by_grammar": counts.grammar,
        "by_language_model": counts.language_model,
        "low_confidence": counts.low_confidence,
        **usage_metadata("llm", counts.usage),
    }


def _split(made: Made) -> set[tuple[int, str]]:
    return {(row["article_id"], row["image_cluster_id"]) for row in made.rows}


def _accounted(made: Made) -> Mapping[str, int]:
    figures, split = made.tables["figures"], _split(made)
    # A caption that the model could not split is listed as a rejection but has the grammar's rows.
    lost = [item for item in made.rejections if (item.unit_id, item.part) not in split]
    return {"figures": figures.height, "split": len(split), "failed": checks.rejected_rows(figures, lost)}


def _summary(made: Made) -> Mapping[str, Any]:
    named = {(row["article_id"], row["image_cluster_id"]) for row in made.rows if row["identifier"] is not None}
    confidences = [row["confidence"] for row in made.rows if row["ordinal"] == 0]
    return {
        "captions": len(_split(made)),
        "multi_panel": len(named),
        "mean_confidence": round(sum(confidences) / len(confidences), 3) if confidences else 0.0,
        "preview": preview(
            made.context,
            "a caption of several panels, coloured by panel",
            lambda: caption_preview(made.tables["figures"], made.rows),
        ),
    }


subcaptions = stage_table(
    "subcaptions", counted=_counted, pool="llm", checks=[checks.row_count(_accounted)], summary=_summary
)
