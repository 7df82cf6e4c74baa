"""Passages around a mention: which sentences are looked at, and what speaks for and against each."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.context.article_text import ArticleText, article_text
from pmo_assets.pipeline.context.passages import (
    FEATURES,
    LEAST_ODDS,
    REACH,
    ROLES,
    Role,
    Surroundings,
    candidates,
    chosen_of,
    goes_back,
    introduces_figure,
    opens_with_figure,
    passage,
    passage_features,
    passage_weights,
    role_probabilities,
    say_little,
    surroundings,
)
from pmo_assets.pipeline.context.subcaption_terms import is_foreign, subcaption_terms
from pmo_assets.pipeline.context.terms import terms_of
from pmo_assets.records.context import PanelMention, RunningParagraph, SectionClass

SUBCAPTION = "Duplex ultrasound of the fistula."
FLOW = "A duplex ultrasound showed a fistula with increased flow."
VELOCITY = "Velocities of up to 692 cm/s were obtained at the fistula (Figure 1)."
NORMAL = "Biventricular function was normal on the same day."
SECOND = "The chest was seen to be clear on radiography (Figure 2)."
THIRD = "Figure 2 shows the chest."


def text_of(*paragraphs: tuple[str, ...], section: SectionClass = "case", title: str | None = None) -> ArticleText:
    parts = [RunningParagraph(section, title, " ".join(sentences)) for sentences in paragraphs]
    return article_text(parts, [SUBCAPTION])


def place(text: ArticleText, sentence: str) -> int:
    return next(n for n, item in enumerate(text.sentences) if item.text == sentence)


def looked_at(*paragraphs: tuple[str, ...], mention: str = VELOCITY) -> list[str]:
    text = text_of(*paragraphs)
    return [text.sentences[k].text for k in sorted(candidates(place(text, mention), text, ()))]


def beside(
    text: ArticleText,
    *mentions: str,
    others: tuple[str, ...] = (),
    identifier: str | None = None,
    subcaption: str = SUBCAPTION,
) -> Surroundings:
    """What the panel's passages are told by, spoken of by these sentences."""
    found = [
        PanelMention(identifier, item.paragraph, "case", None, item.start, item.end, item.text, "names figure", "text")
        for item in text.sentences
        if item.text in mentions
    ]
    return surroundings(subcaption, others, SUBCAPTION, found, text)


def features(
    *paragraphs: tuple[str, ...],
    sentence: str,
    mention: str = VELOCITY,
    others: tuple[str, ...] = (),
    identifier: str | None = None,
) -> set[str]:
    text = text_of(*paragraphs)
    n, k = place(text, mention), place(text, sentence)
    found = passage_features(n, k, beside(text, mention, others=others, identifier=identifier), text)
    assert found.keys() <= set(FEATURES)
    assert all(found.values())
    return set(found)


def test_sentences_on_either_side_up_to_a_reach() -> None:
    many = tuple(f"Sentence number {n} is told here." for n in range(9))
    assert looked_at((*many, VELOCITY)) == list(many[-REACH:])
    assert looked_at((VELOCITY, *many)) == list(many[:REACH])


def test_the_paragraphs_beside_it_but_not_those_beyond() -> None:
    assert looked_at(("Long ago.",), (FLOW,), (VELOCITY,), (NORMAL,), ("Much later.",)) == [FLOW, NORMAL]


def test_a_paragraph_beside_it_that_leads_to_another_figure_is_not_looked_at() -> None:
    assert looked_at((VELOCITY,), (NORMAL, FLOW, SECOND)) == []
    assert looked_at((SECOND, NORMAL), (VELOCITY,)) == []
    assert looked_at((VELOCITY, NORMAL, SECOND)) == [NORMAL], "in its own paragraph that is for the features to say"


def test_neither_titles_nor_sentences_that_name_a_figure() -> None:
    assert looked_at(("Study design",), (FLOW, SECOND, VELOCITY, THIRD)) == [FLOW]


