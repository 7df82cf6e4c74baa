"""The pages of a release: what the gallery and the report show, read from the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

import polars as pl

from pmo_assets import __version__
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.assembly.wanted import NO_IMAGE, NO_WANTED_TYPE
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.panels import AUTOMATIC
from pmo_assets.release.selection import Selection, current_rows
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.schemas import empty_table, schema_of
from pmo_assets.viewing.gallery import GalleryFigure, GalleryImage, GalleryPanel, render_gallery
from pmo_assets.viewing.overlays import thumbnail
from pmo_assets.viewing.plots import Bar
from pmo_assets.viewing.report import BarGroup, Headline, RejectionReason, ReportSummary, render_report
from pmo_assets.viewing.report import Table as PageTable

GALLERY_KEY = "release/gallery.html"
REPORT_KEY = "release/report.html"

THUMBNAIL_SIDE = 640
"""Longer side of a figure in the gallery, in pixels: readable, and some 40 kB each."""


def _gallery_panel(row: Mapping[str, Any], forbidden: bool) -> GalleryPanel:
    position = json.loads(row["position"])
    images = []
    for image in json.loads(row["image_data"]):
        kind, mark = image["imaging_type"], image["mark_status"]["label"]
        images.append(
            GalleryImage(
                box=tuple(image["position"]["predicted_box"]),
                image_type=kind["label"][0] if kind["label"] else None,
                type_score=kind["prediction_score"][0] if kind["prediction_score"] else None,
                marked=None if mark is None else mark == "Marked",
            )
        )
    return GalleryPanel(
        panel_id=row["panel_id"],
        name=None if row["panel_name"] == "None" else row["panel_name"],
        box=tuple(position["predicted_box"]),
        content_box=tuple(position["content_box"]),
        score=position["prediction_score"],
        identifier_boxes=tuple(tuple(i["position"]["predicted_box"]) for i in json.loads(row["identifier_data"])),
        images=tuple(images),
        subcaption=None if forbidden else row["subcaption_text"],
        segments=() if forbidden else tuple((start, end) for start, end in row["subcaption_segments"]),
        assembly=row["assembly"],
        redistributable=not forbidden,
    )


def _gallery_figures(
    data_root: DataRoot, tables: Tables, current: Mapping[str, Sequence[int]], keep: int
) -> Iterator[GalleryFigure]:
    """Yield every `keep`-th figure of the release with its panels."""
    count = 0
    for batch, ids in current.items():
        rows = current_rows(tables, batch, ids)
        figures = {
            (r["article_id"], r["image_cluster_id"]): r for r in tables.read("figures", batch).iter_rows(named=True)
        }
        named = tables.read("articles", batch).select("article_id", pl.coalesce("title", "name"))
        titles = dict(named.iter_rows())
        pixels = ParquetPixels(data_root, "figures", batch)
        for key, part in rows.group_by("article_id", "image_cluster_id", maintain_order=True):
            count += 1
            if (count - 1) % keep:
                continue
            article_id, cluster = int(str(key[0])), str(key[1])
            figure = figures[article_id, cluster]
            first = part.row(0, named=True)
            forbidden = withheld(first["license"])
            stored = {} if forbidden else pixels.read(article_id)
            picture = stored.get(figure["pdf_figure_id"])
            yield GalleryFigure(
                article_id=article_id,
                article_title=titles[article_id],
                article_url=first["article_url"],
                image_cluster_id=cluster,
                label=figure["label"] or "",
                caption="" if forbidden else figure["caption"],
                license=first["license"],
                commercial_use=first["commercial_use"],
                attribution=first["attribution"],
                is_multi_page=figure["is_multi_page"],
                image=thumbnail(picture.png, THUMBNAIL_SIDE) if picture is not None else b"",
                width=figure["width"],
                height=figure["height"],
                panels=tuple(_gallery_panel(row, forbidden) for row in part.iter_rows(named=True)),
            )


def write_gallery(
    data_root: DataRoot, tables: Tables, current: Mapping[str, Sequence[int]], *, specialty: Specialty, max_panels: int
) -> str:
    """Write the gallery of the release and return its key; a large release is sampled evenly.

    Args:
        data_root: where tables, pictures and the release are.
        tables: the tables below it.
        current: see `releases.select_articles`.
        specialty: what the dataset is about, for the header.
        max_panels: about how many panels the page may show.
    """
    rows = pl.concat(
        [
            empty_table(DatasetRows),
            *(current_rows(tables, batch, ids) for batch, ids in current.items()),
        ]
    )
    keep = max(1, -(-rows.height // max_panels))
    figures = rows.select("article_id", "image_cluster_id").n_unique()
    facts = {
        "articles": f"{rows['article_id'].n_unique():,}",
        "figures": f"{figures:,}",
        "panels": f"{rows.height:,}",
        "licences": ", ".join(rows["license"].fill_null("none stated").unique().sort()),
        "pmo-assets": __version__,
    }
    notes = f"Every {keep}th figure of the release is shown." if keep > 1 else ""
    page = render_gallery(
        _gallery_figures(data_root, tables, current, keep), title=f"{specialty.title} gallery", facts=facts, notes=notes
    )
    data_root.write(GALLERY_KEY, page.encode())
    return GALLERY_KEY


def _concat(tables: Tables, asset: str, batches: Sequence[str]) -> pl.DataFrame:
    parts = [tables.read(asset, batch) for batch in batches if tables.exists(asset, batch)]
    return pl.concat([empty_table(schema_of(asset)), *parts])


def _current(tables: Tables, asset: str, current: Mapping[str, Sequence[int]]) -> pl.DataFrame:
    """Return an asset's rows of the articles that count, each from the batch that holds it in its newest version."""
    parts = [
        tables.read(asset, batch).filter(pl.col("article_id").is_in(list(articles)))
        for batch, articles in current.items()
        if tables.exists(asset, batch)
    ]
    return pl.concat([empty_table(schema_of(asset)), *parts])


