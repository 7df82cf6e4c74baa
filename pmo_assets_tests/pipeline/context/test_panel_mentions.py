"""Sentences that speak of figures and panels."""

from __future__ import annotations

import time

import pytest

from pmo_assets.pipeline.context.panel_mentions import (
    MAX_CHARACTERS,
    MAX_MENTIONS,
    MAX_SENTENCE,
    NamedFigure,
    mentions_of_panel,
    panel_mentions,
)
from pmo_assets.records.context import CrossReference, PanelMention, RunningParagraph

ONE = NamedFigure("g1", "Figure 1", ("A", "B", "C"))
TWO = NamedFigure("g2", "Figure 2", (None,))


def said(text: str, *marks: tuple[int, str], source: str = "xml") -> list[tuple[str, str | None, str, str]]:
    """(figure, identifier, kind, sentence) of every mention in a paragraph, by figure."""
    paragraph = RunningParagraph("results", "R", text, tuple(CrossReference(*mark) for mark in marks))
    found = panel_mentions([paragraph], [ONE, TWO])
    return [
        (cluster, mention.identifier, mention.kind, mention.sentence)
        for cluster, own in found.items()
        for mention in own.mentions
    ]


def test_a_sentence_names_panels_figures_or_both() -> None:
    text = "It was red (Fig. 1a,c). Figures 1 and 2 agree. Figure 1 and its panel B show more. Nothing here."

    assert said(text) == [
        ("g1", "A", "names panel", "It was red (Fig. 1a,c)."),
        ("g1", "C", "names panel", "It was red (Fig. 1a,c)."),
        ("g1", None, "names figure", "Figures 1 and 2 agree."),
        ("g1", None, "names figure", "Figure 1 and its panel B show more."),
        ("g1", "B", "names panel", "Figure 1 and its panel B show more."),
        ("g2", None, "names figure", "Figures 1 and 2 agree."),
    ]


def test_a_mention_stands_at_its_offsets_with_its_section_and_source() -> None:
    text = "First. See Fig. 2. Last."

    (own,) = panel_mentions([RunningParagraph("case", "2. Case", text, source="pdf")], [TWO])["g2"].mentions

    assert own == PanelMention(None, 0, "case", "2. Case", 7, 18, "See Fig. 2.", "names figure", "pdf")
    assert text[own.start : own.end] == own.sentence


def test_a_name_that_fits_no_panel_stays_and_is_not_the_whole_figure() -> None:
    assert said("See Fig. 1F and Fig. 2A.") == [
        ("g1", "F", "names panel", "See Fig. 1F and Fig. 2A."),
        ("g2", "A", "names panel", "See Fig. 1F and Fig. 2A."),
    ]


def test_cross_references_show_what_words_do_not() -> None:
    assert said("See 1B and above.", (4, "g1"), (11, "g2")) == [
        ("g1", "B", "names panel", "See 1B and above."),
        ("g2", None, "names figure", "See 1B and above."),
    ]


def test_words_outside_of_a_cross_reference_name_its_panels() -> None:
    paragraph = RunningParagraph("results", None, "See Fig. 1A, B and Fig. 2.", (CrossReference(4, "g1"),))

    found = panel_mentions([paragraph], [ONE, TWO])

    assert [(one.identifier, one.source) for one in found["g1"].mentions] == [("A", "xref"), ("B", "xref")]
    assert [(one.identifier, one.source) for one in found["g2"].mentions] == [(None, "text")]


def test_a_figure_without_a_label_is_known_by_its_cross_reference() -> None:
    paragraph = RunningParagraph("results", None, "See Fig. 7B.", (CrossReference(4, "g7"),))

    (own,) = panel_mentions([paragraph], [NamedFigure("g7", None, ("A", "B"))])["g7"].mentions

    assert (own.identifier, own.source) == ("B", "xref")


