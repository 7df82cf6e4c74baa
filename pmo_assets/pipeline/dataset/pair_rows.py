"""Rows of the hub's table `pairs`: each picture region with each of its texts, at the levels figure, panel, region,
and the pictures of lecture videos with what is said (level V).

Levels and records are those of Panel2Patch (section 3.1): M (figure, caption), P (panel, its text, identifier, box in
the figure), R (panel, box, the authors' words, a model's words); mentions and summaries come beside them. They are made
of the hub's figures and panels as these go out: a text or picture that a licence withholds is null there, and makes no
pair.

Does not belong here: the numbers of rows in a release's files, which the caller gives (`picture_row`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from pmo_assets.pipeline.dataset.panel_boxes import box_of_panel
from pmo_assets.records.geometry import UNIT_BOX, Box
from pmo_assets.tables.release import hub_table
from pmo_assets.tables.schemas import empty_table

FROM_FIGURES: Final = (
    "article_id", "image_cluster_id", "caption", "picture_width", "picture_height", "panel_ids", "license",
    "license_url", "commercial_use", "attribution", "split",
)  # fmt: skip
"""Columns of the hub's figures that pairs are made of, besides `picture_row` and `has_picture`."""

FROM_PANELS: Final = (
    "panel_id", "article_id", "image_cluster_id", "panel_name", "subcaption_text", "content_box", "assembly_confidence",
    "mentions", "summary", "generated_summary", "regions", "license", "license_url", "commercial_use", "attribution",
    "split",
)  # fmt: skip
"""The same of the hub's panels."""

FROM_VIDEOS: Final = (
    "pair_id", "text", "video_id", "license", "license_url", "commercial_use", "attribution", "split",
)  # fmt: skip
"""The same of the hub's videos."""

_FIGURE: Final = ("article_id", "image_cluster_id")
_CREDIT: Final = ("license", "license_url", "commercial_use", "attribution", "split")
_ORDER: Final = ("figure_place", "panel_place", "region_place", "kind_place", "text_place")


def hub_pairs(figures: pl.DataFrame, panels: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `HubPairs`: by figure, in it the figure's texts, then each panel's and its regions'.

    Args:
        figures: the hub's figures with licences applied, columns `FROM_FIGURES`; `picture_row` (row of the figure
            among those of its split) and `has_picture` (its picture goes out) beside them.
        panels: the hub's panels of these figures, columns `FROM_PANELS`, and the same beside them.
    """
    names = list(hub_table("pairs").columns())
    figures = figures.with_columns(
        figure_place=pl.int_range(pl.len()), figure_panels=pl.col("panel_ids").list.len().cast(pl.Int64)
    )
    sides = figures.select(*_FIGURE, "figure_place", "figure_panels", width="picture_width", height="picture_height")
    panels = panels.with_columns(panel_place=pl.int_range(pl.len())).join(
        sides, on=_FIGURE, how="inner", maintain_order="left"
    )
    mentions = _mentions(panels)
    shown = figures.filter("has_picture").with_columns(
        level=pl.lit("figure"), panel_place=pl.lit(-1, pl.Int64), box=_boxes(UNIT_BOX), figure_box=_boxes(UNIT_BOX),
        picture_config=pl.lit("figures"), panel_id=pl.lit(None, pl.String), panel_name=pl.lit(None, pl.String),
        confidence=pl.lit(None, pl.Float64),
    )  # fmt: skip
    cut = panels.filter("has_picture").with_columns(
        level=pl.lit("panel"), box=_boxes(UNIT_BOX), figure_box=pl.col("content_box"), picture_config=pl.lit("panels"),
        confidence=pl.col("assembly_confidence"),
    )  # fmt: skip
    of_figures = mentions.filter(pl.col("identifier").is_null()).unique(
        [*_FIGURE, "paragraph", "start", "end"], keep="first", maintain_order=True
    )
    of_panels = mentions.filter(pl.col("identifier").is_not_null() | (pl.col("figure_panels") == 1))
    parts = [
        _texts(shown, "caption", pl.col("caption"), place=0),
        _texts(shown.join(of_figures.select(*_FIGURE, "text", "text_place"), on=_FIGURE), "mention", place=1),
        _texts(cut, "subcaption", pl.col("subcaption_text"), place=0),
        _texts(cut, "summary", pl.col("summary"), place=1),
        _texts(cut, "summary", pl.col("generated_summary"), place=2, generated=True),
        _texts(cut.join(of_panels.select("panel_id", "text", "text_place"), on="panel_id"), "mention", place=3),
        *_region_parts(cut),
    ]
    rows = pl.concat(parts).filter(pl.col("text").str.strip_chars() != "").sort(_ORDER)
    rows = rows.with_columns(figure_id=pl.format("{}_{}", *_FIGURE), video_id=pl.lit(None, pl.Int64))
    rows = rows.with_columns(pair_id=pl.Series(_pair_ids(rows), dtype=pl.String))
    return rows.unique("pair_id", keep="first", maintain_order=True).select(names)


def video_pairs(videos: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `HubPairs` for pictures of lecture videos, in the order of these.

    Args:
        videos: the hub's videos, of which licences withhold none, columns `FROM_VIDEOS`, and `picture_row` (row among
            those of its split) beside them. A pair has the name that it has there.
    """
    whole = {"level": "video", "text_kind": "transcript", "picture_config": "videos", "generated": False}
    rows = videos.with_columns(
        box=_boxes(UNIT_BOX),
        split=pl.col("split").cast(pl.String),
        **{name: pl.lit(value) for name, value in whole.items()},
    )
    empty = empty_table(hub_table("pairs"))
    absent = [name for name in empty.columns if name not in rows.columns]
    return rows.with_columns(pl.lit(None).alias(name) for name in absent).select(empty.columns).cast(_plain(empty))


