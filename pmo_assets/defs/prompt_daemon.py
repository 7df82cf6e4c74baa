"""Dagster's daemon that looks at backfills soon: `pmo dev` starts it in place of `dagster-daemon`.

Dagster's looks every thirty seconds, which no setting changes. A backfill waits for a look when it is asked for, and
again when its batches are done, before the release is begun: half a minute on average, as long as small batches take.
A look at nothing is three queries, one at a backfill under way goes over the graph: hence a few seconds and not one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

MODULE: Final = "pmo_assets.defs.prompt_daemon"

SECONDS: Final = 5
"""From the beginning of one look at backfills to that of the next."""


def look_often() -> None:
    """Let the loop over backfills in this process begin a look every `SECONDS`."""
    import dagster._daemon.controller

    controller: Any = dagster._daemon.controller
    controller.DEFAULT_DAEMON_INTERVAL_SECONDS = SECONDS  # the loop reads it there before each pause


def serve(arguments: Sequence[str]) -> None:
    """Run Dagster's daemon with its own command line until it is ended."""
    from dagster._daemon.cli import main

    look_often()
    sys.argv = ["dagster-daemon", *arguments]
    main()


if __name__ == "__main__":
    serve(sys.argv[1:])
