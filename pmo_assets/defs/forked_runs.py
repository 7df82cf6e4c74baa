"""Runs of a code server, forked from a process that has the code location imported, instead of started anew.

Dagster starts a process for each run, which imports Dagster and the code location before it does anything: seven
seconds of a processor, and *Materialize all* waits for them several times. The fork server of Python's multiprocessing
imports once. It is a process of its own, started by executing Python, so that nothing of the code server's threads is
forked. A code location that is loaded again is a new code server, and has a new fork server.
"""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.context import BaseContext
from typing import Any, Final

LOADED: Final = "pmo_assets.definitions"
"""Module that a fork server imports before it forks a process for a run, or for a step."""

_CODE_SERVER: Final = ["api", "grpc"]
"""Command by which Dagster, under every deployment, starts the process that begins runs."""


def can_fork() -> bool:
    """Say whether Python can fork from a server on this system: not on Windows."""
    return "forkserver" in multiprocessing.get_all_start_methods()


def serves_code() -> bool:
    """Say whether this process is a code server, and not a run, a step or a command."""
    return sys.argv[1:3] == _CODE_SERVER and multiprocessing.parent_process() is None


def fork_runs() -> None:
    """Let this process, if it is a code server, fork its runs; its fork server begins to import at once.

    Dagster chooses how it starts runs before it loads the code location, and has no setting for it: hence a property
    in the place of its attribute.
    """
    if not (serves_code() and can_fork()):
        return
    from multiprocessing.forkserver import ensure_running

    import dagster._grpc.server

    server: Any = dagster._grpc.server.DagsterApiServer
    server._mp_ctx = property(_context, _leave)
    _context(None).set_forkserver_preload([LOADED])
    ensure_running()


def _context(_server: object) -> BaseContext:
    return multiprocessing.get_context("forkserver")


def _leave(_server: object, _value: object) -> None:
    """Keep the property when Dagster sets the attribute."""
