"""The published form of rows, held against a plain reference that goes row by row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.published import PUBLISHED_COLUMNS, published_rows
from pmo_assets.tables.dataset import DatasetRows
from pmo_assets.tables.release import PublishedPanels
from pmo_assets.tables.schemas import empty_table
from pmo_assets_tests.examples import examples

_SCHEMA = empty_table(DatasetRows).schema

ROW: dict[str, Any] = {
    "panel_id": "p_7_f1_0", "article_id": 7, "image_cluster_id": "f1", "figure_ordinal": 0, "panel_ordinal": 0,
    "figure_label": "Figure 1", "panel_name": "a", "subcaption_text": "An OCT scan.",
    "subcaption_segments": [[3, 6], [10, 20]], "in_text_mention": ["First. See Figure 1."],
    "is_multi_page_figure": False, "figure_page_boxes": [{"page": 3, "bbox": [10.0, 20.0, 110.0, 70.5]}],
    "panel_box": [0.0, 0.0, 0.5, 1.0], "content_box": [0.0, 0.0, 0.625, 1.0], "panel_score": 0.95,
    "picture_width": 10, "picture_height": 10, "picture_sha256": "a" * 64, "picture_bytes": 9, "perceptual_hash": "0f",
    "images": [
        {"id": "i0", "box": [0.0, 0.0, 0.5, 1.0], "score": 0.9, "image_type": "OCT", "type_score": 0.8,
         "modality": None, "modality_score": 0.0, "marked": True,
         "mark_score": 0.7, "is_gt": False}
    ],
    "identifiers": [{"id": "l0", "box": [0.0, 0.0, 0.1, 0.1], "score": 0.9, "text": "a", "is_gt": True}],
    "contains_cfp": False, "contains_oct": True, "contains_retinal": False, "contains_other": False,
    "contains_marked": True, "assembly": "Automatic Caption Assignment", "assembly_method": "identifier",
    "assembly_confidence": 0.97, "caption_confidence": 0.9,
    "annotations": [{"purpose": "full", "decided": ["boxes"], "at": None}],
    "license": "CC BY", "license_url": None,
    "rights_statement": None, "commercial_use": True, "attribution": "'A title', J. 2024", "title": None,
    "authors": None, "journal": None, "year": 2024, "doi": None, "article_url": None, "article_version": 1,
}  # fmt: skip


def table(*rows: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{**ROW, **row} for row in rows], schema=_SCHEMA)


def published(**changes: Any) -> dict[str, Any]:
    return published_rows(table(changes)).row(0, named=True)


def reference(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the published columns say of a row, JSON taken apart, positions in entries too."""
    pages: dict[int, list[list[float]]] = {}
    for place in row["figure_page_boxes"]:
        pages.setdefault(place["page"], []).append(place["bbox"])
    outer = {
        str(page): {
            "x0": min(box[0] for box in boxes), "y0": min(box[1] for box in boxes),
            "x1": max(box[2] for box in boxes), "y1": max(box[3] for box in boxes),
        }
        for page, boxes in sorted(pages.items())
    }  # fmt: skip
    images = [
        {
            "id": f"{row['panel_id']}_{image['id']}",
            "imaging_type": {
                "label": [image["image_type"]] if image["image_type"] is not None else None,
                "prediction_score": [image["type_score"]] if image["image_type"] is not None else None,
            },
            "mark_status": {
                "label": {True: "Marked", False: "Unmarked", None: None}[image["marked"]],
                "prediction_score": image["mark_score"],
            },
            "is_gt": image["is_gt"],
            "included_in_content_box": True,
            "position": {"predicted_box": image["box"], "prediction_score": image["score"]},
        }
        for image in row["images"]
    ]
    identifiers = [
        {
            "id": f"{row['panel_id']}_{item['id']}",
            "is_gt": item["is_gt"],
            "included_in_content_box": True,
            "origin_identifier": None,
            "position": {"predicted_box": item["box"], "prediction_score": item["score"]},
            "text": item["text"],
        }
        for item in row["identifiers"]
    ]
    return {
        **{name: row[name] for name in PUBLISHED_COLUMNS if name in row},
        "panel_name": "None" if row["panel_name"] is None else row["panel_name"],
        "subcaption_segments": [[start, end - start] for start, end in row["subcaption_segments"]],
        "position": {
            "predicted_box": row["panel_box"],
            "content_box": row["content_box"],
            "figure_page_coordinates": outer,
            "prediction_score": row["panel_score"],
        },
        "image_data": images,
        "identifier_data": identifiers,
        "annotation": row["annotations"],
    }


