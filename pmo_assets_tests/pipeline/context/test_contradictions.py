"""Subjects by number or side: which a text names, and when a sentence is of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.context.contradictions import MOST_OF_A_RANGE, is_of_other_subjects, named_subjects


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Fundus of Patient 2.", {"patient": {"2"}}),
        ("Patients 1, 3 and 5–7 had it.", {"patient": {"1", "3", "5", "6", "7"}}),
        ("Proband 13 and case no. 4", {"proband": {"13"}, "case": {"4"}}),
        ("Families A and B", {"family": {"A", "B"}}),
        ("Patient II had what patient III had.", {"patient": {"II", "III"}}),
        ("The right eye", {"eye": {"right"}}),
        ("Her left pseudophakic eye (OS)", {"eye": {"left"}}),
        ("Both eyes", {"eye": {"right", "left"}}),
        ("OU", {"eye": {"right", "left"}}),
        ("The right and left eyes", {"eye": {"right", "left"}}),
        ("It was normal in the fellow eye.", {"eye": {"fellow"}}),
        ("In 33 patients 45% had it, and 12 cases did not.", {}),
        ("The patient 45.2 years old", {}),
        ("The left panel", {}),
    ],
)
def test_subjects_that_a_text_names(text: str, named: dict[str, set[str]]) -> None:
    assert named_subjects(text) == named


@pytest.mark.parametrize(
    ("own", "sentence", "is_other"),
    [
        ("Patient 2.", "Urine of patients 3 and 4 was positive.", True),
        ("Patient 2.", "Urine of patients 1–4 was positive.", False),
        ("Patient 2.", "Urine was positive in all.", False),
        ("All patients.", "Urine of patient 4 was positive.", False),
        ("Patient 2.", "In case 3 it was positive.", False),
        ("Fundus, right eye.", "The left eye was normal.", True),
        ("Fundus, right eye.", "It was 20/20 in the right eye and 20/40 in the left eye.", False),
        ("Fundus, right eye.", "The fellow eye was normal.", True),
        ("Fundus, OU.", "The left eye was normal.", False),
    ],
)
def test_a_sentence_of_other_subjects(own: str, sentence: str, is_other: bool) -> None:
    assert is_of_other_subjects(named_subjects(own), sentence) is is_other


@given(st.text(alphabet="patien case 0123456789–,and", max_size=80))
def test_a_text_is_never_of_others_than_its_own(text: str) -> None:
    assert not is_of_other_subjects(named_subjects(text), text)


def test_a_range_is_bounded() -> None:
    assert len(named_subjects("patients 1–999")["patient"]) <= MOST_OF_A_RANGE + 2
