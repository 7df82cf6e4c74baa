"""Tables of the group `dataset`: a panel's row before licences are applied, and what stays out of a release."""

from __future__ import annotations

from typing import Final

import dataframely as dy

from pmo_assets.tables.columns import SEGMENTS, box_column, page_boxes_column, rights_column
from pmo_assets.tables.panels import IDENTIFIER_FIELDS, IMAGE_FIELDS
from pmo_assets.tables.released import FACTS, TEXT, released

_PANEL: Final = released(FACTS, "panels")
_FIGURE: Final = released(FACTS, "panels", "figures")
_TEXT: Final = released(FACTS, "panels", facet="text")
_BOXES: Final = released(FACTS, "panels", facet="boxes")
_FIGURE_BOXES: Final = released(FACTS, "panels", "figures", facet="boxes")
_ASSEMBLY: Final = released(FACTS, "panels", facet="assembly")
_CREDIT: Final = released(FACTS, "panels", "figures", "articles", facet="credit")
"""Place of most columns in a release: tables that they stand in, facet under which a change is reported."""


class DatasetRows(dy.Schema):
    """Rows of the dataset without their pictures, before licences are applied: one per panel with a subcaption.

    What the forms of a release (`pmo_assets.tables.release`) are made of. Column names are the published ones
    (PubMed-Ophtha, Table 2) where the content is the same.
    """

    panel_id = dy.String(
        primary_key=True, description="Unique id of the panel, the same in every release", metadata=_PANEL
    )
    article_id = dy.Int64(
        min=1,
        description='PMC number without "PMC", or a number above its range',
        metadata=released(FACTS, "panels", "figures", "articles"),
    )
    image_cluster_id = dy.String(description="Figure within the article", metadata=_FIGURE)
    figure_ordinal = dy.Int64(min=0, description="Position of the figure in its article", metadata=_FIGURE)
    panel_ordinal = dy.Int64(min=0, description="Position of the panel in its figure", metadata=_PANEL)
    figure_label = dy.String(
        nullable=True,
        description='The figure\'s label as printed, e.g. "Figure 3"',
        metadata=released(FACTS, "panels", "figures", facet="text"),
    )
    panel_name = dy.String(nullable=True, description="Panel identifier; null for a single panel", metadata=_TEXT)
    subcaption_text = dy.String(description="Subcaption", metadata=released(TEXT, "panels", facet="text"))
    subcaption_segments = dy.List(dy.List(dy.Int64()), description=SEGMENTS, metadata=_TEXT)
    in_text_mention = dy.List(
        dy.String(),
        description="Paragraphs of the article that refer to the figure",
        metadata=released(TEXT, "panels", "figures", facet="text"),
    )
    is_multi_page_figure = dy.Bool(description="The figure runs over several pages", metadata=_FIGURE_BOXES)
    figure_page_boxes = page_boxes_column(
        "Where the figure lies: page (from 0) and [l, t, r, b] in PDF points", metadata=_FIGURE_BOXES
    )
    panel_box = box_column("Panel as detected, normalised to the figure", metadata=_BOXES)
    content_box = box_column(
        "What the picture shows: the panel with all that was assigned to it, normalised", metadata=_BOXES
    )
    panel_score = dy.Float64(min=0, max=1, description="Score of the panel detection", metadata=_BOXES)
    picture_width = dy.Int64(min=1, description="Pixels of the panel's picture", metadata=_PANEL)
    picture_height = dy.Int64(min=1, description="Pixels of the panel's picture", metadata=_PANEL)
    picture_sha256 = dy.String(
        description="Of the panel's picture: of its pixels, RGB, 8 bits, row by row",
        metadata=released(FACTS, "panels", facet="picture"),
    )
    perceptual_hash = dy.String(
        description="Of the panel's picture, hexadecimal; near for pictures that look alike", metadata=_PANEL
    )
    images = dy.List(
        dy.Struct(IMAGE_FIELDS),
        description="Images in the panel: id, normalised box, scores, type, modality, mark status (null: undecided), "
        "and whether people decided it",
        metadata=_BOXES,
    )
    identifiers = dy.List(
        dy.Struct(IDENTIFIER_FIELDS),
        description="Identifiers printed in the panel: id, normalised box, score, text (null: unread), and whether "
        "people decided it",
        metadata=_BOXES,
    )
    contains_cfp = dy.Bool(description="Holds a colour fundus photograph", metadata=_FIGURE_BOXES)
    contains_oct = dy.Bool(description="Holds an OCT image", metadata=_FIGURE_BOXES)
    contains_retinal = dy.Bool(description="Holds another retinal image", metadata=_FIGURE_BOXES)
    contains_other = dy.Bool(description="Holds another image", metadata=_FIGURE_BOXES)
    contains_marked = dy.Bool(description="Holds an image with arrows or other marks", metadata=_FIGURE_BOXES)
    assembly = dy.String(description="Who assigned the subcaption, in the published words", metadata=_ASSEMBLY)
    assembly_method = dy.String(
        description="How: single panel, identifier, position, reading order, …", metadata=_ASSEMBLY
    )
    assembly_confidence = dy.Float64(
        min=0, max=1, description="That the subcaption is this panel's, calibrated", metadata=_ASSEMBLY
    )
    caption_confidence = dy.Float64(min=0, max=1, description="Confidence of the caption's split", metadata=_ASSEMBLY)
    annotations = dy.List(
        dy.Struct({"purpose": dy.String(), "decided": dy.List(dy.String()), "at": dy.String(nullable=True)}),
        description="What people decided of the figure: why they looked, which fields, when",
        metadata=_ASSEMBLY,
    )
    license = dy.String(nullable=True, description="Licence code; null when none is stated", metadata=_CREDIT)
    rights_statement = rights_column(metadata=released(FACTS, "panels", "figures", facet="credit"))
    license_url = dy.String(
        nullable=True,
        description="The licence's deed in the stated version; null when no version is stated",
        metadata=_CREDIT,
    )
    commercial_use = dy.Bool(
        description="The licence allows commercial use (CC0, CC BY, CC BY-SA, CC BY-ND)", metadata=_CREDIT
    )
    attribution = dy.String(
        description="'title', citation: authors, journal, year, volume, pages, DOI as far as known", metadata=_CREDIT
    )
    title = dy.String(nullable=True, description="Title of the article; null when not known", metadata=_CREDIT)
    authors = dy.List(
        dy.String(), nullable=True, description="Its authors in order; null when not known", metadata=_CREDIT
    )
    journal = dy.String(nullable=True, description="Its journal; null when not known", metadata=_CREDIT)
    year = dy.Int64(nullable=True, description="Its year of publication; null when not known", metadata=_CREDIT)
    doi = dy.String(nullable=True, description="Its digital object identifier; null when not known", metadata=_CREDIT)
    article_url = dy.String(
        nullable=True, description="Its page at PubMed Central, else at its DOI; null without both", metadata=_CREDIT
    )
    article_version = dy.Int64(
        min=1, description="Version of the article; the release keeps the newest", metadata=_CREDIT
    )


