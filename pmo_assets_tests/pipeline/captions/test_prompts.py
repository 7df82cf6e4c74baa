"""The prompts for captions: every example is what the code itself accepts."""

from __future__ import annotations

from typing import Any

import pytest

from pmo_assets.pipeline.captions.model_split import (
    IDENTIFIERS_TASK,
    RESPONSES,
    SUBCAPTIONS_TASK,
    TASKS,
    PanelIdentifiers,
    PanelSubcaptions,
    fitting_identifiers,
    fitting_subcaptions,
)
from pmo_assets.pipeline.prompting.prompts import load_prompt

IDENTIFIER_EXAMPLES = load_prompt(IDENTIFIERS_TASK).examples
SUBCAPTION_EXAMPLES = load_prompt(SUBCAPTIONS_TASK).examples


def test_there_are_as_many_examples_as_in_the_paper() -> None:
    assert (len(IDENTIFIER_EXAMPLES), len(SUBCAPTION_EXAMPLES)) == (17, 7)


@pytest.mark.parametrize(("given", "output"), IDENTIFIER_EXAMPLES)
def test_the_identifiers_of_every_example_fit_its_caption(given: dict[str, Any], output: dict[str, Any]) -> None:
    assert set(given) == {"caption"}
    found = fitting_identifiers(given["caption"], PanelIdentifiers.model_validate(output))
    assert list(found) == output["identifiers"]


@pytest.mark.parametrize(("given", "output"), SUBCAPTION_EXAMPLES)
def test_the_subcaptions_of_every_example_come_back_word_for_word(
    given: dict[str, Any], output: dict[str, Any]
) -> None:
    assert set(given) == {"caption", "identifiers"}
    found = fitting_subcaptions(given["caption"], given["identifiers"], PanelSubcaptions.model_validate(output))
    assert [{"identifier": sub.identifier, "subcaption": sub.text} for sub in found] == output["subcaptions"]


def test_the_examples_cover_what_the_system_prompt_speaks_of() -> None:
    answers = [output["identifiers"] for _, output in IDENTIFIER_EXAMPLES]
    assert [] in answers, "a caption that only seems to name panels"
    assert any("left" in names for names in answers)
    assert any("ii" in names for names in answers)
    assert any("A2" in names for names in answers)
    assert any("a" in names for names in answers)
    captions = [given["caption"] for given, _ in [*IDENTIFIER_EXAMPLES, *SUBCAPTION_EXAMPLES]]
    assert len(set(captions)) == 24


@pytest.mark.parametrize("task", TASKS)
def test_every_task_names_a_response_model(task: str) -> None:
    assert load_prompt(task).schema_name in RESPONSES
