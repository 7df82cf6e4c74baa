"""Prompts are data: every example is what the code itself accepts."""

from __future__ import annotations

import shutil
from pathlib import Path
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
from pmo_assets.pipeline.captions.prompts import PromptUnusable, load_prompt, prompts_digest, prompts_folder
from pmo_assets.records.chat import Message

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


def copied(tmp_path: Path) -> Path:
    shutil.copytree(prompts_folder(), tmp_path / "prompts")
    return tmp_path / "prompts"


@pytest.mark.parametrize("name", ["task.toml", "system.md", "examples.jsonl"])
def test_every_byte_of_a_prompt_counts_for_its_version(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path)
    before = prompts_digest(TASKS, folder), load_prompt(SUBCAPTIONS_TASK, folder).label
    assert before[0] == prompts_digest(TASKS)
    with (folder / SUBCAPTIONS_TASK / name).open("a") as file:
        file.write("\n")
    assert prompts_digest(TASKS, folder) != before[0]
    assert load_prompt(SUBCAPTIONS_TASK, folder).label != before[1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("task.toml", "version = "),
        ("task.toml", 'schema = "PanelIdentifiers"'),
        ("task.toml", 'version = "one"\nschema = "x"'),
        ("examples.jsonl", '{"input": {}}'),
        ("examples.jsonl", "[]"),
        ("examples.jsonl", "{"),
    ],
)
def test_a_malformed_prompt_names_its_file(tmp_path: Path, name: str, content: str) -> None:
    folder = copied(tmp_path)
    (folder / IDENTIFIERS_TASK / name).write_text(content)
    with pytest.raises(PromptUnusable, match=name):
        load_prompt(IDENTIFIERS_TASK, folder)


def test_a_missing_prompt_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(PromptUnusable, match=r"system\.md|examples\.jsonl|task\.toml"):
        load_prompt("no_such_task", tmp_path)


def test_turns_after_the_input_come_last() -> None:
    prompt = load_prompt(IDENTIFIERS_TASK)
    request = prompt.request({"caption": "Übersicht"}, {}, "on", [Message("assistant", "x")])
    assert [message.role for message in request.messages[:3]] == ["system", "user", "assistant"]
    assert request.messages[-2].content == '{"caption": "Übersicht"}'
    assert request.messages[-1] == Message("assistant", "x")
    assert (request.options.thinking, request.prompt_version) == ("on", prompt.label)
