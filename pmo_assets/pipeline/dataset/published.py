"""The published form of the dataset's rows (PubMed-Ophtha, Table 2): JSON in strings, column by column.

Vectorised: a release makes it of a million rows. Add here: `DatasetRows` -> `PublishedPanels`. Keep out:
licences (`licensing`), pictures and files (`release/`), reading what others published
(`release/comparing/published_file.py`).
"""

from __future__ import annotations

from typing import Final

import polars as pl

from pmo_assets.tables.release import PublishedPanels

SINGLE_PANEL_NAME: Final = "None"
"""The published `panel_name` of a figure whose caption names no panel."""

PICTURE: Final = "panel_image_bytes"
"""The one column that is not made here: pictures are read and written apart."""

PUBLISHED_COLUMNS: Final = tuple(name for name in PublishedPanels.columns() if name != PICTURE)
"""The columns that are made here, in the published order."""

_ROW: Final = "__row"
_JSON: Final = "__json"


def _json_object(**fields: pl.Expr) -> pl.Expr:
    """Return a JSON object as text. Not-a-number and infinity, which JSON lacks, become null."""
    return pl.struct([value.alias(name) for name, value in fields.items()]).struct.json_encode()


def _json_value(value: pl.Expr) -> pl.Expr:
    """Return a value as JSON; a null value is a null text. (Polars writes JSON of structs only.)"""
    encoded = _json_object(x=value).str.strip_prefix('{"x":').str.strip_suffix("}")
    return pl.when(value.is_not_null()).then(encoded)


def _json_list(rows: pl.DataFrame, column: str, entry: pl.Expr) -> pl.Series:
    """Return a JSON list per row, of the elements of a list column.

    Args:
        rows: with `panel_id`.
        column: of lists.
        entry: JSON of an element, made of it (by the column's name) and `panel_id`.
    """
    elements = (
        rows.select("panel_id", column).with_row_index(_ROW).filter(pl.col(column).list.len() > 0).explode(column)
    )
    entries = elements.select(_ROW, entry.alias(_JSON))
    return _joined(rows, entries, "[", "]")


def _joined(rows: pl.DataFrame, entries: pl.DataFrame, start: str, end: str) -> pl.Series:
    """Return the entries of each row between brackets; empty brackets for a row without any."""
    texts = entries.group_by(_ROW, maintain_order=True).agg(pl.col(_JSON).str.join(","))
    numbered = rows.select(pl.row_index(_ROW))
    whole = numbered.join(texts, on=_ROW, how="left", maintain_order="left")
    return whole.select(pl.concat_str(pl.lit(start), pl.col(_JSON).fill_null(""), pl.lit(end)))[:, 0]


def _position_text(element: pl.Expr) -> pl.Expr:
    """Return the place of an image or identifier: JSON, which stands as a text in the entry's JSON."""
    return _json_object(
        predicted_box=element.struct.field("box"),
        prediction_score=element.struct.field("score"),
    )


def _image_entry() -> pl.Expr:
    """Return an entry of `image_data`; type and mark status are null where detection could not decide."""
    image = pl.col("images")
    kind, marked = image.struct.field("image_type"), image.struct.field("marked")
    decided = kind.is_not_null()
    return _json_object(
        id=_element_id(image),
        imaging_type=pl.struct(
            label=pl.when(decided).then(pl.concat_list(kind)),
            prediction_score=pl.when(decided).then(pl.concat_list(image.struct.field("type_score"))),
        ),
        mark_status=pl.struct(
            label=pl.when(marked).then(pl.lit("Marked")).when(marked.is_not_null()).then(pl.lit("Unmarked")),
            prediction_score=image.struct.field("mark_score"),
        ),
        is_gt=image.struct.field("is_gt"),
        included_in_content_box=pl.lit(True),
        position=_position_text(image),
    )


def _identifier_entry() -> pl.Expr:
    """Return an entry of `identifier_data`."""
    identifier = pl.col("identifiers")
    return _json_object(
        id=_element_id(identifier),
        is_gt=identifier.struct.field("is_gt"),
        included_in_content_box=pl.lit(True),
        origin_identifier=pl.lit(None, dtype=pl.String),
        position=_position_text(identifier),
        text=identifier.struct.field("text"),
    )


def _element_id(element: pl.Expr) -> pl.Expr:
    return pl.concat_str(pl.col("panel_id"), element.struct.field("id"), separator="_")


_SIDES: Final = ("x0", "y0", "x1", "y1")


def _page_coordinates(rows: pl.DataFrame) -> pl.Series:
    """Return page (from 0, as text) -> {x0, y0, x1, y1} in PDF points.

    Parts of a figure on one page have one box, around them all: a page is a key and can stand there once. So does the
    published code (`get_figure_in_page_space`).
    """
    column = "figure_page_boxes"
    places = rows.select(column).with_row_index(_ROW).filter(pl.col(column).list.len() > 0).explode(column)
    page, box = pl.col(column).struct.field("page"), pl.col(column).struct.field("bbox")
    sides = places.select(_ROW, page, *(box.list.get(at).alias(side) for at, side in enumerate(_SIDES)))
    outer = [pl.col("x0").min(), pl.col("y0").min(), pl.col("x1").max(), pl.col("y1").max()]
    pages = sides.group_by(_ROW, "page").agg(outer).sort(_ROW, "page")
    entry = pl.format('"{}":{}', "page", _json_object(**{side: pl.col(side) for side in _SIDES}))
    return _joined(rows, pages.select(_ROW, entry.alias(_JSON)), "{", "}")


def _position(pages: pl.Series) -> pl.Expr:
    """Return the places of a panel: its boxes normalised to the figure, and the figure's on the pages."""
    boxes = _json_object(predicted_box=pl.col("panel_box"), content_box=pl.col("content_box"))
    score = _json_object(prediction_score=pl.col("panel_score"))
    return pl.concat_str(
        boxes.str.strip_suffix("}"),
        pl.lit(',"figure_page_coordinates":'),
        pl.lit(pages),
        pl.lit(","),
        score.str.strip_prefix("{"),
    )


def _segments() -> pl.Expr:
    """Return the ranges of the caption as [start, length], as published; ours are [start, end)."""
    start, end = pl.element().list.get(0), pl.element().list.get(1)
    return pl.col("subcaption_segments").list.eval(pl.concat_list(start, end - start))


def published_mentions(mentions: pl.Series) -> pl.Series:
    """Return lists of paragraphs as `published_rows` writes them into `in_text_mention`: JSON; null stays null."""
    return mentions.to_frame("in_text_mention").select(_json_value(pl.col("in_text_mention")))[:, 0]


def published_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the published form of rows of `DatasetRows`: the columns of `PublishedPanels` but the picture, in order.

    The texts of one row depend on this row only, and the same row gives the same texts.

    Args:
        rows: any number, in any order, which is kept. Texts that a licence withholds may be null already.
    """
    made: dict[str, pl.Expr] = {
        "panel_name": pl.col("panel_name").fill_null(SINGLE_PANEL_NAME),
        "subcaption_segments": _segments(),
        "position": _position(_page_coordinates(rows)),
        "in_text_mention": _json_value(pl.col("in_text_mention")),
        "image_data": pl.lit(_json_list(rows, "images", _image_entry())),
        "identifier_data": pl.lit(_json_list(rows, "identifiers", _identifier_entry())),
        "annotation": _json_value(pl.col("annotations")),
    }
    return rows.select(made.get(name, pl.col(name)).alias(name) for name in PUBLISHED_COLUMNS)
