"""What follows from the code server that a run was given to; a living one over a network: `deployment`."""

from __future__ import annotations

import json
import socket

import dagster as dg

from pmo_assets.defs.code_servers import CODE_SERVER_TAG, code_server_of, has_lost, is_on_another_host


@dg.op
def nothing() -> None:
    """Do nothing."""


@dg.job
def idle() -> None:
    """Do nothing."""
    nothing()


def run_at(instance: dg.DagsterInstance, host: str, port: int, status: dg.DagsterRunStatus) -> dg.DagsterRun:
    tags = {CODE_SERVER_TAG: json.dumps({"host": host, "port": port})}
    return instance.create_run_for_job(idle, status=status, tags=tags)


def test_a_server_of_this_machine_is_on_no_other_host() -> None:
    assert is_on_another_host(code_server_of({CODE_SERVER_TAG: '{"host": "code", "port": 4000}'}))
    for text in ('{"host": "localhost", "socket": "/tmp/x"}', '{"host": "127.0.0.1", "port": 4000}', "[]", "?"):
        assert not is_on_another_host(code_server_of({CODE_SERVER_TAG: text}))
    assert code_server_of({}) == {}


def test_nothing_follows_from_a_server_that_does_not_answer() -> None:
    """It may be about to come back, with the run."""
    with socket.socket() as probe, dg.DagsterInstance.ephemeral() as instance:
        probe.bind(("127.0.0.2", 0))  # nobody listens
        run = run_at(instance, "127.0.0.2", probe.getsockname()[1], dg.DagsterRunStatus.STARTED)
        assert not has_lost(instance, run)


def test_a_run_that_did_not_begin_is_left_to_dagster() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert not has_lost(instance, run_at(instance, "nowhere.invalid", 4000, dg.DagsterRunStatus.STARTING))