def _no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def _load(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def taken_apart(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a published row with its JSON taken apart."""
    parsed = dict(row)
    for name in ("position", "in_text_mention", "annotation"):
        parsed[name] = None if row[name] is None else _load(row[name])
    for name in ("image_data", "identifier_data"):
        parsed[name] = [{**entry, "position": _load(entry["position"])} for entry in _load(row[name])]
    return parsed


texts = st.text(max_size=12) | st.sampled_from(['"', "\\", "\n", "\x00\x1f\x7f", "}", '{"x":', "é😀\u2028", "None", ""])
fractions = st.floats(0, 1, allow_nan=False)
boxes = st.lists(fractions, min_size=4, max_size=4)
images: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": texts, "box": boxes, "score": fractions, "image_type": st.none() | texts, "type_score": fractions,
            "modality": st.none() | texts, "modality_score": fractions,
        "marked": st.none() | st.booleans(), "mark_score": fractions, "is_gt": st.booleans(),
    }
)  # fmt: skip
identifiers: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"id": texts, "box": boxes, "score": fractions, "text": st.none() | texts, "is_gt": st.booleans()}
)
places: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"page": st.integers(0, 12), "bbox": st.lists(st.floats(-1e4, 1e4), min_size=4, max_size=4)}
)
decisions: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"purpose": texts, "decided": st.lists(texts, max_size=2), "at": st.none() | texts}
)
segments = st.tuples(st.integers(0, 10**6), st.integers(0, 10**4)).map(lambda pair: [pair[0], sum(pair)])
rows: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "panel_id": texts, "article_id": st.integers(1, 2**40), "image_cluster_id": texts,
        "panel_name": st.none() | texts, "subcaption_text": st.none() | texts,
        "subcaption_segments": st.lists(segments, max_size=3),
        "in_text_mention": st.none() | st.lists(texts, max_size=3), "is_multi_page_figure": st.booleans(),
        "figure_page_boxes": st.lists(places, max_size=3), "panel_box": boxes, "content_box": boxes,
        "panel_score": fractions, "images": st.lists(images, max_size=3),
        "identifiers": st.lists(identifiers, max_size=2), "annotations": st.lists(decisions, max_size=2),
        "license": st.none() | texts, "attribution": texts, "assembly": texts,
    }
)  # fmt: skip


@examples(150)
@given(st.lists(rows, max_size=5))
def test_every_row_says_what_the_reference_says(made: list[dict[str, Any]]) -> None:
    found = published_rows(table(*made))
    assert [taken_apart(row) for row in found.iter_rows(named=True)] == [reference({**ROW, **row}) for row in made]


@examples(50)
@given(st.lists(rows, min_size=2, max_size=5))
def test_a_row_is_the_same_whoever_stands_beside_it(made: list[dict[str, Any]]) -> None:
    together = published_rows(table(*made))
    assert pl.concat([published_rows(table(row)) for row in made]).equals(together)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_columns_are_the_published_ones_in_their_order(count: int) -> None:
    found = published_rows(table(*[{}] * count))
    expected = [item for item in empty_table(PublishedPanels).schema.items() if item[0] != "panel_image_bytes"]
    assert list(found.schema.items()) == expected
    assert found.height == count


def test_the_published_words() -> None:
    row = published()
    assert row["subcaption_segments"] == [[3, 3], [10, 10]], "start and length, not start and end"
    assert _load(row["position"]) == {
        "predicted_box": [0.0, 0.0, 0.5, 1.0],
        "content_box": [0.0, 0.0, 0.625, 1.0],
        "figure_page_coordinates": {"3": {"x0": 10.0, "y0": 20.0, "x1": 110.0, "y1": 70.5}},
        "prediction_score": 0.95,
    }
    (entry,) = _load(row["image_data"])
    assert entry["imaging_type"] == {"label": ["OCT"], "prediction_score": [0.8]}
    assert entry["mark_status"] == {"label": "Marked", "prediction_score": 0.7}
    assert isinstance(entry["position"], str), "JSON in JSON, as published"
    assert row["assembly"] == "Automatic Caption Assignment"


def test_a_single_panel_is_named_as_published() -> None:
    assert published(panel_name=None)["panel_name"] == "None"


def test_what_was_not_decided_is_null() -> None:
    undecided = {**ROW["images"][0], "image_type": None, "marked": None}
    (entry,) = _load(published(images=[undecided])["image_data"])
    assert entry["imaging_type"] == {"label": None, "prediction_score": None}
    assert entry["mark_status"]["label"] is None


def test_parts_on_one_page_have_one_box_around_them_all() -> None:
    boxes = [[5.0, 50.0, 10.0, 60.0], [0.0, 55.0, 8.0, 90.0]]
    row = published(figure_page_boxes=[{"page": 2, "bbox": box} for box in boxes])
    assert _load(row["position"])["figure_page_coordinates"] == {"2": {"x0": 0.0, "y0": 50.0, "x1": 10.0, "y1": 90.0}}


def test_not_a_number_becomes_null() -> None:
    row = published(panel_score=float("nan"), panel_box=[0.0, float("inf"), 0.5, 1.0])
    position = _load(row["position"])
    assert (position["prediction_score"], position["predicted_box"]) == (None, [0.0, None, 0.5, 1.0])


def test_withheld_texts_stay_null() -> None:
    row = published(subcaption_text=None, in_text_mention=None)
    assert (row["subcaption_text"], row["in_text_mention"]) == (None, None)
