"""Digests of a release's rows: what two releases are held against each other by, and an old one is rebuilt with."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import polars as pl

from pmo_assets.tables.release import RowIndex, hub_table
from pmo_assets.tables.released import released_as

_FIRST: Final = {
    "picture": "picture_sha256",
    "text": "panel_name figure_label subcaption_text subcaption_segments in_text_mention",
    "boxes": "panel_box content_box panel_score figure_page_boxes is_multi_page_figure images identifiers contains_cfp "
    "contains_oct contains_retinal contains_other contains_marked",
    "assembly": "assembly assembly_method assembly_confidence caption_confidence annotations",
    "credit": "license license_url commercial_use attribution title authors journal year doi article_url "
    "article_version",
}
"""The columns that the first releases had, in the order in which their digests take them.

Rows of older releases lack all others: null says nothing there, so that a row is not changed by the column alone.
"""


def facets() -> dict[str, tuple[str, ...]]:
    """Return the columns of panels by facet: changes of a row are reported apart for each facet."""
    said = {name: released_as(column) for name, column in hub_table("panels").columns().items()}
    found: dict[str, tuple[str, ...]] = {}
    for facet, names in _FIRST.items():
        first = names.split()
        later = [name for name, item in said.items() if item and item.facet == facet and name not in first]
        found[facet] = (*first, *later)
    return found


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def _encoded(rows: pl.DataFrame, facet: str, columns: Sequence[str]) -> pl.Series:
    """Return a text per row that says what the columns hold: JSON, and after it what later columns say."""
    names = _FIRST[facet].split()
    parts = [pl.struct(names).struct.json_encode()]
    for name in columns:
        if name not in names:
            said = pl.col(name) if rows.schema[name] == pl.String else pl.struct(name).struct.json_encode()
            text = pl.format("\n{}:{}", pl.lit(name), said)
            parts.append(pl.when(pl.col(name).is_null()).then(pl.lit("")).otherwise(text))
    return rows.select(pl.concat_str(parts)).to_series()


def row_digests(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows' entries in the index (`RowIndex`): a digest per facet, the same on every machine.

    Args:
        rows: `DatasetRows` with what other tables say of panels (`hub_rows.with_joined`), before licences are applied.
    """
    digests = {
        facet: pl.Series(facet, [_digest(text) for text in _encoded(rows, facet, columns)], dtype=pl.Int64)
        for facet, columns in facets().items()
    }
    return rows.select("panel_id", "article_id").with_columns(**digests).select(list(RowIndex.columns()))