@pytest.mark.parametrize(
    ("paragraph", "sentence", "name"),
    [
        ((FLOW, VELOCITY), FLOW, "shared with the subcaption"),
        ((FLOW, VELOCITY), FLOW, "-1 sentences"),
        ((VELOCITY, FLOW), FLOW, "+1 sentences"),
        ((VELOCITY, "However, it was loud."), "However, it was loud.", "goes on, directly behind"),
        (("However, it was loud.", VELOCITY), "However, it was loud.", "goes on, before"),
        ((VELOCITY, SECOND, NORMAL), NORMAL, "behind another figure"),
        ((VELOCITY, NORMAL, SECOND), NORMAL, "another figure follows"),
        ((VELOCITY, "Flow is listed in Table 2."), "Flow is listed in Table 2.", "refers to a table"),
        ((VELOCITY, "Others saw the same [12]."), "Others saw the same [12].", "of others' work"),
        ((VELOCITY, "It was."), "It was.", "says little"),
        ((NORMAL, VELOCITY), NORMAL, "in case"),
        ((VELOCITY, "We measured it."), "We measured it.", "of our work"),
        ((FLOW, VELOCITY), FLOW, "the figure is named next"),
        ((FLOW, VELOCITY), FLOW, "nothing was named last"),
        ((VELOCITY, NORMAL), NORMAL, "the figure was named last"),
        ((VELOCITY, NORMAL), NORMAL, "nothing is named next"),
        ((VELOCITY, "These results are new."), "These results are new.", "concludes"),
        (("We measured it.", VELOCITY), "We measured it.", "tells a method, before"),
        ((VELOCITY, "We measured it."), "We measured it.", "tells a method, behind"),
        ((VELOCITY, "Next, it closed.", NORMAL), NORMAL, "behind a turn"),
        ((VELOCITY, "It fell by 12."), "It fell by 12.", "has a number"),
        ((VELOCITY, NORMAL), NORMAL, "tells what was"),
        ((FLOW, VELOCITY), FLOW, "opens its paragraph"),
        ((VELOCITY, "It fell (data not shown)."), "It fell (data not shown).", "is not shown"),
        ((FLOW, VELOCITY), FLOW, "share that is new"),
        ((FLOW, VELOCITY), FLOW, "share of the mention's"),
        ((FLOW, VELOCITY), FLOW, "share of the subcaption told"),
    ],
)  # fmt: skip
def test_what_is_seen_of_a_sentence(paragraph: tuple[str, ...], sentence: str, name: str) -> None:
    assert name in features(paragraph, sentence=sentence)


@pytest.mark.parametrize("other", [SECOND, "Flow is listed in Table 2.", "It fell (unpublished data)."])
def test_what_is_named_next_is_something_else(other: str) -> None:
    assert {"the figure was named last"} == features((VELOCITY, NORMAL, other), sentence=NORMAL) & {
        "the figure is named next",
        "nothing is named next",
        "the figure was named last",
    }


def test_a_mention_that_names_the_panel() -> None:
    sides = {"before one that names the panel", "behind one that names the panel"}
    paragraph = (FLOW, VELOCITY, NORMAL)
    assert not features(paragraph, sentence=FLOW) & sides
    assert features(paragraph, sentence=FLOW, identifier="A") & sides == {"before one that names the panel"}
    assert features(paragraph, sentence=NORMAL, identifier="A") & sides == {"behind one that names the panel"}


def test_names_that_the_panel_does_not_have() -> None:
    mention = "The ABO1 group was faster (Figure 1)."
    same, other = "The ABO1 group was old.", "The RET2 group was old."
    assert "names others alone" in features((mention, other), sentence=other, mention=mention)
    assert "names others alone" not in features((mention, same), sentence=same, mention=mention)
    assert "names others alone" not in features((VELOCITY, other), sentence=other), "where the panel has no names"


def test_nearer_to_another_caption() -> None:
    parts = [RunningParagraph("case", None, f"{VELOCITY} {NORMAL} The chest was clear.")]
    text = article_text(parts, [SUBCAPTION, "The chest, clear on radiography."])
    chest, normal = place(text, "The chest was clear."), place(text, NORMAL)
    panel = beside(text, VELOCITY)
    assert "nearer to another caption" in passage_features(0, chest, panel, text)
    assert "nearer to another caption" not in passage_features(0, normal, panel, text)


def test_a_sentence_of_another_patient_ends_the_passage() -> None:
    mention = "Flow in the fistula of patient 2 was increased (Figure 1)."
    other, behind = "Duplex ultrasound of patient 3 showed a fistula.", "Duplex ultrasound showed a wide fistula."
    sure: dict[Role, dict[str, float]] = {role: dict.fromkeys(FEATURES, 0.0) for role in ROLES}
    sure["needed"]["always"] = 9.0

    def taken(sentences: tuple[str, ...], subcaption: str = SUBCAPTION) -> list[str]:
        text = text_of(sentences)
        panel = beside(text, mention, subcaption=subcaption)
        return [item.sentence.text for item in passage(place(text, mention), panel, text, weights=sure)]

    assert taken((FLOW, mention, other, behind)) == [FLOW]
    assert taken((mention, other), "Fistula of patients 1–3.") == [other]
    assert taken((mention, behind)) == [behind]


def test_what_is_seen_of_the_mention() -> None:
    results = "Figure 1 summarizes these results."
    assert "before a pointing mention" in features((NORMAL, results), sentence=NORMAL, mention=results)
    assert "the mention goes back" in features((NORMAL, results), sentence=NORMAL, mention=results)
    assert "introduced by the mention" in features((results, NORMAL), sentence=NORMAL, mention=results)
    assert "in the next paragraph" in features((results,), (NORMAL,), sentence=NORMAL, mention=results)


