"""In-text mentions: sentences, references in plain text, and mentions per figure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.mentions import (
    MAX_MENTIONS,
    MAX_PARAGRAPH,
    ReferringParagraph,
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


@pytest.mark.slow  # endless text
def test_endless_text_is_bounded() -> None:
    endless = ReferringParagraph("See Figs. 1-30. Then more. " * 40_000)
    short = [ReferringParagraph(f"Case {n} is in Figure 1.") for n in range(MAX_MENTIONS + 50)]

    (mentions,) = mentions_of_figures([endless, *short], ids=[[]], labels=["Figure 1"])

    assert len(mentions) == MAX_MENTIONS
    assert max(len(mention.paragraph) for mention in mentions) <= MAX_PARAGRAPH
