"""Which found figure is which annotated one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.quality.metrics.matching import (
    matched_articles,
    normalised_label,
    page_box,
    text_similarity,
)
from pmo_assets_tests.quality.metrics.annotated import article, figure

LEFT, RIGHT = (0, 0, 100, 100), (200, 0, 300, 100)


def test_each_figure_gets_the_one_that_overlaps_it_and_what_is_left_is_spurious() -> None:
    truth = {1: article(figure(box=LEFT, label="Figure 1"), figure(box=RIGHT, label="Figure 2"))}
    found = {1: article(figure(box=RIGHT, label="x"), figure(box=(400, 0, 500, 100)), figure(box=(0, 0, 100, 50)))}
    matched = matched_articles(truth, found)
    assert [(pair.found_ordinal, pair.iou) for pair in matched.pairs] == [(2, 0.5), (0, 1.0)]
    assert [other.figure_locations[0].bbox[0] for _, _, other in matched.spurious] == [400]
    assert matched.found == 3


def test_the_same_box_on_another_page_is_no_match() -> None:
    matched = matched_articles({1: article(figure(page=1))}, {1: article(figure(page=2))})
    assert matched.pairs[0].found is None
    assert len(matched.spurious) == 1


def test_an_article_that_was_not_found_has_only_missed_figures_and_others_do_not_count() -> None:
    matched = matched_articles({1: article(figure(), figure(page=3))}, {2: article(figure())})
    assert [pair.iou for pair in matched.pairs] == [0.0, 0.0]
    assert (matched.spurious, matched.found) == ((), 0)


def test_the_assignment_is_the_best_over_all_figures_not_greedy() -> None:
    truth = {1: article(figure(box=(0, 0, 100, 100)), figure(box=(0, 0, 100, 60)))}
    found = {1: article(figure(box=(0, 0, 100, 80)), figure(box=(0, 80, 100, 100)))}
    # Both annotated figures overlap the first most; the second then takes what only it can have.
    assert [pair.found_ordinal for pair in matched_articles(truth, found).pairs] == [1, 0]


@pytest.mark.parametrize(
    ("label", "number"),
    [("Figure 3", "3"), ("Fig. 12.", "12"), ("FIGURE S2", "s2"), ("3", "3"), ("", ""), (None, ""), ("Figure A", "")],
)
def test_labels_agree_when_their_numbers_do(label: str | None, number: str) -> None:
    assert normalised_label(label) == number


@given(st.text(), st.text())
def test_similarity_is_symmetric_bounded_and_blind_to_white_space(a: str, b: str) -> None:
    value = text_similarity(a, b)
    assert 0 <= value <= 1
    assert value == text_similarity(b, a) == text_similarity(f"  {a}\n", b)
    assert text_similarity(a, a) == 1


def test_boxes_of_panels_lie_where_their_figure_lies() -> None:
    assert page_box((0.5, 0, 1, 1), figure(box=(100, 100, 300, 200))) == (200, 100, 300, 200)
