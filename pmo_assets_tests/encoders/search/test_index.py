"""The index: exact answers, filters before the search, approximate answers, damage."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.search.index import IndexFacts, SearchError, SearchIndex, open_index, write_index

needs_usearch = pytest.mark.skipif(
    find_spec("usearch") is None, reason="the extra `encoders` is not installed: make test-models"
)


def table_of(values: np.ndarray) -> EmbeddingTable:
    return EmbeddingTable(tuple(f"p{row}" for row in range(len(values))), Embeddings(values))


def make(folder: Path, values: np.ndarray, *, graph: bool = False) -> SearchIndex:
    write_index(
        folder, table_of(values), encoder="e", encoder_name="E", release="r", version="1.0.0", graph=graph
    )  # fmt: skip
    return open_index(folder)


@pytest.fixture
def random_rows() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((700, 16)) * 5


def cosines(values: np.ndarray, query: np.ndarray) -> np.ndarray:
    return values @ query / np.linalg.norm(values, axis=1) / np.linalg.norm(query)


def test_exact_answers_are_the_highest_cosines_whatever_the_lengths(tmp_path: Path, random_rows: np.ndarray) -> None:
    index = make(tmp_path / "I", random_rows)
    query = np.random.default_rng(4).standard_normal(16) * 1e-3
    found = index.nearest(query, 7)
    truth = cosines(random_rows, query)
    assert found.exact
    assert found.rows.tolist() == np.argsort(-truth)[:7].tolist()
    assert found.scores == pytest.approx(np.sort(truth)[::-1][:7], abs=1e-6)


def test_a_filter_comes_before_the_search(tmp_path: Path, random_rows: np.ndarray) -> None:
    """So that ten answers are given even where none of the ten nearest panels fulfils it."""
    index = make(tmp_path / "I", random_rows)
    query = random_rows[0]
    truth = cosines(random_rows, query)
    among = np.argsort(truth)[:50]
    found = index.nearest(query, 10, among=among)
    assert found.exact
    assert found.rows.tolist() == among[::-1][:10].tolist()
    assert set(index.nearest(query, 60, among=among).rows.tolist()) == set(among.tolist())


def test_a_panel_does_not_find_itself_but_its_copy(tmp_path: Path, random_rows: np.ndarray) -> None:
    random_rows[9] = random_rows[4]
    index = make(tmp_path / "I", random_rows)
    found = index.nearest(index.vectors[index.row_of("p4")], 3, without=4)
    assert found.rows[0] == 9
    assert len(found.rows) == 3
    assert 4 not in found.rows
    assert 4 not in index.nearest(index.vectors[4], 3, without=4, among=np.arange(6)).rows


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 40))
def test_of_equally_similar_panels_the_earlier_stand_first(kinds: list[int], count: int) -> None:
    vectors = np.eye(4, dtype=np.float32)[kinds]
    facts = IndexFacts(
        encoder="", encoder_name="", release="", version="", panels=len(kinds), dimensions=4, graph=0,
    )  # fmt: skip
    index = SearchIndex(Path("I"), facts, tuple(map(str, range(len(kinds)))), vectors)
    query = np.array([4.0, 3.0, 2.0, 1.0])
    expected = sorted(range(len(kinds)), key=lambda row: (kinds[row], row))[:count]
    assert index.nearest(query, count).rows.tolist() == expected
    assert index.nearest(query, count, among=np.arange(len(kinds))[::-1]).rows.tolist() == expected


def test_a_query_that_cannot_be_compared_is_refused(tmp_path: Path, random_rows: np.ndarray) -> None:
    index = make(tmp_path / "I", random_rows)
    with pytest.raises(SearchError, match="not of one encoder"):
        index.nearest(np.ones(15))
    for query, words in ((np.zeros(16), "zero"), (np.full(16, np.nan), "not finite")):
        with pytest.raises(EmbeddingsError, match=words):
            index.nearest(query)
    with pytest.raises(SearchError, match="no panel 'p9999'"):
        index.row_of("p9999")
    with pytest.raises(SearchError, match="1 to 1,000"):
        index.nearest(np.ones(16), 1001)


def test_an_index_is_not_written_over_another(tmp_path: Path, random_rows: np.ndarray) -> None:
    make(tmp_path / "I", random_rows)
    with pytest.raises(SearchError, match="is there already"):
        make(tmp_path / "I", random_rows[:5])
    assert len(open_index(tmp_path / "I").panel_ids) == 700


def _shorter(folder: Path) -> None:
    file = folder / "vectors.npy"
    file.write_bytes(file.read_bytes()[:-64])


def _fewer_ids(folder: Path) -> None:
    (folder / "panels.json").write_text(json.dumps(["p0"]))


def _other_numbers(folder: Path) -> None:
    np.save(folder / "vectors.npy", np.ones((700, 16)))


def _without_ids(folder: Path) -> None:
    (folder / "panels.json").unlink()


def _no_facts(folder: Path) -> None:
    (folder / "index.json").write_text("{}")


@pytest.mark.parametrize("damage", [_shorter, _fewer_ids, _other_numbers, _without_ids, _no_facts])
def test_a_damaged_index_is_refused(tmp_path: Path, random_rows: np.ndarray, damage) -> None:
    make(tmp_path / "I", random_rows)
    damage(tmp_path / "I")
    with pytest.raises(SearchError, match="is damaged"):
        open_index(tmp_path / "I")


def test_a_folder_without_an_index_says_how_one_is_made(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match="pmo encode index"):
        open_index(tmp_path)


@pytest.mark.skipif(find_spec("usearch") is not None, reason="usearch is installed here")
def test_without_usearch_a_graph_is_refused_with_advice(tmp_path: Path, random_rows: np.ndarray) -> None:
    with pytest.raises(SearchError, match=r"pmo-assets\[encoders\].*--exact"):
        make(tmp_path / "I", random_rows, graph=True)
    assert not (tmp_path / "I").exists()


@needs_usearch
def test_approximate_answers_have_exact_scores_and_are_nearly_all_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 32))[rng.integers(0, 40, 2000)] + 0.7 * rng.standard_normal((2000, 32))
    index = make(tmp_path / "I", values, graph=True)
    kept = 0
    for query in values[:50] + 0.1:
        exact, near = index.nearest(query, 10, exact=True), index.nearest(query, 10)
        assert (exact.exact, near.exact) == (True, False)
        assert near.scores == pytest.approx(index.vectors[near.rows] @ (query / np.linalg.norm(query)), abs=1e-5)
        kept += len(set(exact.rows.tolist()) & set(near.rows.tolist()))
    assert kept >= 490


@needs_usearch
def test_the_same_vectors_give_the_same_graph(tmp_path: Path, random_rows: np.ndarray) -> None:
    make(tmp_path / "one", random_rows, graph=True)
    make(tmp_path / "two", random_rows, graph=True)
    assert (tmp_path / "one" / "graph.usearch").read_bytes() == (tmp_path / "two" / "graph.usearch").read_bytes()


@needs_usearch
def test_a_graph_that_is_not_whole_or_of_another_index_is_refused_and_exact_search_goes_on(
    tmp_path: Path, random_rows: np.ndarray
) -> None:
    make(tmp_path / "I", random_rows, graph=True)
    make(tmp_path / "small", random_rows[:5], graph=True)
    graph = tmp_path / "I" / "graph.usearch"
    graph.write_bytes((tmp_path / "small" / "graph.usearch").read_bytes())
    with pytest.raises(SearchError, match="not whole"):
        open_index(tmp_path / "I")
    assert open_index(tmp_path / "I", exact=True).nearest(random_rows[3], 1).rows.tolist() == [3]
