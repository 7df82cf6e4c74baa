"""The hostile inputs themselves: repeatable by number, and judged by demands that can fail."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from pmo_assets.records.subcaptions import CaptionSplit, Subcaption
from pmo_assets_tests.faults import steps
from pmo_assets_tests.faults.hostile_captions import hostile_caption
from pmo_assets_tests.faults.hostile_pictures import hostile_picture
from pmo_assets_tests.faults.hostile_xml import hostile_xml
from pmo_assets_tests.faults.material import ATTACKS, package, random_of


def _trouble(kind: str, sources: Sequence[str]) -> str:
    return steps.run_case(kind, 0, 0, sources).rows[0]["trouble"] or ""


@pytest.mark.slow  # make test-faults runs hundreds
@pytest.mark.parametrize("kind", list(steps.CASES))
def test_a_case_of_every_kind_goes_through_the_steps(kind: str, fault_sources: Sequence[str]) -> None:
    assert _trouble(kind, fault_sources) == ""


@pytest.mark.slow  # a process
def test_a_case_is_repeated_by_its_number(fault_sources: Sequence[str]) -> None:
    xml = package(fault_sources[0]).xml
    for number in range(20):
        first, second = ([hostile_xml(xml, rng), hostile_caption(rng), hostile_picture(rng)] for rng in _twice(number))
        assert first == second


def _twice(number: int) -> tuple[random.Random, random.Random]:
    return random_of("any", 7, number), random_of("any", 7, number)


def test_numbers_give_different_cases() -> None:
    assert len({hostile_caption(random_of("caption", 0, number)) for number in range(50)}) > 30


def test_an_error_of_the_code_is_trouble(fault_sources: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "split_caption", lambda caption: caption[len(caption)])
    assert "IndexError" in _trouble("caption", fault_sources)


@pytest.mark.parametrize("segments", [((0, 999),), ((2, 1),), ((3, 4), (0, 1)), ((0, 3),)])
def test_segments_that_do_not_make_the_text_are_trouble(
    segments: tuple[tuple[int, int], ...], fault_sources: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    split = CaptionSplit((Subcaption("A", "Other words.", segments),), 0.5)
    monkeypatch.setattr(steps, "hostile_caption", lambda rng: ("", "(A) Left."))
    monkeypatch.setattr(steps, "split_caption", lambda caption: split)
    assert "NotHeld" in _trouble("caption", fault_sources)


@pytest.mark.parametrize("attack", ATTACKS[:4])
def test_text_that_becomes_markup_is_trouble(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps._article_pages(attack, [], [])
    monkeypatch.setattr(steps, "render_report", lambda summary: summary.title)
    with pytest.raises(steps.NotHeld, match="escaped"):
        steps._article_pages(attack, [], [])