def test_the_first_mention_and_later_ones() -> None:
    again = "The fistula of Figure 1 is rare."
    text = text_of((FLOW, VELOCITY), (again, NORMAL))
    panel = beside(text, VELOCITY, again)
    of_first = passage_features(place(text, VELOCITY), place(text, FLOW), panel, text)
    of_later = passage_features(place(text, again), place(text, NORMAL), panel, text)
    assert "beside a later mention" not in of_first
    assert of_later["beside a later mention"] == 1
    assert of_first["many mentions"] == of_later["many mentions"] > 0
    assert "many mentions" not in features((FLOW, VELOCITY), sentence=FLOW)


def test_words_of_other_panels_speak_against_it() -> None:
    angiogram = "The angiogram had a late phase."
    assert "of other panels" not in features((VELOCITY, angiogram), sentence=angiogram)
    with_other = features((VELOCITY, angiogram), sentence=angiogram, others=("Angiogram, late phase.",))
    assert {"of other panels", "has other panels"} <= with_other


def test_the_package_takes_what_is_beside_a_finding_and_leaves_what_is_of_another_figure() -> None:
    fillers = [("Nothing of this matters to anyone at all.",) for _ in range(9)]
    other = "The lungs were listed in Table 2 [12]."
    text = text_of(*fillers, (FLOW, VELOCITY, NORMAL, SECOND, other), section="results")
    n = place(text, VELOCITY)
    found = passage(n, beside(text, VELOCITY), text)
    assert FLOW in [item.sentence.text for item in found]
    assert all(item.needed >= LEAST_ODDS * item.foreign for item in found)
    assert other not in [item.sentence.text for item in found]


@given(st.dictionaries(st.sampled_from(FEATURES), st.floats(-50, 50)))
def test_probabilities_of_the_roles(found: dict[str, float]) -> None:
    shares = role_probabilities(found, passage_weights())
    assert sum(shares.values()) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in shares.values())


def test_the_package_weighs_every_feature_for_every_role() -> None:
    weights = passage_weights()
    assert set(weights) == set(ROLES)
    assert all(set(own) == set(FEATURES) for own in weights.values())
    assert json.dumps(weights)


def test_a_sentence_that_lists_several_panels_is_of_each() -> None:
    others = ("Trees of plants.", "Trees of primates.")
    weight = dict.fromkeys(terms_of(" ".join(others) + " metazoa"), 1.0)
    found = [
        is_foreign(terms_of(sentence), subcaption_terms("Trees of metazoa.", others), weight)
        for sentence in ("Trees of plants agree.", "Trees of plants, metazoa and primates agree.", "Trees agree.")
    ]
    assert found == [True, False, False]


def test_sentences_that_open_with_their_figure_or_introduce_it() -> None:
    assert opens_with_figure("As shown in Figure 2, the chest was clear.")
    assert opens_with_figure(THIRD)
    assert not opens_with_figure(SECOND)
    assert not opens_with_figure("It (Figure 2) was clear.")
    assert introduces_figure("We compared both groups of patients after a year (Figure 2).")
    assert introduces_figure("Two classes of models are known (Figure 2):")
    assert not introduces_figure(SECOND)
    assert goes_back("With the second method, 12 were found (Figure 2).")
    assert not goes_back(SECOND)


def shares(needed: float, foreign: float) -> dict[Role, float]:
    return {"needed": needed, "context": 1 - needed - foreign, "foreign": foreign}


NEEDED, CONTEXT, DOUBTFUL, FOREIGN = shares(0.6, 0.1), shares(0.05, 0.1), shares(0.3, 0.4), shares(0.1, 0.8)


@pytest.mark.parametrize(
    ("offsets", "roles", "taken"),
    [
        ([1, 2, 3], [NEEDED, CONTEXT, NEEDED], [0, 2]),
        ([1, 2], [DOUBTFUL, NEEDED], [1]),
        ([1, 2, 3], [NEEDED, FOREIGN, NEEDED], [0]),
        ([-1, -2, 1], [FOREIGN, NEEDED, NEEDED], [2]),
        ([-2, -1], [NEEDED, NEEDED], [0, 1]),
    ],
    ids=["context stays out", "doubt alone ends nothing", "foreign ends the side", "not the other side", "before it"],
)
def test_what_is_likelier_needed_is_taken_up_to_something_foreign(
    offsets: list[int], roles: list[dict[Role, float]], taken: list[int]
) -> None:
    assert chosen_of(offsets, roles) == taken


def test_mentions_that_say_little() -> None:
    result = f"{' '.join(f'word{n}' for n in range(30))} fell in all groups (Figure 1)."
    pointing = f"The dependence of {' '.join(f'word{n}' for n in range(30))} is shown in Figure 1."
    assert not say_little([result])
    assert say_little([pointing])
    assert not say_little([result, pointing])
    assert say_little(["It fell in all groups (Figure 1)."])


def test_higher_odds_take_less() -> None:
    assert chosen_of([1, 2], [NEEDED, shares(0.4, 0.3)], 1.0) == [0, 1]
    assert chosen_of([1, 2], [NEEDED, shares(0.4, 0.3)], 2.0) == [0]
