"""`pmo dev`: the Dagster web UI, its daemon and the pages beside it, as one command."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from pmo_assets.cli.console import CommandError, counted, data_root_of, messages, settings_from_environment
from pmo_assets.cli.samples import below_demo_folder
from pmo_assets.cli.supervision import Program, run_together
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings

DEFAULT_PORT: Final = 3000
"""Port of the UI …"""

PORTS_TRIED: Final = 20
"""… and how many from there on are tried."""

LOG_NAME: Final = "dev.log"
"""File in the Dagster home for what the UI, the daemon and the pages print: a thousand lines after one backfill …"""

LINES_SHOWN: Final = 30
"""… of which so many are shown when one of them ends by itself: a traceback and what led to it."""

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

_PARTS: Final = {
    "guarded_webserver --port": "the webserver",
    "prompt_daemon": "the daemon",
    "code-server": "the code server",
}
"""Processes that `dagster dev` starts, by a word of their command lines."""


def dev(
    context: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the web UI; if not given 3000, or the next that is free."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address the UI listens on. The default is seen from this machine only; 0.0.0.0 from others, too: the "
            "UI has no password, and who reaches it can start and delete runs."
        ),
    ] = "127.0.0.1",
    demo_folder: Annotated[Path, typer.Option(help="The demo's folder.")] = Path("demo"),
) -> None:
    """Open the Dagster web UI with its daemon, and the pages (gallery, report, quality) beside it; Ctrl-C ends all.

    It shows your own data root; as long as nothing is registered there, that of the demo. SIGTERM ends it as Ctrl-C
    does, with status 0; when a part of it ends by itself, all end, with status 1. What Dagster prints goes to dev.log
    in its home; `pmo --debug dev` shows it here.
    """
    from pmo_assets.configuration.home import home_place
    from pmo_assets.defs.guarded_webserver import HOSTS, MODULE
    from pmo_assets.defs.instance import home_to_show, workspace
    from pmo_assets.serving.server import free_port, pages_command

    own = settings_from_environment()
    settings = _shown(own, demo_folder)
    chosen = ui_port(host, port)
    if port is None and chosen != DEFAULT_PORT:
        messages.print(f"port {DEFAULT_PORT} is taken by another program: the UI gets {chosen}", highlight=False)
    if host not in _LOOPBACK:
        messages.print(
            f"[yellow]open to others[/] everyone who reaches {host}:{chosen} can start and delete runs: there is no "
            "password (docs/deployment.md)",
            highlight=False,
            soft_wrap=True,
        )
    pages_port = free_port(host)
    pages = settings.pages_url if "pages_url" in settings.model_fields_set else address(host, pages_port)
    root = data_root_of(settings)
    messages.print(f"data root {place(settings)}", highlight=False, markup=False, soft_wrap=True)
    ui = [sys.executable, "-m", MODULE, "dev", "-w", str(workspace()), "-h", host, "-p", str(chosen)]
    with home_to_show(settings) as home:
        if home != home_place(settings).path:
            messages.print(
                f"{home_place(settings).path} is on a read-only disk: the UI shows a copy, gone when it ends; "
                "runs write only where the data root can be written",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        environment = {
            **os.environ,
            "DAGSTER_HOME": str(home),
            "PMO_DATA_ROOT": os.path.abspath(Path(root.root).expanduser()) if root.is_local else root.root,
            "PMO_PAGES_URL": pages,
            HOSTS: own.allowed_hosts,
        }
        if settings is not own and settings.annotations:  # of one's own, `.env` is read when the code location loads
            environment["PMO_ANNOTATIONS"] = settings.annotations
            environment["PMO_APPLY_ANNOTATIONS"] = str(settings.apply_annotations).lower()
        log = None if context.obj["debug"] else home / LOG_NAME
        ended = run_together(
            [
                Program("the UI (dagster dev)", ui, _PARTS),
                Program("the pages (pmo pages)", pages_command(host, pages_port)),
            ],
            environment,
            _announcing(address(host, chosen), address(host, pages_port), log),
            log,
            functools.partial(_cancel_runs, home),
        )
        if ended is not None and log is not None:
            _say_end_of(log)
    if ended is not None:
        raise CommandError(f"{ended}, so the rest was ended, too; the reason is above, if it had time to say one")
    messages.print("ended", highlight=False)


def _cancel_runs(home: Path) -> None:
    """Let the runs at work end as canceled; that this cannot be noted keeps nothing from ending."""
    from pmo_assets.defs.instance import opened_home
    from pmo_assets.defs.runner import cancel_runs_of_code_servers

    with contextlib.suppress(SystemicError), opened_home(home) as instance:
        if count := cancel_runs_of_code_servers(instance):
            messages.print(f"{counted(count, 'run')} at work canceled", highlight=False)


def _say_end_of(log: Path) -> None:
    """Print the last lines of what the programs printed."""
    lines = log.read_text("utf-8", "replace").splitlines()
    for line in lines[-LINES_SHOWN:]:
        messages.print(line, highlight=False, markup=False, soft_wrap=True)


def _shown(settings: Settings, demo_folder: Path) -> Settings:
    """Return the settings, or those of the demo while nothing is registered in the data root."""
    from pmo_assets.storage.registry import BatchRegistry

    demo = below_demo_folder(settings, demo_folder)
    if BatchRegistry(data_root_of(settings)).batches() or not BatchRegistry(data_root_of(demo)).batches():
        return settings
    return demo


def place(settings: Settings) -> str:
    """Return where the data root is, for people."""
    return data_root_of(settings).uri("").rstrip("/")


def address(host: str, port: int) -> str:
    """Return the address at which a browser on this machine reaches a port."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def ui_port(host: str, wanted: int | None) -> int:
    """Return the port for the UI.

    Args:
        host: address to listen on.
        wanted: this one and no other, 0 for any that is free; if None, 3000 or the next that is free. The next but one
            is left to the pages.

    Raises:
        CommandError: if the wanted port, or all that were tried, are taken, or the address is not this machine's.
    """
    from pmo_assets.serving.addresses import DEFAULT_PORT as PAGES_PORT

    if wanted is not None:
        return _free_port(host, wanted)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        if candidate != PAGES_PORT and not is_taken(host, candidate):
            return candidate
    raise CommandError(f"the ports from {DEFAULT_PORT} on are taken: give --port 0 for any that is free")


