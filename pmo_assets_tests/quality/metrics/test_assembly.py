"""Whether the right identifier and subcaption sit on the right panel."""

from __future__ import annotations

import pytest

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.metrics.assembly import assembly_metrics, assembly_record, figure_bleu, worst_assemblies
from pmo_assets.quality.metrics.matching import FigurePair, matched_articles
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets_tests.quality.metrics.annotated import article, figure, panel, two_panels

LEFT, RIGHT = (0, 0, 0.5, 1), (0.5, 0, 1, 1)


def pair(truth: AnnotatedFigure, found: AnnotatedFigure | None) -> FigurePair:
    return matched_articles({1: article(truth)}, {1: article(*([found] if found else []))}).pairs[0]


@pytest.mark.parametrize(
    ("found", "assigned", "state", "reason"),
    [
        (panel("a", LEFT, text="An OCT scan."), True, "right", ""),
        (panel("A)", LEFT, text="An OCT scan."), True, "right", ""),
        (panel("b", LEFT, text="An OCT scan."), False, "right", "called b"),
        (panel("a", LEFT, text="A fundus photograph."), True, "wrong", "subcaption differs"),
        (panel("a", LEFT, text=None, assembly_reason="tie"), True, "none", "no subcaption (tie)"),
        (panel("a", RIGHT, text="An OCT scan."), False, "missed", "no panel was found here"),
    ],
)
def test_a_panel_says_what_became_of_it(found: dict, assigned: bool, state: str, reason: str) -> None:  # type: ignore[type-arg]
    record = assembly_record(pair(two_panels(), figure(found))).panels[0]
    assert (record.assigned, record.state) == (assigned, state)
    assert record.reason.startswith(reason)


def test_a_panel_without_annotated_text_is_right_without_a_subcaption() -> None:
    record = assembly_record(pair(figure(panel("a", LEFT)), figure(panel("a", LEFT, text=None))))
    assert record.panels[0].state == "right"


def test_a_found_panel_where_none_is_counts_as_spurious() -> None:
    found = figure(*two_panels().model_dump()["panels"], panel("c", (0.4, 0.4, 0.6, 0.6)))
    assert assembly_record(pair(two_panels(), found)).spurious == 1


def test_the_identifiers_decide_whether_a_figure_is_processed() -> None:
    assert figure_bleu(pair(two_panels(), two_panels()))[0]
    assert figure_bleu(pair(two_panels(), two_panels()))[1] == pytest.approx(1)
    assert figure_bleu(pair(two_panels(), figure(panel("a", LEFT)))) == (False, None)
    assert figure_bleu(pair(two_panels(), None)) == (False, None)


def test_numbers_are_shares_of_annotated_panels() -> None:
    truth = article(two_panels(), two_panels(page=1))
    found = article(
        figure(
            panel("a", LEFT, text="An OCT scan.", assembly="identifier"),
            panel("c", RIGHT, text=None),
        )
    )
    metrics = assembly_metrics(matched_articles({1: truth}, {1: found}).pairs)
    assert metric_value(metrics, "panels assigned") == 1 / 4
    shares = {m.group: m.value for m in metrics if m.metric == "panels by subcaption"}
    assert shares == {"right": 1 / 4, "wrong": 0, "none": 1 / 4, "missed": 1 / 2}
    assert metric_value(metrics, "right subcaptions by method", "identifier") == 1
    assert metric_value(metrics, "unprocessed figures", "several panels") == 1


def test_the_worst_figures_come_first_and_right_ones_do_not_come() -> None:
    truth = article(*(two_panels(page=n) for n in range(3)))
    found = article(
        two_panels(), figure(panel("a", LEFT, text="An OCT scan."), panel("b", RIGHT, text="A photograph."), page=1)
    )
    pairs = matched_articles({1: truth}, {1: found}).pairs
    assert [record.pair.ordinal for record in worst_assemblies(map(assembly_record, pairs))] == [2, 1]
