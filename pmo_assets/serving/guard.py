"""The guard before Dagster's UI and the pages: they answer only requests that no other web site sent.

Neither has accounts: on 127.0.0.1 they trust whoever reaches them, and that is also every page that this machine's
browser has open. Such a page can send requests (a picture whose address is a mutation, a form, a WebSocket), and,
with a name of its own that leads to 127.0.0.1, read the answers (DNS rebinding). The rules are those of the OWASP
cheat sheet on cross-site request forgery: the name in `Host` is one of ours, `Origin` is this site, fetch metadata
(`Sec-Fetch-Site`) say the same, and GraphQL is POST with JSON, which no page can send elsewhere without being asked
first (Fetch standard, CORS-safelisted content types). Programs that are no browsers send neither header and are let
in.

Keep out: accounts and TLS (a proxy's), limits of time (`pmo_assets.serving.server`).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, 9.2.1), of everything but GraphQL, which looks at the query instead."""

_JSON: Final = "application/json"

_SAME: Final = frozenset({"same-origin", "none"})
"""Values of `Sec-Fetch-Site` in requests of this site, or of a person who typed the address."""


def host_names(text: str) -> tuple[str, ...]:
    """Return the names in `PMO_ALLOWED_HOSTS`, e.g. "ui.example.org, eye-pc", in lower case."""
    return tuple(text.replace(",", " ").lower().split())


def host_is_known(host: str | None, names: Collection[str] = ()) -> bool:
    """Say whether a `Host` header names this server.

    Known are addresses (a page elsewhere cannot have one of ours as its own), `localhost`, this machine's name, and
    `names`. All others may be names that somebody else leads here.

    Args:
        host: the header, with or without a port; None if there was none.
        names: more names, in lower case, without a port.
    """
    name = _name_in(host)
    if not name:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        own = socket.gethostname().lower()
        return name == "localhost" or name.endswith(".localhost") or name == own or name in names
    return True


def _name_in(host: str | None) -> str:
    """Return the name or address in a `Host` header, in lower case, without brackets; "" if it cannot be read."""
    if not host or any(character in host for character in "/@?#\\ "):
        return ""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    return (parts.hostname or "").rstrip(".").lower()


def refusal(scope: Scope, names: Collection[str] = (), graphql: Sequence[str] = ()) -> tuple[int, str] | None:
    """Return why a request or WebSocket is not answered: status and a sentence; None if it is.

    Args:
        scope: of ASGI, type "http" or "websocket".
        names: see `host_is_known`.
        graphql: paths where queries and mutations are taken.
    """
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not host_is_known(hosts[0], names):
        shown = hosts[0] if hosts else ""
        return 421, f"this server does not answer to the name {shown!r}: add it to PMO_ALLOWED_HOSTS if it is yours"
    for origin in headers.getlist("origin"):
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https", "ws", "wss") or parts.netloc.lower() != hosts[0].lower():
            return 403, f"a page of {origin!r} sent this, which is not this site"
    site = headers.get("sec-fetch-site")
    foreign = site is not None and site not in _SAME
    method = scope.get("method", "GET")
    sends = scope["type"] == "websocket" or scope["path"] in graphql or method not in _READING
    if foreign and sends:
        return 403, "a page of another site sent this"
    if foreign and headers.get("sec-fetch-mode") != "navigate":
        return 403, "a page of another site asked for this: only links lead here"
    if scope["type"] == "websocket" or scope["path"] not in graphql:
        return None
    return _refused_query(scope, headers, method)


def _refused_query(scope: Scope, headers: Headers, method: str) -> tuple[int, str] | None:
    """Return why a request to GraphQL is not carried out."""
    if method == "POST":
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        # Dagster looks whether the type *contains* "application/json", and else takes the query of the address.
        return None if kind == _JSON else (415, f"send queries as {_JSON}")
    if scope["query_string"] or "text/html" not in headers.get("accept", ""):
        return 405, f"send queries by POST as {_JSON}"
    return None  # the page on which people write queries


class Guard:
    """Answers only requests that `refusal` lets through; no page of another site may show ours in a frame.

    Args:
        app: application behind the guard.
        names: see `host_is_known`.
        graphql: see `refusal`.
    """

    def __init__(self, app: ASGIApp, names: Collection[str] = (), graphql: Sequence[str] = ()) -> None:
        self._app, self._names, self._graphql = app, frozenset(names), tuple(graphql)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = refusal(scope, self._names, self._graphql)
        if refused is None:
            await self._app(scope, receive, _framed(send) if scope["type"] == "http" else send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "refused"})  # before it is accepted: 403
        else:
            status, why = refused
            await PlainTextResponse(f"refused: {why}\n", status)(scope, receive, send)


def _framed(send: Send) -> Send:
    async def with_header(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), (b"x-frame-options", b"DENY")]}
        await send(message)

    return with_header
