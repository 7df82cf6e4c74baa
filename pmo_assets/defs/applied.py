"""What of people's decisions an asset applied, and what not: metadata and check, the same for all that apply some."""

from __future__ import annotations

from typing import Any, Final

import dagster as dg

from pmo_assets.defs.annotated import ANNOTATIONS, decisions_digest
from pmo_assets.defs.checks import BatchCheck
from pmo_assets.defs.made import Made
from pmo_assets.defs.versions import APPLIED_DIGEST
from pmo_assets.pipeline.assembly.steps import NOT_APPLIED


def not_applied(made: Made) -> list[str]:
    """Return the decisions that an asset could not apply, with the reason."""
    return sorted(text.removeprefix(NOT_APPLIED) for text in made.tally if text.startswith(NOT_APPLIED))


def _all_applied(made: Made) -> dg.AssetCheckResult:
    left = not_applied(made)
    return dg.AssetCheckResult(
        check_name=ANNOTATIONS_APPLIED.name,
        passed=not left,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"not_applied": len(left), "examples": dg.MetadataValue.json(left[:20])},
    )


ANNOTATIONS_APPLIED: Final = BatchCheck(
    "annotations_applied", "What people decided is applied, on the figures they saw.", _all_applied
)
"""Check that every decision of people found its figure."""


def applied_metadata(made: Made, asset: str) -> dict[str, Any]:
    """Return the metadata of an asset that applies decisions (`annotated.APPLIED_BY`); what is left out is logged."""
    articles = made.tables["figures"]["article_id"].unique()
    left = not_applied(made)
    if made.settings.annotations and not made.tables[ANNOTATIONS].height:
        made.context.log.warning(
            "PMO_ANNOTATIONS is set, but this version has read no annotations: what people decided is not applied; "
            f"materialise {ANNOTATIONS} (`pmo run` does), then this asset again"
        )
    facts: dict[str, Any] = {
        APPLIED_DIGEST: decisions_digest(made.tables[ANNOTATIONS], articles, asset),
        "annotations_not_applied": len(left),
    }
    if left:
        facts["not_applied"] = dg.MetadataValue.table([dg.TableRecord({"what": text}) for text in left[:200]])
        for text in left[:20]:
            made.context.log.warning(f"annotation not applied: {text}")
    return facts
