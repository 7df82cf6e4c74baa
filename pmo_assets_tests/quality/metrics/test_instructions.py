"""What people's audit of instructions comes to."""

from __future__ import annotations

import pytest

from pmo_assets.annotation.annotations import AnnotatedArticle, FigureReview, InstructionAnswer, Location
from pmo_assets.quality.metrics.agreement import annotation_metrics
from pmo_assets.quality.metrics.instructions import ALL_WEIGHTED, instruction_audit_metrics
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets.records.instructions import InstructionKind
from pmo_assets.records.reviews import InstructionVerdict


def answer(
    name: str, verdict: InstructionVerdict, kind: InstructionKind = "what", person: str = "a", at: str = "1",
    sure: float = 1.0,
) -> InstructionAnswer:  # fmt: skip
    review = FigureReview(purpose="audit", decided=(), interface="instructions", annotator=person, at=at)
    return InstructionAnswer(
        image_cluster_id="f1", figure_locations=(Location(page=0, bbox=(0, 0, 1, 1)),), instruction_id=name, kind=kind,
        confidence=sure, maker="template", verdict=verdict, reason=None, review=review,
    )  # fmt: skip


def article(*answers: InstructionAnswer) -> AnnotatedArticle:
    return AnnotatedArticle(article_id="PMC7", figures=(), complete=False, instruction_answers=answers)


def test_shares_stand_by_kind_with_their_interval() -> None:
    metrics = instruction_audit_metrics(
        [article(*(answer(f"q{n}", "right" if n < 9 else "wrong") for n in range(10)), answer("w", "unclear", "where"))]
    )
    assert metric_value(metrics, "audit: right", "what instructions") == 0.9
    assert metric_value(metrics, "audit: right, 95 % from", "what instructions") == pytest.approx(0.5958, abs=1e-4)
    assert metric_value(metrics, "audit: right, 95 % to", "what instructions") == pytest.approx(0.9821, abs=1e-4)
    assert metric_value(metrics, "audit: unclear", "where instructions") == 1
    assert not any(item.group == ALL_WEIGHTED for item in metrics), "nobody knows how many there are"


def test_over_all_each_stratum_counts_as_often_as_it_occurs() -> None:
    answers = [answer("q1", "right"), answer("q2", "wrong", sure=0.5)]
    sizes = {"what, sure": 900, "what, less sure": 100, "where, sure": 7}
    metrics = instruction_audit_metrics([article(*answers)], sizes)
    assert metric_value(metrics, "audit: right", ALL_WEIGHTED) == pytest.approx(0.9)
    gone = instruction_audit_metrics([article(*answers)], {"what, sure": 900})
    assert not any(item.group == ALL_WEIGHTED for item in gone), "what was judged is not there any more"


def test_the_latest_answer_counts_and_two_people_are_compared_by_kind() -> None:
    answers = [
        answer("q1", "wrong", person="a", at="1"), answer("q1", "right", person="b", at="2"),
        answer("q2", "right", person="a"), answer("q2", "right", person="b"),
    ]  # fmt: skip
    metrics = instruction_audit_metrics([article(*answers)])
    assert metric_value(metrics, "audit: right", "what instructions") == 1
    assert metric_value(metrics, "same choice", "what instructions") == 0.5
    assert metric_value(metrics, "same choice, 95 % from", "what instructions") == pytest.approx(0.0945, abs=1e-4)
    every = annotation_metrics([article(*answers)])
    assert metric_value(every, "same choice", "instruction verdict") == 0.5
    assert metric_value(every, "Cohen's kappa", "instruction verdict") == 0
