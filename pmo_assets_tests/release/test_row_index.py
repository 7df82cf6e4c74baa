"""Digests of rows: a facet changes exactly with its columns, and is the same for ever."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

from pmo_assets.release.row_index import facets, row_digests
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.release import RowIndex, hub_table
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.release.context_columns import context_columns

FACETS = facets()

ROW: dict[str, Any] = {
    "panel_id": "p_7_f1_0",
    "article_id": 7,
    "image_cluster_id": "f1",
    "figure_ordinal": 0,
    "panel_ordinal": 0,
    "figure_label": "Figure 1",
    "panel_name": None,
    "subcaption_text": "Ωptic disc, 3 µm “quoted”\n.",
    "subcaption_segments": [[0, 9], [12, 15]],
    "in_text_mention": ["First.", "Second."],
    "is_multi_page_figure": False,
    "figure_page_boxes": [{"page": 2, "bbox": [10.0, 20.5, 110.0, 70.125]}],
    "panel_box": [0.0, 0.1, 0.5, 0.123456],
    "content_box": [0.0, 0.0, 0.5, 1.0],
    "panel_score": 0.9512,
    "picture_width": 40,
    "picture_height": 32,
    "picture_sha256": "ab" * 32,
    "perceptual_hash": "cd" * 32,
    "images": [
        {"id": "i0", "box": [0.0, 0.0, 0.25, 1.0], "score": 0.9, "image_type": None, "type_score": 0.8,
         "modality": None, "modality_score": 0.0, "marked": None,
         "mark_score": 0.7, "is_gt": False}
    ],
    "identifiers": [{"id": "l0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.875, "text": None, "is_gt": False}],
    "contains_cfp": False,
    "contains_oct": True,
    "contains_retinal": False,
    "contains_other": False,
    "contains_marked": True,
    "assembly": "Automatic Caption Assignment",
    "assembly_method": "identifier",
    "assembly_confidence": 0.9725,
    "caption_confidence": 1.0,
    "annotations": [{"purpose": "full", "decided": ["panels"], "at": None}],
    "license": "CC BY",
    "license_url": None,
    "rights_statement": None,
    "commercial_use": True,
    "attribution": "'T', A. J. 2024",
    "title": "T",
    "authors": ["A"],
    "journal": None,
    "year": 2024,
    "doi": None,
    "article_url": None,
    "article_version": 1,
}  # fmt: skip

CONTEXT = context_columns("A")
"""What other tables say of the panel."""

OTHER: dict[str, Any] = {
    "panel_name": "None",
    "figure_label": None,
    "subcaption_segments": [[0, 9, 12, 15]],
    "in_text_mention": ["First. Second."],
    "figure_page_boxes": [{"page": 3, "bbox": [10.0, 20.5, 110.0, 70.125]}],
    "panel_box": [0.0, 0.1, 0.5, 0.123457],
    "content_box": [0.0, 0.0, 0.5, 0.999999],
    "images": [],
    "identifiers": [{"id": "l0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.875, "text": "", "is_gt": False}],
    "annotations": [],
    "license_url": "",
    "rights_statement": "© 2012",
    "authors": None,
    "journal": "J",
    "doi": "10.1/1",
    "article_url": "https://x",
    **context_columns(
        "B", secret="x", eye=None, disease=(), findings=(), modality=None, modality_class="ambiguous", withheld=False
    ),
    "summary_places": [],
    "marks": [],
    "medical": False,
    "clinical_or_laboratory": False,
    "clinical_or_microscopy": False,
}
"""Another value of columns for which it is not plain what that is: near, empty instead of null, cut otherwise."""

SAME_ROW = {"panel_id", "article_id", "image_cluster_id", "figure_ordinal", "panel_ordinal"}
"""Columns that say which panel it is, not what it is like."""

WITH_THE_PICTURE = {"picture_width", "picture_height", "perceptual_hash"}
"""They follow from the picture."""


def with_context(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a release has them; null in the columns of other tables that a row does not give."""
    schema = {name: column.dtype for name, column in hub_table("panels").columns().items() if name in CONTEXT}
    own = checked(DatasetRows, [{name: row[name] for name in ROW} for row in rows])
    return own.hstack(pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema))


def digests(**changes: Any) -> dict[str, Any]:
    (row,) = row_digests(with_context([{**ROW, **CONTEXT, **changes}])).to_dicts()
    return row


@cache
def unchanged_digests() -> dict[str, Any]:
    return digests()


def other(column: str) -> Any:
    if column in OTHER:
        return OTHER[column]
    value = {**ROW, **CONTEXT}[column]
    if isinstance(value, bool):
        return not value
    return {str: lambda: value + ".", int: lambda: value + 1, float: lambda: value - 0.0001}[type(value)]()


def test_every_column_is_in_one_facet_or_says_which_panel_it_is() -> None:
    columns = [column for names in FACETS.values() for column in names]
    assert len(columns) == len(set(columns))
    assert set(columns) | SAME_ROW | WITH_THE_PICTURE == set(DatasetRows.columns()) | set(CONTEXT)
    assert list(RowIndex.columns()) == ["panel_id", "article_id", *FACETS]


@pytest.mark.parametrize(("facet", "column"), [(facet, name) for facet, names in FACETS.items() for name in names])
def test_a_facet_changes_exactly_with_its_columns(facet: str, column: str) -> None:
    after = digests(**{column: other(column)})
    assert {name for name, digest in unchanged_digests().items() if digest != after[name]} == {facet}


@pytest.mark.parametrize("column", sorted((SAME_ROW | WITH_THE_PICTURE) - {"panel_id", "article_id"}))
def test_no_facet_changes_with_what_is_in_none(column: str) -> None:
    assert digests(**{column: other(column)}) == unchanged_digests()


def test_the_digests_are_the_same_for_ever() -> None:
    """Others would say of every panel that it changed. If they must change, that is a release of its own."""
    assert row_digests(with_context([ROW])).to_dicts() == [
        {
            "panel_id": "p_7_f1_0",
            "article_id": 7,
            "picture": 3603294345352386739,
            "text": 7984793451697075852,
            "boxes": 963986280879571299,
            "assembly": 7407398411212196615,
            "credit": 4719746531421950734,
        }
    ]


def test_what_the_running_text_says_counts_once() -> None:
    """The first release with these columns has a change of every panel, the next one of those that changed alone."""
    (before,), after = row_digests(with_context([ROW])).to_dicts(), digests()
    assert {name for name in before if before[name] != after[name]} == {"text", "boxes"}
    assert digests() == after


def test_a_row_has_the_same_digests_in_whatever_company() -> None:
    rows = [
        {**ROW, "panel_id": f"p_{n}", "subcaption_text": f"{n % 2}", "authors": None if n else ["A"]} for n in range(4)
    ]
    together = row_digests(with_context(rows))
    alone = pl.concat(row_digests(with_context([row])) for row in rows)
    assert together.equals(alone)
    assert together["text"].n_unique() == 2


def test_no_rows_have_no_digests() -> None:
    found = row_digests(with_context([]))
    assert found.is_empty()
    assert found.columns == list(RowIndex.columns())
    assert set(found.dtypes[1:]) == {pl.Int64}
