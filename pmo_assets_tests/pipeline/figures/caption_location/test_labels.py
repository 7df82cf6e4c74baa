"""Labels: numbers, and text reduced to what can be compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.caption_location.labels import compact_text, figure_number


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("Figure 3", "3"),
        ("FIGURE 12.", "12"),
        ("Fig. 4", "4"),
        ("Fig.4", "4"),
        ("Figure S2", "s2"),
        ("Supplementary Figure 2", "s2"),
        ("Figure A1", "a1"),
        ("Fig. IV", "4"),
        ("Scheme 1", "1"),
        ("", ""),
        ("Figure", ""),
    ],
)
def test_figure_number(label: str, number: str) -> None:
    assert figure_number(label) == number


@given(st.text(max_size=40))
def test_figure_number_takes_any_text(text: str) -> None:
    assert figure_number(text) == figure_number(text).lower()


def test_compact_text_resolves_ligatures_and_case() -> None:
    assert compact_text("Eﬀect of ﬂuorescein, CD4⁺ (n = 3)") == "effectoffluoresceincd4n3"
