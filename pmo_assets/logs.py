"""Log lines: the fields that each carries, and its form as text or JSON.

Rooms log with the standard library (`logging.getLogger(__name__)`): the message says what happened, the fields name
batch, stage and article. Fields are set once, around the work (`log_fields`), and travel into threads (`thread_fields`)
and worker processes (`Collected`). The program that runs chooses the destinations: Dagster's event log
(`pmo_assets/defs/stage_log.py`) and standard error (`log_to_stderr`).

The standard library and not structlog: Dagster's event log takes its records, and this module only adds two formatters.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TextIO

LogFormat = Literal["text", "json"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

PACKAGE: Final = "pmo_assets"
"""The logger above those of all rooms."""

FIELDS: Final = "pmo_fields"
"""Attribute of a record that holds its fields: `extra={FIELDS: {"seconds": 3.2}}` adds some."""

LINES_PER_ARTICLE: Final = 20
"""A worker hands over so many lines per article and step: one article must not flood the log."""

_SHOWN_FIRST: Final = ("batch", "stage", "article")
_LONGEST_MESSAGE: Final = 2000

_fields: ContextVar[Mapping[str, Any]] = ContextVar("pmo_log_fields", default={})  # noqa: B039  never changed in place


@contextlib.contextmanager
def log_fields(**fields: object) -> Iterator[None]:
    """Let every line that is logged in the block carry these fields, too; None leaves a field as it is."""
    added = {key: value for key, value in fields.items() if value is not None}
    token = _fields.set({**_fields.get(), **added})
    try:
        yield
    finally:
        _fields.reset(token)


def current_fields() -> Mapping[str, Any]:
    """Return the fields that a line would carry now."""
    return _fields.get()


def thread_fields() -> dict[str, Any]:
    """Return arguments of `ThreadPoolExecutor(…)` with which its threads log with the present fields."""
    return {"initializer": _fields.set, "initargs": (_fields.get(),)}


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record: those around it when it was logged, then its own."""
    return {**_fields.get(), **getattr(record, FIELDS, {})}


def _message(record: logging.LogRecord) -> str:
    """Return a record's words in one line, and the last line of its traceback: the rest is the UI's."""
    text = record.getMessage()
    if record.exc_info and record.exc_info[1] is not None:
        text = f"{text}: {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Characters that a terminal acts upon, or that change the text around them: C0, DEL and C1 controls, marks of writing
direction, separators of lines, signs without width, and halves of surrogate pairs, which cannot be written at all."""


def printable(text: str, keep: str = "") -> str:
    """Return text with control characters as `\\u001b`: names and messages come from outside, and terminals obey.

    JSON stays the JSON that it was: there they stand in strings, where that is how they are written.

    Args:
        text: what is to be shown.
        keep: characters that stay, for example line ends.
    """
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


class JsonLines(logging.Formatter):
    """One JSON object per line: `time` (UTC), `level`, `logger`, `message`, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
        }
        return printable(json.dumps({**line, **fields_of(record)}, ensure_ascii=False, default=str))


class ReadableLines(logging.Formatter):
    """A line for people: time, level where it matters, batch, stage and article, and the words."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of text."""
        fields = fields_of(record)
        where = " ".join(str(fields[key]) for key in _SHOWN_FIRST if key in fields)
        level = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        return f"{time} {printable(where) + ': ' if where else ''}{level}{printable(_message(record))}"


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to what standard error is at that moment: tests and progress bars exchange it."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _: TextIO) -> None:
        """Ignore what the constructor sets."""


def stderr_handler(formatter: logging.Formatter) -> logging.Handler:
    """Return a handler that writes lines to standard error."""
    handler = _StandardError()
    handler.setFormatter(formatter)
    return handler


def log_to_stderr(kind: LogFormat, level: int | str) -> None:
    """Send the package's log lines to standard error, in the form and from the level given; an earlier choice ends.

    Args:
        kind: `text` for people, `json` for programs that collect logs.
        level: the least important lines that appear.
    """
    logger = logging.getLogger(PACKAGE)
    for handler in [item for item in logger.handlers if isinstance(item, _StandardError)]:
        logger.removeHandler(handler)
    added = stderr_handler(JsonLines() if kind == "json" else ReadableLines())
    added.setLevel(level)
    logger.addHandler(added)


def set_level(level: int | str) -> None:
    """Drop what is less important than this, wherever it would go."""
    logging.getLogger(PACKAGE).setLevel(level)


class OneLineEach(logging.Handler):
    """Hands each record to a function, up to a number of them, then counts."""

    def __init__(self, tell: Callable[[logging.LogRecord], None], most: int) -> None:
        """Keep the function, and the number of records that it gets."""
        super().__init__()
        self._tell, self._most = tell, most
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Hand the record on if it is one of the first."""
        self.count += 1
        if self.count <= self._most:
            self._tell(record)

    @property
    def left_out(self) -> int:
        """Number of records that were not handed on."""
        return max(0, self.count - self._most)


@contextlib.contextmanager
def attached(handler: logging.Handler) -> Iterator[None]:
    """Let a handler hear what the package logs in the block."""
    logger = logging.getLogger(PACKAGE)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log on its way between two processes."""

    level: int
    logger: str
    message: str
    created: float
    fields: Mapping[str, Any]

    def log(self) -> None:
        """Log the line here, as it was logged there."""
        logger = logging.getLogger(self.logger)
        if not logger.isEnabledFor(self.level):
            return
        record = logger.makeRecord(
            self.logger, self.level, "", 0, self.message, (), None, extra={FIELDS: dict(self.fields)}
        )
        record.created = self.created
        logger.handle(record)


@dataclass
class Collected:
    """Lines that a worker collects while it works on an article, to hand them over with the result."""

    lines: list[Line] = field(default_factory=list)

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect what the package logs in the block; it goes nowhere else."""
        handler = OneLineEach(self._keep, LINES_PER_ARTICLE)
        with attached(handler):
            yield
        if handler.left_out:
            text = f"{handler.left_out} more lines of this article are left out"
            self.lines.append(Line(logging.INFO, __name__, text, self.lines[-1].created, self.lines[-1].fields))

    def _keep(self, record: logging.LogRecord) -> None:
        self.lines.append(
            Line(record.levelno, record.name, _message(record), record.created, _plain(fields_of(record)))
        )


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields that can travel between processes."""
    return {key: item if isinstance(item, int | float | bool | str) else str(item) for key, item in fields.items()}
