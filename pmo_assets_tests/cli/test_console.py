"""What is printed for people: names and messages from outside do nothing to a terminal."""

from __future__ import annotations

import io
import json
from typing import Literal

import pytest
from rich.markup import escape
from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from pmo_assets.cli.console import PrintingConsole, one_line, say_json
from pmo_assets_tests.test_logs import HOSTILE


def printed(*, terminal: bool = False) -> tuple[PrintingConsole, io.StringIO]:
    target = io.StringIO()
    colours: Literal["standard"] | None = "standard" if terminal else None
    return PrintingConsole(file=target, width=200, force_terminal=terminal, color_system=colours), target


def table() -> Table:
    made = Table("name", "meaning")
    made.add_row(escape(HOSTILE), "an article")
    made.add_row("PMC7", Text(f"another {HOSTILE}"))
    return made


@pytest.mark.parametrize("what", [escape(HOSTILE), Text(HOSTILE), table(), one_line(ValueError(HOSTILE))])
def test_control_characters_are_shown(what: object) -> None:
    console, target = printed()
    console.print(what)
    assert "\\u001b]0;owned" in target.getvalue()
    assert "\\u202e" in target.getvalue()
    assert all(line.isprintable() for line in target.getvalue().split("\n"))


def test_columns_stay_columns() -> None:
    console, target = printed()
    rows = Table("name", "meaning")
    for name in (HOSTILE, "PMC7"):
        rows.add_row(escape(name), "an article")
    console.print(rows)
    assert len({len(line) for line in target.getvalue().splitlines()}) == 1


@pytest.mark.parametrize(("terminal", "columns", "whole"), [(False, "", True), (False, "80", False), (True, "", False)])
def test_nothing_is_cut_where_nobody_has_a_window(
    terminal: bool, columns: str, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    else:
        monkeypatch.delenv("COLUMNS", raising=False)
    console = PrintingConsole(file=io.StringIO(), force_terminal=terminal, color_system=None)
    long = " ".join(f"word{number}" for number in range(100))
    made = Table("name")
    made.add_row(long)
    console.print(made)
    console.print(long)
    lines = str(console.file.getvalue()).splitlines()  # type: ignore[attr-defined]
    assert (sum(long in line for line in lines) == 2) == whole


def test_what_the_console_does_itself_is_done() -> None:
    console, target = printed(terminal=True)
    console.print(f"[red]error:[/] {escape(HOSTILE)}", highlight=False)
    assert target.getvalue().startswith("\x1b[31merror:\x1b[0m a\\u001b]0;owned")


def test_progress_shows_them_too() -> None:
    console, target = printed(terminal=True)
    with Progress(TextColumn("{task.description}"), console=console) as progress:
        progress.add_task(f"batch {escape(HOSTILE)}")
    assert "\x1b]0;owned" not in target.getvalue()
    assert "\\u001b]0;owned" in target.getvalue()


def test_json_is_the_same_json(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"name": HOSTILE, "Größe": 1})
    text = capsys.readouterr().out
    assert all(line.isprintable() for line in text.split("\n"))
    assert "Größe" in text
    assert json.loads(text)["name"] == HOSTILE
