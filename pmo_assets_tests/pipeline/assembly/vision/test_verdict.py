"""Two answers, and a third where they differ."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.assembly.vision.decisions import Decision, Grounds, Seen
from pmo_assets.pipeline.assembly.vision.verdict import Verdict, adjudicated, agreement, conflicts


def says(panel: str, name: str | None, label: str | None = None, sure: float = 0.9) -> Decision:
    grounds: Grounds = "none" if name is None else "print" if label else "place"
    seen = () if name is None else (Seen("given label" if label else "row", "x", None, label),)
    return Decision(panel, frozenset(), name, grounds, seen, sure)


def group(name: str | None, *images: str) -> Decision:
    return Decision(None, frozenset(images), name, "none" if name is None else "place", (), 0.9)


def taken(verdict: Verdict) -> dict[str, tuple[str | None, int, int, bool]]:
    return {
        item.decision.panel or "+".join(sorted(item.decision.images)): (
            item.decision.name,
            item.agreeing,
            item.answers,
            item.adjudicated,
        )
        for item in verdict.settled
    }


def test_answers_that_agree_have_no_conflict_in_whatever_order() -> None:
    first = (says("P1", "A", "L1", 0.9), says("P2", None))
    second = (says("P2", None), says("P1", "A", "L1", 0.6))
    assert conflicts(first, second) == []
    verdict = agreement(first, second, "differ")
    assert taken(verdict) == {"P1": ("A", 2, 2, False), "P2": (None, 2, 2, False)}
    assert verdict.settled[0].decision.confidence == 0.6, "the more cautious of both"
    assert verdict.contested == {}
    assert verdict.settled[0].confidence == 0.75


@pytest.mark.parametrize(
    "other",
    [
        (says("P1", "B", "L1"), says("P2", "B")),
        (says("P1", None), says("P2", "B")),
        (says("P1", "A"), says("P2", "B")),
    ],
)
def test_another_name_a_rejection_and_other_grounds_are_conflicts(other: tuple[Decision, ...]) -> None:
    found = conflicts((says("P1", "A", "L1"), says("P2", "B")), other)
    assert found == ["The annotators differ about P1."]


def test_a_label_for_two_panels_is_a_conflict_although_both_agree() -> None:
    same = (says("P1", "A", "L1"), says("P2", "B", "L1"))
    found = conflicts(same, same)
    assert found == [f"Annotator {number} uses the label L1 for P1 and P2: it belongs to one." for number in (1, 2)]
    verdict = agreement(same, same, "no third")
    assert taken(verdict) == {}
    assert verdict.contested == {"P1": "no third", "P2": "no third"}


def test_the_third_answer_settles_and_says_how_many_agree() -> None:
    first = (says("P1", "A", "L1"), says("P2", "B"), says("P3", "C"))
    second = (says("P1", "A", "L1"), says("P2", "C"), says("P3", "D"))
    third = (says("P1", "A", "L1"), says("P2", "C"), says("P3", "E"))
    verdict = adjudicated(first, second, third)
    assert taken(verdict) == {"P1": ("A", 3, 3, False), "P2": ("C", 2, 3, True), "P3": ("E", 1, 3, True)}
    assert [item.confidence for item in verdict.settled] == [0.8, 0.6, 0.4]


def test_a_third_answer_against_two_that_agree_settles_nothing() -> None:
    verdict = adjudicated(
        (says("P1", "A"), says("P2", "B")), (says("P1", "A"), says("P2", "C")), (says("P1", "C"), says("P2", "B"))
    )
    assert taken(verdict) == {"P2": ("B", 2, 3, True)}
    assert "contradicts" in verdict.contested["P1"]


def test_a_third_answer_may_settle_a_shared_label_and_must_not_share_one() -> None:
    same = (says("P1", "A", "L1"), says("P2", "B", "L1"))
    assert taken(adjudicated(same, same, (says("P1", "A", "L1"), says("P2", "B")))) == {
        "P1": ("A", 3, 3, True),
        "P2": ("B", 1, 3, True),
    }
    verdict = adjudicated(same, same, same)
    assert taken(verdict) == {}
    assert set(verdict.contested) == {"P1", "P2"}


def test_groups_agree_when_the_same_images_have_the_same_name() -> None:
    first = (group("left", "I1", "I2"), group("right", "I3"), group(None, "I4"))
    assert conflicts(first, (group("right", "I3"), group(None, "I4"), group("left", "I2", "I1"))) == []
    other = (group("left", "I1"), group("right", "I3"), group(None, "I2"), group(None, "I4"))
    assert conflicts(first, other) == ["The annotators differ about I1, I2."]
    verdict = agreement(first, other, "differ")
    assert set(taken(verdict)) == {"I3", "I4"}
    assert verdict.contested == {"I1": "differ", "I2": "differ"}
