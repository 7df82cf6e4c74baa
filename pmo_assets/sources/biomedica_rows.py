"""A row of BIOMEDICA, whatever copy of the dataset it stands in, as a record.

Belongs here: names of columns, limits, what makes a row malformed. Does not belong here: opening and reading files
(`sources.biomedica`).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from pmo_assets.pipeline.figures.matching import package_picture
from pmo_assets.records.biomedica import BiomedicaFigure
from pmo_assets.records.packages import DERIVED_ID_BASE, PICTURE_SUFFIXES

ALIASES: Mapping[str, tuple[str, ...]] = {
    "article_id": ("article_accession_id", "article_id", "accession_id", "pmcid"),
    "image_cluster_id": ("image_cluster_id", "image_id", "image_file_name"),
    "caption": ("txt", "image_caption", "caption"),
    "primary_labels": ("image_primary_label", "primary_label", "global_class"),
    "secondary_labels": ("image_secondary_label", "secondary_label", "local_class"),
    "panel_type": ("image_panel_type", "panel_type"),
    "panel_subtype": ("image_panel_subtype", "panel_subtype"),
    "image_hash": ("image_hash", "hash"),
    "context": ("image_context", "context"),
    "license": ("article_license", "license_type", "license"),
    "size": ("image_size",),
    "picture": ("jpg", "jpeg", "png", "image", "image_bytes"),
}
"""Names that a column has in the copies of the dataset, the first that is there counts.

The first of each are those of the webdataset (`txt` and `jpg` its members, the others keys of its `json`), then those
of Parquet copies of it, such as the one that PubMed-Ophtha makes (`article_id`, `image_caption`, `license_type`).
"""

NEEDED = ("article_id", "image_cluster_id", "caption", "primary_labels", "secondary_labels")
"""Columns without which nothing can be matched, or there is nothing to match."""

MAX_TEXT = 20_000
"""Characters of a caption or paragraph that are kept; the longest captions of PMC have some thousands."""

MAX_ITEMS = 100
"""Labels or paragraphs of a row that are kept."""

NO_CAPTION = "no caption found"
"""Text that the dataset's makers write where there is no caption."""

_ARTICLE = re.compile(r"(?:PMC)?([0-9]{1,11})(?:\.[0-9]{1,6})?", re.IGNORECASE)


class RowFault(ValueError):
    """A row is malformed; the message says what is wrong with it."""


def columns_found(names: Collection[str]) -> dict[str, str]:
    """Return the name that each known column has among `names`."""
    found = {column: next((name for name in known if name in names), None) for column, known in ALIASES.items()}
    return {column: name for column, name in found.items() if name is not None}


def missing_columns(names: Collection[str]) -> list[str]:
    """Return the needed columns that are not among `names`, each by the first of its names."""
    found = columns_found(names)
    return [ALIASES[column][0] for column in NEEDED if column not in found]


def article_number(value: object) -> int:
    """Return a PMC number: 123, "123", "PMC123" or "PMC123.1".

    Raises:
        RowFault: for anything else.
    """
    match = _ARTICLE.fullmatch(str(value).strip()) if isinstance(value, str | int) else None
    if match is None or not 0 < int(match[1]) < DERIVED_ID_BASE:
        raise RowFault(f"{str(value)[:60]!r} is no PMC number")
    return int(match[1])


def clean_text(value: object) -> str:
    """Return a text that every table can hold: lone surrogates replaced, white space collapsed, not too long.

    Raises:
        RowFault: for what is no text.
    """
    if value is None:
        return ""
    if isinstance(value, bytes):
        value = value[: 4 * MAX_TEXT].decode("utf-8", "replace")
    if not isinstance(value, str | int | float):
        raise RowFault(f"there is a {type(value).__name__} where a text belongs")
    text = str(value)[: 4 * MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:MAX_TEXT]


def text_list(value: object) -> tuple[str, ...]:
    """Return labels or paragraphs: a list, or a text that writes one, or a single text.

    Raises:
        RowFault: for anything else.
    """
    if isinstance(value, str | bytes):
        text = clean_text(value)
        value = _written_list(text) if text.startswith("[") and text.endswith("]") else [text]
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise RowFault(f"there is a {type(value).__name__} where a list belongs")
    return tuple(filter(None, (clean_text(item) for item in value[:MAX_ITEMS])))


def _written_list(text: str) -> object:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return [text]


def biomedica_figure(row: Mapping[str, Any], row_id: str) -> BiomedicaFigure:
    """Return a row, by the dataset's own column names, as a record; its picture becomes a hash and a ratio.

    Raises:
        RowFault: if it cannot be used.
    """
    found = columns_found(row.keys())
    values = {column: row[name] for column, name in found.items()}
    if missing := missing_columns(row.keys()):
        raise RowFault(f"it has no {', '.join(missing)}")
    name = without_picture_suffix(clean_text(values["image_cluster_id"]))
    if not name:
        raise RowFault("its picture has no name")
    caption = clean_text(values["caption"])
    figure = BiomedicaFigure(
        article_id=article_number(values["article_id"]),
        row_id=row_id,
        image_cluster_id=name,
        caption="" if caption.lower() == NO_CAPTION else caption,
        panel_type=clean_text(values.get("panel_type")),
        panel_subtype=clean_text(values.get("panel_subtype")),
        primary_labels=text_list(values["primary_labels"]),
        secondary_labels=text_list(values["secondary_labels"]),
        image_hash=clean_text(values.get("image_hash")) or None,
        context=_context(values.get("context"), values["image_cluster_id"]),
        license=clean_text(values.get("license")) or None,
        aspect_ratio=_aspect_ratio(values.get("size")),
    )
    if not figure.labels:
        raise RowFault("it has no labels")
    shape = package_picture(_picture_bytes(values.get("picture")))
    if shape is None or shape.hash is None:  # a picture that cannot be read: name and caption may still do
        return figure
    return replace(figure, perceptual_hash=str(shape.hash), aspect_ratio=shape.aspect_ratio)


def without_picture_suffix(name: str) -> str:
    """Return a file's name without folder and the extension of a picture; "fig.001" keeps its end."""
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in PICTURE_SUFFIXES else path.name


def _context(value: object, name: object) -> tuple[str, ...]:
    """Return the paragraphs of this figure; the webdataset has a mapping from all figures of the article."""
    if isinstance(value, Mapping):
        value = value.get(name) if isinstance(name, str) else None
    try:
        return text_list(value)
    except RowFault:
        return ()


def _aspect_ratio(value: object) -> float | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    width, height = value
    if not all(isinstance(side, int) and 0 < side < 10**6 for side in (width, height)):
        return None
    return float(width / height)


def _picture_bytes(value: object) -> bytes | None:
    if isinstance(value, Mapping):  # as `datasets` stores pictures
        value = value.get("bytes")
    return value if isinstance(value, bytes) else None
