"""Embeddings in Parquet files, and the right answers that a release's pairs make."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pmo_assets.encoders.evaluation.embedding_files import (
    LEVELS,
    EmbeddingTable,
    read_embedding_table,
    write_embedding_table,
)
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.pairs import PICTURE_ID, Pair, paired, read_pairs
from pmo_assets.encoders.evaluation.ranks import best_ranks
from pmo_assets.records.pairs import PAIR_LEVELS, source_name
from pmo_assets.tables.pairs import PAIR_COLUMNS
from pmo_assets_tests.loading.small_release import write_release


def test_embeddings_are_read_as_they_were_written(tmp_path) -> None:
    values = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    write_embedding_table(tmp_path / "e.parquet", list("abcde"), "image", "panel", values)
    table = read_embedding_table(tmp_path / "e.parquet", "image", "panel")
    assert table.ids == tuple("abcde")
    assert (table.embeddings.values == values).all()


def test_one_file_may_hold_kinds_and_levels(tmp_path) -> None:
    rows = {
        "id": ["a", "a", "b", "c"],
        "kind": ["image", "text", "image", "image"],
        "level": ["panel", "panel", "region", "panel"],
        "embedding": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
    }
    pq.write_table(pa.table(rows), tmp_path / "e.parquet")
    table = read_embedding_table(tmp_path / "e.parquet", "image", "panel")
    assert (table.ids, table.embeddings.values.tolist()) == (("a", "c"), [[1, 2], [7, 8]])
    with pytest.raises(EmbeddingsError, match="no embeddings of kind 'text' and level 'figure'"):
        read_embedding_table(tmp_path / "e.parquet", "text", "figure")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"embedding": [[1.0], [1.0, 2.0]]}, "several lengths"),
        ({"embedding": [[1.0, 3.0], None]}, "without an embedding"),
        ({"embedding": [[1.0, None], [1.0, 2.0]]}, "with nulls"),
        ({"embedding": ["a", "b"]}, "not a list of numbers"),
        ({"embedding": [[1.0, 2.0], [float("nan"), 1.0]]}, "row 1 of .*not finite"),
        ({"id": ["a", "a"]}, "id 'a' more than once"),
        ({"level": None}, "no column level"),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, change, reason) -> None:
    rows = {"id": ["a", "b"], "kind": ["image"] * 2, "level": ["panel"] * 2, "embedding": [[1.0, 2.0]] * 2, **change}
    pq.write_table(pa.table({name: values for name, values in rows.items() if values}), tmp_path / "e.parquet")
    with pytest.raises(EmbeddingsError, match=reason):
        read_embedding_table(tmp_path / "e.parquet", "image", "panel")
    (tmp_path / "e.parquet").write_bytes(b"no Parquet")
    with pytest.raises(EmbeddingsError, match="no whole Parquet file"):
        read_embedding_table(tmp_path / "e.parquet", "image", "panel")


def _table(rows: dict[str, list[float]]) -> EmbeddingTable:
    return EmbeddingTable(tuple(rows), Embeddings(np.array(list(rows.values()))))


def _ranks(images, texts, pairs):
    task = paired(_table(images), _table(texts), pairs)
    found = best_ranks(task.images.embeddings, task.texts.embeddings, task.right)
    return [ranks.tolist() for ranks in found]


def test_a_caption_that_stands_there_twice_is_no_wrong_answer() -> None:
    pairs = [
        Pair("p", "t1", "OCT of the  eye", "1", "p"),
        Pair("q", "t2", "OCT of the eye", "1", "q"),
        Pair("r", "t3", "CFP", "2", "r"),
    ]
    images = {"p": [1, 0], "q": [1, 0.1], "r": [0, 1]}
    texts = {"t1": [1, 0.05], "t2": [1, 0.05], "t3": [0, 1]}
    assert _ranks(images, texts, pairs) == [[1, 1, 1], [1, 1, 1]]
    apart = [Pair(pair.image_id, pair.text_id, pair.text_id, pair.source, pair.looks) for pair in pairs]
    assert _ranks(images, texts, apart) == [[2, 2, 1], [2, 1, 1]]


def test_texts_of_pictures_that_look_the_same_are_right_for_both() -> None:
    pairs = [Pair("p", "t1", "one", "1", "group"), Pair("q", "t2", "two", "2", "group")]
    images, texts = {"p": [1, 0], "q": [1, 0]}, {"t1": [0, 1], "t2": [1, 0]}
    assert _ranks(images, texts, pairs) == [[1, 1], [1, 1]]
    apart = [Pair("p", "t1", "one", "1", "p"), Pair("q", "t2", "two", "2", "q")]
    assert _ranks(images, texts, apart) == [[2, 1], [2, 2]]


def test_sharing_a_caption_is_not_carried_on() -> None:
    pairs = [Pair("p", "t1", "both", "1", "p"), Pair("q", "t2", "both", "1", "q"), Pair("q", "t3", "only q", "1", "q")]
    images, texts = {"p": [1, 0], "q": [0, 1]}, {"t1": [0, 1], "t2": [0, 1], "t3": [1, 0]}
    assert _ranks(images, texts, pairs)[0] == [2, 1]


def test_several_texts_of_a_picture_are_all_right() -> None:
    pairs = [Pair("p", "t1", "one", "1", "p"), Pair("p", "t2", "two", "1", "p"), Pair("q", "t3", "three", "1", "q")]
    images, texts = {"p": [1, 0], "q": [0, 1]}, {"t1": [0, 1], "t2": [1, 0], "t3": [0.9, 0.1]}
    assert _ranks(images, texts, pairs) == [[1, 2], [2, 1, 2]]


def test_what_stands_in_no_pair_is_left_out_and_said() -> None:
    pairs = [Pair("p", "t1", "one", "5", "p"), Pair("x", "t9", "nine", "6", "x")]
    task = paired(_table({"p": [1, 0], "q": [0, 1]}), _table({"t1": [1, 0]}), pairs)
    assert (task.images.ids, task.image_articles.tolist()) == (("p",), [0])
    assert task.left_out == (
        "1 pictures stand in no pair and were left out",
        "1 pictures of the pairs have no embedding",
        "1 texts of the pairs have no embedding",
    )
    with pytest.raises(EmbeddingsError, match="no picture or no text"):
        paired(_table({"z": [1, 0]}), _table({"t1": [1, 0]}), pairs)
    with pytest.raises(EmbeddingsError, match="no pair has an embedding of its picture and one of its text"):
        paired(_table({"x": [1, 0]}), _table({"t1": [1, 0]}), pairs)


def _pair_rows(level: str, picture: str, texts: list[str]):
    return [
        {
            "pair_id": f"{picture}-{number}", "level": level, "text_kind": "subcaption", "text": text, "article_id": 7,
            "figure_id": "f", "panel_id": picture, "region_id": f"{picture}-r", "split": "test",
        }
        for number, text in enumerate(texts)
    ]  # fmt: skip


def test_pairs_of_a_release_are_read_by_level_and_split(tmp_path) -> None:
    rows = [*_pair_rows("panel", "p", ["one", "two"]), *_pair_rows("region", "p", ["drusen"])]
    (tmp_path / "release/hub/data/pairs").mkdir(parents=True)
    (tmp_path / "release/hub/data/panels").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "release/hub/data/pairs/test-00000.parquet")
    panels = pa.table({"panel_id": ["p", "q"], "duplicate_group": ["q", None]})
    pq.write_table(panels, tmp_path / "release/hub/data/panels/train-00000.parquet")
    for place in (tmp_path, tmp_path / "release", tmp_path / "release/hub"):
        assert read_pairs(place, "panel", split="test") == (
            Pair("p", "p-0", "one", "7", "q"),
            Pair("p", "p-1", "two", "7", "q"),
        )
    assert [pair.image_id for pair in read_pairs(tmp_path, "region")] == ["p-r"]
    file = tmp_path / "release/hub/data/pairs/test-00000.parquet"
    assert [pair.looks for pair in read_pairs(file, "panel", text_kinds=["subcaption"])] == ["p", "p"]
    with pytest.raises(EmbeddingsError, match="no pairs of level 'panel' in split 'train'"):
        read_pairs(file, "panel", split="train")
    with pytest.raises(EmbeddingsError, match="no release with pairs"):
        read_pairs(tmp_path / "release/hub/data/pairs", "panel")


@pytest.mark.parametrize("level", LEVELS)
def test_the_pairs_of_a_release_are_right_answers(tmp_path, level) -> None:
    rows = [row for row in write_release(tmp_path, articles=6, lectures=6)["pairs"] if row["level"] == level]
    pairs = read_pairs(tmp_path, level)
    assert {pair.text_id for pair in pairs} == {row["pair_id"] for row in rows}
    names = sorted({pair.image_id for pair in pairs})
    assert set(names) == {row[PICTURE_ID[level]] for row in rows}
    images = {name: np.eye(len(names))[number].tolist() for number, name in enumerate(names)}
    texts = {pair.text_id: images[pair.image_id] for pair in pairs}
    assert _ranks(images, texts, pairs) == [[1] * len(images), [1] * len(texts)]
    reversed_texts = dict(zip(texts, list(texts.values())[::-1], strict=True))
    if level != "figure":  # the drawn figures share one caption, which is right for all
        assert max(_ranks(images, reversed_texts, pairs)[0]) > 1
    tests = [row for row in rows if row["split"] == "test"]
    assert {pair.source for pair in read_pairs(tmp_path, level, split="test")} == {
        source_name(row["article_id"], row["video_id"]) for row in tests
    }


def test_ids_and_levels_are_those_of_the_table_of_pairs() -> None:
    assert set(PICTURE_ID) == set(LEVELS) == set(PAIR_LEVELS)
    assert {"pair_id", "level", "text_kind", "text", "article_id", *PICTURE_ID.values()} <= set(PAIR_COLUMNS)
