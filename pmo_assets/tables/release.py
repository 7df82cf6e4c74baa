"""Tables of a release, as they leave the data root: the published form, the hub's, and what lies beside them.

None of them is the table of an asset: an asset's table is one per batch, these are files over all batches
(`pmo_assets.release`). The hub's tables are made of what the columns of other tables say that they are to a release
(`tables.released`): to add a column, declare it there.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

import dataframely as dy
import polars as pl
import pyarrow as pa

from pmo_assets.tables.columns import page_boxes_column
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.instruction_columns import INSTRUCTION_COLUMNS
from pmo_assets.tables.lectures import LECTURE_COLUMNS
from pmo_assets.tables.pairs import PAIR_COLUMNS
from pmo_assets.tables.released import (
    FACTS,
    KEYS,
    PICTURE,
    TEXT,
    WITHHELD,
    Config,
    Holding,
    Released,
    nullable,
    released,
    released_as,
    released_columns,
    withheld_where_forbidden,
)
from pmo_assets.tables.schemas import empty_table, schema_of, table_schemas

_ROWS = DatasetRows.columns()


class PublishedPanels(dy.Schema):
    """A row of `pubmed_ophtha.parquet`: the columns of PubMed-Ophtha in its order (paper, Table 2), and no others.

    JSON stands in strings as in the published file: what was written against that one reads this one.
    """

    panel_id = _ROWS["panel_id"]
    article_id = _ROWS["article_id"]
    image_cluster_id = _ROWS["image_cluster_id"]
    panel_name = dy.String(description='Panel identifier; "None" for a single-panel figure', metadata=released(FACTS))
    subcaption_text = dy.String(nullable=True, description=f"Subcaption; {WITHHELD}", metadata=released(TEXT))
    subcaption_segments = dy.List(
        dy.List(dy.Int64()),
        description="[start, length] of the caption's parts that make the subcaption, in order",
        metadata=released(FACTS),
    )
    panel_image_bytes = dy.Binary(nullable=True, description=f"PNG; {WITHHELD}", metadata=released(PICTURE))
    position = dy.String(
        description="JSON {predicted_box, content_box, figure_page_coordinates, prediction_score}; pages from 0",
        metadata=released(FACTS),
    )
    is_multi_page_figure = _ROWS["is_multi_page_figure"]
    in_text_mention = dy.String(
        nullable=True,
        description=f"JSON list of paragraphs of the article that refer to the figure; {WITHHELD}",
        metadata=released(TEXT),
    )
    contains_cfp = _ROWS["contains_cfp"]
    contains_oct = _ROWS["contains_oct"]
    contains_retinal = _ROWS["contains_retinal"]
    contains_other = _ROWS["contains_other"]
    contains_marked = _ROWS["contains_marked"]
    image_data = dy.String(
        description="JSON list of {id, imaging_type, mark_status, is_gt, included_in_content_box, position}; position "
        "is JSON in a string",
        metadata=released(FACTS),
    )
    identifier_data = dy.String(
        description="JSON list of {id, is_gt, included_in_content_box, origin_identifier, position, text}; position is "
        "JSON in a string",
        metadata=released(FACTS),
    )
    assembly = _ROWS["assembly"]
    annotation = dy.String(description="JSON list of what people decided of the figure", metadata=released(FACTS))
    license = _ROWS["license"]
    attribution = _ROWS["attribution"]
    commercial_use = _ROWS["commercial_use"]


_SPLIT = dy.Enum(
    ["train", "validation", "test"],
    description="Split of the article",
    metadata=released(FACTS, "panels", "figures", "articles", "pairs", "instructions", "videos"),
)


def _picture_column(description: str, config: Config) -> dy.Struct:
    """Return a column that readers of the hub take for pictures: the storage of the feature Image."""
    return dy.Struct(
        {"bytes": dy.Binary(nullable=True), "path": dy.String(nullable=True)},
        nullable=True,
        description=f"{description}; {WITHHELD}",
        metadata=released(PICTURE, config),
    )


LECTURE_PICTURE: Final = "picture"
"""Column of the hub's table `videos` that holds the picture."""