def _bars(values: pl.Series, *, colours: Mapping[str, str] | None = None) -> tuple[Bar, ...]:
    counts = values.value_counts().sort("count", values.name, descending=[True, False])
    return tuple(Bar(str(label), count, colour=(colours or {}).get(str(label))) for label, count in counts.iter_rows())


SURENESS = (0.5, 0.8, 0.9, 0.92, 0.95, 0.98, 1.0)
"""Bounds of the confidences that the report counts together."""


def _sureness_bars(panels: pl.DataFrame) -> tuple[Bar, ...]:
    """Return how many panels have which confidence, of those whose subcaption rules assigned."""
    sure = panels.filter(pl.col("assembly") == AUTOMATIC)["confidence"].to_list()
    bounds = (0.0, *SURENESS)
    counted = [
        (low, high, sum(low <= value < high or (value == high == 1.0) for value in sure))
        for low, high in pairwise(bounds)
    ]
    return tuple(Bar(f"{low:.2f} to {high:.2f}", count) for low, high, count in reversed(counted) if count)


def release_summary(
    tables: Tables, selection: Selection, *, stages: Sequence[str], specialty: Specialty
) -> ReportSummary:
    """Return what the report says: the way from articles to rows, types, licences, assembly, rejections, batches.

    Args:
        tables: the tables below the data root.
        selection: see `releases.select_articles`.
        stages: assets whose rejections count, in order; those of the registration come before them.
        specialty: what the dataset is about, for the header.
    """
    current = selection.current
    batches = list(current)
    known = _concat(tables, "articles", batches)
    articles = _current(tables, "articles", current)
    figures = _current(tables, "figures", current)
    panels = _current(tables, "panels", current)
    rows = _current(tables, "dataset_rows", current)
    images = _current(tables, "image_detections", current)
    listed = _current(tables, "package_figures", current)
    rejections = pl.concat(
        [tables.registration_rejections(), *(tables.read_rejections(stages, batch) for batch in batches)]
    )
    located = figures.filter("matched").height
    listing = selection.listing()
    funnel = (
        Bar("packages", articles.height + listing.height, "in their newest version"),
        Bar("articles", articles.height, "each once"),
        Bar("selected articles", articles.filter("selected").height, "relevant, not retracted, with a PDF"),
        Bar("articles with figures", figures["article_id"].n_unique()),
    )
    groups = (
        BarGroup("Figures to dataset rows", (
            Bar("figures", figures.height),
            Bar("figures that go on", panels.select("article_id", "image_cluster_id").n_unique()),
            Bar("panels", panels.height),
            Bar("panels with a subcaption", panels["subcaption"].drop_nulls().len()),
            Bar("dataset rows", rows.height),
        ), shares=False),
        BarGroup("Why figures do not go on", _bars(_unwanted(_current(tables, "panel_assembly", current)))),
        BarGroup("Images by type", _bars(images["image_type"].cast(pl.String).fill_null("undecided"))),
        BarGroup(
            "Images by mark status",
            _bars(
                images.select(
                    pl.when(pl.col("marked").is_null()).then(pl.lit("undecided"))
                    .when("marked").then(pl.lit("marked")).otherwise(pl.lit("unmarked")).alias("mark status")
                )["mark status"]
            ),
        ),
        BarGroup("How subcaptions were assigned", _bars(panels["method"].fill_null("not assigned"))),
        BarGroup("How sure rules are of subcaptions", _sureness_bars(panels)),
        BarGroup("Why panels have no subcaption", _bars(panels.filter(pl.col("method").is_null())["reason"])),
        BarGroup("Licences of the rows", _bars(rows["license"].fill_null("none stated"))),
        BarGroup(
            "Why articles do not go on",
            _bars(
                articles.filter(~pl.col("selected")).select(
                    pl.when("is_retracted").then(pl.lit("retracted"))
                    .when(~pl.col("has_pdf")).then(pl.lit("no PDF"))
                    .otherwise(pl.lit("not relevant")).alias("reason")
                )["reason"]
            ),
        ),
        BarGroup("Packages of an article that another package holds, by what shows it", _bars(
            listing["identifier"].cast(pl.String)
        )),
    )  # fmt: skip
    return ReportSummary(
        title=f"{specialty.title} report",
        lead=f"What became of {articles.height:,} articles in {len(batches)} batches.",
        facts=(("specialty", specialty.name), ("pmo-assets", __version__)),
        headlines=(
            Headline("articles", articles.height, f"{articles.filter('selected').height} selected"),
            Headline("duplicates", listing.height, "packages of an article that another package holds"),
            Headline("figures", figures.height, f"{located} of {listed.height} listed in an XML were matched"),
            Headline("panels", panels.height),
            Headline("dataset rows", rows.height, f"from {rows['article_id'].n_unique()} articles"),
            Headline("rejections", rejections.height),
        ),
        funnel=funnel,
        groups=tuple(group for group in groups if group.bars),
        rejections=_reasons(
            rejections, {i for i, code in known.select("article_id", "license_code").iter_rows() if withheld(code)}
        ),
        tables=tuple(table for table in (_batch_table(tables, current), duplicates_table(selection)) if table.rows),
    )


