"""Tables of a release, as they leave the data root: the published form, the hub's three, and what lies beside them.

None of them is the table of an asset: an asset's table is one per batch, these are files over all batches
(`pmo_assets.release`). A column that is new here needs a declaration of what it holds of the article
(`pipeline.dataset.licensing.HOLDS`).
"""

from __future__ import annotations

import dataframely as dy
import polars as pl
import pyarrow as pa

from pmo_assets.tables.articles import Articles
from pmo_assets.tables.columns import page_boxes_column
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.figures import Figures
from pmo_assets.tables.schemas import empty_table

WITHHELD = "null where the licence forbids redistribution"
"""Of columns that `pipeline.dataset.licensing` withholds."""

_ROWS = DatasetRows.columns()


class PublishedPanels(dy.Schema):
    """A row of `pubmed_ophtha.parquet`: the columns of PubMed-Ophtha in its order (paper, Table 2), and no others.

    JSON stands in strings as in the published file: what was written against that one reads this one.
    """

    panel_id = _ROWS["panel_id"]
    article_id = _ROWS["article_id"]
    image_cluster_id = _ROWS["image_cluster_id"]
    panel_name = dy.String(description='Panel identifier; "None" for a single-panel figure')
    subcaption_text = dy.String(nullable=True, description=f"Subcaption; {WITHHELD}")
    subcaption_segments = dy.List(
        dy.List(dy.Int64()), description="[start, length] of the caption's parts that make the subcaption, in order"
    )
    panel_image_bytes = dy.Binary(nullable=True, description=f"PNG; {WITHHELD}")
    position = dy.String(
        description="JSON {predicted_box, content_box, figure_page_coordinates, prediction_score}; pages from 0"
    )
    is_multi_page_figure = _ROWS["is_multi_page_figure"]
    in_text_mention = dy.String(
        nullable=True, description=f"JSON list of paragraphs of the article that refer to the figure; {WITHHELD}"
    )
    contains_cfp = _ROWS["contains_cfp"]
    contains_oct = _ROWS["contains_oct"]
    contains_retinal = _ROWS["contains_retinal"]
    contains_other = _ROWS["contains_other"]
    contains_marked = _ROWS["contains_marked"]
    image_data = dy.String(
        description="JSON list of {id, imaging_type, mark_status, is_gt, included_in_content_box, position}; position "
        "is JSON in a string"
    )
    identifier_data = dy.String(
        description="JSON list of {id, is_gt, included_in_content_box, origin_identifier, position, text}; position is "
        "JSON in a string"
    )
    assembly = _ROWS["assembly"]
    annotation = dy.String(description="JSON list of what people decided of the figure")
    license = _ROWS["license"]
    attribution = _ROWS["attribution"]
    commercial_use = _ROWS["commercial_use"]


_SPLIT = dy.Enum(["train", "validation", "test"], description="Split of the article")


def _picture_column(description: str) -> dy.Struct:
    """Return a column that readers of the hub take for pictures: the storage of the feature Image."""
    return dy.Struct(
        {"bytes": dy.Binary(nullable=True), "path": dy.String(nullable=True)},
        nullable=True,
        description=f"{description}; {WITHHELD}",
    )


