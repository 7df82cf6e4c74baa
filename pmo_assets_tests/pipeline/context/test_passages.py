"""Passages around a mention: what tells of the same examination or result, and where it ends."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.article_text import ArticleText, article_text
from pmo_assets.pipeline.context.passages import BEFORE, BEFORE_POINTING, BEHIND, opens_with_figure, passage
from pmo_assets.pipeline.context.subcaption_terms import is_foreign, subcaption_terms
from pmo_assets.pipeline.context.terms import terms_of
from pmo_assets.records.context import RunningParagraph, SectionClass

SUBCAPTION = "Duplex ultrasound of the fistula."
FLOW = "A duplex ultrasound showed a fistula with increased flow."
VELOCITY = "Velocities of up to 692 cm/s were obtained at the fistula (Figure 1)."
NORMAL = "Biventricular function was normal."
TWO_DAYS_LATER = "Two days later the bracelet was taken off."
OTHERS_SAW = "Such a fistula has been reported by other authors [12]."
SECOND = "The chest was seen to be clear on radiography (Figure 2)."
THIRD = "Figure 2 shows the chest."
FILLER = tuple(
    RunningParagraph("introduction", None, f"Sentence {n} of the {word} is about nothing that matters here.")
    for n, word in enumerate(("past", "present", "future", "first", "second", "third", "last"))
)


def told(
    *paragraphs: tuple[str, ...],
    mention: str = VELOCITY,
    others: tuple[str, ...] = (),
    points: bool = False,
    section: SectionClass = "case",
) -> list[str]:
    """The sentences of the passage around a mention, in the article's order."""
    text: ArticleText = article_text(
        [*FILLER, *(RunningParagraph(section, None, " ".join(part)) for part in paragraphs)], [SUBCAPTION]
    )
    n = next(n for n, sentence in enumerate(text.sentences) if sentence.text == mention)
    found = passage(n, subcaption_terms(SUBCAPTION, others), text, frozenset(), points=points)
    assert all(item.distance != 0 for item in found)
    return [item.sentence.text for item in sorted(found, key=lambda item: item.distance)]


def test_the_sentences_directly_around_it_in_a_case() -> None:
    assert told((FLOW, VELOCITY, NORMAL)) == [FLOW, NORMAL]


def test_farther_ones_only_if_they_share_rare_terms_or_go_on() -> None:
    assert told((TWO_DAYS_LATER, NORMAL, VELOCITY)) == [NORMAL]
    assert told((FLOW, NORMAL, VELOCITY)) == [FLOW, NORMAL]
    assert told((VELOCITY, NORMAL, "However, it was loud.", "Thus, it was closed.")) == [
        NORMAL,
        "However, it was loud.",
        "Thus, it was closed.",
    ]


def test_no_more_than_so_many_on_either_side() -> None:
    mention = "Stenosis, thrombosis, ischaemia, oedema, pallor, cyanosis, gangrene and steal were seen (Figure 1)."
    many = tuple(f"There was {word}." for word in mention.split(" and ")[0].split(", "))
    assert len(told((*many, mention), mention=mention)) == BEFORE
    assert len(told((mention, *many), mention=mention)) == BEHIND
    assert len(told((*many, mention), mention=mention, points=True)) == BEFORE_POINTING


def test_in_a_discussion_only_what_shares_its_terms() -> None:
    assert told((NORMAL, VELOCITY, FLOW), section="discussion") == [FLOW]


def test_it_ends_at_another_figure() -> None:
    assert told((VELOCITY, SECOND, FLOW)) == []
    assert told((FLOW, SECOND, VELOCITY)) == []


@pytest.mark.parametrize(
    ("following", "is_its_own"),
    [(SECOND, False), (THIRD, True)],
    ids=["it closes with its figure, as the next does: the next one's", "the next opens with its figure"],
)
def test_what_stands_between_two_figures_is_one_ones(following: str, is_its_own: bool) -> None:
    assert (told((VELOCITY, NORMAL, following)) == [NORMAL]) == is_its_own
    assert told((VELOCITY, "This was loud.", following)) == ["This was loud."], "it goes on from the first"
    assert told((VELOCITY, FLOW, following)) == [FLOW], "it shares the first one's terms"


def test_literature_is_of_no_passage() -> None:
    assert told((VELOCITY, "A fistula with such flow has been reported by other authors [12].")) == []


def test_findings_of_other_panels_are_left_out() -> None:
    angiogram = "The angiogram had a late phase."
    assert told((VELOCITY, angiogram)) == [angiogram]
    assert told((VELOCITY, angiogram), others=("Angiogram, late phase.",)) == []


def test_a_mention_that_points_takes_what_stands_before_it() -> None:
    pointing = "Figure 1 summarizes these results in a diagram."
    before = ("Twelve eyes were closed.", "Nine stayed open.", "Three were lost.")
    assert told((*before, pointing), mention=pointing, points=True) == list(before)
    assert told(before, (pointing,), mention=pointing, points=True) == list(before), "in the paragraph before"
    assert told(before, (pointing,), mention=pointing) == []


def test_titles_are_no_sentences() -> None:
    assert told(("Study design",), (VELOCITY,), points=True) == []


def test_sentences_that_open_with_their_figure() -> None:
    assert opens_with_figure("As shown in Figure 2, the chest was clear.")
    assert opens_with_figure(THIRD)
    assert not opens_with_figure(SECOND)
    assert not opens_with_figure("It (Figure 2) was clear.")


def test_a_sentence_that_lists_several_panels_is_of_each() -> None:
    others = ("Trees of plants.", "Trees of primates.")
    found = {
        sentence: is_foreign(
            terms_of(sentence),
            subcaption_terms("Trees of metazoa.", others),
            dict.fromkeys(terms_of(" ".join(others) + " metazoa"), 1.0),
        )
        for sentence in ("Trees of plants agree.", "Trees of plants, metazoa and primates agree.", "Trees agree.")
    }
    assert list(found.values()) == [True, False, False]
