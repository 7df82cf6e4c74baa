"""The asset `rejections`: what every step of a batch could not process; it is made when all of them are."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import Stopwatch, batch_table
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.run_leases import RunLeases
from pmo_assets.release.reports import REPORT_KEY
from pmo_assets.release.statistics import losses
from pmo_assets.settings import Settings
from pmo_assets.storage.tables import Tables

NAME = "rejections"

SHOWN = 25
"""Rejections in the materialisation's metadata; the table has all."""


def rejections_asset(stages: Sequence[str], last: Sequence[str]) -> dg.AssetsDefinition:
    """Return the asset.

    Args:
        stages: assets whose rejections it collects, in the order of the data's way.
        last: those that nothing else reads: it is made after them.
    """

    @batch_table(NAME, group="quality", makers=[losses.batch_losses], deps=last, checks=[checks.SURVIVORS_CHECK])
    def rejections(
        context: dg.AssetExecutionContext,
        tables: dg.ResourceParam[Tables],
        settings: dg.ResourceParam[Settings],
        run_leases: dg.ResourceParam[RunLeases],
    ) -> dg.MaterializeResult[StageResult]:
        """Collect what every step of the batch could not process."""
        watch = Stopwatch()
        run_leases.begin(context)
        collected = tables.read_rejections(stages, context.partition_key)
        by_class = Counter(collected["error_class"].to_list())
        records = [
            dg.TableRecord(
                {
                    "stage": row["stage"],
                    "article": str(row["article_id"]),
                    "figure": row["image_cluster_id"] or "",
                    "error": row["error_class"],
                    "message": row["message"][:200],
                }
            )
            for row in collected.head(SHOWN).iter_rows(named=True)
        ]
        metadata: dict[str, Any] = {
            "by_error": dg.MetadataValue.json(dict(by_class.most_common())),
            "report": dg.MetadataValue.path(tables.data_root.uri(REPORT_KEY)),
        }
        if records:
            metadata["first"] = dg.MetadataValue.table(records)
        lost = losses.batch_losses(tables, context.partition_key)
        return dg.MaterializeResult(
            value=StageResult(collected.to_dicts()),
            metadata={
                "seconds": watch.seconds,
                "articles": tables.read("article_batch", context.partition_key, ["article_id"]).height,
                "rejected": collected.height,
                **metadata,
            },
            check_results=[checks.survivors(lost, fail=settings.rejected_fail)],
        )

    return rejections
