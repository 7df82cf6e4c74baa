"""Reading files in the published form as others made them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.published import published_rows
from pmo_assets.release.comparing.published_file import NotPublished, read_published
from pmo_assets.tables.published import ReadPanels
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.dataset.test_published import rows as any_rows
from pmo_assets_tests.pipeline.dataset.test_published import table as dataset_table_of
from pmo_assets_tests.release.comparing.published_files import (
    as_others_write,
    dataset_table,
    write_published,
    write_release,
)

BOX = [0.0, 0.0, 0.25, 1.0]


def row_of(**changes: Any) -> dict[str, Any]:
    """Return a row of a file as others write it, read."""
    row = published_rows(dataset_table([7], ["f1"])).row(0, named=True)
    (read,) = pl.concat(read_published(pa.Table.from_pylist([{**as_others_write(row, 17), **changes}]))).to_dicts()
    return dict(read)


def test_what_the_published_code_writes_is_read() -> None:
    read = row_of()
    assert (read["panel_id"], read["article_id"], read["image_cluster_id"]) == ("p_17", 7, "f1")
    assert (read["contains_oct"], read["contains_cfp"], read["commercial_use"]) == (True, False, True)
    assert (read["panel_box"], read["content_box"], read["panel_score"]) == (BOX, BOX, 0.9)
    assert read["figure_page_boxes"] == [{"page": 1, "bbox": [100.0, 100.0, 500.0, 300.0]}]
    assert read["subcaption_parts"] is None, "the file has no column for them"
    assert read["in_text_mention"] == ["A paragraph."]
    assert read["images"] == [
        {"id": "i_17", "box": BOX, "score": 0.9, "image_types": ["OCT"], "type_score": 0.8, "marked": True,
         "mark_score": 0.7, "is_gt": False}
    ]  # fmt: skip
    assert read["identifiers"] == [{"id": "lip_17", "box": BOX, "score": 0.9, "text": "a", "is_gt": False}]


@pytest.mark.parametrize("value", [123, "123", "PMC123", " pmc123 ", 123.0])
def test_article_numbers(value: Any) -> None:
    assert row_of(article_id=value)["article_id"] == 123


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), ("False", False), ("true", True), (1, True), (0.0, False), ("", None), (None, None), ("nan", None)],
)
def test_truth_values(value: Any, expected: bool | None) -> None:
    assert row_of(contains_marked=value)["contains_marked"] is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([[3, 4], [9, 1]], [(3, 7, None), (9, 10, None)]),
        ("[[3, 4], [\" and \"], [9, 1]]", [(3, 7, None), (None, None, " and "), (9, 10, None)]),
        ([["3", "4"], [" and "]], [(3, 7, None), (None, None, " and ")]),
        ([[3.0, 4.0]], [(3, 7, None)]),
        ([], []),
        (None, None),
    ],
)  # fmt: skip
def test_segments(value: Any, expected: list[tuple[Any, ...]] | None) -> None:
    parts = row_of(subcaption_segments=value)["subcaption_parts"]
    assert (parts if parts is None else [tuple(part.values()) for part in parts]) == expected


@pytest.mark.parametrize(
    ("value", "types", "score"),
    [
        ({"label": ["CFP", "OCT"], "prediction_score": None}, ["CFP", "OCT"], None),
        ({"label": "CFP", "prediction_score": 0.5}, ["CFP"], 0.5),
        ({"label": ["CFP"], "prediction_score": [0.5]}, ["CFP"], 0.5),
        ({"label": None, "prediction_score": [0.5, 0.4]}, [], None),
        ("CFP", ["CFP"], None),
        (None, [], None),
    ],
)
def test_image_types(value: Any, types: list[str], score: float | None) -> None:
    (image,) = row_of(image_data=json.dumps([{"id": "i", "imaging_type": value}]))["images"]
    assert (image["image_types"], image["type_score"], image["box"], image["marked"]) == (types, score, None, None)


@pytest.mark.parametrize("nested", [True, False])
def test_positions_are_texts_or_objects(nested: bool) -> None:
    place = {"predicted_box": BOX, "prediction_score": float("nan")}
    entry = {"id": "i", "mark_status": {"label": "Plain"}, "position": json.dumps(place) if nested else place}
    whole = {"predicted_box": BOX, "figure_page_coordinates": {"2": {"x0": 1, "y0": 2, "x1": 3, "y1": 4}, "x": {}}}
    read = row_of(image_data=json.dumps([entry]), position=json.dumps(whole) if nested else whole)
    (image,) = read["images"]
    assert (image["box"], image["score"], image["marked"]) == (BOX, None, False)
    assert (read["panel_box"], read["content_box"]) == (BOX, None)
    assert read["figure_page_boxes"] == [{"page": 2, "bbox": [1.0, 2.0, 3.0, 4.0]}]


@pytest.mark.parametrize("name", ["None", "", None])
def test_a_single_panel_has_no_name(name: str | None) -> None:
    assert row_of(panel_name=name)["panel_name"] is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"position": "{"}, r"row 0 \(panel 'p_17'\): column position is no JSON"),
        ({"position": "[1]"}, "column position is no object"),
        ({"position": "[" * 100_000}, "column position is no JSON"),
        ({"article_id": "PMC"}, "column article_id is no PMC number"),
        ({"article_id": "9" * 30}, "column article_id is no PMC number"),
        ({"article_id": None}, "column article_id is no PMC number"),
        ({"contains_cfp": "perhaps"}, "column contains_cfp is neither true nor false"),
        ({"image_data": '{"a": 1}'}, "column image_data is no list of objects"),
        ({"subcaption_segments": "[[1, 2, 3]]"}, "column subcaption_segments holds neither"),
        ({"subcaption_segments": "[[-1, 2]]"}, "column subcaption_segments holds neither"),
        ({"image_cluster_id": None}, "column image_cluster_id is empty"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(NotPublished, match=text):
        row_of(**changes)


def test_half_a_character_is_replaced() -> None:
    assert row_of(in_text_mention='["\\ud83d and \\uD83D\\uDE00"]')["in_text_mention"] == ["\ufffd and \U0001f600"]


def test_other_files_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    other = write_published(tmp_path / "other.parquet", [{"panel_id": "p", "article_id": 1, "text": "t"}])
    with pytest.raises(NotPublished, match="image_cluster_id, position are missing; it has panel_id, article_id, text"):
        next(read_published(other))
    hub = {"panel_id": "p", "article_id": 1, "image_cluster_id": "f", "panel_box": [0.0]}
    with pytest.raises(NotPublished, match="position is missing; it is a file of the hub's folder"):
        next(read_published(write_published(tmp_path / "hub.parquet", [hub])))
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(NotPublished, match="no Parquet file"):
        next(read_published(tmp_path / "text.parquet"))
    with pytest.raises(NotPublished, match="cannot be read"):
        next(read_published(tmp_path / "missing.parquet"))


def test_files_are_read_in_parts_and_by_column(tmp_path: Path) -> None:
    rows = dataset_table(range(1, 1001), ["f1"])
    path = write_release(tmp_path / "release.parquet", rows)
    parts = list(read_published(path, ["panel_id", "panel_box"]))
    assert len(parts) > 1
    whole = pl.concat(parts)
    assert whole.columns == ["panel_id", "panel_box"]
    assert whole["panel_id"].to_list() == rows["panel_id"].to_list()


def test_pictures_are_not_read(tmp_path: Path) -> None:
    """A picture column whose bytes on the disk are garbage does not matter."""
    path = write_release(tmp_path / "release.parquet", dataset_table([1]))
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    (picture,) = [column for column in columns if column.path_in_schema == "panel_image_bytes"]
    start = picture.dictionary_page_offset or picture.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + picture.total_compressed_size] = b"\xff" * picture.total_compressed_size
    path.write_bytes(content)
    with pytest.raises(OSError, match="deserialize"):
        pq.read_table(path)
    assert pl.concat(read_published(path)).height == 6


@examples(60)
@given(st.lists(any_rows, max_size=4))
def test_what_a_release_writes_is_read_back(made: list[dict[str, Any]]) -> None:
    rows = dataset_table_of(*made)
    read = pl.concat([pl.DataFrame(schema=ReadPanels.create_empty().schema), *read_published(published_rows(rows))])
    for before, after in zip(rows.to_dicts(), read.to_dicts(), strict=True):
        same = ["panel_id", "article_id", "image_cluster_id", "subcaption_text", "in_text_mention", "license"]
        assert [after[name] for name in same] == [before[name] for name in same]
        assert [(part["start"], part["end"]) for part in after["subcaption_parts"]] == [
            tuple(segment) for segment in before["subcaption_segments"]
        ]
        assert after["panel_box"] == ordered(before["panel_box"])
        assert after["panel_score"] == before["panel_score"]
        assert [(image["id"], image["image_types"], image["marked"]) for image in after["images"]] == [
            (f"{before['panel_id']}_{image['id']}", [] if image["image_type"] is None else [image["image_type"]],
             image["marked"])
            for image in before["images"]
        ]  # fmt: skip
        assert [item["text"] for item in after["identifiers"]] == [item["text"] for item in before["identifiers"]]


def ordered(box: list[float]) -> list[float]:
    return [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]
