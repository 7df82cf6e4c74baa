"""Ranks of right answers are exact: held against rational arithmetic, one pair at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from pmo_assets.encoders.evaluation import ranks as subject
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.ranks import RightAnswers, best_ranks


def _closeness(query, answer) -> Fraction:
    """Return the square of the cosine with its sign, times a constant of the query: exact, and in the same order."""
    dot = sum(int(a) * int(b) for a, b in zip(query, answer, strict=True))
    return Fraction(dot * abs(dot), sum(int(b) ** 2 for b in answer))


def _exact_rank(query, answers, right) -> int:
    if not any(right):
        return 0
    closeness = [_closeness(query, answer) for answer in answers]
    best = max(value for value, is_right in zip(closeness, right, strict=True) if is_right)
    return 1 + sum(value >= best for value, is_right in zip(closeness, right, strict=True) if not is_right)


def _exact(images, texts, is_right):
    return (
        [_exact_rank(image, texts, is_right[i]) for i, image in enumerate(images)],
        [_exact_rank(text, images, is_right[:, j]) for j, text in enumerate(texts)],
    )


def _vectors(rows: int, dimensions: int):
    whole = hnp.arrays(np.int64, (rows, dimensions), elements=st.integers(-3, 3))
    return whole.filter(lambda array: array.any(axis=1).all())


@st.composite
def _tasks(draw):
    """Few directions in few dimensions: ties, equal rows and multiples of rows are the rule."""
    rows, dimensions = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    groups = draw(hnp.arrays(np.intp, rows, elements=st.integers(0, rows - 1)))
    return draw(_vectors(rows, dimensions)), draw(_vectors(rows, dimensions)), groups


@given(_tasks())
def test_ranks_are_those_of_rational_arithmetic(task) -> None:
    images, texts, groups = task
    found = best_ranks(Embeddings(images), Embeddings(texts), RightAnswers.of_groups(groups))
    expected = _exact(images, texts, groups[:, None] == groups)
    assert [ranks.tolist() for ranks in found] == list(expected)


@given(_tasks(), st.data())
def test_ranks_of_answers_that_are_right_by_class(task, data) -> None:
    images, texts, image_classes = task
    text_classes = data.draw(hnp.arrays(np.intp, len(texts), elements=st.integers(0, 3)))
    related = data.draw(hnp.arrays(np.bool_, (len(images), 4)))
    right = RightAnswers(image_classes, text_classes, csr_array(related))
    found = best_ranks(Embeddings(images), Embeddings(texts), right)
    expected = _exact(images, texts, related[image_classes][:, text_classes])
    assert [ranks.tolist() for ranks in found] == list(expected)


@given(_tasks(), st.sampled_from([np.float16, np.float32, np.float64, ">f4", ">i2"]), st.sampled_from("CF"))
def test_type_byte_order_and_layout_of_the_array_change_nothing(task, kind, order) -> None:
    images, texts, groups = task
    found = best_ranks(
        Embeddings(images.astype(kind, order=order)),
        Embeddings(texts.astype(kind, order=order)),
        RightAnswers.of_groups(groups),
    )
    assert [ranks.tolist() for ranks in found] == list(_exact(images, texts, groups[:, None] == groups))


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 7), st.integers(1, 7))
def test_tiles_of_any_size_give_the_same_ranks(seed, rows, columns) -> None:
    random = np.random.default_rng(seed)
    images, texts = random.standard_normal((2, 20, 64))
    copied = random.integers(0, 20, 20)
    texts[::2], images[::3] = texts[copied[::2]], images[copied[::3]]
    right = RightAnswers.of_groups(random.integers(0, 15, 20))
    whole = best_ranks(Embeddings(images), Embeddings(texts), right)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "_ROWS", rows)
        patch.setattr(subject, "_COLUMNS", columns)
        tiled = best_ranks(Embeddings(images), Embeddings(texts), right)
    assert [ranks.tolist() for ranks in tiled] == [ranks.tolist() for ranks in whole]


def test_a_wrong_answer_that_is_as_similar_stands_before_the_right_one() -> None:
    same = Embeddings(np.random.default_rng(0).standard_normal((1, 512)).repeat(300, axis=0).astype(np.float32))
    images, texts = best_ranks(same, same, RightAnswers.of_rows(300))
    assert set(images.tolist()) == set(texts.tolist()) == {300}


def test_vectors_of_another_length_are_as_similar() -> None:
    vector = np.random.default_rng(1).standard_normal(512)
    texts = Embeddings(np.stack([vector, 3 * vector, vector / 7]))
    ranks, _ = best_ranks(Embeddings(vector[None].repeat(3, axis=0)), texts, RightAnswers.of_rows(3))
    assert ranks.tolist() == [3, 3, 3]


def test_right_answers_take_no_place_from_each_other() -> None:
    images = Embeddings(np.array([[1.0, 0.0]] * 2 + [[0.0, 1.0]]))
    texts = Embeddings(np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.3]]))
    ranks, _ = best_ranks(images, texts, RightAnswers.of_groups(np.array([0, 0, 1])))
    assert ranks.tolist() == [1, 1, 1]


def test_close_similarities_that_differ_are_no_ties() -> None:
    angle = 1e-4
    query = np.array([[1.0, 0.0]])
    texts = np.array([[np.cos(angle), np.sin(angle)], [np.cos(angle * 1.001), np.sin(angle * 1.001)]])
    right = RightAnswers(np.array([0]), np.array([0, 1]))
    ranks, _ = best_ranks(Embeddings(query), Embeddings(texts), right)
    assert ranks.tolist() == [1]


def test_queries_without_a_right_answer_have_rank_0() -> None:
    texts = Embeddings(np.eye(2)[[0, 1, 1]])
    ranks, others = best_ranks(Embeddings(np.eye(2)), texts, RightAnswers(np.array([0, 1]), np.array([0, 2, 2])))
    assert (ranks.tolist(), others.tolist()) == ([1, 0], [1, 0, 0])


def test_embeddings_of_two_encoders_are_refused() -> None:
    with pytest.raises(EmbeddingsError, match="3 dimensions, words 2"):
        best_ranks(Embeddings(np.ones((1, 3))), Embeddings(np.ones((1, 2)), "words"), RightAnswers.of_rows(1))
    with pytest.raises(EmbeddingsError, match="2 and 2 rows, their answers 1 and 1"):
        best_ranks(Embeddings(np.ones((2, 2))), Embeddings(np.ones((2, 2))), RightAnswers.of_rows(1))
