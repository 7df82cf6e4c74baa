"""Asset checks: what must hold for a batch. They are evaluated inside the asset's own step, so none costs a step."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import dagster as dg
import polars as pl

from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.records.rejections import Rejection
from pmo_assets.release.losses import StageLoss, excessive, losses_in_words

REJECTED_SHARE = "rejected_share"
ROW_COUNT = "row_count"
UNIQUE_IDS = "unique_ids"
BOXES_INSIDE = "boxes_inside_figure"
SURVIVORS = "survivors"

_DESCRIPTIONS = {
    REJECTED_SHARE: "Warns when many of the batch's articles are rejected here, fails when most are.",
    ROW_COUNT: "The rows account for everything that came in.",
    UNIQUE_IDS: "No id occurs twice.",
    BOXES_INSIDE: "Every box lies inside its figure.",
    SURVIVORS: "Fails the batch when a step rejected most of what it was given (PMO_REJECTED_FAIL).",
}

_BLOCKING = {SURVIVORS}
"""Checks whose failure fails the run: the tables are kept, but the batch is not done."""

_TOLERANCE = 1e-6


def check_specs(asset: str, names: Sequence[str]) -> list[dg.AssetCheckSpec]:
    """Return the declarations of an asset's checks, evaluated per batch."""
    with warnings.catch_warnings():
        # Checks per partition are marked as a preview in Dagster 1.13; without, a batch's result hides the others'.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return [
            dg.AssetCheckSpec(
                name,
                asset=asset,
                description=_DESCRIPTIONS[name],
                partitions_def=ARTICLE_BATCHES,
                blocking=name in _BLOCKING,
            )
            for name in names
        ]


def rejected_share(rejections: Iterable[Rejection], articles: int, *, warn: float, fail: float) -> dg.AssetCheckResult:
    """Compare the share of rejected articles with the two thresholds (`PMO_REJECTED_WARN`, `PMO_REJECTED_FAIL`).

    An article counts when it has a rejection that concerns it as a whole.
    """
    rejected = {item.article_id for item in rejections if item.image_cluster_id is None}
    share = len(rejected) / articles if articles else 0.0
    return dg.AssetCheckResult(
        check_name=REJECTED_SHARE,
        passed=share < warn or not rejected,
        severity=dg.AssetCheckSeverity.ERROR if share > fail else dg.AssetCheckSeverity.WARN,
        metadata={"rejected": len(rejected), "articles": articles, "share": share, "warn": warn, "fail": fail},
    )


def survivors(losses: Sequence[StageLoss], *, fail: float) -> dg.AssetCheckResult:
    """Report whether no step of the batch lost the share `fail` or more of what it was given."""
    bad = excessive(losses, fail)
    return dg.AssetCheckResult(
        check_name=SURVIVORS,
        passed=not bad,
        description=losses_in_words(bad, fail) if bad else None,
        metadata={
            "losses": dg.MetadataValue.table(
                [
                    dg.TableRecord(
                        {
                            "step": loss.stage,
                            "given": loss.given,
                            "lost": loss.lost,
                            "of": loss.unit,
                            "reasons": "; ".join(loss.reasons),
                        }
                    )
                    for loss in losses
                ]
            ),
            "fail": fail,
        },
    )


def row_count(passed: bool, **counts: int) -> dg.AssetCheckResult:
    """Report whether rows account for what came in, with the counts that were compared."""
    return dg.AssetCheckResult(check_name=ROW_COUNT, passed=passed, metadata=counts)


def rejected_rows(table: pl.DataFrame, rejections: Iterable[Rejection]) -> int:
    """Return how many rows of a table with figures belong to an article or figure that was rejected."""
    items = list(rejections)
    articles = {item.article_id for item in items if item.image_cluster_id is None}
    figures = {(item.article_id, item.image_cluster_id) for item in items}
    keys = table.select("article_id", "image_cluster_id").iter_rows()
    return sum(article_id in articles or (article_id, figure) in figures for article_id, figure in keys)


def unique_ids(ids: pl.Series) -> dg.AssetCheckResult:
    """Report whether ids are unique, with examples of those that are not."""
    repeated = ids.filter(ids.is_duplicated()).unique().sort()
    return dg.AssetCheckResult(
        check_name=UNIQUE_IDS,
        passed=repeated.is_empty(),
        metadata={
            "ids": len(ids),
            "repeated": len(repeated),
            "examples": dg.MetadataValue.json(repeated.head(5).to_list()),
        },
    )


def boxes_inside(boxes: Iterable[Sequence[float]]) -> dg.AssetCheckResult:
    """Report whether normalised boxes lie in 0..1 and have an area, with examples of those that do not."""
    items = [list(box) for box in boxes]
    outside = [
        box
        for box in items
        if min(box) < -_TOLERANCE or max(box) > 1 + _TOLERANCE or box[0] >= box[2] or box[1] >= box[3]
    ]
    return dg.AssetCheckResult(
        check_name=BOXES_INSIDE,
        passed=not outside,
        metadata={"boxes": len(items), "outside": len(outside), "examples": dg.MetadataValue.json(outside[:5])},
    )
