"""What a release may carry of an article under its licence, column by column.

Every column of the release is declared in `HOLDS`; what a licence forbids is decided by what a column holds, here and
nowhere else. A column without a declaration stops the release (`withheld_columns`), it is never published by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

import polars as pl

from pmo_assets.pipeline.articles.licences import allows_redistribution


class Holding(Enum):
    """What a column holds of an article."""

    FACTS = "facts"
    """Names, numbers, places and judgements about the article: nobody's work, published under every licence."""
    TEXT = "article text"
    """Sentences of the article, whole or cut."""
    PICTURE = "article picture"
    """Pixels of the article's figures."""


_FACTS: Final = Holding.FACTS

HOLDS: Final[Mapping[str, Holding]] = MappingProxyType(
    {
        **dict.fromkeys(("subcaption_text", "in_text_mention", "caption"), Holding.TEXT),
        **dict.fromkeys(("panel_image_bytes", "panel_image", "figure_image"), Holding.PICTURE),
        **dict.fromkeys(("panel_id", "article_id", "image_cluster_id", "package", "pmcid", "pmid"), _FACTS),  # names
        **dict.fromkeys(("figure_ordinal", "panel_ordinal", "figure_label", "panel_ids", "figures", "panels"), _FACTS),
        "panel_name": _FACTS,  # the letter, number or position by which a caption calls the panel
        "subcaption_segments": _FACTS,  # with them, who has a copy of the article can restore the text
        # places, sizes and scores
        **dict.fromkeys(("position", "panel_box", "content_box", "panel_score", "is_multi_page_figure"), _FACTS),
        **dict.fromkeys(("figure_page_boxes", "caption_page_boxes", "page_sizes", "dpi", "matched"), _FACTS),
        **dict.fromkeys(("picture_width", "picture_height", "picture_sha256", "perceptual_hash"), _FACTS),
        **dict.fromkeys(("image_data", "images"), _FACTS),  # boxes, types, scores
        **dict.fromkeys(("identifier_data", "identifiers"), _FACTS),  # and the letter or number that is printed there
        **dict.fromkeys(("contains_cfp", "contains_oct", "contains_retinal"), _FACTS),
        **dict.fromkeys(("contains_other", "contains_marked"), _FACTS),
        **dict.fromkeys(("assembly", "assembly_method", "assembly_confidence", "caption_confidence"), _FACTS),
        **dict.fromkeys(("annotation", "annotations"), _FACTS),  # when what was decided, not what was read
        **dict.fromkeys(("split", "duplicate_group"), _FACTS),
        **dict.fromkeys(("license", "license_url", "commercial_use"), _FACTS),
        "rights_statement": _FACTS,  # whom else to credit, and why the rest is null
        # title, authors and citation are what every use of an article names
        **dict.fromkeys(("attribution", "title", "authors", "journal", "year", "doi", "citation"), _FACTS),
        **dict.fromkeys(("mesh_terms", "keywords"), _FACTS),  # words under which an article is filed
        **dict.fromkeys(("article_url", "article_version", "is_manuscript"), _FACTS),
    }
)
"""What each column of a release's tables holds of the article; a name means the same in each of them."""


def withheld(license_code: str | None) -> bool:
    """Say whether a release leaves out the article's pictures and texts (they stay below the data root).

    A panel cut from a figure, with a caption cut to match and paragraphs without their notes and references, is
    adapted material: it may be passed on under CC0 and the CC licences without "ND", and not where no licence is
    stated. Facts stay, so that the owner of a copy of the article can restore the rest.
    """
    return license_code is None or not allows_redistribution(license_code)


def withheld_columns(license_code: str | None, columns: Iterable[str]) -> tuple[str, ...]:
    """Return which of a release's columns are null in rows under a licence.

    Raises:
        KeyError: if it is not declared what a column holds.
    """
    kept = {Holding.FACTS} if withheld(license_code) else set(Holding)
    return tuple(name for name in columns if HOLDS[name] not in kept)


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
    return rows.with_columns(pl.when(kept).then(pl.col(name)).otherwise(None).alias(name) for name in columns)
