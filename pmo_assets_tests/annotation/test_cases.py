"""Undecided cases and audit samples."""

from __future__ import annotations

from collections import Counter

import polars as pl

from pmo_assets.annotation.cases import FigureCase, audit_sample, figure_cases, is_undecided, stratum
from pmo_assets.records.reviews import Purpose
from pmo_assets_tests.annotation.answered_cases import LEFT, RIGHT, case, figure_row, panel_row


def many(count: int = 60) -> list[FigureCase]:
    made = []
    for number in range(count):
        word = "LLM Assignment" if number % 10 == 0 else "Automatic Caption Assignment"
        rows = [panel_row(0, LEFT, "a", assembly=word), panel_row(1, RIGHT, "b"), panel_row(2, RIGHT, None)]
        made.append(case(*rows, purpose="audit", image_cluster_id=f"f{number}"))
    return made


def test_a_case_is_undecided_without_a_subcaption_or_below_a_confidence() -> None:
    certain = case(panel_row(0, LEFT, "a", confidence=0.8))
    assert is_undecided(case(), 0.0)
    assert not is_undecided(certain, 0.8)
    assert is_undecided(certain, 0.81)


def test_what_a_model_decided_and_figures_that_do_not_go_on_are_not_open() -> None:
    assert not is_undecided(case(panel_row(0, LEFT, "a", confidence=0.6, assembly="LLM Assignment")), 0.9)
    assert not is_undecided(case(panel_row(0, LEFT, "a", confidence=0.6, assembly="Manual Assignment")), 0.9)
    assert not is_undecided(case(panel_row(0, LEFT, None, wanted=False)), 0.9)


def test_a_sample_has_as_many_of_each_kind_as_there_are_and_is_the_same_again() -> None:
    sample = list(audit_sample(many, 20, seed=1))
    drawn = Counter(stratum(panel.assembly) for item in sample for panel in item.panels if panel.ordinal in item.asked)
    assert drawn == {"LLM Assignment": 6, "Automatic Caption Assignment": 14}
    assert sample == list(audit_sample(many, 20, seed=1))
    assert sample != list(audit_sample(many, 20, seed=2))


def test_panels_without_a_subcaption_are_not_judged_and_figures_may_be_drawn_whole() -> None:
    everything = list(audit_sample(many, 10_000, seed=0))
    assert sum(len(item.asked) for item in everything) == 120
    figures = list(audit_sample(many, 8, seed=0, by_figure=True))
    assert len(figures) == 8
    assert all(item.asked == {0, 1} for item in figures)


class Batch:
    """Tables of one batch: the machine leaves panel b open, people decided it."""

    def __init__(self, *, reviewed: bool) -> None:
        machine = [panel_row(0, LEFT, "a"), panel_row(1, RIGHT, None)]
        people = [machine[0], panel_row(1, RIGHT, "b", assembly="Manual Assignment", confidence=1.0)]
        self.rows = {"articles": [{"article_id": 7, "package": "PMC7"}], "figures": [figure_row()],
                     "panel_assembly": machine, "reviewed_panels": people}  # fmt: skip
        self.reviewed = reviewed

    def exists(self, asset: str, batch: str) -> bool:
        return self.reviewed and asset == "reviewed_panels"

    def read(self, asset: str, batch: str) -> pl.DataFrame:
        return pl.DataFrame(self.rows[asset])


def test_what_people_decided_is_not_put_before_them_again_but_audited_as_the_machine_had_it() -> None:
    def found(purpose: Purpose, *, reviewed: bool) -> list[FigureCase]:
        return list(figure_cases(Batch(reviewed=reviewed), {"b1": [7]}, purpose))  # type: ignore[arg-type]

    assert [is_undecided(item, 0.9) for item in found("resolve", reviewed=False)] == [True]
    assert [is_undecided(item, 0.9) for item in found("resolve", reviewed=True)] == [False]
    assert [panel.assembly for item in found("audit", reviewed=True) for panel in item.panels][1] is None
