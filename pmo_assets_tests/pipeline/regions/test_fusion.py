"""Regions of a panel from several boxes, in the order of Panel2Patch."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.regions.fusion import fused_regions
from pmo_assets.records.geometry import Box, as_box, contains
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
        ("hard exudates", "model", (4,)),
    ]


def test_a_mark_that_no_box_of_the_model_confirms_keeps_its_region() -> None:
    found = fused_regions((shown(FIRST), shown(SECOND, "fluid", 1)), (named(FIRST),), PANEL)
    assert next(region for region in found if region.text == "fluid") == shown(SECOND, "fluid", 1)


def test_specks_strips_and_the_whole_panel_are_no_regions() -> None:
    boxes: list[Box] = [(0.5, 0.5, 0.505, 0.505), (0.1, 0.5, 0.9, 0.52), (0.1, 0.1, 0.9, 0.9)]
    assert fused_regions([shown(box, mark=n) for n, box in enumerate(boxes)], (), PANEL) == ()


def test_of_two_boxes_at_one_place_the_surer_one_stays() -> None:
    other = (0.1, 0.1, 0.205, 0.205)
    found = fused_regions((shown(FIRST, "fluid", 0, 0.5), shown(other, "drusen", 1, 0.9)), (), PANEL)
    assert [region.text for region in found] == ["drusen"]


def test_two_phrases_that_name_one_mark_have_a_region_each() -> None:
    first = replace(shown(FIRST, "drusen", 0), phrase=0)
    second = replace(shown(FIRST, "subretinal fluid", 0, 0.45), phrase=1)
    assert fused_regions((first, second), (), PANEL) == (first, second)
    again = replace(shown((0.1, 0.1, 0.205, 0.205), "drusen", 1, 0.8), phrase=0)
    (one,) = fused_regions((first, again), (), PANEL)
    assert (one.phrase, one.marks) == (0, (0, 1)), "a phrase that names two marks at one place has one"


def test_overlapping_boxes_that_say_the_same_are_one() -> None:
    other = (0.15, 0.1, 0.25, 0.2)
    found = fused_regions((shown(FIRST, "the drusen", 0), shown(other, "drusen", 1)), (), PANEL)
    assert [(region.box, region.marks) for region in found] == [((0.1, 0.1, 0.25, 0.2), (0, 1))]
    assert len(fused_regions((shown(FIRST, "drusen", 0), shown(other, "fluid", 1)), (), PANEL)) == 2


def test_boxes_end_with_the_panel() -> None:
    panel = (0.0, 0.0, 0.5, 0.5)
    (found,) = fused_regions((shown((0.4, 0.4, 0.6, 0.6)),), (), panel)
    assert found.box == (0.4, 0.4, 0.5, 0.5)


def test_a_model_names_what_a_mark_without_a_phrase_shows() -> None:
    (found,) = fused_regions((shown(FIRST, None),), (named(FIRST),), PANEL)
    assert (found.text, found.description, found.source) == ("drusen", "yellow deposits", "marks and model")


def test_a_mark_with_words_takes_the_description_of_a_suppressed_box_that_agrees() -> None:
    (same,) = fused_regions((shown(FIRST),), (named(FIRST),), PANEL)
    assert (same.box, same.text, same.description) == (FIRST, "drusen", "yellow deposits")
    (other,) = fused_regions((shown(FIRST),), (named(FIRST, "fluid"),), PANEL)
    assert (other.text, other.description, other.source) == ("drusen", None, "marks")


def test_a_models_box_is_no_surer_than_its_mark() -> None:
    found = fused_regions((shown(FIRST, confidence=0.3),), (named((0.12, 0.12, 0.26, 0.26), "fluid"),), PANEL)
    assert {region.confidence for region in found} == {0.3}


def test_joined_boxes_keep_the_phrase_of_the_mark() -> None:
    phrase = replace(shown(FIRST, "soft drusen", confidence=0.3), phrase=2)
    (found,) = fused_regions((phrase,), (named((0.12, 0.1, 0.22, 0.2), "drusen, soft"),), PANEL)
    assert (found.phrase, found.text, found.source) == (2, "soft drusen", "marks and model")


def test_distances_and_aspects_are_those_of_the_picture() -> None:
    near = named((0.1, 0.28, 0.2, 0.38))
    assert len(fused_regions((shown(FIRST, "fluid"),), (near,), PANEL, ratio=1.0)) == 1
    assert len(fused_regions((shown(FIRST, "fluid"),), (near,), PANEL, ratio=4.0)) == 2
    strip = shown((0.1, 0.1, 0.4, 0.2))
    assert fused_regions((strip,), (), PANEL, ratio=5.0) == ()
    assert fused_regions((strip,), (), PANEL, ratio=1.0) == (strip,)


BOXES = st.tuples(*[st.floats(0, 1, allow_nan=False)] * 4).map(as_box)


@given(st.lists(BOXES, max_size=4), st.lists(BOXES, max_size=4))
def test_whatever_is_fused_lies_in_the_panel_with_a_mark_and_words_that_were_given(
    marks: list[Box], boxes: list[Box]
) -> None:
    panel = (0.2, 0.2, 0.9, 0.9)
    given_ = [shown(box, f"thing {n}", n) for n, box in enumerate(marks)]
    found = fused_regions(given_, [named(box) for box in boxes], panel)
    assert all(contains(panel, region.box) and region.marks for region in found)
    assert {region.text for region in found} <= {"drusen", *(region.text for region in given_)}
