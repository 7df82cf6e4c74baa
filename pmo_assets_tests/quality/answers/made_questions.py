"""Questions for the tests of evaluations."""

from __future__ import annotations

from typing import Any

from pmo_assets.quality.answers.questions import Question, QuestionSet


def question(number: int, **values: Any) -> Question:
    """Return a yes/no question of an article of its own, unless `values` say otherwise."""
    facts: dict[str, Any] = {
        "instruction_id": f"q{number}", "kind": "yes_no", "topic": "finding", "modality": "OCT", "source_id": number,
        "owner": f"p{number}", "picture_row": number, "picture": "00", "question": "Are there drusen?",
        "label": "Yes.", "scene": ("Drusen.",), "context": (),
    }  # fmt: skip
    return Question(**{**facts, **values})


def questions(*items: Question) -> QuestionSet:
    """Return a test set of questions."""
    return QuestionSet("1.0.0", "digest", items)