def _plain(table: pl.DataFrame) -> pl.Schema:
    """Return the types of a table's columns, with words in place of enumerations, as `hub_pairs` has them."""
    return pl.Schema({name: pl.String() if isinstance(kind, pl.Enum) else kind for name, kind in table.schema.items()})


def _boxes(box: Box) -> pl.Expr:
    return pl.lit(list(box), pl.List(pl.Float64))


_KEPT: Final = (
    *_FIGURE, "level", "panel_id", "panel_name", "region_id", "figure_panels", "picture_config", "picture_row", "box",
    "figure_box", "confidence", "text_kind", "text", "generated", *_CREDIT, *_ORDER,
)  # fmt: skip


def _texts(
    rows: pl.DataFrame, kind: str, text: pl.Expr | None = None, *, place: int, generated: bool = False
) -> pl.DataFrame:
    """Return the pairs of one kind of text; rows without it make none.

    Args:
        rows: figures, panels or regions with what all pairs of them share.
        kind: of text.
        text: of the row; its columns `text` and `text_place` if not given.
        place: of the kind among those of its level.
        generated: a model wrote it.
    """
    if text is not None:
        rows = rows.with_columns(text=text, text_place=pl.lit(0, pl.Int64))
    if "region_id" not in rows.columns:
        rows = rows.with_columns(region_id=pl.lit(None, pl.String), region_place=pl.lit(-1, pl.Int64))
    named = rows.with_columns(
        text_kind=pl.lit(kind), kind_place=pl.lit(place, pl.Int64), generated=pl.lit(generated)
    ).filter(pl.col("text").is_not_null())
    return named.select(pl.col("split").cast(pl.String) if name == "split" else name for name in _KEPT)


def _mentions(panels: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences of panels, one a row, with their position in the running text (`text_place`)."""
    told = (
        panels.select("panel_id", *_FIGURE, "figure_panels", mention="mentions")
        .explode("mention")
        .drop_nulls("mention")
    )
    fields = ("identifier", "paragraph", "start", "end", "text")
    spread = told.select(
        "panel_id", *_FIGURE, "figure_panels", *(pl.col("mention").struct.field(name) for name in fields)
    ).sort("paragraph", "start", maintain_order=True)
    return spread.with_columns(text_place=pl.int_range(pl.len()))


def _region_parts(panels: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the pairs of regions: the authors' words, and a model's."""
    told = panels.with_columns(region_place=pl.int_ranges(pl.col("regions").list.len().fill_null(0)))
    told = told.filter(pl.col("regions").list.len() > 0).explode("regions", "region_place")
    told = told.with_columns(pl.col("region_place").cast(pl.Int64), level=pl.lit("region"))
    told = told.drop("confidence", "figure_box", "box").with_columns(
        pl.col("regions").struct.field("text").alias("fragment"),
        pl.col("regions").struct.field("description"),
        pl.col("regions").struct.field("confidence"),
        pl.col("regions").struct.field("box").list.eval(pl.element().round(6)).alias("figure_box"),
    )
    placed = [
        box_of_panel(*values) for values in told.select("figure_box", "content_box", "width", "height").iter_rows()
    ]  # fmt: skip
    told = told.with_columns(box=pl.Series(placed, dtype=pl.List(pl.Float64)))
    told = told.with_columns(
        region_id=pl.Series(
            [_region_id(panel, box) for panel, box in told.select("panel_id", "figure_box").iter_rows()],
            dtype=pl.String,
        )
    ).filter(pl.col("box").is_not_null())
    return [
        _texts(told, "fragment", pl.col("fragment"), place=0),
        _texts(told, "description", pl.col("description"), place=1, generated=True),
    ]


def _digest(values: Sequence[Any], size: int) -> str:
    said = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=size).hexdigest()


def _region_id(panel_id: str, box: Sequence[float]) -> str:
    """Return the name of a region: it stays while its box does, whatever other regions the panel gets."""
    return f"{panel_id}_r{_digest(list(box), 4)}"


def _pair_ids(rows: pl.DataFrame) -> list[str]:
    columns = ("level", "figure_id", "panel_id", "figure_box", "text_kind", "generated", "text")
    return [_digest(row, 16) for row in rows.select(columns).iter_rows()]