def _free_port(host: str, port: int) -> int:
    if port and is_taken(host, port):
        raise CommandError(
            f"port {port} on {host} is taken by another program: end that, or give another --port (0: any that is free)"
        )
    try:
        with _listening(host, port) as listening:
            return int(listening.getsockname()[1])
    except OSError as error:
        raise CommandError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}): give another --port (ports below 1024 "
            "are the administrator's), and as --host an address of this machine"
        ) from error


def is_taken(host: str, port: int) -> bool:
    """Say whether another program listens at a port, on this address or on all."""
    try:
        with socket.create_connection(({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port), timeout=1):
            return True
    except OSError:
        pass
    try:
        _listening(host, port).close()
    except OSError as error:
        import errno

        return error.errno == errno.EADDRINUSE
    return False


def _listening(host: str, port: int) -> socket.socket:
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def _announcing(ui: str, pages: str, log: Path | None) -> Callable[[], None]:
    """Return a function that asks once a second whether the UI answers, and prints its address, last, when it does.

    Raises:
        CommandError: by that function, if the UI answers without the guard.
    """
    from pmo_assets.defs.guarded_webserver import stands_guard

    state = {"next": time.monotonic(), "said": 0.0}
    messages.print(f"starting the UI at {ui}: about 20 seconds", highlight=False, markup=False, soft_wrap=True)

    def look() -> None:
        now = time.monotonic()
        if state["said"] or now < state["next"]:
            return
        state["next"] = now + 1
        if _answers(f"{ui}/server_info"):
            if not stands_guard(ui):
                raise CommandError(
                    f"the UI at {ui} would do what pages of other sites ask it, so it was ended: install the versions "
                    "in constraints.txt"
                )
            state["said"] = now
            printed = "" if log is None else f" what they print: {log};"
            messages.print(f"pages {pages};{printed} Ctrl-C ends both", highlight=False, markup=False, soft_wrap=True)
            messages.print(ui, highlight=False, markup=False, soft_wrap=True)

    return look


def _answers(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
