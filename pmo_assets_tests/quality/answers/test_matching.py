"""Answers shortened without a model, and compared with labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.quality.answers.matching import REFUSAL, exact_match, extracted, is_refusal, token_f1


@pytest.mark.parametrize(
    ("kind", "said", "short"),
    [
        ("yes_no", "Yes.", "Yes."),
        ("yes_no", "**No**, there is no fluid.", "No."),
        ("yes_no", "Answer: yes", "Yes."),
        ("yes_no", "The answer is no.", "No."),
        ("yes_no", "<think>No? Hmm, yes.</think>Yes", "Yes."),
        ("yes_no", "<think>no</think><answer>Yes</answer>", "Yes."),
        ("yes_no", "Drusen are visible, so yes", "Yes."),
        ("yes_no", "It could be yes or no", "It could be yes or no"),
        ("yes_no", "Perhaps", "Perhaps"),
        ("yes_no", "I cannot determine this from the image.", REFUSAL),
        ("yes_no", "Yes. I cannot say more.", "Yes."),
        ("what", "Subretinal fluid.", "Subretinal fluid"),
        ("what", "The arrow points to subretinal fluid. It is common.", "subretinal fluid"),
        ("what", "Reasoning first. Final answer: epiretinal membrane", "epiretinal membrane"),
        ("what", "It is a macular hole", "a macular hole"),
        ("where", "Superior to the disc\nbecause it lies above", "Superior to the disc"),
        ("where", "I'm sorry, I can't help with that.", REFUSAL),
        ("where", "", REFUSAL),
        ("where", "   ", REFUSAL),
        ("what", "Please consult a doctor.", REFUSAL),
    ],
)
def test_an_answer_is_shortened_to_what_it_says(kind, said: str, short: str) -> None:
    assert extracted(kind, said) == short


def test_what_follows_an_answer_does_not_make_it_a_refusal() -> None:
    assert not is_refusal("Drusen. I cannot tell whether they are soft.")
    assert is_refusal("As an AI model, I do not look at pictures.")


@pytest.mark.parametrize(
    ("said", "label", "exact", "f1"),
    [
        ("the Subretinal fluid", "Subretinal fluid.", 1, 1),
        ("subretinal hyperreflective material", "Subretinal fluid.", 0, 0.4),
        ("nasal to the disc", "Temporal to the disc.", 0, 2 / 3),
        ("Yes.", "No.", 0, 0),
        (REFUSAL, "Drusen.", 0, 0),
        ("", "Drusen.", 0, 0),
    ],
)
def test_answers_are_compared_with_labels(said: str, label: str, exact: float, f1: float) -> None:
    assert exact_match(said, label) == exact
    assert token_f1(said, label) == pytest.approx(f1)


WORDS = st.lists(st.sampled_from(["fluid", "retina", "nasal", "disc", "cyst"]), min_size=1, max_size=5).map(" ".join)


@given(WORDS, WORDS)
def test_f1_is_symmetric_between_0_and_1_and_1_for_the_label(one: str, other: str) -> None:
    assert token_f1(one, other) == token_f1(other, one)
    assert 0 <= token_f1(one, other) <= 1
    assert token_f1(one, one) == exact_match(one, one) == 1


@given(st.text(max_size=40), st.sampled_from(["yes_no", "what", "where"]))
def test_anything_can_be_shortened_and_nothing_becomes_empty(said: str, kind) -> None:
    assert extracted(kind, said)
