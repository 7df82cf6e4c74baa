"""Dagster's webserver behind the guard: `pmo-webserver`, with the options of `dagster-webserver`.

Dagster's GraphQL carries out mutations that come by GET, from any page that the browser has open, and its WebSocket
asks nobody where they are from. What may pass is decided in `pmo_assets.serving.guard`; here it is put around the
application inside the webserver's process, because a proxy before it would leave the webserver's own port open to the
same pages. `pmo-webserver dev …` is `dagster dev` with this webserver; `stands_guard` says whether the guard is
there, which whoever starts it asks before anybody is told the address.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from pmo_assets.defs import prompt_daemon
from pmo_assets.serving.guard import Guard, host_names

MODULE: Final = "pmo_assets.defs.guarded_webserver"

HOSTS: Final = "PMO_ALLOWED_HOSTS"
"""Variable of the setting: the webserver of a deployment has no other."""

_OURS: Final = {"dagster_webserver": MODULE, "dagster._daemon": prompt_daemon.MODULE}
"""Modules that take the place of those that `dagster dev` starts."""

_SECONDS: Final = 5


def serve(arguments: Sequence[str]) -> None:
    """Run Dagster's webserver with its own command line, guarded, until it is ended."""
    import dagster_webserver.cli

    webserver: Any = dagster_webserver.cli
    make = webserver.create_app_from_workspace_process_context

    def guarded(context: Any, path_prefix: str = "", *others: Any, **more: Any) -> Guard:
        application = make(context, path_prefix, *others, **more)
        return Guard(application, host_names(os.environ.get(HOSTS, "")), [f"{path_prefix}/graphql"])

    webserver.create_app_from_workspace_process_context = guarded
    sys.argv = ["dagster-webserver", *arguments]
    webserver.main()


def develop(arguments: Sequence[str]) -> None:
    """Run `dagster dev`, whose webserver is `serve` and whose daemon `pmo_assets.defs.prompt_daemon`."""
    import dagster._cli.dev

    dev: Any = dagster._cli.dev
    start = dev.open_ipc_subprocess

    def started(parts: Sequence[str], **more: Any) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = start([_OURS.get(part, part) for part in parts], **more)
        return process

    dev.open_ipc_subprocess = started
    dev.dev_command.main(args=list(arguments), prog_name="dagster dev")


def stands_guard(url: str) -> bool:
    """Say whether the server at an address refuses what another site's page would send; False also if none answers.

    Asked are a picture's mutation by GET, a name that is not ours, and a foreign page's POST.
    """
    parts = urlsplit(url)
    path = f"{parts.path.rstrip('/')}/graphql"
    asked: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("GET", f"{path}?query=%7B__typename%7D", {}),
        ("GET", "/server_info", {"Host": "elsewhere.example"}),
        ("POST", path, {"Origin": "http://elsewhere.example", "Content-Type": "application/json"}),
    )
    return all(_status(parts.hostname or "", parts.port, *one) in (403, 405, 421) for one in asked)


def _status(host: str, port: int | None, method: str, path: str, headers: dict[str, str]) -> int | None:
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request(method, path, body="{}" if method == "POST" else None, headers=headers)
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def main() -> None:
    """Run what the command line asks for."""
    if sys.argv[1:2] == ["dev"]:
        develop(sys.argv[2:])
    else:
        serve(sys.argv[1:])


if __name__ == "__main__":
    main()