@pytest.mark.parametrize(
    "text",
    [
        "Supplementary Figure 1 shows it.",
        "As in Figure 1 of [12].",
        "See their Figure 1.",
        "Panel B shows it.",
        "Grade 1A and vitamin B.",
    ],
)
def test_what_is_no_figure_of_the_article_is_no_mention(text: str) -> None:
    assert said(text) == []


def test_panels_alone_and_ibid_are_of_the_figure_before_in_the_paragraph() -> None:
    text = "Figure 1 gives all. Panel B shows a hole. It closed (ibid., C). Panel Z is none."

    assert [(identifier, sentence[:7]) for _, identifier, _, sentence in said(text)] == [
        (None, "Figure "),
        ("B", "Panel B"),
        ("C", "It clos"),
    ]


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("It was red (Fig. 1A). In this eye, it stayed. The lesion grew. Then she left.", [("A", 2)]),
        ("It was red (Fig. 1A). Patients were seen again. In this eye, it stayed.", []),
        ("It was red (Fig. 1A). The lesions of others grew [12].", []),
        ("It was red (Fig. 1A). The lesion grew (Fig. 2).", []),
        ("It was red (Figs. 1A and 2). The lesion grew.", []),
        ("It was red (Fig. 1A and B). The lesion grew.", []),
        ("It was red (Fig. 1A and B). White arrows mark it.", [("A", 1), ("B", 1)]),
        ("It was red (Fig. 1). Arrows mark it.", [(None, 1)]),
    ],
)
def test_sentences_that_carry_on(text: str, follows: list[tuple[str | None, int]]) -> None:
    found = [identifier for cluster, identifier, kind, _ in said(text) if kind == "follows"]

    assert [(name, found.count(name)) for name in dict.fromkeys(found)] == follows


def test_what_is_said_of_a_panel_is_of_itself_and_of_the_whole_figure() -> None:
    text = "Figure 1 shows all. Red (Fig. 1A). Blue (Fig. 1B). In Figure 1, panel A is new."
    mentions = panel_mentions([RunningParagraph("results", None, text)], [ONE])["g1"].mentions

    own = mentions_of_panel(mentions, "a")
    assert [one.sentence[:5] for one in own] == ["Figur", "Red (", "In Fi"]
    assert [one.identifier for one in own] == [None, "A", "A"]
    assert [one.sentence[:5] for one in mentions_of_panel(mentions, None)] == ["Figur"]


def test_ten_thousand_references_in_a_sentence_are_bounded() -> None:
    text = (
        "It was seen (" + ", ".join(f"Fig. 1{letter}{n % 9 + 1}" for n in range(1000) for letter in "ABCDEFGHIJ") + ")."
    )
    start = time.process_time()

    found = panel_mentions([RunningParagraph("results", None, text)] * 3, [ONE, TWO])["g1"]

    assert time.process_time() - start < 10
    assert {one.identifier for one in found.mentions} >= {"A", "B", "C", "J9"}
    assert len(found.mentions) <= MAX_MENTIONS
    assert max(len(one.sentence) for one in found.mentions) <= MAX_SENTENCE


def test_more_mentions_than_are_kept_are_counted() -> None:
    paragraphs = [RunningParagraph("results", None, "See Fig. 1A–C.")] * MAX_MENTIONS
    long = [RunningParagraph("results", None, "word " * 700 + "(Fig. 2).")] * (MAX_CHARACTERS // 3_500 + 10)

    found = panel_mentions([*paragraphs, *long], [ONE, TWO])

    assert (len(found["g1"].mentions), found["g1"].left_out) == (MAX_MENTIONS, 2 * MAX_MENTIONS)
    assert len(found["g2"].mentions) + found["g2"].left_out == len(long)
    assert sum(len(one.sentence) for own in found.values() for one in own.mentions) <= MAX_CHARACTERS


def test_text_from_right_to_left_and_control_characters() -> None:
    text = "\u202bהעין הייתה אדומה (Figure 1A).\u202c \u2067ראו Fig. 2\u2069\x07."

    assert [(cluster, identifier) for cluster, identifier, _, _ in said(text)] == [("g1", "A"), ("g2", None)]
