"""Prompts as data: one folder per task of a language model, see `prompts/README.md`."""

from __future__ import annotations

import functools
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from pmo_assets.records.chat import ChatPicture, ChatRequest, Message, SamplingOptions, Thinking
from pmo_assets.records.stores import SystemicError

_FILES = ("examples.jsonl", "system.md", "task.toml")


class PromptUnusable(SystemicError):
    """A prompt's folder is missing or malformed; the message names the file."""


@dataclass(frozen=True)
class Prompt:
    """A task's prompt for the model.

    Attributes:
        task: name of the folder.
        version: as `task.toml` states it, for people.
        digest: short hash of the folder's files.
        schema_name: name of the response schema.
        system: the system prompt.
        examples: (input, output) pairs, JSON values.
        max_tokens: bound of the answer.
        thinking_tokens: what reasoning may take besides.
        temperature: of the sampling.
    """

    task: str
    version: int
    digest: str
    schema_name: str
    system: str
    examples: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...] = field(repr=False)
    max_tokens: int = 2048
    thinking_tokens: int = 0
    temperature: float = 0.0

    @property
    def label(self) -> str:
        """Task, version and hash, as rows keep it: `subcaptions 1 (3fa1b2c4)`."""
        return f"{self.task} {self.version} ({self.digest})"

    def request(
        self,
        given: Mapping[str, Any],
        schema: Mapping[str, Any],
        thinking: Thinking,
        more: Sequence[Message] = (),
        max_tokens: int | None = None,
        pictures: Sequence[ChatPicture] = (),
        seed: int = 0,
    ) -> ChatRequest:
        """Return the conversation that asks for `given`.

        Args:
            given: the input.
            schema: JSON schema of the answer.
            thinking: whether the model reasons first.
            more: turns after the input.
            max_tokens: stricter bound of this answer, if the task's is too generous.
            pictures: shown with the input.
            seed: of the sampling: another one, and a model that is asked twice answers independently.
        """
        turns = [Message("system", self.system)]
        for example, output in self.examples:
            turns += [Message("user", as_json(example)), Message("assistant", as_json(output))]
        bound = min(self.max_tokens, max_tokens or self.max_tokens)
        longest = bound + (self.thinking_tokens if thinking == "on" else 0)
        options = SamplingOptions(self.temperature, longest, thinking, seed)
        messages = (*turns, Message("user", as_json(given), tuple(pictures)), *more)
        return ChatRequest(messages, self.schema_name, schema, self.label, options)


def as_json(value: Mapping[str, Any]) -> str:
    """Return a JSON value as the model sees it: one line, no escapes for letters."""
    return json.dumps(value, ensure_ascii=False)


@functools.cache
def prompts_folder() -> Path:
    """Return the folder of prompts: inside the installed package, or beside it in a checkout.

    Raises:
        PromptUnusable: if there is none.
    """
    package = Path(str(resources.files("pmo_assets")))
    for folder in (package / "prompts", package.parent / "prompts"):
        if folder.is_dir():
            return folder
    raise PromptUnusable(f"no folder `prompts` in {package} or beside it: the installation is incomplete")


def prompts_digest(tasks: Sequence[str], folder: Path | None = None) -> str:
    """Return a short hash over the tasks' files; it changes with every byte that a model sees."""
    digest = hashlib.sha256()
    for task in tasks:
        for name in _FILES:
            digest.update(f"{task}/{name}\0".encode())
            digest.update(_content((folder or prompts_folder()) / task / name))
    return digest.hexdigest()[:8]


def load_prompt(task: str, folder: Path | None = None) -> Prompt:
    """Return the prompt of a task.

    Args:
        task: name of its folder.
        folder: where the tasks' folders are; the package's own if None.

    Raises:
        PromptUnusable: if a file is missing or malformed.
    """
    place = (folder or prompts_folder()) / task
    contents = {name: _content(place / name).decode("utf-8", errors="replace") for name in _FILES}
    try:
        facts = tomllib.loads(contents["task.toml"])
        request = facts.get("request", {})
        prompt = Prompt(
            task=task,
            version=int(facts["version"]),
            digest=prompts_digest([task], folder),
            schema_name=str(facts["schema"]),
            system=contents["system.md"].strip(),
            examples=tuple(_examples(contents["examples.jsonl"], place)),
            max_tokens=int(request.get("max_tokens", 2048)),
            thinking_tokens=int(request.get("thinking_tokens", 0)),
            temperature=float(request.get("temperature", 0.0)),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise PromptUnusable(f"{place / 'task.toml'}: {type(error).__name__}: {error}") from error
    return prompt


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PromptUnusable(f"cannot read the prompt file {path}: {error}") from error


def _examples(text: str, place: Path) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    examples: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            example = json.loads(line)
            examples.append((dict(example["input"]), dict(example["output"])))
        except (ValueError, KeyError, TypeError) as error:
            raise PromptUnusable(
                f"{place / 'examples.jsonl'} line {number}: {type(error).__name__}: {error}"
            ) from error
    return examples
