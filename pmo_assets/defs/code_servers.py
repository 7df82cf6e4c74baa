"""Code servers on other hosts, asked whether they still have a run that was given to them.

Does not belong here: servers and processes of this machine, which are looked at directly (`runner`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value

CODE_SERVER_TAG = ".dagster/grpc_info"
"""Tag in which Dagster's default launcher keeps the address of the code server."""

_PATIENCE = 5
"""Seconds within which a code server answers; one that does not is asked again at the next tick."""


def code_server_of(tags: Mapping[str, str]) -> dict[str, Any]:
    """Return socket, or host and port, of the code server that a run was given to; empty if there was none."""
    try:
        server = json.loads(tags.get(CODE_SERVER_TAG, ""))
    except ValueError:
        return {}
    return server if isinstance(server, dict) else {}


def is_on_another_host(server: Mapping[str, Any]) -> bool:
    """Say whether a code server is reached over a network, as that of a container is."""
    return bool(server.get("port")) and server.get("host") not in (None, "localhost", "127.0.0.1")


def has_lost(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Say whether a code server on another host answers that it does not have a run that it had begun.

    Runs are its child processes: it was started anew, and they ended with it. From a server that does not answer
    nothing follows.
    """
    server = code_server_of(run.tags)
    if not is_on_another_host(server) or run.status is not dg.DagsterRunStatus.STARTED:
        return False  # a run that was not begun yet is watched by Dagster (start_timeout_seconds)
    client = DagsterGrpcClient(host=server["host"], port=int(server["port"]), use_ssl=bool(server.get("use_ssl")))
    try:
        answer = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run.run_id), timeout=_PATIENCE)
    except DagsterUserCodeUnreachableError:
        return False
    if deserialize_value(answer, CanCancelExecutionResult).can_cancel:
        return False
    present = instance.get_run_by_id(run.run_id)  # it may have ended between the two questions
    return present is not None and present.status is dg.DagsterRunStatus.STARTED
