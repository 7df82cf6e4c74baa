"""The console of all commands: printing, errors, settings, progress."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console, ConsoleDimensions
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.text import Text

from pmo_assets.logs import printable
from pmo_assets.settings import Settings
from pmo_assets.system import aside

if TYPE_CHECKING:
    from pmo_assets.storage.data_root import DataRoot

_KEPT: Final = "\n\t"

_PIPE_WIDTH: Final = 100_000
"""Columns of a line that no person's window ends: more than any table has."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
"""The option of all commands that list something."""


class PrintingConsole(Console):
    """Rich's console, which shows control characters of names and messages instead of sending them to the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return text as Rich lays it out: escaped before, so that columns stay columns."""
        return super().render_str(printable(text, keep=_KEPT), **options)

    @property  # type: ignore[misc]  # nobody sets it
    def size(self) -> ConsoleDimensions:
        """Return the terminal's size; in a pipe nothing is cut or folded, unless COLUMNS says how wide it is."""
        size = super().size
        if self.is_terminal or "COLUMNS" in os.environ:
            return size
        return ConsoleDimensions(_PIPE_WIDTH, size.height)

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        """Return the text to write, made printable at the last place that tells text from Rich's own control codes."""
        return super()._render_buffer(
            segment if segment.control else Segment(printable(segment.text, keep=_KEPT), segment.style)
            for segment in buffer
        )


def say_json(value: object) -> None:
    """Print a value as JSON, control characters in it escaped."""
    print(printable(json.dumps(value, ensure_ascii=False, indent=1), keep="\n"))


console = PrintingConsole()
"""Results go to standard output …"""


messages = PrintingConsole(stderr=True)
"""… progress and errors to standard error."""


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Let a command that is soon done not look for garbage.

    Importing the code location makes a million objects that all stay; looking through them again and again takes a
    third of the time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class CommandError(Exception):
    """A command cannot do what it was asked; the message says why and what to do."""


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, making its folder.

    Raises:
        CommandError: when it cannot be written.
    """
    try:
        aside.write_text(path, text)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error}") from error


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON into a file, whole or not at all; to standard output when the path is `-`.

    Raises:
        CommandError: when it cannot be written.
    """
    if str(path) == "-":
        say_json(value)
    else:
        write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return how many things there are in words, e.g. "1 batch", "2,000 articles"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def say_columns(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows as lines of columns, each as wide as its longest cell.

    Any number of rows may be given: Rich takes longer to draw a table of a thousand than a command to collect them.
    """
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    console.print(text, soft_wrap=True, highlight=False, markup=False)


def say_list(title: str, noun: str, lines: Sequence[str], shown: int = 20) -> None:
    """Print how many things there are and the first of them, on standard error; nothing when there is none."""
    if not lines:
        return
    messages.print(f"[yellow]{title}[/] {counted(len(lines), noun)}:", highlight=False)
    for line in lines[:shown]:
        messages.print(f"  {escape(line)}", highlight=False, soft_wrap=True)
    if len(lines) > shown:
        messages.print(f"  … and {len(lines) - shown} more", highlight=False)


def settings_from_environment(*, made_later: Sequence[str] = ()) -> Settings:
    """Return the settings, checked: names, values, and the files they name.

    Args:
        made_later: options whose file or folder the command makes, so that it need not be there.

    Raises:
        ConfigurationError: naming what cannot be used, where it is set and what to do.
    """
    from pmo_assets.configuration.reading import configured_settings

    return configured_settings(made_later=made_later)


def place_of(settings: Settings) -> str:
    """Return the data root in words that can be acted on: "/home/me/data (PMO_DATA_ROOT)"."""
    return f"{data_root_of(settings).uri('').rstrip('/')} (PMO_DATA_ROOT)"


def data_root_of(settings: Settings) -> DataRoot:
    """Return the data root that is set."""
    from pmo_assets.storage.data_root import DataRoot

    return DataRoot(settings.data_root, settings.s3_endpoint)


@contextlib.contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """Show that something is under way, and give a function that shows the present item."""
    with messages.status(text) as status:
        yield lambda detail: status.update(f"{text}: {escape(detail)}")


@contextlib.contextmanager
def progress_bars() -> Iterator[tuple[Progress, Callable[[str, int, int], None]]]:
    """Give a bar over everything and one over the articles of the present step, and the function that moves the latter.

    Beside each stand the time that has passed and, as soon as something is done, the time that it will still take.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", style="bold"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # of everything that was done so far: steps take seconds or minutes, so that the last half a minute says nothing
    with Progress(*columns, console=messages, speed_estimate_period=24 * 3600) as progress:
        bar = progress.add_task("", total=None, visible=False)
        last: dict[str, Any] = {"stage": "", "told": 0.0}

        def tell(stage: str, done: int, total: int) -> None:
            if stage != last["stage"]:
                last["stage"] = stage
                progress.reset(bar, description=f"  {stage}", total=total, visible=True)
            progress.update(bar, completed=done)
            # without a terminal there is no bar: say now and then where it is
            now = time.monotonic()
            if not messages.is_terminal and done and (done == total or now - last["told"] > 15):
                last["told"] = now
                messages.print(f"  {stage}: {done} of {total}", highlight=False)

        yield progress, tell


def one_line(error: BaseException) -> str:
    """Return an error's message in one line, for rich's markup; its class when it has none."""
    return escape(" ".join(str(error).split()) or type(error).__name__)
