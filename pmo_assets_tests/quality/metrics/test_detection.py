"""Average precision, confusion and marks on examples that can be reckoned by hand, and what must always hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.metrics.detection import (
    FigureBoxes,
    LabelledBox,
    calibration_metrics,
    detection_claims,
    detection_metrics,
    detection_record,
    figure_boxes,
    ranked,
    type_confusion,
    worst_detections,
)
from pmo_assets.quality.metrics.matching import matched_articles
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets.records.average_precision import average_precision
from pmo_assets_tests.quality.metrics.annotated import article, figure, image, panel, two_panels


def compared(truth: AnnotatedFigure, found: AnnotatedFigure | None) -> list[FigureBoxes]:
    return figure_boxes(matched_articles({1: article(truth)}, {1: article(*([found] if found else []))}).pairs)


boxes = st.tuples(*[st.floats(0, 0.9, allow_subnormal=False)] * 2, st.floats(0.02, 0.1), st.floats(0.02, 0.1)).map(
    lambda v: (v[0], v[1], v[0] + v[2], v[1] + v[3])
)
figures = st.lists(
    st.tuples(boxes, st.sampled_from(["CFP", "OCT", "Other"]), st.booleans()), min_size=1, max_size=6
).map(
    lambda items: figure(*(panel(str(n), box, image(box, kind, marked)) for n, (box, kind, marked) in enumerate(items)))
)


@given(st.lists(figures, min_size=1, max_size=3))
def test_the_truth_itself_is_a_perfect_prediction(items: list[AnnotatedFigure]) -> None:
    whole = article(*(f.model_copy(update={"figure_locations": figure(page=n).figure_locations})
                      for n, f in enumerate(items)))  # fmt: skip
    metrics = detection_metrics(figure_boxes(matched_articles({1: whole}, {1: whole}).pairs))
    for metric in metrics:
        if metric.metric in ("AP", "mAP") and metric.n:
            assert metric.value == pytest.approx(1), metric


# what is compared


def test_of_a_figure_that_was_not_found_every_box_is_missed() -> None:
    far = two_panels(box=(100, 100, 300, 140))
    (boxes,) = compared(two_panels(), far)
    assert len(boxes.truth) == 5
    assert boxes.found == ()
    assert "not found" in detection_record(boxes).problems[0]


def test_boxes_are_compared_on_the_page_not_in_their_figures() -> None:
    # The found figure is wider, so its normalised boxes differ, but on the page the panels are the same.
    truth = figure(panel(None, (0, 0, 1, 1)), box=(100, 100, 300, 200))
    found = figure(panel(None, (0, 0, 0.8, 1)), box=(100, 100, 350, 200))
    assert average_precision(ranked(compared(truth, found), "panel"), 0.95) == 1


def test_types_are_classes_of_their_own() -> None:
    found = figure(
        panel("a", (0, 0, 0.5, 1), image((0, 0, 0.5, 1), "CFP", True)),
        panel("b", (0.5, 0, 1, 1), image((0.5, 0, 1, 1), "CFP", False, 0.9)),
    )
    metrics = detection_metrics(compared(two_panels(), found))
    assert metric_value(metrics, "AP", "OCT", 0.5) == 0
    assert metric_value(metrics, "AP", "CFP", 0.5) == 0.5  # the wrong one has the higher score
    assert metric_value(metrics, "AP", "any image", 0.5) == 1
    assert metric_value(metrics, "mAP", "image types", 0.5) == 0.25
    assert metric_value(metrics, "type accuracy", "images found") == 0.5
    assert metric_value(metrics, "mark status accuracy", "images found") == 1


def test_confusion_names_what_is_missed_invented_and_undecided() -> None:
    found = figure(
        panel("a", (0, 0, 0.5, 1), image((0, 0, 0.5, 1), None, None), image((0.1, 0.1, 0.2, 0.2), "Other")),
        panel("b", (0.5, 0, 1, 1)),
    )
    counts = type_confusion(compared(two_panels(), found))
    assert counts == {("OCT", "undecided"): 1, ("CFP", "missed"): 1, ("nothing", "Other"): 1}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda f: f, None),
        (lambda f: f.model_copy(update={"panels": f.panels[:1]}), "missed 1 panel, 1 image"),
        (
            lambda f: f.model_copy(update={"panels": (*f.panels, *f.panels[:1])}),
            "spurious 1 panel, 1 identifier, 1 image",
        ),
    ],
)
def test_a_record_says_what_is_wrong(change: Callable[[AnnotatedFigure], AnnotatedFigure], problem: str | None) -> None:
    (boxes,) = compared(two_panels(), change(two_panels()))
    assert detection_record(boxes).problems == (() if problem is None else (problem,))


def test_a_record_counts_wrong_types_marks_and_places() -> None:
    found = figure(
        panel("a", (0, 0, 0.5, 0.6), image((0, 0, 0.5, 1), "CFP", False), identifier_box=[0, 0, 0.1, 0.1]),
        panel("b", (0.5, 0, 1, 1), image((0.5, 0, 1, 1), "CFP")),
    )
    (boxes,) = compared(two_panels(), found)
    record = detection_record(boxes)
    assert (record.misplaced, record.wrong_types, record.wrong_marks) == ((1, 0, 0), 1, 1)
    assert record.problems == ("misplaced 1 panel", "1 × CFP instead of OCT", "mark status of 1 image wrong")


def test_the_worst_figures_come_first() -> None:
    truth = article(two_panels(), two_panels(page=1), two_panels(page=2))
    one_panel = two_panels(page=1).model_copy(update={"panels": two_panels().panels[:1]})
    pairs = matched_articles({1: truth}, {1: article(two_panels(), one_panel)}).pairs
    assert [r.pair.ordinal for r in worst_detections(map(detection_record, figure_boxes(pairs)))] == [2, 1]


# what scores and probabilities claim


def test_claims_are_compared_with_what_came_out() -> None:
    (boxes,) = compared(two_panels(), None)
    first, second = [box.box for box in boxes.truth if box.kind == "panel"]
    found = (
        LabelledBox(first, "panel", 0.5, probability=0.9),
        LabelledBox((0.0, 0.0, 1.0, 1.0), "panel", 0.6, probability=0.2),
        LabelledBox(second, "panel", 0.7, probability=0.8),
        LabelledBox(second, "OCT", 0.7),
    )
    detected = [FigureBoxes(boxes.pair, boxes.truth, found)]
    claims = detection_claims(detected, "panel")
    assert (claims.scores, claims.probabilities) == ((0.5, 0.6, 0.7), (0.9, 0.2, 0.8))
    assert claims.right == (True, False, True)
    assert detection_claims(detected, None).right == (), "what states no probability claims nothing"
    metrics = calibration_metrics(detected)
    assert metric_value(metrics, "calibration error", "panel") == pytest.approx((0.1 + 0.2 + 0.2) / 3)
    assert metric_value(metrics, "Brier score of scores", "panel") == pytest.approx((0.25 + 0.36 + 0.09) / 3)
    assert metric_value(metrics, "Brier score", "any image") is None
