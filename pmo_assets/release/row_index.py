"""Digests of a release's rows: what two releases are held against each other by, and an old one is rebuilt with."""

from __future__ import annotations

import hashlib
from typing import Final

import polars as pl

from pmo_assets.tables.release import RowIndex

FACETS: Final = {
    "picture": ("picture_sha256",),
    "text": ("panel_name", "figure_label", "subcaption_text", "subcaption_segments", "in_text_mention"),
    "boxes": ("panel_box", "content_box", "panel_score", "figure_page_boxes", "is_multi_page_figure", "images",
              "identifiers", "contains_cfp", "contains_oct", "contains_retinal", "contains_other", "contains_marked"),
    "assembly": ("assembly", "assembly_method", "assembly_confidence", "caption_confidence", "annotations"),
    "credit": ("license", "license_url", "commercial_use", "attribution", "title", "authors", "journal", "year",
               "doi", "article_url", "article_version", "rights_statement"),
}  # fmt: skip
"""What is said apart of a row that changed, and the columns of `DatasetRows` that it is read from."""

_LATER: Final = frozenset({"rights_statement"})
"""Columns that rows of older releases lack: null says nothing, so that a row is not changed by the column alone."""


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def _encoded(rows: pl.DataFrame, columns: tuple[str, ...]) -> pl.Series:
    """Return a text per row that says what the columns hold: JSON, and after it what later columns say."""
    first = pl.struct(name for name in columns if name not in _LATER).struct.json_encode()
    later = [pl.format("\n{}:{}", pl.lit(name), name).fill_null("") for name in columns if name in _LATER]
    return rows.select(pl.concat_str([first, *later])).to_series()


def row_digests(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows' entries in the index (`RowIndex`): a digest per facet, the same on every machine.

    Args:
        rows: `DatasetRows`, before licences are applied.
    """
    facets = {
        facet: pl.Series(facet, [_digest(text) for text in _encoded(rows, columns)], dtype=pl.Int64)
        for facet, columns in FACETS.items()
    }
    return rows.select("panel_id", "article_id").with_columns(**facets).select(list(RowIndex.columns()))
