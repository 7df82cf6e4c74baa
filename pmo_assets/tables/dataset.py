"""Tables of the group `dataset`: rows before and after licences are applied, and what is left out as a duplicate."""

from __future__ import annotations

import dataframely as dy
import polars as pl
import pyarrow as pa

from pmo_assets.tables.columns import SEGMENTS
from pmo_assets.tables.schemas import empty_table

_WITHHELD = "null where the licence forbids redistribution"
"""Of columns that `pipeline.dataset.licensing` withholds."""


class DatasetRows(dy.Schema):
    """Rows of the dataset without their pixels, before licences are applied: one per panel with a subcaption.

    The published columns (PubMed-Ophtha, Table 2) but `panel_image_bytes`, and those that the release needs.
    """

    panel_id = dy.String(primary_key=True, description="Unique id of the panel")
    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    image_cluster_id = dy.String(description="Figure within the article")
    panel_name = dy.String(description='Panel identifier; "None" for a single-panel figure, as published')
    subcaption_text = dy.String(nullable=True, description=f"Subcaption; {_WITHHELD}")
    subcaption_segments = dy.List(dy.List(dy.Int64()), description=SEGMENTS)
    position = dy.String(description="JSON {predicted_box, content_box, figure_page_coordinates, prediction_score}")
    is_multi_page_figure = dy.Bool(description="The figure runs over several pages")
    in_text_mention = dy.List(
        dy.String(),
        nullable=True,
        description=f"Paragraphs of the article that refer to the figure; {_WITHHELD}",
    )
    contains_cfp = dy.Bool(description="Holds a colour fundus photograph")
    contains_oct = dy.Bool(description="Holds an OCT image")
    contains_retinal = dy.Bool(description="Holds another retinal image")
    contains_other = dy.Bool(description="Holds another image")
    contains_marked = dy.Bool(description="Holds an image with arrows or other marks")
    image_data = dy.String(
        description="JSON list of {id, imaging_type, mark_status, is_gt, included_in_content_box, position}"
    )
    identifier_data = dy.String(
        description="JSON list of {id, is_gt, included_in_content_box, origin_identifier, position, text}"
    )
    assembly = dy.String(description="How the subcaption was assigned")
    annotation = dy.String(description="JSON list of human annotations that exist for the figure")
    license = dy.String(nullable=True, description="Licence code; null when none is stated")
    attribution = dy.String(description="'title', citation: authors, journal, year, volume, pages, DOI as far as known")
    commercial_use = dy.Bool(description="The licence allows commercial use (CC0, CC BY, CC BY-SA, CC BY-ND)")
    title = dy.String(nullable=True, description="Title of the article; null when not known")
    authors = dy.List(dy.String(), nullable=True, description="Its authors in order; null when not known")
    journal = dy.String(nullable=True, description="Its journal; null when not known")
    year = dy.Int64(nullable=True, description="Its year of publication; null when not known")
    doi = dy.String(nullable=True, description="Its digital object identifier; null when not known")
    article_url = dy.String(nullable=True, description="Its page at PubMed Central, else at its DOI; null without both")
    license_url = dy.String(
        nullable=True, description="The licence's deed in the stated version; null when no version is stated"
    )
    article_version = dy.Int64(min=1, description="Version of the article; the release keeps the newest")


PUBLISHED_COLUMNS = (
    "panel_id",
    "article_id",
    "image_cluster_id",
    "panel_name",
    "subcaption_text",
    "subcaption_segments",
    "panel_image_bytes",
    "position",
    "is_multi_page_figure",
    "in_text_mention",
    "contains_cfp",
    "contains_oct",
    "contains_retinal",
    "contains_other",
    "contains_marked",
    "image_data",
    "identifier_data",
    "assembly",
    "annotation",
    "license",
    "attribution",
    "commercial_use",
)
"""Columns of PubMed-Ophtha in the published order (paper, Table 2)."""


RELEASE_COLUMNS = (
    *PUBLISHED_COLUMNS,
    "title",
    "authors",
    "journal",
    "year",
    "doi",
    "article_url",
    "license_url",
)
"""Columns of `pubmed_ophtha.parquet`: the published ones, and apart from each other whom and what a row credits.

A new one needs a declaration of what it holds of the article (`pipeline.dataset.licensing.HOLDS`).
"""


class PubmedOphtha(DatasetRows):
    """A release: the dataset rows with their pictures, nulls where the licence forbids redistribution."""

    panel_image_bytes = dy.Binary(nullable=True, description=f"PNG; {_WITHHELD}")


class Duplicates(dy.Schema):
    """Packages that are not published because another package is the same article."""

    article_id = dy.Int64(primary_key=True, min=1, description="Number of the package that is not published")
    name = dy.String(description="Name of the package at its source")
    batch = dy.String(description="Batch that holds it")
    duplicate_of = dy.Int64(min=1, description="Number of the package that stands for the article")
    duplicate_of_name = dy.String(description="Its name")
    identifier = dy.Enum(["PMC number", "DOI", "PDF"], description="What shows that both are the same article")
    value = dy.String(description="PMC number, DOI in lower case, or SHA-256 of the PDF")
    shared_with = dy.String(description="Name of the package that has the same identifier; mostly `duplicate_of_name`")
    is_retracted = dy.Bool(description="The article is retracted: neither this package nor the other one is published")


class Retractions(dy.Schema):
    """Articles that left the dataset, or never came into it, because they were retracted or PMC removed them."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"; see docs/own_articles.md')
    reason = dy.Enum(["retracted", "removed"], primary_key=True, description="Retracted, or no longer held by PMC")
    noticed_on = dy.Date(primary_key=True, description="Day (UTC) of the release that left it out first")
    name = dy.String(description="Name of the package, e.g. PMC10009416.1")
    panels = dy.List(
        dy.String(), description="panel_id of the rows that went with that release; empty if there were none"
    )
    returned_on = dy.Date(
        nullable=True, description="Day (UTC) of the release for which it was back; null as long as it is out"
    )


def release_arrow_schema() -> pa.Schema:
    """Return the Arrow schema of `pubmed_ophtha.parquet` (columns in the published order)."""
    return empty_table(PubmedOphtha).select(RELEASE_COLUMNS).to_arrow(compat_level=pl.CompatLevel.oldest()).schema


SCHEMAS: dict[str, type[dy.Schema]] = {
    "dataset_rows": DatasetRows,
    "pubmed_ophtha": PubmedOphtha,
    "retractions": Retractions,
}
"""The schema of each asset of the group that is a table."""
