"""Columns of an article that a release may carry under its licence.

Each column states its content (`tables.released`); this module alone decides by it what a licence forbids. A column
without such a statement stops the release (`withheld_columns`): it is never published by default.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from pmo_assets.pipeline.articles.licences import allows_redistribution
from pmo_assets.tables.release import holdings
from pmo_assets.tables.released import FACTS, Holding


def withheld(license_code: str | None) -> bool:
    """Say whether a release leaves out the article's pictures and texts (they stay below the data root).

    A panel cut from a figure, with a caption cut to match and paragraphs without their notes and references, is
    adapted material: it may be passed on under CC0 and the CC licences without "ND", and not where no licence is
    stated. Facts stay, so that the owner of a copy of the article can restore the rest.
    """
    return license_code is None or not allows_redistribution(license_code)


def withheld_columns(license_code: str | None, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a release that are null in rows under a licence.

    Raises:
        KeyError: if it is not declared what a column holds.
    """
    kept = {FACTS} if withheld(license_code) else set(Holding)
    return tuple(name for name in columns if holdings()[name] not in kept)


def without_forbidden(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of a release with nulls in the columns that each row's licence does not let it publish.

    Args:
        rows: any columns of a release's tables, `license` among them.

    Raises:
        KeyError: if it is not declared what a column holds.
    """
    codes = rows["license"].unique(maintain_order=True).to_list()
    forbidding = [code for code in codes if withheld(code)]
    kept = ~pl.col("license").is_in([code for code in forbidding if code is not None])
    kept = kept & pl.col("license").is_not_null() if None in forbidding else kept.fill_null(True)
    columns = withheld_columns(None, rows.columns)
    return rows.with_columns(_where(kept, name, rows.schema[name]).alias(name) for name in columns)


def _where(kept: pl.Expr, name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column with nulls elsewhere; a list that is null keeps no elements in memory either."""
    value = pl.col(name)
    if isinstance(kind, pl.List):
        value = pl.when(kept).then(value).otherwise(pl.lit([], dtype=kind))
    return pl.when(kept).then(value).otherwise(None)