class DuplicateArticles(dy.Schema):
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


class IdentityConflicts(dy.Schema):
    """What packages say of other ones, and is not believed: that they are retracted, or the same article.

    Each of both packages stays what it is by itself; but a package that bears another one's number cannot be published
    beside it.
    """

    article_id = dy.Int64(min=1, description="Number of the package that says it")
    name = dy.String(description="Its name at its source")
    batch = dy.String(nullable=True, description="Batch that holds it; null for what PMC lists and no batch holds")
    title = dy.String(nullable=True, description="Its title; null when not known")
    other_article_id = dy.Int64(min=1, description="Number of the package of which it is said")
    other_name = dy.String(description="Its name")
    other_batch = dy.String(nullable=True, description="Batch that holds it")
    other_title = dy.String(nullable=True, description="Its title; null when not known")
    identifier = dy.Enum(["PMC number", "DOI", "PDF"], description="What both have")
    value = dy.String(description="PMC number, DOI in lower case, or SHA-256 of the PDF")
    claim = dy.Enum(
        ["retraction", "same article"],
        description="That the other one is retracted, although nothing but the identifier shows that it is the same "
        "article, and the source is not trusted; or that both are the same, although title and authors contradict",
    )


class LecturePanels(dy.Schema):
    """Pictures of lecture videos that look like a panel: nothing is left out, merged or moved for it."""

    pair_id = dy.String(primary_key=True, description="Picture of a lecture: row of the config `videos`")
    panel_id = dy.String(primary_key=True, description="Panel")
    article_id = dy.Int64(min=1, description="Article of the panel")
    distance = dy.Int64(min=0, description="Bits in which their perceptual hashes differ")
    lecture_split = dy.String(description="Split of the lecture")
    panel_split = dy.String(description="Split of the article; another one than the lecture's: seen in both")


class NarrowedLicences(dy.Schema):
    """Articles whose rows are under a narrower licence than that under which they were made, and why."""

    article_id = dy.Int64(primary_key=True, min=1, description="Number of the article")
    batch = dy.String(description="Batch that holds its rows")
    made_under = dy.String(nullable=True, description="Licence under which they were made")
    license = dy.String(nullable=True, description="Licence that holds; null if it is unknown")
    why = dy.String(description="Which newer manifest, source or look at PMC says so")


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
    why = dy.String(nullable=True, description="Who says so; null in what earlier versions noted")


SCHEMAS: dict[str, type[dy.Schema]] = {
    "dataset_rows": DatasetRows,
    "retractions": Retractions,
}
"""The schema of each asset of the group that is a table."""
