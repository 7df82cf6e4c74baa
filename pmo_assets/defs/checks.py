"""Asset checks: conditions on a batch. They are evaluated inside the asset's own step, so none costs a step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg
import polars as pl

from pmo_assets.defs.made import Made
from pmo_assets.defs.partitions import batches_of
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.release.keys import rejection_page_key
from pmo_assets.release.statistics.losses import StageLoss, excessive, losses_in_words
from pmo_assets.serving.addresses import page_url

REJECTED_SHARE = "rejected_share"
REJECTED_WARN = 0.1
"""Share of a batch's articles: with so many rejected somebody should look, however the limit of failing is set."""

ROW_COUNT = "row_count"
UNIQUE_IDS = "unique_ids"
PAIRS = "pairs"
INSTRUCTIONS = "instructions"
BOXES_INSIDE = "boxes_inside_figure"
SURVIVORS = "survivors"
SPLITS = "splits"
ACCOUNTED = "accounted_for"

_TOLERANCE = 1e-6


@dataclass(frozen=True)
class BatchCheck:
    """A check that an asset evaluates for each batch.

    Attributes:
        name: of the check, unique for the asset.
        description: the condition, for the UI.
        evaluate: returns the result for an asset's `Made`; None where the asset itself evaluates it.
        blocking: its failure fails the run: the table is kept, but the batch is not done.
    """

    name: str
    description: str
    evaluate: Callable[[Made], dg.AssetCheckResult] | None = None
    blocking: bool = False


def check_specs(asset: str, checks: Sequence[BatchCheck], unit: Unit = ARTICLE) -> list[dg.AssetCheckSpec]:
    """Return the declarations of an asset's checks, evaluated per batch."""
    with warnings.catch_warnings():
        # Checks per partition are marked as a preview in Dagster 1.13; without, a batch's result hides the others'.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return [
            dg.AssetCheckSpec(
                check.name,
                asset=asset,
                description=check.description,
                partitions_def=batches_of(unit),
                blocking=check.blocking,
            )
            for check in checks
        ]


def _everything(made: Made) -> Sequence[Rejection]:
    return made.rejections


def rejected_share(counted: Callable[[Made], Iterable[Rejection]] = _everything) -> BatchCheck:
    """Return the check that compares the share of rejected articles with `REJECTED_WARN` and PMO_REJECTED_FAIL.

    Args:
        counted: which rejections count; of these, those that concern an article as a whole.
    """

    def evaluate(made: Made) -> dg.AssetCheckResult:
        whole = {item.unit_id: item for item in counted(made) if item.part is None}
        rejected, share = list(whole.values()), len(whole) / made.units if made.units else 0.0
        page = page_url(made.settings.pages_url, rejection_page_key(made.context.partition_key))
        warn, fail = REJECTED_WARN, made.settings.rejected_fail
        return dg.AssetCheckResult(
            check_name=REJECTED_SHARE,
            passed=share < warn or not rejected,
            severity=dg.AssetCheckSeverity.ERROR if share > fail else dg.AssetCheckSeverity.WARN,
            description=rejected_words(rejected, _names(made.tables), made.units) if rejected else None,
            metadata={
                "rejected": len(rejected),
                "articles": made.units,
                "share": share,
                "warn": warn,
                "fail": fail,
                **({"page": dg.MetadataValue.url(page)} if rejected else {}),
            },
        )

    words = "Warns when many of the batch's articles are rejected here, fails when most are."
    return BatchCheck(REJECTED_SHARE, words, evaluate)


NAMED = 5
"""Rejected articles that a check names; the page has all."""


def rejected_words(rejected: Sequence[Rejection], names: Mapping[int, str], units: int) -> str:
    """Return a sentence about rejected articles, which names them by their packages.

    Args:
        rejected: one per article.
        names: of packages, by article number; an article without one is named by its number.
        units: articles that were put to the step.
    """
    told = [f"{item.owner or names.get(item.unit_id, item.unit_id)} ({item.error_class})" for item in rejected[:NAMED]]
    more = [f"{len(rejected) - NAMED} more"] if len(rejected) > NAMED else []
    were = "article was" if units == 1 else "articles were"
    return (
        f"{len(rejected)} of {units} {were} rejected here: {', '.join(told + more)}. Why, with pictures: the page "
        "in the metadata, when the batch is through"
    )


def _names(tables: Mapping[str, pl.DataFrame]) -> dict[int, str]:
    """Return the names of packages, as far as one of the tables that a step read has them."""
    found: dict[int, str] = {}
    for table in tables.values():
        if {"article_id", "name"} <= set(table.columns):
            found.update(table.select("article_id", "name").iter_rows())
    return found


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


