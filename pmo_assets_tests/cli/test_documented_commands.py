"""Every `pmo …` that the documents show is one that the command line takes: commands, options, arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from pmo_assets.cli.main import app

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

PMO = typer.main.get_command(app)


class NotTaken(Exception):
    """A command that `pmo` does not have, or not so."""


_ENDS = ("&&", "|", ">", "&", ";")


def shown(text: str) -> Iterator[str]:
    """Yield what stands behind `pmo` in the blocks of a document, line by line, without comments."""
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines() if kind in ("", "bash", "sh") else ():
            if found := re.match(r"(?:\$ )?(?:[A-Z_]+=\S* )*(?:\S*/)?pmo (.*)", line.strip()):
                yield found[1]


def taken(line: str) -> None:
    """Parse a command as `pmo` does, without running it.

    Raises:
        NotTaken: if there is no such command, option or argument.
    """
    words = shlex.split(line, comments=True)
    words = words[: next((place for place, word in enumerate(words) if word in _ENDS), len(words))]
    command: Any = PMO
    context = typer.Context(PMO, info_name="pmo")
    try:
        while isinstance(command, TyperGroup):
            _, command, words = command.resolve_command(context, [word for word in words if word != "--debug"])
        command.make_context(command.name, list(words), parent=context)
    except Exception as error:
        raise NotTaken(f"pmo {line}: {getattr(error, 'message', error)}") from error


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_are_taken(document: Path) -> None:
    wrong = {}
    for line in shown(document.read_text(encoding="utf-8")):
        try:
            taken(line)
        except NotTaken as error:
            wrong[line] = str(error)
    assert wrong == {}


def test_what_is_not_taken_is_found() -> None:
    text = (
        "```\npmo run  # all\nPMO_WORKERS=2 .venv/bin/pmo batches add a --size 3 && pmo run\n```\n```json\npmo x\n```\n"
    )
    assert list(shown(text)) == ["run  # all", "batches add a --size 3 && pmo run"]
    for line in shown(text):
        taken(line)
    for wrong in ("batches ad a", "run --everything", "batches add a b", "batches add --size many", "nothing"):
        with pytest.raises(NotTaken):
            taken(wrong)
