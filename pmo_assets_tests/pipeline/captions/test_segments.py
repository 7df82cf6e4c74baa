"""Joining ranges repairs what leaving out an identifier breaks, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.captions.segments import join_segments


def joined(marked: str) -> str:
    """Joins the parts of a text that stand outside of curly brackets."""
    caption = ""
    segments: list[tuple[int, int]] = []
    for kept in marked.split("}"):
        text, _, removed = kept.partition("{")
        segments.append((len(caption), len(caption) + len(text)))
        caption += text + removed
    return join_segments(caption, segments)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("Eyes. {(a)} Fundus.", "Eyes. Fundus."),
        ("Eyes. {(a)} fundus.", "Eyes. Fundus."),
        ("Eyes. {(a)} mRNA and p53.", "Eyes. mRNA and p53."),
        ("Eyes. {(a)} c.2270G>A mutation.", "Eyes. c.2270G>A mutation."),
        ("Eyes. {(a)} b-wave of rods.", "Eyes. b-wave of rods."),
        ("Eyes. {(a)} p53- and more.", "Eyes. p53- and more."),
        ("Eyes. {(a)} red-free image.", "Eyes. Red-free image."),
        ("Eyes. {(a)} pre-{ and (b) post-}operative.", "Eyes. Pre-operative."),
        ("Eyes. {(a)} anti-VEGF drug.", "Eyes. anti-VEGF drug."),
        ("Eyes. {(a)} n/a.", "Eyes. n/a."),
        ("Eyes. {(a)}, fundus.", "Eyes. Fundus."),
        ("The retina {(a)}.", "The retina."),
        ("The phase {(c)} shows a blush.", "The phase shows a blush."),
        ("Eyes. Fundus, {(b) OCT. }Scale bar, 1 mm.", "Eyes. Fundus. Scale bar, 1 mm."),
        ("Fundus; {(b) OCT.}", "Fundus."),
        ("Loss of cells{(a)} Wild type.", "Loss of cells. Wild type."),
        ("Signal on {(a)} T1-{ and (b) T2-}weighted images.", "Signal on T1-weighted images."),
    ],
)
def test_repairs(marked: str, expected: str) -> None:
    assert joined(marked) == expected


@given(st.text())
def test_the_whole_caption_comes_back_unchanged(caption: str) -> None:
    assert join_segments(caption, [(0, len(caption))]) == caption


def test_no_range_gives_no_text() -> None:
    assert join_segments("Text.", []) == ""
