"""Panels of a figure by the names that the running text gives them."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.panel_names import panel_names


@pytest.mark.parametrize(
    ("identifiers", "names", "named"),
    [
        ("ABCD", [("a", "")], ["A"]),
        ("abcd", [("A", "C")], ["a", "b", "c"]),
        ("ABD", [("A", "D")], ["A", "B", "C", "D"]),
        (["A1", "A2", "B"], [("A", ""), ("B", "")], ["A1", "A2", "B"]),
        ("AB", [("a1", "a3")], ["A", "A", "A"]),
        (["a1", "a2", "a3"], [("a1", "a3")], ["a1", "a2", "a3"]),
        (["i", "ii", "iii"], [("i", "iii")], ["i", "ii", "iii"]),
        ("ghijk", [("h", "j")], ["h", "i", "j"]),
        (["left", "right"], [("left", "")], ["left"]),
        (["top left", "top right", "bottom left"], [("top row", "")], ["top left", "top right"]),
        (["top row", "bottom row"], [("top row", "")], ["top row"]),
        ("AB", [("left", "")], ["left"]),
        ("AB", [("F", "")], ["F"]),
        ([None], [("A", "")], ["A"]),
        (["2A", "2B"], [("B", "")], ["2B"]),
        ("ABC", [("C", "A")], ["C", "A"]),
    ],
)
def test_names_become_identifiers_of_the_figure_or_stay_as_printed(
    identifiers: list[str | None], names: list[tuple[str, str]], named: list[str]
) -> None:
    assert list(panel_names(identifiers, "2").named(names)) == named


def test_of_equal_identifiers_the_first_counts() -> None:
    assert panel_names(["A", "(a)", "B"]).order == ("A", "B")
