"""A release in the published form, and the same rows as the published code writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.pipeline.dataset.published import published_rows
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.release import PublishedPanels, arrow_schema
from pmo_assets.tables.schemas import empty_table

NAMES = ("a", "b", "c")
SUBCAPTION = "OCT of panel {} in figure {} of article {}."


def dataset_row(article: int, figure: str, place: int) -> dict[str, Any]:
    """Return the row of one of a figure's three panels, thirds of it from left to right; each holds a marked OCT."""
    box = [place / 4, 0.0, place / 4 + 0.25, 1.0]
    return {
        "panel_id": f"p_{article}_{figure}_{place}", "article_id": article, "image_cluster_id": figure,
        "figure_ordinal": 0, "panel_ordinal": place, "figure_label": None, "panel_name": NAMES[place],
        "subcaption_text": SUBCAPTION.format(NAMES[place], figure, article), "subcaption_segments": [[0, 9]],
        "in_text_mention": ["A paragraph."], "is_multi_page_figure": False,
        "figure_page_boxes": [{"page": int(figure[-1]), "bbox": [100.0, 100.0, 500.0, 300.0]}],
        "panel_box": box, "content_box": box, "panel_score": 0.9, "picture_width": 9, "picture_height": 9,
        "picture_sha256": "0" * 64, "picture_bytes": 9, "perceptual_hash": "0",
        "images": [
            {"id": "i0", "box": box, "score": 0.9, "image_type": "OCT", "type_score": 0.8,
             "modality": None, "modality_score": 0.0, "marked": True,
             "mark_score": 0.7, "is_gt": False}
        ],
        "identifiers": [{"id": "l0", "box": box, "score": 0.9, "text": NAMES[place], "is_gt": False}],
        "contains_cfp": False, "contains_oct": True, "contains_retinal": False, "contains_other": False,
        "contains_marked": True, "assembly": "Automatic Caption Assignment", "assembly_method": "identifier",
        "assembly_confidence": 0.9, "caption_confidence": 0.9, "annotations": [], "license": "CC BY",
        "license_url": None, "rights_statement": None, "commercial_use": True, "attribution": "'T'", "title": None,
        "authors": None,
        "journal": None, "year": None, "doi": None, "article_url": None, "article_version": 1,
    }  # fmt: skip


def dataset_table(articles: Iterable[int], figures: Sequence[str] = ("f1", "f2")) -> pl.DataFrame:
    """Return rows of `DatasetRows`: articles of two figures of three panels."""
    rows = [dataset_row(article, figure, place) for article in articles for figure in figures for place in range(3)]
    return pl.DataFrame(rows, schema=empty_table(DatasetRows).schema)


def write_release(path: Path, rows: pl.DataFrame) -> Path:
    """Write rows of `DatasetRows` as a release writes them, with a picture each."""
    facts = published_rows(rows)
    table = facts.with_columns(panel_image_bytes=pl.lit(b"\x89PNG")).select(PublishedPanels.columns().keys())
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.to_arrow().cast(arrow_schema(PublishedPanels)), path)
    return path


def as_others_write(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a row of `PublishedPanels` as the published code writes it.

    Ids with a number, booleans as texts, scores as lists, JSON in JSON, two columns more; no column for segments.
    """
    images = [
        {
            **entry,
            "id": f"i_{number}",
            "added_content_box_via_nms": False,
            "position": json.dumps({**json.loads(entry["position"]), "prediction_score": [0.9]}),
        }
        for entry in json.loads(row["image_data"])
    ]
    labels = [{**entry, "id": f"lip_{number}", "origin": "detection"} for entry in json.loads(row["identifier_data"])]
    kept = {name: value for name, value in row.items() if name != "subcaption_segments"}
    texts = {name: str(value) for name, value in row.items() if isinstance(value, bool)}
    return {
        **kept,
        **texts,
        "panel_id": f"p_{number}",
        "panel_image_bytes": b"\x89PNG",
        "image_data": json.dumps(images),
        "identifier_data": json.dumps(labels),
        "dpi": None,
        "no_buffer_render": False,
    }


def write_published(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as others do: with what types their values have."""
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), path)
    return path
