"""`pmo dev`: its port, and that nothing of it is left behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pmo_assets.cli import dev
from pmo_assets.cli.console import CommandError
from pmo_assets.serving import addresses
from pmo_assets_tests.cli.command_line import Pmo, command, environment


@pytest.fixture
def taken():
    """A port at which another program listens, on all addresses."""
    with socket.create_server(("0.0.0.0", 0)) as other:
        yield other.getsockname()[1]


def test_a_port_that_was_asked_for_and_is_taken_is_refused_in_one_line(pmo: Pmo, taken: int) -> None:
    result = pmo("dev", "--port", str(taken))
    assert result.returncode == 1
    assert f"port {taken} on 127.0.0.1 is taken by another program" in result.stderr
    assert "--port" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_without_one_the_next_free_port_is_chosen(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "DEFAULT_PORT", taken)
    monkeypatch.setattr(addresses, "DEFAULT_PORT", taken + 1)
    chosen = dev.ui_port("127.0.0.1", None)
    assert taken + 1 < chosen < taken + dev.PORTS_TRIED, "the next one is the pages'"


def test_zero_is_any_free_port() -> None:
    assert dev.ui_port("127.0.0.1", 0) > 0


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(CommandError, match="an address of this machine"):
        dev.ui_port("192.0.2.1", 0)


def test_all_ports_taken_is_said(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "DEFAULT_PORT", taken)
    monkeypatch.setattr(dev, "PORTS_TRIED", 1)
    with pytest.raises(CommandError, match="--port 0"):
        dev.ui_port("127.0.0.1", None)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sessions and signals as on Unix")
def test_the_ui_answers_and_sigterm_ends_every_part_of_it(tmp_path: Path) -> None:
    """Takes half a minute: it is the one test that starts webserver, daemon, code server and pages for real."""
    log = tmp_path / "log"
    with log.open("w") as stream:
        running = subprocess.Popen(
            command("dev", "--port", "0"), cwd=tmp_path, env=environment(tmp_path), stdout=stream, stderr=stream
        )
    try:
        deadline = time.monotonic() + 180
        while not re.search(r"Ctrl-C ends both\nhttp://.*\n", log.read_text()):
            assert running.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.5)
        said = log.read_text().splitlines()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", said[-1]), "the address comes last and alone"
        assert len(said) <= 4, "what Dagster prints is in its home"
        assert "Serving dagster-webserver" in (tmp_path / "dagster" / "dev.log").read_text()
        sessions = {child.pid for child in psutil.Process(running.pid).children()}
        assert len(sessions) == 2, "the UI and the pages"
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0, log.read_text()
        assert log.read_text().splitlines()[len(said) :] == ["ended"]
    finally:
        running.kill()
    left = [process for process in psutil.process_iter() if _session(process.pid) in sessions]
    assert not left


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
