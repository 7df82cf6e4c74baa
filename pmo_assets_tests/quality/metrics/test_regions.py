"""Marks and regions of two people, and of people and the machine."""

from __future__ import annotations

from typing import Any

from pmo_assets.annotation.annotations import AnnotatedArticle
from pmo_assets.annotation.answers import take_answers
from pmo_assets.annotation.region_tasks import regions_task
from pmo_assets.annotation.settle import settled_article
from pmo_assets.quality.annotation_quality import annotations_measured
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets.quality.metrics.regions import machine_metrics
from pmo_assets_tests.annotation.answered_cases import (
    PICTURE,
    SEEN,
    known_regions,
    region,
    region_case,
    result_of,
    submitted,
)


def two_people() -> AnnotatedArticle:
    """The second one reads another kind and other words, and deletes the asterisk with its region."""
    task = regions_task(region_case(purpose="full"), PICTURE, SEEN)
    first, second = (submitted(task, person=person, at=f"2026-01-0{person}T00:00:00Z") for person in (1, 2))
    region(second, "mark-0-1")["value"]["rectanglelabels"] = ["Other mark"]
    region(second, "region-0-0", "words")["value"]["choices"] = ["macula"]
    gone = {"mark-1-0", "region-1-0"}
    second["annotations"][0]["result"] = [
        r for r in result_of(second) if not {r.get("id"), r.get("from_id"), r.get("to_id")} & gone
    ]
    answers = take_answers([first, second], known_regions()).regions["PMC7"]
    return settled_article(None, "PMC7", (), (), None, ("f1",), answers)


def test_two_people_are_compared_by_boxes_kinds_colours_and_words() -> None:
    measured = annotations_measured([two_people()], {})
    names = ("mark kind", "mark colour", "region text")
    found = {name: metric_value(measured.metrics, "same choice", name) for name in names}
    assert found == {"mark kind": 0.5, "mark colour": 1.0, "region text": 0.5}
    assert metric_value(measured.metrics, "boxes both drew (F1)", "mark", 0.5) == 2 * 2 / 5
    assert metric_value(measured.metrics, "decided by people", "mark") == 2, "the later answer holds"
    (row,) = measured.rows
    assert row["interface"] == "regions"
    assert "1 mark boxes drawn by one alone" in row["problems"]


def mark(box: list[float], kind: str = "arrow", probability: float = 1.0) -> dict[str, Any]:
    return {"box": box, "kind": kind, "colour": "red", "probability": probability}


def row(cluster: str, name: str, people: list[Any], machine: list[Any] | None) -> dict[str, Any]:
    return {"article_id": 7, "image_cluster_id": cluster, name: people, f"machine_{name}": machine}


A, B, C, D = ([x, 0.1, x + 0.1, 0.2] for x in (0.1, 0.3, 0.5, 0.7))


def test_the_machine_is_measured_by_what_people_decided_whole_articles_apart_from_chosen_cases() -> None:
    people = [mark(A), mark(B, "circle"), mark(C)]
    machine = [mark(A), mark(B, "box"), mark(D), mark(C, probability=0.2)]
    marks = [
        row("f1", "marks", people, machine),
        row("f1", "marks", [mark(A)], None),
        row("f2", "marks", [mark(A)], [mark(A)]),
    ]
    regions = [row("f1", "regions", [{"box": A, "text": "drusen"}], [{"box": A, "text": None}])]
    found = {(m.metric, m.group): (m.value, m.n) for m in machine_metrics(marks, regions, {(7, "f1")})}
    assert found["machine's recall of people's", "mark"] == (2 / 3, 3)
    assert found["machine's precision by people's", "mark"] == (2 / 3, 3), "an unlikely mark is none"
    assert found["machine's kind is people's", "mark"] == (0.5, 2)
    assert found["machine's recall of people's", "mark, undecided cases"] == (1.0, 1)
    assert found["machine's recall of people's", "region"] == (1.0, 1)
    assert found["machine's text is people's", "region"] == (0.0, 1)


def test_nothing_is_measured_where_nobody_decided() -> None:
    assert machine_metrics([row("f1", "marks", [mark(A)], None)], [row("f1", "regions", [], None)], set()) == []
