"""Running the pages' server: its port, its process, its limits, its end."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from pmo_assets.records.stores import SystemicError
from pmo_assets.serving.addresses import DEFAULT_PORT

LOOPBACK = "127.0.0.1"

GRACE = 3
"""Seconds that answers under way are given when the server is asked to end."""

CONNECTIONS: Final = 256
"""Connections at once. Beyond, the one that has waited longest without a request makes room for a new one."""

FEWEST_CONNECTIONS: Final = 8
"""…, however few files the system lets a process open."""

HEAD_SECONDS: Final = 10.0
"""Seconds in which the head of a request must have come; browsers send theirs at once."""

STALLED_SECONDS: Final = 30.0
"""Seconds for which a reader may take nothing of an answer before it is left."""


def connection_limit() -> int:
    """Return how many connections may be open: `CONNECTIONS`, or half of what the system lets a process open."""
    try:
        import resource
    except ImportError:  # not a Unix
        return CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS if files == resource.RLIM_INFINITY else max(FEWEST_CONNECTIONS, min(CONNECTIONS, files // 2))


class LimitedProtocol(H11Protocol):
    """HTTP with an end to waiting: uvicorn limits neither how slowly a request comes nor how slowly an answer goes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._limit = connection_limit()

    @property
    def is_answering(self) -> bool:
        """True while a request has no complete answer."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, in the place of the one that waited longest if there are too many."""
        super().connection_made(transport)
        self._await_request()
        # One that was told to end stays among the connections until the loop comes round to it.
        there = [other for other in self.connections if not other.transport.is_closing()]
        if len(there) > self._limit:
            waiting = [other for other in there if isinstance(other, LimitedProtocol) and not other.is_answering]
            min(waiting, key=lambda other: other._since).transport.abort()

    def _await_request(self) -> None:
        self._since = self.loop.time()
        self._waiting = self.loop.call_later(HEAD_SECONDS, self._leave_if_waiting)

    def _leave_if_waiting(self) -> None:
        if not self.is_answering:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request of the connection."""
        super().on_response_complete()
        if self._waiting is not None:
            self._waiting.cancel()
        self._await_request()

    def pause_writing(self) -> None:
        """Begin to count the time of a reader that takes nothing."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The reader took something."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the limits."""
        for timer in (self._waiting, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)


def listening_socket(host: str, port: int | None = None) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: address of this machine.
        port: number; if None, `DEFAULT_PORT`, or a free one when that is taken.

    Raises:
        SystemicError: if the address is not this machine's, or the port is taken; the message says what to do.
    """
    for number in (DEFAULT_PORT, 0) if port is None else (port,):
        try:
            return socket.create_server((host, number), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            reason = error
    raise SystemicError(
        f"cannot listen on {host}{'' if port is None else f', port {port}'} ({reason.strerror or reason}): give "
        "another --port, or none for a free one, and as --host an address of this machine"
    ) from reason


def address_of(listening: socket.socket) -> str:
    """Return the address at which a browser on this machine reaches a socket."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def free_port(host: str = LOOPBACK) -> int:
    """Return the port that `pmo pages` would choose now, for whoever must know it before it starts."""
    with listening_socket(host) as listening:
        return int(listening.getsockname()[1])


def pages_command(host: str, port: int) -> list[str]:
    """Return the command that serves the pages of the data root of its environment, as a process of its own."""
    return [sys.executable, "-m", "pmo_assets.cli", "pages", "--host", host, "--port", str(port)]


def web_server(application: ASGIApp) -> uvicorn.Server:
    """Return the server of the application, for `run(sockets=[…])`."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            http=LimitedProtocol,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=GRACE,
        )
    )


def serve(application: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until the process is interrupted or terminated."""
    web_server(application).run(sockets=[listening])
