"""Runs of a code server are forked where the code location is imported; other processes start theirs as ever."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster._grpc.server
import pytest

from pmo_assets.defs.forked_runs import can_fork, fork_runs, serves_code

SERVER: Any = dagster._grpc.server.DagsterApiServer

RUN = '''
"""A code server as far as `fork_runs` looks; the run says what its process is."""
import multiprocessing, os, sys
import psutil

def say(answers):
    answers.put((psutil.Process().parent().pid, "pmo_assets.definitions" in sys.modules))

if __name__ == "__main__":
    sys.argv = ["dagster", "api", "grpc", "--socket", "/nowhere"]
    from dagster._grpc.server import DagsterApiServer
    from pmo_assets.defs.forked_runs import fork_runs
    server = DagsterApiServer.__new__(DagsterApiServer)
    server._mp_ctx = multiprocessing.get_context("spawn")
    fork_runs()
    answers = server._mp_ctx.Queue()
    run = server._mp_ctx.Process(target=say, args=[answers])
    run.start()
    parent, imported = answers.get(timeout=120)
    run.join(60)
    print(run.exitcode, parent != os.getpid(), imported)
'''


@pytest.fixture
def code_server(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(sys, "argv", ["dagster", "api", "grpc", "--socket", "/tmp/x"])
    return monkeypatch


def test_a_code_server_is_known_by_its_command(code_server: pytest.MonkeyPatch) -> None:
    assert serves_code()
    code_server.setattr(sys, "argv", ["dagster", "job", "execute"])
    assert not serves_code()


def test_a_run_or_step_that_a_code_server_began_is_none(code_server: pytest.MonkeyPatch) -> None:
    """Started processes are given the command line of who started them."""
    code_server.setattr(multiprocessing, "parent_process", multiprocessing.current_process)
    assert not serves_code()


def test_nothing_is_changed_where_no_code_is_served() -> None:
    fork_runs()
    assert not isinstance(vars(SERVER).get("_mp_ctx"), property)


def test_nothing_is_changed_where_the_system_cannot_fork(code_server: pytest.MonkeyPatch) -> None:
    code_server.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert not can_fork()
    fork_runs()
    assert not isinstance(vars(SERVER).get("_mp_ctx"), property)


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="this system cannot fork")
def test_a_run_begins_with_the_code_location_imported(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(RUN)
    command = [sys.executable, str(script)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert ended.stdout.split() == ["0", "True", "True"], ended.stderr
