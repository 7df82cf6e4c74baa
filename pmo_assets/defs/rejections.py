"""The asset `rejections`: the inputs that the steps of a batch could not process; it is made after all of them."""

from collections import Counter
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.graph import BatchGraph
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.page_links import page_link, plain_markdown, shortened
from pmo_assets.defs.run_leases import RunLeases
from pmo_assets.defs.stage_table import Stopwatch, batch_table
from pmo_assets.pipeline.articles.credit import article_url, pmc_number
from pmo_assets.quality.rejection_page import rejection_anchor, write_rejection_page
from pmo_assets.records.packages import article_words
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.release.keys import REPORT_KEY
from pmo_assets.release.statistics import losses
from pmo_assets.serving.addresses import page_url
from pmo_assets.settings import Settings
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables

NAME = "rejections"

SHOWN = 25
"""Rejections in the materialisation's metadata; the table has all."""


SHOWN_CHARACTERS = 90
"""Characters of a message in that table, so that it fits its page; the rest stands on the page of the batch."""


def _first(collected: pl.DataFrame, page: str) -> str:
    """Return the first rejections as a Markdown table that leads to articles, figures and whole messages.

    Args:
        collected: table `rejections`.
        page: address of the batch's page.
    """
    lines = ["| stage | article | figure | error | message |", "| --- | --- | --- | --- | --- |"]
    for number, row in enumerate(collected.head(SHOWN).iter_rows(named=True), start=1):
        place = f"{page}#{rejection_anchor(number)}"
        address = article_url(pmc_number(row["article_id"], None), None)
        words = plain_markdown(article_words(row["article_id"], row["package"]))
        article = f"[{words}]({address})" if address else words
        figure = f"[{plain_markdown(row['image_cluster_id'])}]({place})" if row["image_cluster_id"] else ""
        message = plain_markdown(shortened(row["message"], SHOWN_CHARACTERS))
        cells = (plain_markdown(row["stage"]), article, figure, plain_markdown(row["error_class"]))
        lines.append(f"| {' | '.join(cells)} | {message} [all]({place}) |")
    if collected.height > SHOWN:
        lines.append(f"| | | | | [{collected.height - SHOWN} more]({page}) |")
    return "\n".join(lines)


def rejections_of(unit: Unit) -> str:
    """Return the name of the asset that collects the rejections of a unit's batches."""
    return NAME if unit == ARTICLE else f"{unit.name}_{NAME}"


def rejections_asset(graph: BatchGraph, unit: Unit = ARTICLE) -> dg.AssetsDefinition:
    """Return the asset.

    Args:
        graph: the assets whose rejections it collects.
        unit: what their batches hold. Of articles there is a page with pictures, too.
    """
    name = rejections_of(unit)

    @batch_table(
        name,
        group="quality",
        makers=[losses.batch_losses, write_rejection_page] if unit == ARTICLE else [losses.unit_losses],
        deps=graph.last,
        checks=[checks.SURVIVORS_CHECK],
        unit=unit,
    )
    def rejections(
        context: dg.AssetExecutionContext,
        tables: dg.ResourceParam[Tables],
        settings: dg.ResourceParam[Settings],
        run_leases: dg.ResourceParam[RunLeases],
    ) -> dg.MaterializeResult[StageResult]:
        """Collect what every step of the batch could not process."""
        watch = Stopwatch()
        run_leases.begin(context)
        batch = context.partition_key
        collected = tables.read_rejections(graph.stages, batch, unit)
        by_class = Counter(collected["error_class"].to_list())
        lost = (
            losses.batch_losses(tables, batch, graph.losing)
            if unit == ARTICLE
            else losses.unit_losses(tables, batch, graph.losing, unit)
        )
        return dg.MaterializeResult(
            value=StageResult(collected.to_dicts(), unit=unit),
            metadata={
                "seconds": watch.seconds,
                unit.names: tables.read(unit.batch, batch, [unit.key]).height,
                "rejected": collected.height,
                "by_error": dg.MetadataValue.json(dict(by_class.most_common())),
                **(_pages(tables, settings, batch, collected) if unit == ARTICLE else {}),
            },
            check_results=[checks.survivors(lost, fail=settings.rejected_fail)],
        )

    return rejections


def _pages(tables: Tables, settings: Settings, batch: str, collected: pl.DataFrame) -> dict[str, Any]:
    """Write the page of a batch of articles, and return links and the first rejections as metadata."""
    page = write_rejection_page(
        tables,
        batch,
        collected,
        pixels=ParquetPixels(tables.data_root, "figures", batch),
        objects=ContentStore(tables.data_root),
        noncommercial=settings.release_noncommercial,
    )
    metadata: dict[str, Any] = {"page": page_link(settings, page), "report": page_link(settings, REPORT_KEY)}
    if collected.height:
        metadata["first"] = dg.MetadataValue.md(_first(collected, page_url(settings.pages_url, page)))
    return metadata
