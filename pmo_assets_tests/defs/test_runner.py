"""Runs whose process is gone are closed, so that they do not hold the pool's slot for ever."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._core.events import EngineEventData

from pmo_assets.definitions import build_defs
from pmo_assets.defs import runner
from pmo_assets.defs.instance import workspace
from pmo_assets.defs.runner import cancel_runs_of_code_servers, close_dead_runs, dagster_home, run_job
from pmo_assets.settings import Settings
from pmo_assets.system.processes import this_process


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


LISTENING: list[socket.socket] = []
"""Kept open as long as the tests run."""


def unix_socket(*, heard: bool) -> str:
    """Return the file of a socket at which somebody listens, or that a killed process left."""
    place = tempfile.mkdtemp() + "/socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    if heard:
        listener.listen()
        LISTENING.append(listener)
    else:
        listener.close()
    return place


def server(**place: object) -> str:
    return json.dumps({"host": "localhost", "port": None, "socket": None, **place})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tags", "closed"),
    [
        ({"pmo/process": f"{socket.gethostname()}:{dead_pid()}"}, 1),
        ({"pmo/process": f"{socket.gethostname()}:{os.getpid()}"}, 0),
        ({"pmo/process": "another-machine:1"}, 0),
        ({"pmo/process": str(this_process())}, 0),
        ({"pmo/process": str(replace(this_process(), start="1"))}, 1),  # its number is another one's now
        ({"pmo/process": str(replace(this_process(), boot="before"))}, 1),  # the machine was started again
        ({"pmo/process": str(replace(this_process(), host="another", boot="another"))}, 0),
        ({"pmo/process": str(replace(this_process(), space="another container's"))}, 0),
        ({".dagster/grpc_info": server(socket="/nowhere/socket")}, 1),
        ({".dagster/grpc_info": server(socket=unix_socket(heard=True))}, 0),
        ({".dagster/grpc_info": server(socket=unix_socket(heard=False))}, 1),
        ({".dagster/grpc_info": server(port=closed_port())}, 1),
        ({".dagster/grpc_info": server(host="another-machine", port=1)}, 0),
        ({}, 0),
    ],
)
def test_only_runs_that_are_certainly_dead_are_closed(tags: dict[str, str], closed: int) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(Settings()).resolve_job_def("release")
        run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags)
        assert close_dead_runs(instance) == closed
        after = instance.get_run_by_id(run.run_id)
        assert after is not None
        assert (after.status == dg.DagsterRunStatus.FAILURE) == bool(closed)


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING])
def test_a_retry_is_not_closed_for_the_server_of_the_run_that_it_repeats(status: dg.DagsterRunStatus) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(Settings()).resolve_job_def("release")
        copied = {".dagster/grpc_info": server(socket="/nowhere/socket")}
        instance.create_run_for_job(job, status=status, tags=copied)
        assert close_dead_runs(instance) == 0
        instance.create_run_for_job(job, status=status, tags={"pmo/process": f"{socket.gethostname()}:{dead_pid()}"})
        assert close_dead_runs(instance) == 1, "a run of `pmo run` says itself whose it is"


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING])
def test_a_retry_that_is_never_launched_is_closed_after_a_while(
    status: dg.DagsterRunStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(Settings()).resolve_job_def("release")
        copied = {".dagster/grpc_info": server(socket="/nowhere/socket")}
        instance.create_run_for_job(job, status=status, tags=copied)
        monkeypatch.setattr(runner, "_LAUNCHED_WITHIN", timedelta(0))
        assert close_dead_runs(instance) == 1


def test_a_run_on_another_machine_is_left_to_who_watches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(Settings()).resolve_job_def("release")
        tags = {".dagster/grpc_info": server(socket="/nowhere/socket")}
        instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags)
        with monkeypatch.context() as patch:
            patch.setattr(type(instance.run_launcher), "supports_check_run_worker_health", True)
            assert close_dead_runs(instance) == 0
        assert close_dead_runs(instance) == 1


@pytest.mark.parametrize(
    ("tags", "canceled"),
    [
        ({".dagster/grpc_info": server(socket="/nowhere/socket")}, 1),
        ({"pmo/process": str(this_process())}, 0),
        ({".dagster/grpc_info": server(host="code", port=4000)}, 0),
    ],
    ids=["of this UI", "of pmo run", "of another machine"],
)
def test_what_the_ui_began_counts_as_canceled_when_it_is_ended(tags: dict[str, str], canceled: int) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(Settings()).resolve_job_def("release")
        run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags)
        assert cancel_runs_of_code_servers(instance) == canceled
        after = instance.get_run_by_id(run.run_id)
        assert after is not None
        assert (after.status is dg.DagsterRunStatus.CANCELING) == bool(canceled)


@pytest.mark.parametrize(("pid", "closed"), [(os.getpid(), 0), (dead_pid(), 1)], ids=["alive", "dead"])
def test_a_run_whose_code_server_was_killed_lives_as_long_as_its_own_process(pid: int, closed: int) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(Settings()).resolve_job_def("release")
        tags = {".dagster/grpc_info": server(socket="/nowhere/socket")}
        run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags)
        instance.report_engine_event("Started process for run", run, EngineEventData.in_process(pid))
        assert close_dead_runs(instance) == closed


def test_a_new_dagster_home_gets_the_configuration_and_an_old_one_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    home = dagster_home(Settings(dagster_home=tmp_path / "home"))
    assert "telemetry" in (home / "dagster.yaml").read_text()
    assert (home / "schedules" / "schedules.db").is_file(), "made before the UI starts on it"
    (home / "dagster.yaml").write_text("nux: {enabled: false}")
    dagster_home(Settings(dagster_home=tmp_path / "home"))
    assert (home / "dagster.yaml").read_text() == "nux: {enabled: false}"


def test_a_run_of_this_process_says_from_its_beginning_whose_job_it_is() -> None:
    """Only such runs stand on the UI's first page and under Jobs; and Dagster begins none of them again."""
    seen: list[dg.DagsterRun | None] = []

    @dg.op
    def look(context) -> None:  # type: ignore[no-untyped-def]  # Dagster reads annotations that are no strings
        seen.append(context.instance.get_run_by_id(context.run_id))

    @dg.job
    def looking() -> None:
        look()

    with dg.DagsterInstance.ephemeral() as instance:
        run_job(dg.Definitions(jobs=[looking]), instance, "looking")
        (ended,) = instance.get_runs(dg.RunsFilter(job_name="looking", tags={".dagster/repository": LABEL}))
        assert ended.status is dg.DagsterRunStatus.SUCCESS
    for run in (*seen, ended):
        assert run is not None
        assert run.remote_job_origin is not None
        assert (run.remote_job_origin.job_name, run.remote_job_origin.repository_origin.get_label()) == (
            "looking", LABEL,
        )  # fmt: skip
        assert run.tags["dagster/max_retries"] == "0"


LABEL = "__repository__@pmo_assets"


def test_the_code_location_has_the_name_that_the_ui_gives_it() -> None:
    (loaded,) = yaml.safe_load(workspace().read_text())["load_from"]
    assert f"__repository__@{loaded['python_module']['location_name']}" == LABEL
