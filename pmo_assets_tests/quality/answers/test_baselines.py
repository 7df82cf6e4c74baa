"""Baselines: what they learn, and that the blind one finds questions that leak."""

from __future__ import annotations

import numpy as np

from pmo_assets.pictures import png_bytes
from pmo_assets.quality.answers.baselines import blind_answers, constant_answers, retrieved_answers
from pmo_assets_tests.quality.answers.made_questions import question


def test_the_constant_is_the_commonest_answer_of_each_kind() -> None:
    learned = [
        *(question(n, label=label) for n, label in enumerate(["No.", "Yes.", "No."])),
        question(9, kind="where", label="Nasal."),
    ]
    asked = [question(20), question(21, kind="where"), question(22, kind="what")]
    assert constant_answers(learned, asked) == ["No.", "Nasal.", ""]


def leaking(number: int, leaks: bool) -> dict[str, object]:
    yes = number % 2 == 0
    word = "drusen" if yes or not leaks else "fluid"
    return {"question": f"Does this picture show {word}?", "label": "Yes." if yes else "No."}


def test_words_that_tell_the_answer_are_found_out() -> None:
    learned = [question(n, **leaking(n, True)) for n in range(20)]
    asked = [question(100 + n, **leaking(n, True)) for n in range(10)]
    assert blind_answers(learned, asked) == [item.label for item in asked]


def test_balanced_questions_tell_nothing() -> None:
    learned = [question(n, **leaking(n, False)) for n in range(20)]
    asked = [question(100 + n, **leaking(n, False)) for n in range(10)]
    right = [said == item.label for said, item in zip(blind_answers(learned, asked), asked, strict=True)]
    assert np.mean(right) == 0.5


def picture(seed: int) -> bytes:
    random = np.random.default_rng(seed)
    return png_bytes(np.repeat(np.repeat(random.integers(0, 255, (8, 8, 3)), 6, 0), 6, 1).astype(np.uint8))


def test_retrieval_takes_the_answer_about_the_most_similar_picture() -> None:
    learned = [question(n, kind="what", question="What is marked?", label=f"Thing {n}.") for n in range(5)]
    asked = [question(100 + n, kind="what", question="What is marked?") for n in (3, 1)]
    found = retrieved_answers(learned, asked, lambda item: picture(item.source_id % 100))
    assert found == ["Thing 3.", "Thing 1."]


def test_retrieval_asks_for_the_most_similar_question_first() -> None:
    words = ["Where is the scar?", "Where is the haemorrhage?"]
    learned = [question(n, kind="where", question=words[n], label=f"Place {n}.") for n in range(2)]
    asked = [question(7, kind="where", question="Where is the haemorrhage?")]
    assert retrieved_answers(learned, asked, lambda item: picture(0)) == ["Place 1."]
    assert retrieved_answers(learned, asked, lambda item: None) == ["Place 1."], "also without pictures"


def test_without_a_train_split_nothing_is_answered() -> None:
    asked = [question(1)]
    assert constant_answers([], asked) == blind_answers([], asked) == [""]
    assert retrieved_answers([], asked, lambda item: picture(1)) == [""]