SURVIVORS_CHECK = BatchCheck(
    SURVIVORS,
    "Fails the batch when a step rejected most of what it was given (PMO_REJECTED_FAIL).",
    blocking=True,
)


def row_count_result(passed: bool, **counts: int) -> dg.AssetCheckResult:
    """Report whether rows account for all inputs, with the counts that were compared."""
    return dg.AssetCheckResult(check_name=ROW_COUNT, passed=passed, metadata=counts)


def pairs_result(faults: Mapping[str, int]) -> dg.AssetCheckResult:
    """Report whether every pair has a picture that goes out, a box in it, and a text; by what is wrong."""
    return dg.AssetCheckResult(
        check_name=PAIRS,
        passed=not any(faults.values()),
        metadata={name.replace(" ", "_"): count for name, count in faults.items()},
    )


def instructions_result(faults: Mapping[str, int]) -> dg.AssetCheckResult:
    """Report whether every instruction has a picture and messages, and yes and no are balanced; by what is wrong."""
    return dg.AssetCheckResult(
        check_name=INSTRUCTIONS,
        passed=not any(faults.values()),
        metadata={name.replace(" ", "_"): count for name, count in faults.items()},
    )


def row_count(counts: Callable[[Made], Mapping[str, int]]) -> BatchCheck:
    """Return the check that rows account for all that came in: the first count is the sum of the others."""

    def evaluate(made: Made) -> dg.AssetCheckResult:
        found = dict(counts(made))
        whole, *parts = found.values()
        return row_count_result(whole == sum(parts), **found)

    return BatchCheck(ROW_COUNT, "The rows account for everything that came in.", evaluate)


def rejected_rows(table: pl.DataFrame, rejections: Iterable[Rejection]) -> int:
    """Return how many rows of a table with figures belong to an article or figure that was rejected."""
    items = list(rejections)
    articles = {item.unit_id for item in items if item.part is None}
    figures = {(item.unit_id, item.part) for item in items}
    keys = table.select("article_id", "image_cluster_id").iter_rows()
    return sum(article_id in articles or (article_id, figure) in figures for article_id, figure in keys)


def panel_rows() -> BatchCheck:
    """Return the check that every reviewed panel has a row, but those whose figure or article was rejected."""

    def counts(made: Made) -> Mapping[str, int]:
        panels = made.tables["reviewed_panels"]
        without = {(row["article_id"], row["image_cluster_id"]) for row in made.rows}
        lost = [item for item in made.rejections if (item.unit_id, item.part) not in without]
        return {"panels": panels.height, "made": len(made.rows), "rejected": rejected_rows(panels, lost)}

    return row_count(counts)


def unique_ids_result(ids: pl.Series) -> dg.AssetCheckResult:
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


def splits_result(crossing: int, groups: int) -> dg.AssetCheckResult:
    """Report whether no group of panels that look the same lies in several splits."""
    return dg.AssetCheckResult(
        check_name=SPLITS, passed=crossing == 0, metadata={"groups": groups, "groups_across_splits": crossing}
    )


ACCOUNTED_WORDS = "Every article, figure and panel that came in is in the release, or a step says why it is not."


def accounted_result(unknown: Mapping[str, int]) -> dg.AssetCheckResult:
    """Report whether every unit that came in has an outcome.

    Args:
        unknown: by unit ("articles", "figures", "panels") how many no step accounts for.
    """
    gone = {unit: count for unit, count in unknown.items() if count}
    words = ", ".join(f"{count} {unit}" for unit, count in gone.items())
    return dg.AssetCheckResult(
        check_name=ACCOUNTED,
        passed=not gone,
        description=f"{words} are gone although no step says that it lost them: the report's waterfalls name where; "
        "run their batches again (`pmo run --again`), and report it if they stay"
        if gone
        else None,
        metadata=dict(unknown),
    )


def unique_ids(column: str) -> BatchCheck:
    """Return the check that no id occurs twice in a column of the asset's rows."""

    def evaluate(made: Made) -> dg.AssetCheckResult:
        return unique_ids_result(pl.Series([row[column] for row in made.rows], dtype=pl.String))

    return BatchCheck(UNIQUE_IDS, "No id occurs twice.", evaluate)


def boxes_inside_result(boxes: Iterable[Sequence[float]]) -> dg.AssetCheckResult:
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


def boxes_inside(column: str) -> BatchCheck:
    """Return the check that every box in a column of the asset's rows lies inside its figure."""

    def evaluate(made: Made) -> dg.AssetCheckResult:
        return boxes_inside_result(row[column] for row in made.rows)

    return BatchCheck(BOXES_INSIDE, "Every box lies inside its figure.", evaluate)
