"""Regions by marks and the phrases that name them: a box for each mark, the authors' words where a phrase has them."""

from __future__ import annotations

import numpy as np

from pmo_assets.pipeline.regions.links import linked_phrases
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.pipeline.regions.shown_regions import UNDECIDED, shown_regions
from pmo_assets.records.geometry import Box
from pmo_assets.records.regions import Mark, MarkColour, MarkKind, Region

PIXELS = np.full((200, 200, 3), 90, np.uint8)
IMAGE: Box = (0.0, 0.0, 1.0, 1.0)


def mark(kind: MarkKind, colour: MarkColour, left: float, probability: float = 0.9) -> Mark:
    return Mark(kind, colour, "#ffffff", (left, 0.4, left + 0.1, 0.5), None, None, None, "vector", 1.0, probability)


def shown(text: str, *marks: Mark) -> tuple[Region, ...]:
    phrases = linked_phrases(region_phrases(text), marks)
    return shown_regions(marks, [IMAGE] * len(marks), phrases, [text] * len(phrases), PIXELS)


def test_each_mark_shows_a_region_with_the_words_of_its_phrase() -> None:
    found = shown(
        "Red circle: drusen. Yellow box: subretinal fluid.", mark("circle", "red", 0.1), mark("box", "yellow", 0.6)
    )
    assert [(region.marks, region.text) for region in found] == [((0,), "drusen"), ((1,), "subretinal fluid")]
    assert found[0].box == (0.1, 0.4, 0.2, 0.5)
    assert all(region.confidence == 0.9 and region.source == "marks" for region in found)


def test_a_mark_that_no_phrase_names_shows_a_region_without_words() -> None:
    (found,) = shown("Fundus photograph.", mark("circle", "red", 0.1))
    assert (found.text, found.phrase) == (None, None)


def test_a_phrase_that_may_mean_another_mark_is_believed_less() -> None:
    found = shown("A circle marks drusen.", mark("circle", "red", 0.1), mark("circle", "yellow", 0.6))
    assert len(found) == 2
    assert {region.confidence for region in found} == {0.9 * UNDECIDED}


def test_what_is_likelier_no_mark_shows_nothing() -> None:
    assert shown("Red circle: drusen.", mark("circle", "red", 0.1, probability=0.3)) == ()