def _unwanted(assembled: pl.DataFrame) -> pl.Series:
    """Return why figures do not go on, one value per figure that does not, from rows of `panel_assembly`."""
    images = pl.col("images").list.len() + pl.col("stray_images").list.len()
    figures = assembled.filter(~pl.col("wanted")).group_by("article_id", "image_cluster_id").agg(images.sum())
    reason = pl.when(pl.col("images") > 0).then(pl.lit(NO_WANTED_TYPE)).otherwise(pl.lit(NO_IMAGE))
    return figures.select(reason.alias("reason"))["reason"]


def duplicates_table(selection: Selection) -> PageTable:
    """Return the packages that are not published because another one is the same article, for a page."""
    rows = tuple(
        (
            row["name"],
            row["duplicate_of_name"] + (" (retracted)" if row["is_retracted"] else ""),
            row["identifier"],
            row["value"]
            if row["shared_with"] == row["duplicate_of_name"]
            else f"{row['value']} ({row['shared_with']})",
        )
        for row in selection.listing().iter_rows(named=True)
    )
    return PageTable("Duplicates", ("package", "the same article as", "by", "shared"), rows)


QUOTING_STAGES = ("subcaptions",)
"""Stages whose messages quote captions; those of articles that may not be passed on are not shown on the page."""


def _reasons(rejections: pl.DataFrame, forbidden: Set[int], examples: int = 5) -> tuple[RejectionReason, ...]:
    """Return the rejections by stage and error with examples, without the text of articles in `forbidden`."""
    quoting = pl.col("stage").is_in(QUOTING_STAGES) & pl.col("article_id").is_in(list(forbidden))
    rejections = rejections.with_columns(
        pl.when(quoting).then(pl.lit("not shown: it quotes an article that may not be passed on"))
        .otherwise("message").alias("message")
    )  # fmt: skip
    reasons = []
    for (stage, error), part in rejections.group_by("stage", "error_class", maintain_order=True):
        shown = [
            f"{row['article_id']}{' ' + row['image_cluster_id'] if row['image_cluster_id'] else ''}: {row['message']}"
            for row in part.head(examples).iter_rows(named=True)
        ]
        reasons.append(RejectionReason(str(stage), str(error), part.height, tuple(shown)))
    return tuple(reasons)


def _batch_table(tables: Tables, current: Mapping[str, Sequence[int]]) -> PageTable:
    counted = ("articles", "figures", "panels", "dataset_rows", "rejections")
    rows = tuple(
        (batch, *(tables.read(name, batch).height if tables.exists(name, batch) else None for name in counted))
        for batch in current
    )
    return PageTable("Batches", ("batch", *(name.replace("_", " ") for name in counted)), rows)


def write_report(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    *,
    stages: Sequence[str],
    specialty: Specialty,
) -> str:
    """Write the HTML report and return its key."""
    page = render_report(release_summary(tables, selection, stages=stages, specialty=specialty))
    data_root.write(REPORT_KEY, page.encode())
    return REPORT_KEY
