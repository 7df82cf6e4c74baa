"""Prompts are data: what a folder holds, and what becomes of a malformed one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pmo_assets.pipeline.captions.model_split import IDENTIFIERS_TASK, SUBCAPTIONS_TASK, TASKS
from pmo_assets.pipeline.prompting.prompts import PromptUnusable, load_prompt, prompts_digest, prompts_folder
from pmo_assets.records.chat import ChatPicture, Message


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


def test_pictures_go_with_the_input_and_another_seed_is_another_question() -> None:
    prompt = load_prompt(IDENTIFIERS_TASK)
    request = prompt.request({"caption": "x"}, {}, "off", [Message("assistant", "y")], None, [ChatPicture(b"png")], 7)
    assert [bool(message.pictures) for message in request.messages[-3:]] == [False, True, False]
    assert request.messages[-2].pictures[0].png == b"png"
    assert request.options.seed == 7
