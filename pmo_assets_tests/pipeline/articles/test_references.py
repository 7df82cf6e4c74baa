"""References of a text to figures and their panels."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.references import (
    MAX_NAMES,
    figure_references,
    is_of_another_publication,
    label_key,
    reference_at,
    references,
)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Fig. 2", ["2"]),
        ("(figure5)", ["5"]),
        ("FIGURE 1", ["1"]),
        ("Figures 1 and 3", ["1", "3"]),
        ("Figs 2–4", ["2", "3", "4"]),
        ("Figs. 2 to 4", ["2", "3", "4"]),
        ("Figs. 1-3, 5", ["1", "2", "3", "5"]),
        ("Figures 3, 4, and 5", ["3", "4", "5"]),
        ("Figure 2A,B", ["2"]),
        ("Fig. 1 a–c", ["1"]),
        ("Figure 2(a)-(c) and 3", ["2", "3"]),
        ("Figs. 1A, 2B and 3C", ["1", "2", "3"]),
        ("Figures 1(a)–1(c)", ["1", "1"]),
        ("(Fig. 2, 3)", ["2", "3"]),
        ("In Figure 2, 3 patients", ["2"]),
        ("in figure 3 a patient", ["3"]),
        ("Figure S1", ["S1"]),
        ("Supplementary Fig. 2", ["S2"]),
        ("Extended Data Fig. 3", ["ED3"]),
        ("Figure IV", ["IV"]),
        ("Scheme 1", ["scheme 1"]),
        ("( Figure 4—figure supplement 1A ) and Figure 5", ["4 supplement 1", "5"]),
        ("Figure 4–figure supplements 1 and 2B", ["4 supplement 1"]),
        ("Figure 4A, figure supplement 2", ["4 supplement 2"]),
        ("Figure 4—source data 1", ["4"]),
        ("Figures 2-2016", ["2"]),
        ("Figure 2 of [12]", []),
        ("Figure 2 in Smith et al. (2014)", []),
        ("Figure 10%", []),
        ("we configure 3 figureheads", []),
    ],
)
def test_figures_named_in_plain_text(text: str, keys: list[str]) -> None:
    assert [key for _, key in figure_references(text)] == keys


@pytest.mark.parametrize(
    ("label", "key"),
    [
        ("Figure 3", "3"),
        ("FIG. 12", "12"),
        ("4.", "4"),
        ("Figure S2", "S2"),
        ("", None),
        ("Figure 1—figure supplement 2", "1 supplement 2"),
        ("(a)", None),
    ],
)
def test_key_of_a_label(label: str, key: str | None) -> None:
    assert label_key(label) == key


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Figs. 2A–C", {"2": ["A–C"]}),
        ("Fig. 2(a) and (b)", {"2": ["a", "b"]}),
        ("Figure 1(a), (b), and (c)", {"1": ["a", "b", "c"]}),
        ("Figures 1(a)–1(c)", {"1": ["a–c"]}),
        ("Figures 2 and 3B", {"2": [], "3": ["B"]}),
        ("Figs. 2(i) and 2(ii)", {"2": ["i", "ii"]}),
        ("Fig. 2A,B and 3C–E", {"2": ["A", "B"], "3": ["C–E"]}),
        ("Figs. 2 (A–C) and 3 (A, B)", {"2": ["A–C"], "3": ["A", "B"]}),
        ("Fig. 4 a1–a3", {"4": ["a1–a3"]}),
        ("Fig. 2A1-3", {"2": ["A1–A3"]}),
        ("Fig. 2Bii–iv", {"2": ["Bii–Biv"]}),
        ("(Fig. 2A, arrow)", {"2": ["A"]}),
        ("Figure 1 (a, b; arrows)", {"1": ["a", "b"]}),
        ("Figure 3, panels A–D", {"3": ["A–D"]}),
        ("Figure 2 A shows", {"2": ["A"]}),
        ("(Fig 2, left)", {"2": ["left"]}),
        ("Figure 2 (top row)", {"2": ["top row"]}),
        ("Figure 2, upper left panel", {"2": ["upper left"]}),
        ("panel B of Figure 3", {"3": ["B"]}),
        ("patients (left panel Figure 1)", {"1": ["left"]}),
        ("patients (panel B, Fig. 3)", {"3": ["B"]}),
        ("(Figure 1, left panel, Figure 2, right panel)", {"1": ["left"], "2": ["right"]}),
        ("panels (A) and (B) in Fig. 2", {"2": ["A", "B"]}),
        ("the left and right panels of Figure 2", {"2": ["left", "right"]}),
        ("Supplementary Fig. 2A", {"S2": ["A"]}),
        ("Fig. 2 A/B", {"2": ["A", "B"]}),
        ("Fig. 2A versus B", {"2": ["A", "B"]}),
        ("(Fig. 2 right)", {"2": ["right"]}),
        ("Figure 2, on the left.", {"2": ["left"]}),
        ("Fig. 2A and 3 patients", {"2": ["A"]}),
        ("Figures 2, 3 and 4 patients", {"2": [], "3": []}),
    ],
)
def test_panels_named_with_their_figure(text: str, named: dict[str, list[str]]) -> None:
    found: dict[str, list[str]] = {}
    for reference in references(text):
        assert reference.key is not None
        assert text[reference.start : reference.end]
        found.setdefault(reference.key, []).extend("–".join(filter(None, name)) for name in reference.names)

    assert found == named


@pytest.mark.parametrize(
    "text",
    [
        "In Figure 2 A total of ten eyes",
        "As figure 2 a patient shows",
        "Figure 2 (a representative case)",
        "Figure 2 (n = 3)",
        "Figure 2 (P < 0.05)",
        "Figure 2 (B-scan)",
        "In Figure 2, I think",
        "Figure 2, right eye",
        "Figure 2, right and left eyes",
        "Figure 2 C. albicans grew",
        "Figure 2 T cells",
        "Figure 2: 5 mm",
    ],
)
def test_articles_units_and_words_are_no_panels(text: str) -> None:
    assert [(found.key, found.names) for found in references(text)] == [("2", ())]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fig. 2A and a second patient", ["A"]),
        ("Fig. 2B, C. albicans", ["B"]),
        ("Fig. 2A in the right eye", ["A"]),
        ("Figure 2A and I thought", ["A"]),
    ],
)
def test_a_list_of_panels_ends_before_other_words(text: str, names: list[str]) -> None:
    (found,) = references(text)

    assert [first for first, _ in found.names] == names


@pytest.mark.parametrize(
    "text",
    [
        "Figure 2A of [12]",
        "Figure 2 in Smith et al. (2014)",
        "as Smith et al. (2014) saw (see their Figure 2)",
        "see their (figures 3 and 4)",
        "[12, Fig. 2]",
        "(Smith et al. 2014, Fig. 2)",
        "(ref. 12, Fig. 2)",
    ],
)
def test_figures_of_other_publications_are_left_out(text: str) -> None:
    assert references(text) == []


@pytest.mark.parametrize(
    ("text", "is_other"),
    [
        ("Fig 1 in [73]", True),
        ("1 of [73]", True),
        ("Figure 2A in Smith et al.", True),
        ("Fig 1 in one eye", False),
        ("above in [73]", False),
    ],
)
def test_a_figure_of_another_publication_at_an_offset(text: str, is_other: bool) -> None:
    assert is_of_another_publication(f"See {text}", len("See ")) is is_other


def test_panels_alone_and_ibid_refer_to_the_figure_before() -> None:
    found = references("See Fig. 3. Panel B shows a hole (ibid., C). The panel agreed; panels A–C do not.")

    assert [(one.key, one.names) for one in found] == [
        ("3", ()),
        (None, (("B", ""),)),
        (None, (("C", ""),)),
        (None, (("A", "C"),)),
    ]


@pytest.mark.parametrize(
    ("text", "offset", "names"),
    [
        ("shown in 2A and B.", 9, [("A", ""), ("B", "")]),
        ("(2(a)–(c))", 1, [("a", "c")]),
        ("and B–D.", 4, [("B", "D")]),
        ("see above", 4, []),
        ("a fundus photograph", 0, []),
        ("12", 0, []),
    ],
)
def test_cross_reference_without_a_word_for_figures(text: str, offset: int, names: list[tuple[str, str]]) -> None:
    assert list(reference_at(text, offset, "2").names) == names


@pytest.mark.parametrize(
    "text",
    [
        "Figs. " + "2A, " * 50_000,
        "Fig. 2A" + ", B" * 50_000,
        "panel A of Fig. 2 " * 10_000,
        "left and right panels " * 10_000,
        "(a) " * 50_000 + "Fig. 2",
        "panels " + "A, " * 50_000,
        "Fig. 2 of " * 20_000,
        "the upper left " * 20_000 + "of Figure 2",
        "ש (Fig. 2A) " * 10_000,
    ],
)
def test_endless_lists_take_time_in_proportion(text: str) -> None:
    start = time.process_time()

    found = references(text)

    assert time.process_time() - start < 5
    assert max((len(one.names) for one in found), default=0) <= MAX_NAMES
    assert all(0 <= one.start <= one.end <= len(text) for one in found)


@given(st.text(alphabet="Figures.Fig 1234567890-–,andABab()SIVX ", max_size=80))
def test_offsets_point_at_the_word(text: str) -> None:
    for offset, key in figure_references(text):
        assert key
        assert "fig" in text[offset : offset + 25].lower()


@given(st.text(alphabet="Figures.2Fig panel 13-–,andABab()ixleft ofibd;", max_size=80))
def test_references_lie_in_the_text_in_order(text: str) -> None:
    found = references(text)

    assert [one.start for one in found] == sorted(one.start for one in found)
    assert all(text[one.start : one.end] for one in found)
