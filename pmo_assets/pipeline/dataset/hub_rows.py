"""Rows of the hub's panels, figures and articles, made of what the steps know; pictures come from the pixel stores."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from pmo_assets.pipeline.articles.licences import commercial_use
from pmo_assets.tables.figures import Figures
from pmo_assets.tables.release import hub_table, joined_columns
from pmo_assets.tables.released import KEYS, Config, released_columns

PANEL_PICTURE = "panel_image"
FIGURE_PICTURE = "figure_image"

_FIGURE_KEY = ("article_id", "image_cluster_id")
_CREDIT = (
    "license", "license_url", "commercial_use", "attribution", "title", "authors", "journal", "year", "doi",
    "article_url", "article_version",
)  # fmt: skip

_LICENCE = ("license", "license_url", "commercial_use")


def with_joined(rows: pl.DataFrame, config: Config, others: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return rows with the columns that other tables of the batch have for them, null where such a table has no row.

    Args:
        rows: with the columns by which a row of the config is known.
        config: a table of the hub.
        others: tables of the batch by name, those of `tables.release.joined_columns` among them.

    Raises:
        ValueError: if rows have a column already that another table shall give them.
    """
    key = list(KEYS[config])
    for table, columns in joined_columns(config).items():
        if taken := sorted({*columns} & {*rows.columns}):
            raise ValueError(f"rows have {', '.join(taken)} already, and {table} gives another: it would go out unseen")
        own = others[table].select(*key, *columns).unique(key, keep="first", maintain_order=True)
        rows = rows.join(own, on=key, how="left", maintain_order="left")
    return rows


def hub_panels(rows: pl.DataFrame, splits: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `HubPanels` but the picture, in the order of the rows.

    Args:
        rows: `DatasetRows` with what other tables say of panels (`with_joined`).
        splits: `ArticleSplits`, with every article of the rows.
        groups: `PanelDuplicates`.
    """
    joined = rows.join(splits.select("article_id", "split"), on="article_id", how="left", maintain_order="left")
    found = groups.select("panel_id", "duplicate_group")
    joined = joined.join(found, on="panel_id", how="left", maintain_order="left")
    return joined.select(name for name in hub_table("panels").columns() if name != PANEL_PICTURE)


def hub_figures(
    rows: pl.DataFrame, figures: pl.DataFrame, splits: pl.DataFrame, others: Mapping[str, pl.DataFrame] | None = None
) -> pl.DataFrame:
    """Return the figures that have rows: columns of `HubFigures` but the picture, and `pdf_figure_id`.

    Args:
        rows: `DatasetRows` in the release's order.
        figures: the table `figures` of the batch.
        splits: `ArticleSplits`.
        others: see `with_joined`.
    """
    types = [name for name in hub_table("figures").columns() if name.startswith("contains_")]
    shared = ("figure_ordinal", "figure_label", "in_text_mention", "is_multi_page_figure", "figure_page_boxes")
    grouped = rows.group_by(_FIGURE_KEY, maintain_order=True).agg(
        pl.col("panel_id").alias("panel_ids"),
        pl.col(*types).any(),
        pl.col(*shared, *_CREDIT, "rights_statement").first(),
    )
    facts = figures.select(
        *_FIGURE_KEY, "pdf_figure_id", "caption", *released_columns(Figures, "figures"),
        caption_page_boxes="caption_locations", picture_width="width", picture_height="height",
    )  # fmt: skip
    joined = grouped.join(facts, on=_FIGURE_KEY, how="left", maintain_order="left")
    joined = joined.join(splits.select("article_id", "split"), on="article_id", how="left", maintain_order="left")
    joined = with_joined(joined, "figures", others or {})
    return joined.select(*(name for name in hub_table("figures").columns() if name != FIGURE_PICTURE), "pdf_figure_id")


def hub_articles(
    rows: pl.DataFrame, articles: pl.DataFrame, splits: pl.DataFrame, others: Mapping[str, pl.DataFrame] | None = None
) -> pl.DataFrame:
    """Return the articles that have rows: columns of `HubArticles`.

    Args:
        rows: `DatasetRows` in the release's order.
        articles: the table `articles` of the batch, under the licences that hold now: rows may be under narrower ones.
        splits: `ArticleSplits`.
        others: see `with_joined`.
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
    elsewhere = {name for names in joined_columns("articles").values() for name in names}
    own = [name for name in hub_table("articles").columns() if name not in {*grouped.columns, "split", *elsewhere}]
    joined = grouped.join(articles.select("article_id", *own), on="article_id", how="left", maintain_order="left")
    joined = joined.join(splits.select("article_id", "split"), on="article_id", how="left", maintain_order="left")
    return with_joined(joined, "articles", others or {}).select(list(hub_table("articles").columns()))
