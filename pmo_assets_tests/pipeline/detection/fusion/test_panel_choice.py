"""Which source of panels is trusted: features say what is seen, the package's weights who is believed."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.detection.fusion.panel_choice import (
    FigureEvidence,
    Source,
    agreement,
    choice_weights,
    judged,
    option_features,
    scored,
)
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box


def panel(box: Box, score: float = 0.9, source: str = "gutter") -> PanelDetection:
    return PanelDetection("panel", box, score, source)


LEFT, RIGHT = (0.0, 0.0, 0.49, 1.0), (0.51, 0.0, 1.0, 1.0)
HALVES = [panel(LEFT), panel(RIGHT)]
SEEN = [panel(LEFT, 0.95, "network"), panel(RIGHT, 0.95, "network")]
SPECKS = [panel((0.0, 0.0, 0.04, 0.05), 0.4), panel(RIGHT, 0.4)]
IDENTIFIERS = (((0.0, 0.0, 0.04, 0.05), 0.9), ((0.52, 0.0, 0.56, 0.05), 0.9))
FLAT = FigureEvidence(2, IDENTIFIERS, live=False, lettered=True)


def options(structure: list[PanelDetection], network: list[PanelDetection]) -> dict[Source, list[PanelDetection]]:
    return {"structure": structure, "mixture": structure, "network": network}


def test_sources_that_agree_are_worth_more_than_one_alone() -> None:
    assert agreement(HALVES, SEEN) == pytest.approx(1.0)
    assert agreement(HALVES, []) == 0.0
    assert judged(options(HALVES, SEEN), FLAT).worth > judged(options(HALVES, []), FLAT).worth


def test_the_network_is_taken_where_structure_leaves_specks() -> None:
    best = judged(options(SPECKS, SEEN), FLAT)
    assert best.source == "network"
    assert {p.box for p in best.panels} == {LEFT, RIGHT}


def test_the_network_is_not_asked_about_panels_that_have_no_letters() -> None:
    best = judged(options(HALVES, SEEN), FigureEvidence(2, (), live=True, lettered=False))
    assert best.source != "network"


def test_panels_that_are_called_by_their_places_are_not_joined() -> None:
    joined = [panel((0.0, 0.0, 1.0, 1.0), 0.9, "network")]
    by_place = FigureEvidence(2, (), live=True, lettered=False)
    best = judged({"structure": HALVES, "mixture": joined, "network": joined}, by_place)
    assert best.source == "structure"
    alone = judged({"structure": [panel((0.0, 0.0, 1.0, 1.0), 0.3)], "mixture": joined, "network": joined}, by_place)
    assert len(alone.panels) == 1


def test_panels_of_a_doubtful_figure_count_less() -> None:
    plain, doubtful = judged(options(HALVES, SEEN), FLAT), judged(options(SPECKS, []), FLAT)
    assert min(p.score for p in scored(plain)) > max(p.score for p in scored(doubtful))


def test_the_weights_know_no_other_features() -> None:
    known = {name for source in ("structure", "network", "mixture")
             for name in option_features(source, options(HALVES, SEEN), FLAT)}  # fmt: skip
    assert set(choice_weights()) == known
    assert all(0 <= value <= 1 for value in option_features("network", options(SPECKS, SEEN), FLAT).values())
