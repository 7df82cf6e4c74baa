"""The guard: requests of other sites' pages are refused, people's and programs' are not."""

from __future__ import annotations

import socket
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Scope

from pmo_assets.serving.guard import Guard, host_is_known, host_names, refusal

HOST = "127.0.0.1:3000"
GRAPHQL = ("/graphql",)
MUTATION = b"query=mutation%7BwipeAssets%7D"


def request(
    method: str = "GET",
    path: str = "/",
    headers: Mapping[str, str] = {},
    *,
    query: bytes = b"",
    kind: str = "http",
    host: str | None = HOST,
) -> Scope:
    shown = {**({} if host is None else {"host": host}), **headers}
    return {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in shown.items()],
    }


def status(scope: Scope, names: tuple[str, ...] = ()) -> int | None:
    refused = refusal(scope, names, GRAPHQL)
    return refused[0] if refused else None


EVIL = {"origin": "http://evil.example"}
OWN = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "scope",
    [
        request(),  # curl
        request("HEAD", "/report.html"),
        request(headers={"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}),  # typed by hand
        request(headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}),  # a link elsewhere
        request("POST", "/graphql", JSON),  # a program
        request("POST", "/graphql", {**JSON, **OWN}),  # the UI
        request("POST", "/graphql", {"content-type": "Application/JSON; charset=utf-8", **OWN}),
        request("GET", "/graphql", {"accept": "text/html,*/*"}),  # the page to write queries on
        request(kind="websocket", path="/graphql", headers={"origin": f"http://{HOST}"}),
        request(kind="websocket", path="/graphql"),  # a program
        request(headers={"origin": "https://ui.example.org"}, host="ui.example.org"),  # TLS ends at a proxy
    ],
)
def test_people_and_programs_are_answered(scope: Scope) -> None:
    assert status(scope, ("ui.example.org",)) is None


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        pytest.param(request("GET", "/graphql", {"accept": "image/*"}, query=MUTATION), 405, id="a picture's address"),
        pytest.param(request("GET", "/graphql", {"accept": "text/html"}, query=MUTATION), 405, id="a frame"),
        pytest.param(request("HEAD", "/graphql", query=MUTATION), 405, id="HEAD"),
        pytest.param(request("POST", "/graphql", query=MUTATION), 415, id="a form"),
        pytest.param(request("POST", "/graphql", {"content-type": "text/plain"}), 415, id="no preflight"),
        pytest.param(
            request("POST", "/graphql", {"content-type": "text/plain; application/json"}), 415, id="a type in a type"
        ),
        pytest.param(request("POST", "/graphql", {"content-type": "application/graphql"}), 415, id="not JSON"),
        pytest.param(request("POST", "/graphql", {**JSON, **EVIL}), 403, id="a foreign page"),
        pytest.param(request("POST", "/graphql", {**JSON, "origin": "null"}), 403, id="a sandboxed frame"),
        pytest.param(request("POST", "/graphql", {**JSON, "origin": "http://127.0.0.1:3001"}), 403, id="another port"),
        pytest.param(
            request("POST", "/graphql", {**JSON, "sec-fetch-site": "same-site"}), 403, id="another port, no Origin"
        ),
        pytest.param(request("POST", "/report_asset_materialization/eye", EVIL), 403, id="events"),
        pytest.param(request(kind="websocket", path="/graphql", headers=EVIL), 403, id="WebSocket"),
        pytest.param(request(headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}), 403, id="a script"),
        pytest.param(request(host="evil.example:3000"), 421, id="DNS rebinding"),
        pytest.param(request(host="127.0.0.1.evil.example"), 421, id="a name like an address"),
        pytest.param(request(host="localhost.evil.example"), 421, id="a name like ours"),
        pytest.param(request(host=None), 421, id="no Host"),
        pytest.param(request(host="evil.example@127.0.0.1"), 421, id="a user name"),
        pytest.param(request(host="ui.example.org"), 421, id="not in PMO_ALLOWED_HOSTS"),
    ],
)  # fmt: skip
def test_pages_of_other_sites_are_refused(scope: Scope, expected: int) -> None:
    assert status(scope) == expected


def test_two_hosts_in_one_request_are_none() -> None:
    scope = request()
    scope["headers"] = [*scope["headers"], (b"host", b"evil.example")]
    assert status(scope) == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:3000", "LOCALHOST", "[::1]:3000", "192.0.2.7:80", "a.localhost"]
)
def test_addresses_and_loopback_are_known(host: str) -> None:
    assert host_is_known(host)


def test_this_machine_s_name_is_known() -> None:
    assert host_is_known(f"{socket.gethostname()}:3000")


def test_names_in_the_setting_are_known() -> None:
    names = host_names("UI.example.org, eye-pc")
    assert host_is_known("ui.example.org:443", names)
    assert host_is_known("eye-pc.", names)
    assert not host_is_known("other.example.org", names)


@given(st.text(max_size=40))
def test_what_is_no_host_is_not_known_and_ends_nothing(text: str) -> None:
    if host_is_known(text):
        assert not set("/@?#\\ ") & set(text)


async def _answer(scope: Scope) -> list[Message]:
    sent: list[Message] = []

    async def app(scope: Scope, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b"made"})  # type: ignore[operator]

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await Guard(app, graphql=GRAPHQL)(scope, receive, send)
    return sent


@pytest.mark.parametrize(
    ("scope", "first"),
    [
        (request(), {"type": "http.response.start", "status": 200}),
        (request(host="evil.example"), {"type": "http.response.start", "status": 421}),
        (request(kind="websocket", host="evil.example"), {"type": "websocket.close", "code": 1008}),
    ],
)
def test_the_guard_answers_in_place_of_what_it_guards(scope: Scope, first: dict[str, object]) -> None:
    import anyio

    sent = anyio.run(_answer, scope)
    assert {name: sent[0].get(name) for name in first} == first
    if first.get("status") == 200:
        assert (b"x-frame-options", b"DENY") in sent[0]["headers"]
