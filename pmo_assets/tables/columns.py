"""Columns that several tables share. Boxes in a table are lists [left, top, right, bottom]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dataframely as dy


def box_column(description: str, *, nullable: bool = False, metadata: Mapping[str, Any] | None = None) -> dy.List:
    return dy.List(
        dy.Float64(), nullable=nullable, min_length=4, max_length=4, description=description, metadata=_own(metadata)
    )


def _own(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if metadata is None else dict(metadata)


def page_boxes_column(description: str, *, metadata: Mapping[str, Any] | None = None) -> dy.List:
    return dy.List(
        dy.Struct({"page": dy.Int64(min=0), "bbox": dy.List(dy.Float64(), min_length=4, max_length=4)}),
        description=description,
        metadata=_own(metadata),
    )


def page_sizes_column(description: str, *, metadata: Mapping[str, Any] | None = None) -> dy.List:
    return dy.List(
        dy.Struct({"page": dy.Int64(min=0), "width": dy.Float64(min=0), "height": dy.Float64(min=0)}),
        description=description,
        metadata=_own(metadata),
    )


SEGMENTS = "[start, end) character ranges of the caption, in order"


class ArticleKey(dy.Schema):
    """Columns that every table starts with."""

    article_id = dy.Int64(
        primary_key=True, min=1, description='PMC number without "PMC"; see docs/own_articles.md for others'
    )


class FigureKey(dy.Schema):
    """Columns that identify a figure."""

    article_id = dy.Int64(
        primary_key=True, min=1, description='PMC number without "PMC"; see docs/own_articles.md for others'
    )
    image_cluster_id = dy.String(
        primary_key=True, description="Figure within the article: its graphic's name in the XML"
    )


def rights_column(*, metadata: Mapping[str, Any] | None = None) -> dy.String:
    """Return a column for what says that a figure is not under its article's licence."""
    return dy.String(
        nullable=True,
        description="What says that the figure is not, or not wholly, under the article's licence: its own permissions "
        "in the XML, a credit line in its caption or printed in it; null when nothing does",
        metadata=_own(metadata),
    )
