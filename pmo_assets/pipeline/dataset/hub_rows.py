"""Rows of the hub's three tables, made of what the steps know; pictures come later, from the pixel stores."""

from __future__ import annotations

import polars as pl

from pmo_assets.pipeline.articles.licences import commercial_use
from pmo_assets.tables.release import HubArticles, HubFigures, HubPanels

PANEL_PICTURE = "panel_image"
FIGURE_PICTURE = "figure_image"

_FIGURE_KEY = ("article_id", "image_cluster_id")
_CREDIT = (
    "license", "license_url", "commercial_use", "attribution", "title", "authors", "journal", "year", "doi",
    "article_url", "article_version",
)  # fmt: skip

_LICENCE = ("license", "license_url", "commercial_use")


def hub_panels(rows: pl.DataFrame, splits: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `HubPanels` but the picture, in the order of the rows.

    Args:
        rows: `DatasetRows`.
        splits: `ArticleSplits`, with every article of the rows.
        groups: `PanelDuplicates`.
    """
    joined = rows.join(splits.select("article_id", "split"), on="article_id", how="left", maintain_order="left")
    found = groups.select("panel_id", "duplicate_group")
    joined = joined.join(found, on="panel_id", how="left", maintain_order="left")
    return joined.select(name for name in HubPanels.columns() if name != PANEL_PICTURE)


def hub_figures(rows: pl.DataFrame, figures: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Return the figures that have rows: columns of `HubFigures` but the picture, and `pdf_figure_id`.

    Args:
        rows: `DatasetRows` in the release's order.
        figures: the table `figures` of the batch.
        splits: `ArticleSplits`.
    """
    types = [name for name in HubFigures.columns() if name.startswith("contains_")]
    shared = ("figure_ordinal", "figure_label", "in_text_mention", "is_multi_page_figure", "figure_page_boxes")
    grouped = rows.group_by(_FIGURE_KEY, maintain_order=True).agg(
        pl.col("panel_id").alias("panel_ids"),
        pl.col(*types).any(),
        pl.col(*shared, *_CREDIT, "rights_statement").first(),
    )
    facts = figures.select(
        *_FIGURE_KEY, "pdf_figure_id", "caption", "dpi", "matched", "page_sizes",
        caption_page_boxes="caption_locations", picture_width="width", picture_height="height",
    )  # fmt: skip
    joined = grouped.join(facts, on=_FIGURE_KEY, how="left", maintain_order="left")
    joined = joined.join(splits.select("article_id", "split"), on="article_id", how="left", maintain_order="left")
    return joined.select(*(name for name in HubFigures.columns() if name != FIGURE_PICTURE), "pdf_figure_id")


def hub_articles(rows: pl.DataFrame, articles: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Return the articles that have rows: columns of `HubArticles`.

    Args:
        rows: `DatasetRows` in the release's order.
        articles: the table `articles` of the batch, under the licences that hold now: rows may be under narrower ones.
        splits: `ArticleSplits`.
    """
    credit = [name for name in _CREDIT if name not in _LICENCE]
    grouped = rows.group_by("article_id", maintain_order=True).agg(
        pl.col("image_cluster_id").n_unique().cast(pl.Int64).alias("figures"),
        pl.len().cast(pl.Int64).alias("panels"),
        pl.col(*credit).first(),
    )
    codes = articles["license_code"]
    articles = articles.with_columns(
        license="license_code", commercial_use=pl.Series([commercial_use(code) for code in codes], dtype=pl.Boolean)
    )
    own = [name for name in HubArticles.columns() if name not in {*grouped.columns, "split"}]
    joined = grouped.join(articles.select("article_id", *own), on="article_id", how="left", maintain_order="left")
    joined = joined.join(splits.select("article_id", "split"), on="article_id", how="left", maintain_order="left")
    return joined.select(list(HubArticles.columns()))
