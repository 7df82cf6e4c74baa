"""Several programs as one: started together, watched, ended together, none left behind.

Each gets a session of its own, by which everything that it starts is found when it has to end, also what has lost its
parent. Does not belong here: which programs, and what is said of them (`pmo_assets.cli.dev`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

PATIENCE: Final = 20.0
"""Seconds that programs have to end in order, a run under way included; then they are killed."""

_GLANCE: Final = 0.25
"""Seconds between two looks at the programs."""

_ASKING: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run.

    Attributes:
        name: of the program, for people.
        command: executable and arguments.
        parts: what to call processes that it starts and cannot do without, by a word of their command line.
    """

    name: str
    command: Sequence[str]
    parts: Mapping[str, str] = field(default_factory=dict)


def run_together(
    programs: Sequence[Program],
    environment: Mapping[str, str],
    glance: Callable[[], None] = lambda: None,
    log: Path | None = None,
    before_end: Callable[[], None] = lambda: None,
) -> str | None:
    """Run programs until this process is asked to end (SIGINT, SIGTERM, SIGHUP) or one of them ends by itself.

    A signal that the shell had set to be ignored, as it does for what it starts in the background, is heard all the
    same. Asked once more, the programs are killed at once.

    Args:
        programs: the programs to run.
        environment: of all of them.
        glance: called several times a second.
        before_end: called when it was asked to end, before the programs are.
        log: file for all that they print, written anew; if None they print where this process does.

    Returns:
        Sentence about the program that ended by itself; None when it was asked to end.
    """
    with _asked_to_end() as asked, contextlib.ExitStack() as stack:
        printed = None if log is None else stack.enter_context(log.open("wb"))
        started: list[tuple[Program, subprocess.Popen[bytes]]] = []
        try:
            for program in programs:
                process = subprocess.Popen(
                    program.command,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=printed,
                    start_new_session=True,
                )
                started.append((program, process))
            parts: dict[psutil.Process, str] = {}
            while not asked:
                if ended := _ended_program(started) or _ended_part(started, parts):
                    return ended
                glance()
                time.sleep(_GLANCE)
            before_end()
            return None
        finally:
            _end([process for _, process in started], asked)


@contextlib.contextmanager
def _asked_to_end() -> Iterator[list[int]]:
    """Give the list of the signals that ask to end, as they arrive."""
    asked: list[int] = []
    before = {number: signal.signal(number, lambda which, _: asked.append(which)) for number in _ASKING}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ended_program(started: Sequence[tuple[Program, subprocess.Popen[bytes]]]) -> str | None:
    for program, process in started:
        if (status := process.poll()) is not None:
            return f"{program.name} ended by itself (status {status})"
    return None


def _ended_part(
    started: Sequence[tuple[Program, subprocess.Popen[bytes]]], parts: dict[psutil.Process, str]
) -> str | None:
    """Return which part has ended of those seen before, and take note of those that are new."""
    for part, name in parts.items():
        if not part.is_running() or part.status() == psutil.STATUS_ZOMBIE:
            return f"{name} ended by itself"
    for program, process in started:
        if not program.parts:
            continue
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(process.pid).children():
                words = " ".join(child.cmdline())
                for name in (name for word, name in program.parts.items() if word in words):
                    parts.setdefault(child, name)
    return None


def _end(processes: Sequence[subprocess.Popen[bytes]], asked: list[int]) -> None:
    """End processes and all that they started: as Ctrl-C does, after a while, or when asked again, by force."""
    begun = _descendants(processes)
    for process in processes:
        with contextlib.suppress(OSError):
            _interrupt(process)
    first, deadline = len(asked), time.monotonic() + PATIENCE
    while time.monotonic() < deadline and len(asked) <= max(first, 1):
        for process in processes:
            process.poll()  # takes its status, so that it does not stay as a zombie
        if not any(part.is_running() for part in begun) and not (begun := _descendants(processes)):
            return
        time.sleep(_GLANCE)
    for part in {*begun, *_descendants(processes)}:
        with contextlib.suppress(psutil.Error):
            part.kill()
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGINT)  # all of its group, as a terminal does
    else:
        process.terminate()


def _descendants(processes: Sequence[subprocess.Popen[bytes]]) -> list[psutil.Process]:
    """Return the processes that live and belong to these: of their sessions, or started by them."""
    sessions = {process.pid for process in processes}
    found: list[psutil.Process] = []
    for candidate in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if hasattr(os, "getsid"):
                belongs = os.getsid(candidate.pid) in sessions
            else:
                belongs = candidate.pid in sessions or not sessions.isdisjoint(p.pid for p in candidate.parents())
            if belongs and candidate.status() != psutil.STATUS_ZOMBIE:
                found.append(candidate)
    return found
