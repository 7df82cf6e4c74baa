"""Dagster's loop over backfills, as `pmo dev` runs it."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import dagster as dg
import dagster._daemon.controller as controller
import pytest
from dagster._daemon.backfill import execute_backfill_iteration_loop

from pmo_assets.defs.prompt_daemon import SECONDS, look_often


def pause_after_a_look() -> float:
    """Return how long Dagster's loop waits after it has looked at an instance without backfills."""
    pauses: list[float] = []
    with dg.DagsterInstance.ephemeral() as instance:
        context: Any = SimpleNamespace(instance=instance)
        event: Any = SimpleNamespace(wait=pauses.append)
        looks = execute_backfill_iteration_loop(context, logging.getLogger("test"), event)
        while not pauses:
            next(looks)
    return pauses[0]


def test_backfills_are_looked_at_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "DEFAULT_DAEMON_INTERVAL_SECONDS", controller.DEFAULT_DAEMON_INTERVAL_SECONDS)
    assert pause_after_a_look() > 2 * SECONDS, "else Dagster looks soon by itself, and the module can go"
    look_often()
    assert 0 < pause_after_a_look() <= SECONDS
