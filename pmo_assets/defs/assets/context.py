"""Group `context`: what the article's running text says of each panel."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.made import Made, usage_metadata
from pmo_assets.defs.previews import context_preview, preview
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.context.model_summaries import SummaryCounts
from pmo_assets.pipeline.context.verbatim import misplaced_mentions, unfounded_summaries

VERBATIM = "verbatim"
"""Name of the checks that words of the article stand where a row says."""


def verbatim_result(wrong: list[str]) -> dg.AssetCheckResult:
    """Report whether all sentences stand in the article where the rows say; `wrong` names those that do not."""
    return dg.AssetCheckResult(
        check_name=VERBATIM,
        passed=not wrong,
        metadata={"wrong": len(wrong), "examples": dg.MetadataValue.json(wrong[:20])},
    )


def _texts(made: Made) -> dict[int, list[str]]:
    return {
        number: [paragraph["text"] for paragraph in paragraphs]
        for number, paragraphs in made.tables["articles"].select("article_id", "paragraphs").iter_rows()
    }


panel_mentions = stage_table(
    "panel_mentions",
    checks=[
        checks.BatchCheck(
            VERBATIM,
            "Every sentence stands in its paragraph where its row says.",
            lambda made: verbatim_result(misplaced_mentions(made.rows, _texts(made))),
        )
    ],
    summary=lambda made: {
        "mentions": len(made.rows),
        "kinds": dg.MetadataValue.json(dict(Counter(row["kind"] for row in made.rows).most_common())),
        "sources": dg.MetadataValue.json(dict(Counter(row["source"] for row in made.rows).most_common())),
        "sections": dg.MetadataValue.json(dict(Counter(row["section"] for row in made.rows).most_common())),
    },
)


def _counted(counts: SummaryCounts) -> Mapping[str, Any]:
    return {
        "by_language_model": counts.language_model,
        "refused": counts.refused,
        **usage_metadata("llm", counts.usage),
    }


panel_summaries = stage_table(
    "panel_summaries",
    counted=_counted,
    pool="llm",
    checks=[
        checks.panel_rows(),
        checks.BatchCheck(
            VERBATIM,
            "Every summary consists of sentences that stand where its row says.",
            lambda made: verbatim_result(unfounded_summaries(made.rows, _texts(made))),
        ),
    ],
    summary=lambda made: {
        "panels": len(made.rows),
        "with_mentions": sum(bool(row["mentions"]) for row in made.rows),
        "with_summary": sum(row["summary"] is not None for row in made.rows),
        "mentions_per_panel": _mean([len(row["mentions"]) for row in made.rows]),
        "words_of_summaries": _mean([len(row["summary"].split()) for row in made.rows if row["summary"]]),
    },
)


def _mean(counts: list[int]) -> float:
    return round(sum(counts) / len(counts), 2) if counts else 0.0


def _entity_summary(made: Made) -> Mapping[str, Any]:
    found = [entity for row in made.rows for entity in row["entities"]]
    diseases = Counter(entity["term"] for entity in found if entity["group"] == "disease" and not entity["negated"])
    return {
        "panels": len(made.rows),
        "entities": len(found),
        "groups": dg.MetadataValue.json(dict(Counter(entity["group"] for entity in found).most_common())),
        "negated": sum(entity["negated"] for entity in found),
        "diseases": dg.MetadataValue.json(dict(diseases.most_common(20))),
        "preview": preview(
            made.context,
            "a panel with the sentences that speak of it, words in the colour of their entity",
            lambda: context_preview(
                made.tables["figures"],
                made.tables["reviewed_panels"],
                made.tables["panel_summaries"],
                made.rows,
                made.input("figure_pixels"),
            ),
        ),
    }


panel_entities = stage_table("panel_entities", checks=[checks.panel_rows()], summary=_entity_summary)

panel_modality = stage_table(
    "panel_modality",
    checks=[checks.panel_rows()],
    summary=lambda made: {
        "panels": len(made.rows),
        "classes": dg.MetadataValue.json(dict(Counter(row["modality_class"] for row in made.rows).most_common())),
        "disagreeing": sum(row["agrees"] is False for row in made.rows),
        "medical": sum(row["medical"] for row in made.rows),
    },
)
