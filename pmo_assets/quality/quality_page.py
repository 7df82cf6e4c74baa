"""Files of a quality asset below the data root: its numbers, its records, and the page that shows them."""

from __future__ import annotations

import polars as pl

from pmo_assets import __version__
from pmo_assets.quality.measured import Measured
from pmo_assets.quality.metrics.metric import metrics_by_threshold
from pmo_assets.quality.quality_tables import metric_rows, page_key, write_quality_table
from pmo_assets.quality.scored_articles import ScoredArticles
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.tables.quality import QualityMetrics
from pmo_assets.tables.schemas import schema_of
from pmo_assets.viewing.overlays import jpeg_bytes
from pmo_assets.viewing.report import Headline, Picture, ReportSummary, render_report
from pmo_assets.viewing.report import Table as PageTable

CASE_BYTES = 120_000
"""Most bytes of a case's picture on the page: forty of them load at once."""


def write_measured(data_root: DataRoot, asset: str, measured: Measured, scored: ScoredArticles) -> pl.DataFrame:
    """Write numbers, records and the page of a quality asset; return the table of records."""
    write_quality_table(data_root, f"{asset}_metrics", QualityMetrics, metric_rows(measured.metrics))
    table = write_quality_table(data_root, asset, schema_of(asset), measured.rows)
    data_root.write(page_key(asset), quality_page(asset, measured, scored).encode())
    return table


def quality_page(asset: str, measured: Measured, scored: ScoredArticles) -> str:
    """Return the page with all numbers, the plots and the worst cases."""
    wrong = sum(bool(row["problems"]) for row in measured.rows)
    headings, lines = metrics_by_threshold(measured.metrics)
    numbers = PageTable("Numbers", tuple(headings), tuple(tuple(line) for line in lines))
    left_out = PageTable("Annotated articles that are not scored", ("article", "why"), tuple(scored.left_out.items()))
    worst = sorted((row for row in measured.rows if row["problems"]), key=lambda row: -row["badness"])
    records = PageTable(
        "Figures with a problem",
        ("article", "figure", "badness", "what is wrong"),
        tuple((row["name"], row["label"], round(row["badness"], 3), "; ".join(row["problems"])) for row in worst),
    )
    pictures = [Picture(title.capitalize(), png) for title, png in measured.plots]
    pictures += [
        Picture(f"{number}. {item.title}", jpeg_bytes(item.pixels, CASE_BYTES), "; ".join(item.problems))
        for number, item in enumerate(measured.cases, start=1)
    ]
    return render_report(
        ReportSummary(
            title=asset.replace("_", " ").capitalize(),
            lead=f"{measured.note} The worst {len(measured.cases)} of {wrong} figures with a problem are shown.",
            facts=(("articles", str(len(scored.truth))), ("pmo-assets", __version__)),
            headlines=(
                Headline("annotated articles", len(scored.truth), f"{len(scored.left_out)} more are not scored"),
                Headline("annotated figures", len(scored.matched.pairs)),
                Headline("figures with a problem", wrong),
            ),
            tables=(numbers, records, *([left_out] if scored.left_out else [])),
            pictures=tuple(pictures),
        )
    )
