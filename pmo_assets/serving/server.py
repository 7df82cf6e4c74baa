"""Running the pages' server: its port, its process, its end."""

from __future__ import annotations

import socket
import sys

import uvicorn
from starlette.applications import Starlette

from pmo_assets.records.stores import SystemicError
from pmo_assets.serving.addresses import DEFAULT_PORT

LOOPBACK = "127.0.0.1"

GRACE = 3
"""Seconds that answers under way are given when the server is asked to end."""


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


def web_server(application: Starlette) -> uvicorn.Server:
    """Return the server of the application, for `run(sockets=[…])`."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=GRACE,
        )
    )


def serve(application: Starlette, listening: socket.socket) -> None:
    """Answer requests until the process is interrupted or terminated."""
    web_server(application).run(sockets=[listening])
