"""What is said of a figure that was missed, cut, mislabelled or invented."""

from __future__ import annotations

import pytest

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.metrics.figures import figure_metrics, figure_records, worst_figures
from pmo_assets.quality.metrics.matching import matched_articles
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets_tests.quality.metrics.annotated import article, figure

CAPTION = "Optical coherence tomography of the macula in a healthy volunteer, horizontal scan."


def records(truth: AnnotatedFigure | None, found: AnnotatedFigure | None) -> list:  # type: ignore[type-arg]
    return figure_records(
        matched_articles({1: article(*([truth] if truth else []))}, {1: article(*([found] if found else []))})
    )


@pytest.mark.parametrize(
    ("found", "state", "problem"),
    [
        (figure(caption=CAPTION), "right", None),
        (None, "missed", "missed: nothing was found here"),
        (figure(caption=CAPTION, box=(100, 100, 300, 140)), "missed", "IoU 0.40"),
        (figure(caption=CAPTION, box=(100, 100, 300, 180)), "flawed", "loose box: IoU 0.80"),
        (figure(caption=CAPTION[:40]), "flawed", "caption cut off: 40 instead of 83 characters"),
        (figure(caption=CAPTION + " Figure 2. Another."), "flawed", "caption runs on"),
        (figure(caption="Something else altogether that was found elsewhere."), "flawed", "caption differs"),
        (figure(caption=""), "flawed", "no caption"),
        (figure(caption=CAPTION, label="Fig. 2"), "flawed", "wrong label: Fig. 2 instead of Figure 1"),
    ],
)
def test_a_figure_says_what_is_wrong_with_it(found: AnnotatedFigure | None, state: str, problem: str | None) -> None:
    (record,) = records(figure(caption=CAPTION), found)
    assert record.state == state
    assert bool(record.problems) == (problem is not None)
    assert problem is None or problem in record.problems[0]


def test_a_found_figure_that_is_none_is_spurious() -> None:
    (record,) = records(None, figure())
    assert (record.state, record.ordinal) == ("spurious", None)


def test_the_worst_come_first_and_what_is_right_does_not_come() -> None:
    truth = article(*(figure(page=n, caption=CAPTION, label=f"Figure {n}") for n in range(4)))
    found = article(
        figure(page=0, caption=CAPTION, label="Figure 0"),
        figure(page=1, caption=CAPTION, label="Figure 1", box=(100, 100, 300, 180)),
        figure(page=2, caption=CAPTION[:20], label="Figure 2"),
    )
    ranking = worst_figures(figure_records(matched_articles({1: truth}, {1: found})))
    assert [record.label for record in ranking] == ["Figure 3", "Figure 2", "Figure 1"]


def test_numbers_are_shares_of_annotated_or_of_found_figures() -> None:
    truth = article(figure(page=0), figure(page=1), figure(page=2), figure(page=3))
    found = article(
        figure(page=0), figure(page=1, box=(100, 100, 300, 180)), figure(page=2, box=(100, 100, 300, 140)),
        figure(page=7), figure(page=8),
    )  # fmt: skip
    metrics = figure_metrics(matched_articles({1: truth}, {1: found}))
    value = {(m.metric, m.threshold): m.value for m in metrics}
    assert value["figure recall", 0.5] == 2 / 4
    assert value["figure recall", 0.9] == 1 / 4
    assert value["figure precision", 0.5] == 2 / 5
    assert value["median figure IoU", None] == pytest.approx((0.4 + 0.8) / 2)
    assert value["median figure IoU of found", None] == pytest.approx(0.8)
    assert value["label accuracy", None] == 3 / 4


def test_nothing_annotated_gives_no_numbers_and_no_error() -> None:
    metrics = figure_metrics(matched_articles({}, {}))
    assert metric_value(metrics, "figure recall", threshold=0.5) is None
    assert metric_value(metrics, "median figure IoU") is None