_OWN_COLUMNS: Final[Mapping[Config, dict[str, dy.Column]]] = {
    "panels": {
        "panel_image": _picture_column("Picture of the panel", "panels"),
        "duplicate_group": dy.String(
            nullable=True,
            description="Panels that look the same have the same group; null for a panel that none resembles",
            metadata=released(FACTS, "panels"),
        ),
        "split": _SPLIT,
    },
    "figures": {
        "figure_image": _picture_column("Picture of the figure as rendered from the PDF", "figures"),
        "picture_width": dy.Int64(
            min=1, description="Pixels of the figure's picture", metadata=released(FACTS, "figures")
        ),
        "picture_height": dy.Int64(
            min=1, description="Pixels of the figure's picture", metadata=released(FACTS, "figures")
        ),
        "caption": dy.String(
            nullable=True,
            description=f"Caption without the label; {WITHHELD}",
            metadata=released(TEXT, "figures"),
        ),
        "caption_page_boxes": page_boxes_column(
            "Where its caption lies, label included; pages from 0", metadata=released(FACTS, "figures")
        ),
        "panel_ids": dy.List(dy.String(), description="Its panels in the dataset", metadata=released(FACTS, "figures")),
        "split": _SPLIT,
    },
    "articles": {
        "figures": dy.Int64(min=1, description="Its figures in the dataset", metadata=released(FACTS, "articles")),
        "panels": dy.Int64(min=1, description="Its panels in the dataset", metadata=released(FACTS, "articles")),
        "split": _SPLIT,
    },
    "pairs": {**PAIR_COLUMNS, "split": _SPLIT},
    "instructions": {**INSTRUCTION_COLUMNS, "split": _SPLIT},
    "videos": {
        LECTURE_PICTURE: dy.Struct(
            {"bytes": dy.Binary(nullable=True), "path": dy.String(nullable=True)},
            description="Picture of the slide's retinal images; all else is black; never null",
            metadata=released(PICTURE, "videos"),
        ),
        **LECTURE_COLUMNS,
        "split": _SPLIT,
    },
}
"""Columns of the hub's tables that no table of a batch has: pictures, and what all batches together give."""

_DESCRIPTIONS: Final[Mapping[Config, str]] = {
    "panels": "A panel with its picture, subcaption, boxes, images and whom to credit: config `panels` of the hub's "
    "folder.",
    "figures": "A figure of which a panel is in the dataset, whole: config `figures` of the hub's folder.",
    "articles": "An article of which a panel is in the dataset: config `articles` of the hub's folder.",
    "pairs": "A figure, a panel or a region of a panel with one of its texts, to train on: config `pairs` of the hub's "
    "folder. The picture stands in the config that the row names.",
    "instructions": "A question or dialogue about a panel with answers and the evidence that they rest on: config "
    "`instructions` of the hub's folder. The picture stands in the config `panels`.",
    "videos": "A picture of a lecture video with what is said while it is shown: config `videos` of the hub's folder.",
}

_ORDER: Final[Mapping[Config, str]] = {
    "panels": "panel_id panel_image panel_name subcaption_text contains_cfp contains_oct contains_retinal "
    "contains_other contains_marked images identifiers in_text_mention article_id image_cluster_id figure_label "
    "figure_ordinal panel_ordinal panel_box content_box panel_score figure_page_boxes is_multi_page_figure "
    "subcaption_segments assembly assembly_method assembly_confidence caption_confidence annotations picture_width "
    "picture_height picture_sha256 perceptual_hash duplicate_group split license license_url rights_statement "
    "commercial_use attribution title authors journal year doi article_url article_version mentions summary "
    "abbreviations generated_summary entities diseases findings eye modality_class modality medical mention_places "
    "summary_places marks regions phrases clinical_or_laboratory clinical_or_microscopy",
    "figures": "article_id image_cluster_id figure_ordinal figure_label figure_image picture_width picture_height dpi "
    "caption in_text_mention is_multi_page_figure figure_page_boxes caption_page_boxes page_sizes matched panel_ids "
    "contains_cfp contains_oct contains_retinal contains_other contains_marked license license_url rights_statement "
    "commercial_use attribution title authors journal year doi article_url article_version split",
    "articles": "article_id package pmcid pmid doi title authors journal year citation mesh_terms keywords license "
    "license_url commercial_use attribution article_url article_version is_manuscript figures panels split",
    "pairs": " ".join((*PAIR_COLUMNS, "split")),
    "instructions": " ".join((*INSTRUCTION_COLUMNS, "split")),
    "videos": " ".join(("pair_id", LECTURE_PICTURE, *LECTURE_COLUMNS, "split")),
}
"""The order in which readers of releases know the columns; a column that is not named here comes after them."""

CONFIGS: Final[tuple[Config, ...]] = ("panels", "figures", "articles", "pairs", "instructions", "videos")
"""The hub's configs, the default one first."""

_BASES: Final[Mapping[Config, tuple[str, ...]]] = {
    "panels": ("dataset_rows",),
    "figures": ("dataset_rows", "figures"),
    "articles": ("dataset_rows", "articles"),
    "pairs": (),
    "instructions": (),
    "videos": (),
}
"""Tables of a batch that a config's rows are made of; the columns of all others are joined to them."""