class HubPanels(dy.Schema):
    """A panel with its picture, subcaption, boxes, images and whom to credit: config `panels` of the hub's folder."""

    panel_id = dy.String(primary_key=True, description="Unique id of the panel, the same in every release")
    panel_image = _picture_column("Picture of the panel")
    panel_name = _ROWS["panel_name"]
    subcaption_text = dy.String(nullable=True, description=f"Subcaption; {WITHHELD}")
    contains_cfp = _ROWS["contains_cfp"]
    contains_oct = _ROWS["contains_oct"]
    contains_retinal = _ROWS["contains_retinal"]
    contains_other = _ROWS["contains_other"]
    contains_marked = _ROWS["contains_marked"]
    images = _ROWS["images"]
    identifiers = _ROWS["identifiers"]
    in_text_mention = dy.List(
        dy.String(), nullable=True, description=f"Paragraphs of the article that refer to the figure; {WITHHELD}"
    )
    article_id = _ROWS["article_id"]
    image_cluster_id = _ROWS["image_cluster_id"]
    figure_label = _ROWS["figure_label"]
    figure_ordinal = _ROWS["figure_ordinal"]
    panel_ordinal = _ROWS["panel_ordinal"]
    panel_box = _ROWS["panel_box"]
    content_box = _ROWS["content_box"]
    panel_score = _ROWS["panel_score"]
    figure_page_boxes = _ROWS["figure_page_boxes"]
    is_multi_page_figure = _ROWS["is_multi_page_figure"]
    subcaption_segments = _ROWS["subcaption_segments"]
    assembly = _ROWS["assembly"]
    assembly_method = _ROWS["assembly_method"]
    assembly_confidence = _ROWS["assembly_confidence"]
    caption_confidence = _ROWS["caption_confidence"]
    annotations = _ROWS["annotations"]
    picture_width = _ROWS["picture_width"]
    picture_height = _ROWS["picture_height"]
    picture_sha256 = _ROWS["picture_sha256"]
    perceptual_hash = _ROWS["perceptual_hash"]
    duplicate_group = dy.String(
        nullable=True, description="Panels that look the same have the same group; null for a panel that none resembles"
    )
    split = _SPLIT
    license = _ROWS["license"]
    license_url = _ROWS["license_url"]
    rights_statement = _ROWS["rights_statement"]
    commercial_use = _ROWS["commercial_use"]
    attribution = _ROWS["attribution"]
    title = _ROWS["title"]
    authors = _ROWS["authors"]
    journal = _ROWS["journal"]
    year = _ROWS["year"]
    doi = _ROWS["doi"]
    article_url = _ROWS["article_url"]
    article_version = _ROWS["article_version"]


class HubFigures(dy.Schema):
    """A figure of which a panel is in the dataset, whole: config `figures` of the hub's folder."""

    article_id = _ROWS["article_id"]
    image_cluster_id = _ROWS["image_cluster_id"]
    figure_ordinal = _ROWS["figure_ordinal"]
    figure_label = _ROWS["figure_label"]
    figure_image = _picture_column("Picture of the figure as rendered from the PDF")
    picture_width = dy.Int64(min=1, description="Pixels of the figure's picture")
    picture_height = dy.Int64(min=1, description="Pixels of the figure's picture")
    dpi = Figures.columns()["dpi"]
    caption = dy.String(nullable=True, description=f"Caption without the label; {WITHHELD}")
    in_text_mention = dy.List(
        dy.String(), nullable=True, description=f"Paragraphs of the article that refer to the figure; {WITHHELD}"
    )
    is_multi_page_figure = _ROWS["is_multi_page_figure"]
    figure_page_boxes = _ROWS["figure_page_boxes"]
    caption_page_boxes = page_boxes_column("Where its caption lies, label included; pages from 0")
    page_sizes = Figures.columns()["page_sizes"]
    matched = Figures.columns()["matched"]
    panel_ids = dy.List(dy.String(), description="Its panels in the dataset")
    contains_cfp = _ROWS["contains_cfp"]
    contains_oct = _ROWS["contains_oct"]
    contains_retinal = _ROWS["contains_retinal"]
    contains_other = _ROWS["contains_other"]
    contains_marked = _ROWS["contains_marked"]
    license = _ROWS["license"]
    license_url = _ROWS["license_url"]
    rights_statement = _ROWS["rights_statement"]
    commercial_use = _ROWS["commercial_use"]
    attribution = _ROWS["attribution"]
    title = _ROWS["title"]
    authors = _ROWS["authors"]
    journal = _ROWS["journal"]
    year = _ROWS["year"]
    doi = _ROWS["doi"]
    article_url = _ROWS["article_url"]
    article_version = _ROWS["article_version"]
    split = _SPLIT


