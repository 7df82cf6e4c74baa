"""Agreement of two people, and the audit's shares."""

from __future__ import annotations

import copy
from collections import Counter

import pytest

from pmo_assets.annotation.annotations import AnnotatedArticle
from pmo_assets.annotation.answers import take_answers
from pmo_assets.annotation.settle import merged_answers
from pmo_assets.annotation.tasks import boxes_task, captions_task
from pmo_assets.quality.metrics.agreement import (
    annotation_metrics,
    answer_pairs,
    audit_metrics,
    cohens_kappa,
    pair_agreement,
    wilson_interval,
)
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets_tests.annotation.answered_cases import (
    LEFT,
    PICTURE,
    RIGHT,
    SEEN,
    case,
    known,
    panel_row,
    region,
    result_of,
    submitted,
)


def test_kappa_of_the_textbook() -> None:
    # 50 grants, two readers: 20 both yes, 15 both no, 5 and 10 apart: observed 0.7, chance 0.5
    choices = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohens_kappa(choices) == pytest.approx(0.4)
    assert cohens_kappa([("a", "a"), ("b", "b")]) == 1
    assert cohens_kappa([("a", "b"), ("b", "a")]) == -1
    assert cohens_kappa([]) is None
    assert cohens_kappa([("a", "a")] * 9) is None, "chance agrees as well"


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(44, 50, 0.7619, 0.9438), (25, 25, 0.8668, 1.0), (0, 10, 0.0, 0.2775), (0, 0, 0, 1)]
)
def test_wilson_interval(hits: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(hits, n) == pytest.approx((low, high), abs=1e-4)


def two_people(change) -> AnnotatedArticle:
    shown = case(panel_row(0, LEFT, "a"), panel_row(1, RIGHT, "b"))
    answers = []
    for make in (boxes_task, captions_task):
        first = submitted(make(shown, PICTURE, SEEN))
        second = copy.deepcopy(first)
        second["annotations"][0]["completed_by"] = 2
        change(second)
        answers += take_answers([first, second], known()).figures["PMC7"]
    return AnnotatedArticle(article_id="PMC7", figures=(), answers=merged_answers((), answers))


def test_people_who_submit_the_same_agree_in_everything() -> None:
    metrics = annotation_metrics([two_people(lambda task: None)])
    assert metric_value(metrics, "answers of two people to one question") == 2
    assert metric_value(metrics, "boxes both drew (F1)", "identifier", 0.5) == 1
    assert metric_value(metrics, "mean IoU of boxes both drew", "image") == pytest.approx(1)
    assert metric_value(metrics, "same choice", "mark status") == 1
    assert metric_value(metrics, "Cohen's kappa", "assignment") == 1


def test_what_two_people_see_differently_is_counted_and_named() -> None:
    def change(task) -> None:
        if task["data"]["pmo"]["interface"] == "boxes":
            region(task, "panel-0")["value"]["width"] = 40.0
            region(task, "image-0-i0")["value"]["rectanglelabels"] = ["OCT"]
            result_of(task)[:] = [r for r in result_of(task) if r["id"] != "identifier-1-d1"]
        else:
            region(task, "panel-0", "box_name")["value"]["text"] = ["b"]
            region(task, "panel-1", "box_name")["value"]["text"] = ["a"]

    article = two_people(change)
    metrics = annotation_metrics([article])
    assert metric_value(metrics, "boxes both drew (F1)", "identifier", 0.5) == pytest.approx(2 / 3)
    assert metric_value(metrics, "mean IoU of boxes both drew", "panel") == pytest.approx((0.8 + 1 + 1 + 1) / 4)
    assert metric_value(metrics, "same choice", "image type") == 0.5
    assert metric_value(metrics, "Cohen's kappa", "assignment") == -1
    problems = {item.pair.interface: item.problems for item in map(pair_agreement, answer_pairs([article]))}
    assert problems["boxes"] == ["1 identifier boxes drawn by one alone", "image type: CFP / OCT"]


def test_audited_shares_over_all_are_weighted_by_how_many_there_are() -> None:
    counts = {"LLM Assignment": Counter(right=5, wrong=5), "Automatic Caption Assignment": Counter(right=10)}
    metrics = audit_metrics(counts, {"LLM Assignment": 100, "Automatic Caption Assignment": 900})
    assert metric_value(metrics, "audit: right", "all, weighted") == pytest.approx(0.95)
    assert metric_value(metrics, "audit: right, 95 % from", "Automatic Caption Assignment") == pytest.approx(
        0.7225, abs=1e-3
    )
    with pytest.raises(KeyError):
        metric_value(audit_metrics(counts), "audit: right", "all, weighted")