@functools.cache
def joined_columns(config: Config) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of a config that come from other tables of a batch than its rows, by table.

    Raises:
        TypeError: if such a table has no column by which a row of the config is known.
    """
    found: dict[str, tuple[str, ...]] = {}
    for table, schema in sorted(table_schemas().items()):
        own = released_columns(schema, config)
        if not own or table in {base for bases in _BASES.values() for base in bases}:
            continue
        if missing := [name for name in KEYS[config] if name not in schema.columns()]:
            raise TypeError(f"{table} has columns of the release's {config}, but not {', '.join(missing)}")
        found[table] = tuple(own)
    return found


def joined_names() -> tuple[str, ...]:
    """Return the tables of a batch whose columns a release carries besides those that its rows are made of."""
    return tuple(dict.fromkeys(table for config in CONFIGS for table in joined_columns(config)))


@functools.cache
def hub_table(config: Config) -> type[dy.Schema]:
    """Return the schema of a table of the hub's folder: what columns say they are to a release (`tables.released`).

    Raises:
        TypeError: if a column of another table is called like one that the table has already.
    """
    columns = dict(_OWN_COLUMNS[config])
    for table in (*_BASES[config], *joined_columns(config)):
        for name, column in released_columns(schema_of(table), config).items():
            if name in columns and table not in _BASES[config]:
                raise TypeError(f"two tables have a column {name} for the release's {config}: {table} is the second")
            own = withheld_where_forbidden(column)
            columns.setdefault(name, own if table in _BASES[config] else nullable(own))
    order = {name: place for place, name in enumerate(_ORDER[config].split())}
    names = sorted(columns, key=lambda name: order.get(name, len(order)))
    own_name = f"Hub{config.capitalize()}"
    return type(own_name, (dy.Schema,), {"__doc__": _DESCRIPTIONS[config], **{name: columns[name] for name in names}})


@functools.cache
def release_tables() -> Mapping[str, type[dy.Schema]]:
    """Return the tables that are made of articles: the published form, and the hub's configs by name."""
    return {"pubmed_ophtha": PublishedPanels, **{config: hub_table(config) for config in CONFIGS}}


@functools.cache
def holdings() -> Mapping[str, Holding]:
    """Return the holding of each column of a release's tables; a name means the same in each of them.

    Raises:
        TypeError: if a column does not say it, or two of one name say different things.
    """
    found: dict[str, Holding] = {}
    for table, schema in release_tables().items():
        for name, column in schema.columns().items():
            said = released_as(column)
            if said is None or found.setdefault(name, said.holds) is not said.holds:
                raise TypeError(f"column {name} of {table}: declare what it holds of the article (tables.released)")
    return found


_ADDRESS_WORDS: Final = frozenset(
    (
        "type", "mark", "licence", "assembly", "split", "journal", "article", "q", "sort", "year", "confidence",
        "caption", "page", "figure", "instructions",
    )
)  # fmt: skip
"""Words that the gallery's address has already: no column with a filter may be called like one."""


def filters() -> Mapping[str, Released]:
    """Return the columns of panels that the gallery has a filter of besides its own, with what they say of it.

    Raises:
        TypeError: if a column is called like a filter of the gallery's own.
    """
    said = ((name, released_as(column)) for name, column in hub_table("panels").columns().items())
    found = {name: item for name, item in said if item is not None and item.filter is not None}
    if taken := found.keys() & _ADDRESS_WORDS:
        raise TypeError(f"the gallery has filters called {', '.join(sorted(taken))} already: call the column otherwise")
    return found


class PanelDuplicates(dy.Schema):
    """Panels of a release that look the same, in groups; nothing is left out for it."""

    panel_id = dy.String(primary_key=True, description="Panel")
    article_id = _ROWS["article_id"]
    duplicate_group = dy.String(description="Group: the panel_id of its representative")
    kind = dy.Enum(["identical", "near"], description="The same bytes as the representative's picture, or a near look")
    distance = dy.Int64(min=0, description="Bits in which the perceptual hash differs from the representative's")
    split = _SPLIT


class MaskedPictures(dy.Schema):
    """Pictures of a release of which parts are black, since they showed a face or print that tells who somebody is."""

    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    image_cluster_id = dy.String(description="Figure")
    panel_id = dy.String(nullable=True, description="Panel; null for the figure's picture")
    boxes = dy.List(dy.List(dy.Float64()), description="What is black, normalised to the picture")
    what = dy.List(dy.String(), description="What each showed: face, print")
    share = dy.Float64(min=0, max=1, description="Of the picture's pixels that are black")


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
    other_texts = dy.List(
        dy.Struct({"column": dy.String(), "sha256": dy.String()}),
        description="Of each other withheld text of the panel that is not null: its column, and the SHA-256 of its "
        "value as JSON, keys sorted (UTF-8)",
    )


class RowIndex(dy.Schema):
    """Digests of a release's rows, by what they say: two releases are held against each other by them."""

    panel_id = dy.String(primary_key=True, description="Panel")
    article_id = _ROWS["article_id"]
    picture = dy.Int64(description="Of the picture")
    text = dy.Int64(description="Of subcaption, name, in-text mentions, and what the running text says of it")
    boxes = dy.Int64(description="Of boxes, images, identifiers, types and modality")
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


@functools.cache
def arrow_schema(schema: type[dy.Schema]) -> pa.Schema:
    """Return the Arrow schema in which a table leaves in a release: plain lists, strings and binaries."""
    stored = empty_table(schema).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in stored])
