"""Of a sentence about several panels or figures, the clauses that are about one; whole where that is not sure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.context.clauses import clauses_of_panel
from pmo_assets.pipeline.context.panel_names import PanelNames, panel_names
from pmo_assets_tests.calls import calls_of

NAMES = panel_names(["A", "B", "C"], "2")


def clauses(sentence: str, identifier: str | None, names: PanelNames = NAMES) -> list[str]:
    return [sentence[start:end] for start, end in clauses_of_panel(sentence, identifier, names)]


@pytest.mark.parametrize(
    ("sentence", "of_a", "of_b"),
    [
        (
            "The eye was red (Fig. 2A), whereas the scan showed fluid (Fig. 2B).",
            ["The eye was red (Fig. 2A)"],
            ["the scan showed fluid (Fig. 2B)."],
        ),
        ("Fig. 2A shows the eye; Fig. 2B shows the scan.", ["Fig. 2A shows the eye"], ["Fig. 2B shows the scan."]),
        (
            "The eye was red (Fig. 2A) and the scan showed fluid (Fig. 2B).",
            ["The eye was red (Fig. 2A)"],
            ["the scan showed fluid (Fig. 2B)."],
        ),
        ("The eye was red (panel A); the scan was dark (panel B) and the cells were few (Figure 3).",
         ["The eye was red (panel A)"], ["the scan was dark (panel B)"]),
        ("The eye was red (Fig. 2A); the cells were few (Fig. 3); and the vessels were dilated (Fig. 2A, B).",
         ["The eye was red (Fig. 2A)", "the vessels were dilated (Fig. 2A, B)."],
         ["the vessels were dilated (Fig. 2A, B)."]),
    ],
    ids=["whereas", "references first", "behind a bracket", "without the figure's name", "two clauses"],
)  # fmt: skip
def test_clauses_of_a_panel(sentence: str, of_a: list[str], of_b: list[str]) -> None:
    assert clauses(sentence, "A") == of_a
    assert clauses(sentence, "B") == of_b


@pytest.mark.parametrize(
    "sentence",
    [
        "The eye was red (Fig. 2A), but not the other one (Fig. 2B).",
        "The eye was red (Fig. 2A); it was dark on the scan (Fig. 2B).",
        "The eye was red (Fig. 2A), and was dark on the scan (Fig. 2B).",
        "We asked whether the eye was red (Fig. 2A) and the scan was dark (Fig. 2B).",
        "The eye was red (Fig. 2A) and the scan was dark (Fig. 2B), respectively.",
        "The eye was red (Fig. 2A); the scan was dark (Fig. 2B); all of it was treated.",
        "Fig. 2A shows the eye; the lid was closed; Fig. 2B shows the scan.",
        "Red eyes (Fig. 2A), and dark scans (Fig. 2B), were seen.",
        "The eye (red; Fig. 2A, and wide) was treated (Fig. 2B).",
        "The eye was red (Fig. 2A).The scan was found to be dark (Fig. 2B), and the cells were few (Fig. 2C).",
        "The eye and the scan are shown in Fig. 2A, B.",
    ],
    ids=["no verb", "goes back", "no subject", "a frame", "respectively", "of all", "of which", "one verb for both",
         "within brackets", "no blank between two sentences", "one list"],
)  # fmt: skip
def test_a_sentence_that_cannot_be_cut_stays_whole(sentence: str) -> None:
    assert clauses(sentence, "A") == [sentence]
    assert clauses(sentence, "B") == [sentence]


def test_the_figure_as_a_whole_is_of_each_panel_and_another_figure_of_none() -> None:
    sentence = "The eye was red (Figure 2), while the cells were few (Figure 3)."
    for identifier in ("A", "B", None):
        assert clauses(sentence, identifier) == ["The eye was red (Figure 2)"]
    assert clauses(sentence, "A", panel_names(["A"], "3")) == ["the cells were few (Figure 3)."]
    assert clauses(sentence, "A", panel_names(["A"], None)) == [sentence], "which figure is meant is not known"
    assert clauses(sentence, "A", panel_names(["A"], "7")) == [sentence], "it is not named"


PARTS = st.sampled_from(
    ["The eye was red", "it was", "(Fig. 2A)", "(Figure 3)", "(panel B)", "; ", ", and ", ", whereas ", "(", ")",
     "Fig. 2C", "whether", " and the scan showed fluid", ".", "👁"]
)  # fmt: skip


@given(st.lists(PARTS, max_size=14).map(" ".join))
def test_clauses_are_ranges_in_order_that_do_not_overlap(sentence: str) -> None:
    found = clauses_of_panel(sentence, "A", NAMES)
    assert found
    ends = [place for span in found for place in span]
    assert ends == sorted(ends)
    assert 0 <= ends[0] <= ends[-1] <= len(sentence)


@pytest.mark.parametrize("unit", ["The eye was red (Fig. 2A); ", "; ", "(", "Fig. 2A, and "])
def test_eight_times_the_hostile_text_takes_about_eight_times_the_work(unit: str) -> None:
    def work(repeats: int) -> int:
        return calls_of(lambda: clauses_of_panel((unit * repeats)[:4000], "A", NAMES))

    repeats = 400 // len(unit)
    assert work(8 * repeats) <= 8 * 1.5 * work(repeats)
