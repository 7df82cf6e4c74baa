"""Regions of a panel from several boxes, in the order of Panel2Patch."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.regions.fusion import EXPANSION, fused_regions, text_similarity
from pmo_assets.records.geometry import Box, width
from pmo_assets.records.regions import Region

PANEL: Box = (0.0, 0.0, 1.0, 1.0)


def shown(box: Box, text: str | None = "drusen", mark: int = 0, confidence: float = 0.9) -> Region:
    return Region(box, (mark,), None, text, None, "marks", confidence)


def named(box: Box, text: str = "drusen", confidence: float = 0.8) -> Region:
    return Region(box, (), None, text, "yellow deposits", "model", confidence)


FIRST, SECOND = (0.1, 0.1, 0.2, 0.2), (0.6, 0.6, 0.7, 0.7)


def test_what_marks_show_stays_as_it_is_without_a_model() -> None:
    regions = (shown(FIRST), shown(SECOND, "fluid", 1))
    assert fused_regions(regions, (), PANEL) == regions


def test_a_models_box_counts_near_a_mark_only_and_takes_its_mark() -> None:
    near = named((0.12, 0.12, 0.26, 0.26), "hard exudates")
    far = named((0.8, 0.1, 0.9, 0.2), "vessel")
    found = fused_regions((shown(FIRST, mark=4),), (near, far), PANEL)
    assert [(region.text, region.source, region.marks) for region in found] == [
        ("drusen", "marks", (4,)),
        ("hard exudates", "marks and model", (4,)),
    ]


def test_a_mark_that_no_box_of_the_model_confirms_is_expanded() -> None:
    found = fused_regions((shown(FIRST), shown(SECOND, "fluid", 1)), (named(FIRST),), PANEL)
    lone = next(region for region in found if region.text == "fluid")
    assert width(lone.box) == pytest.approx(EXPANSION * width(SECOND))


def test_specks_strips_and_the_whole_panel_are_no_regions() -> None:
    boxes: list[Box] = [(0.5, 0.5, 0.505, 0.505), (0.1, 0.5, 0.9, 0.52), (0.01, 0.01, 0.99, 0.99)]
    assert fused_regions([shown(box, mark=n) for n, box in enumerate(boxes)], (), PANEL) == ()


def test_of_two_boxes_at_one_place_the_surer_one_stays() -> None:
    other = (0.1, 0.1, 0.205, 0.205)
    found = fused_regions((shown(FIRST, "fluid", 0, 0.5), shown(other, "drusen", 1, 0.9)), (), PANEL)
    assert [region.text for region in found] == ["drusen"]


def test_overlapping_boxes_that_say_the_same_are_one() -> None:
    other = (0.15, 0.1, 0.25, 0.2)
    found = fused_regions((shown(FIRST, "the drusen", 0), shown(other, "drusen", 1)), (), PANEL)
    assert [(region.box, region.marks) for region in found] == [((0.1, 0.1, 0.25, 0.2), (0, 1))]
    assert len(fused_regions((shown(FIRST, "drusen", 0), shown(other, "fluid", 1)), (), PANEL)) == 2


def test_boxes_end_with_the_panel() -> None:
    panel = (0.0, 0.0, 0.5, 0.5)
    (found,) = fused_regions((shown((0.4, 0.4, 0.6, 0.6)),), (), panel)
    assert found.box == (0.4, 0.4, 0.5, 0.5)


def test_similarity_of_texts() -> None:
    assert text_similarity("white drusen", "drusen, white") == pytest.approx(1.0)
    assert text_similarity("drusen", "fluid") == 0.0
    assert text_similarity("", "") == 1.0
