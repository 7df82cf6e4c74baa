"""The pages' server ends waiting: slow heads, idle connections, readers that take nothing."""

from __future__ import annotations

import contextlib
import resource
import socket
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from pmo_assets.serving import server
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.serving.conftest import fill, served

HALF_A_HEAD = b"GET /report.html HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Where the pages of a filled data root are served."""
    root = DataRoot(str(tmp_path))
    fill(root)
    root.write("release/hub/data/panels/train-00001.parquet", b"PAR1" + bytes(40_000_000) + b"PAR1")
    with served(root) as url:
        parts = urlsplit(url)
        yield parts.hostname or "", parts.port or 0


def answers(address: tuple[str, int]) -> bool:
    with urllib.request.urlopen("http://{}:{}/release/report.html".format(*address), timeout=5) as answer:
        return bool(answer.status == 200)


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Say whether the other side ends a connection in that time, whatever it sends before."""
    connection.settimeout(0.05)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if not connection.recv(1 << 20):
                return True
        except TimeoutError:
            continue
        except ConnectionResetError:
            return True
    return False


def is_left(connection: socket.socket, seconds: float) -> bool:
    """Say whether the server, in this process, closes its end of a connection in that time, while nobody reads.

    The other end would learn of it behind all that was sent before, which it would have to take first.
    """
    own = connection.getsockname()
    deadline = time.monotonic() + seconds
    while any(tuple(end.raddr) == own for end in psutil.Process().net_connections("tcp") if end.raddr):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_hundreds_of_slow_connections_keep_nobody_out(address: tuple[str, int]) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(socket.create_connection(address, timeout=5)).sendall(HALF_A_HEAD)
        started = time.monotonic()
        assert answers(address)
        assert time.monotonic() - started < server.HEAD_SECONDS, "the slow ones were not waited for"


def test_a_head_that_does_not_end_is_left(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    with socket.create_connection(address) as connection:
        connection.sendall(HALF_A_HEAD)
        assert is_closed(connection, 5)


def test_a_byte_now_and_then_is_no_head(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.5)
    with socket.create_connection(address) as connection:
        connection.sendall(HALF_A_HEAD)
        for _ in range(40):
            time.sleep(0.1)
            try:
                connection.sendall(b"x")
            except OSError:
                return
    raise AssertionError("the connection is still open")


def test_a_connection_that_says_nothing_is_left(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    with socket.create_connection(address) as connection:
        assert is_closed(connection, 5)


def test_a_reader_that_takes_nothing_is_left(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STALLED_SECONDS", 0.3)
    with socket.create_connection(address) as connection:
        connection.sendall(b"GET /release/hub/data/panels/train-00001.parquet HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(1) == b"H"
        assert is_left(connection, 60)


def test_a_reader_that_takes_its_time_gets_everything(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STALLED_SECONDS", 1.0)
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.5)
    got = 0
    with urllib.request.urlopen("http://{}:{}/release/hub/data/panels/train-00001.parquet".format(*address)) as answer:
        while part := answer.read(8_000_000):
            got += len(part)
            time.sleep(0.2)
    assert got == 40_000_008


def test_connections_stay_below_what_the_system_lets_a_process_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (100, 100))
    assert server.connection_limit() == 50
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert server.connection_limit() == server.CONNECTIONS
