"""In-text mentions: sentences, references in plain text, and mentions per figure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.mentions import (
    MAX_MENTIONS,
    MAX_PARAGRAPH,
    ReferringParagraph,
    figure_references,
    label_key,
    mentions_of_figures,
    sentence_spans,
)
from pmo_assets.records.article import InTextMention


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The lesion (Fig. 2) was seen in Figs. 3 and 4.",
        "Described by Smith et al. [12] in J. R. Miller's clinic.",
        "Some modalities, e.g. OCT, i.e. B-scans, vs. Fundus images.",
        "Thickness was 3.5 mm (p = 0.05; approx. 12 eyes; No. 5).",
        "Made by Zeiss Inc. Dublin, and Dr. House agreed.",
    ],
)
def test_abbreviations_decimals_and_initials_do_not_end_a_sentence(text: str) -> None:
    assert sentences(text) == [text]


def test_sentences_end_at_marks_before_a_capital() -> None:
    text = "We saw it (Fig. 2). Was it so? Yes! A scar of Smith et al. The end. “Quoted.” Next."

    assert sentences(text) == [
        "We saw it (Fig. 2).",
        "Was it so?",
        "Yes!",
        "A scar of Smith et al.",
        "The end.",
        "“Quoted.”",
        "Next.",
    ]


def test_an_initial_before_a_typical_first_word_ends_a_sentence() -> None:
    assert sentences("They lacked vitamin D. The patients recovered.") == [
        "They lacked vitamin D.",
        "The patients recovered.",
    ]


def test_a_citation_number_may_stick_to_the_full_stop() -> None:
    assert sentences("It detached the retina.12,13 Surgery helped.") == [
        "It detached the retina.12,13",
        "Surgery helped.",
    ]


@given(st.text(alphabet="aA .!?)12“", max_size=60))
def test_sentences_cover_the_text(text: str) -> None:
    text = " ".join(text.split())

    assert " ".join(sentences(text)) == text


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
    [("Figure 3", "3"), ("FIG. 12", "12"), ("4.", "4"), ("Figure S2", "S2"), ("", None), ("(a)", None)],
)
def test_key_of_a_label(label: str, key: str | None) -> None:
    assert label_key(label) == key


def test_a_sentence_counts_once_for_cross_reference_and_plain_text() -> None:
    text = "First. Seen in Figure 1 and again in Figure 1(a). Figures 1 and 2 agree."
    paragraph = ReferringParagraph(text, ((15, "f1"), (38, "f1")))

    first, second = mentions_of_figures([paragraph], ids=[["f1"], ["f2"]], labels=["Figure 1", "Figure 2"])

    assert first == (
        InTextMention("Seen in Figure 1 and again in Figure 1(a).", text),
        InTextMention("Figures 1 and 2 agree.", text),
    )
    assert second == (InTextMention("Figures 1 and 2 agree.", text),)


def test_a_cross_reference_alone_is_enough() -> None:
    paragraph = ReferringParagraph("As shown above (arrow).", ((9, "f7"), (9, "unknown")))

    assert mentions_of_figures([paragraph], ids=[["f7"]], labels=[""]) == [
        (InTextMention("As shown above (arrow).", "As shown above (arrow)."),)
    ]


def test_of_two_figures_with_one_number_the_text_means_the_first() -> None:
    paragraph = ReferringParagraph("See Figure 1.")

    first, second = mentions_of_figures([paragraph], ids=[[], []], labels=["Figure 1", "Fig. 1"])

    assert (len(first), len(second)) == (1, 0)


def test_endless_text_is_bounded() -> None:
    endless = ReferringParagraph("See Figs. 1-30. Then more. " * 40_000)
    short = [ReferringParagraph(f"Case {n} is in Figure 1.") for n in range(MAX_MENTIONS + 50)]

    (mentions,) = mentions_of_figures([endless, *short], ids=[[]], labels=["Figure 1"])

    assert len(mentions) == MAX_MENTIONS
    assert max(len(mention.paragraph) for mention in mentions) <= MAX_PARAGRAPH


@given(st.text(alphabet="Figures.Fig 1234567890-–,andABab()SIVX ", max_size=80))
def test_offsets_point_at_the_word(text: str) -> None:
    for offset, key in figure_references(text):
        assert key
        assert "fig" in text[offset : offset + 25].lower()