class HubArticles(dy.Schema):
    """An article of which a panel is in the dataset: config `articles` of the hub's folder."""

    article_id = _ROWS["article_id"]
    package = Articles.columns()["package"]
    pmcid = Articles.columns()["pmcid"]
    pmid = Articles.columns()["pmid"]
    doi = _ROWS["doi"]
    title = _ROWS["title"]
    authors = _ROWS["authors"]
    journal = _ROWS["journal"]
    year = _ROWS["year"]
    citation = Articles.columns()["citation"]
    mesh_terms = Articles.columns()["mesh_terms"]
    keywords = Articles.columns()["keywords"]
    license = _ROWS["license"]
    license_url = _ROWS["license_url"]
    commercial_use = _ROWS["commercial_use"]
    attribution = _ROWS["attribution"]
    article_url = _ROWS["article_url"]
    article_version = _ROWS["article_version"]
    is_manuscript = Articles.columns()["is_manuscript"]
    figures = dy.Int64(min=1, description="Its figures in the dataset")
    panels = dy.Int64(min=1, description="Its panels in the dataset")
    split = _SPLIT


class PanelDuplicates(dy.Schema):
    """Panels of a release that look the same, in groups; nothing is left out for it."""

    panel_id = dy.String(primary_key=True, description="Panel")
    article_id = _ROWS["article_id"]
    duplicate_group = dy.String(description="Group: the panel_id of its representative")
    kind = dy.Enum(["identical", "near"], description="The same bytes as the representative's picture, or a near look")
    distance = dy.Int64(min=0, description="Bits in which the perceptual hash differs from the representative's")
    split = _SPLIT


class ArticleSplits(dy.Schema):
    """The split of every article of a release."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"')
    split = _SPLIT
    own_split = dy.Enum(
        ["train", "validation", "test"],
        description="The split that its number alone gives it; another one where it shares a picture",
    )


class WithheldPanels(dy.Schema):
    """What a release withholds of panels, and what is needed to restore it from a copy of the article."""

    panel_id = dy.String(primary_key=True, description="Panel")
    article_id = _ROWS["article_id"]
    name = dy.String(description="Name of the article's package, e.g. PMC10009416.1")
    image_cluster_id = _ROWS["image_cluster_id"]
    pdf_sha256 = dy.String(nullable=True, description="Of the PDF that the panel was cut from")
    xml_sha256 = dy.String(nullable=True, description="Of the XML that the caption was read from; null without one")
    panel_image_sha256 = dy.String(description="Of the withheld picture's pixels: RGB, 8 bits, row by row")
    subcaption_text_sha256 = dy.String(description="Of the withheld subcaption (UTF-8)")
    in_text_mention_sha256 = dy.String(description="Of the withheld paragraphs as a JSON list (UTF-8)")
    caption_sha256 = dy.String(description="Of the figure's withheld caption (UTF-8)")
    figure_image_sha256 = dy.String(description="Of the figure's withheld picture's pixels")


class RowIndex(dy.Schema):
    """Digests of a release's rows, by what they say: two releases are held against each other by them."""

    panel_id = dy.String(primary_key=True, description="Panel")
    article_id = _ROWS["article_id"]
    picture = dy.Int64(description="Of the picture")
    text = dy.Int64(description="Of subcaption, name and in-text mentions")
    boxes = dy.Int64(description="Of boxes, images, identifiers and types")
    assembly = dy.Int64(description="Of how the subcaption was assigned")
    credit = dy.Int64(description="Of licence and attribution")


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type as every reader of Parquet knows it: no 64-bit offsets, no dictionaries."""
    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain(field.type)) for field in kind])
    return kind


def arrow_schema(schema: type[dy.Schema]) -> pa.Schema:
    """Return the Arrow schema in which a table leaves in a release: plain lists, strings and binaries."""
    stored = empty_table(schema).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in stored])


RELEASE_TABLES: dict[str, type[dy.Schema]] = {
    "pubmed_ophtha": PublishedPanels,
    "panels": HubPanels,
    "figures": HubFigures,
    "articles": HubArticles,
}
"""The tables that are made of articles: the published form, and the hub's configs by name."""

CONFIGS = ("panels", "figures", "articles")
"""The hub's configs, the default one first."""
