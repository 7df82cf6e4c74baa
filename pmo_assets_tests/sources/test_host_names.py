"""Without a network it is said at once that there is none."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from pmo_assets.records.packages import SourceError
from pmo_assets.records.stores import SystemicError
from pmo_assets.sources import host_names
from pmo_assets.sources.entrez_answer import EntrezError
from pmo_assets.sources.entrez_requests import EntrezClient, EntrezOptions
from pmo_assets.sources.host_names import name_problem
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions

NOWHERE = "pmo.invalid"
"""A name that no name server knows (RFC 2606)."""

QUESTION = "are you offline, behind a proxy (HTTPS_PROXY)?"


@pytest.fixture(autouse=True)
def _no_proxy_and_little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(host_names.name_problem, "__defaults__", (0.2, 0.2))


def test_addresses_of_this_machine_need_no_name_server() -> None:
    assert name_problem("http://127.0.0.1:8080/x") is None
    assert name_problem("http://[::1]:8080/x") is None


def test_an_unknown_name_is_said_with_what_to_look_at() -> None:
    problem = name_problem(f"https://{NOWHERE}/x")
    assert problem is not None
    assert problem.startswith(f"the name {NOWHERE} cannot be resolved (")
    assert problem.endswith(QUESTION)


def test_what_cannot_be_a_name_is_not_looked_up_again() -> None:
    assert "(it is no name)" in str(name_problem(f"https://{'a' * 70}.example/x", patience=30, silence=30))


def test_a_name_server_that_does_not_answer_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(60))
    try:
        assert "no answer within 0.2 s" in str(name_problem(f"https://{NOWHERE}/x"))
    finally:
        over.set()


def test_a_second_name_server_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver goes on to it after seconds: that is longer than a failed look-up is repeated."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: threading.Event().wait(0.4) or [])
    assert name_problem(f"https://{NOWHERE}/x", patience=0.1, silence=30) is None


def test_a_fault_that_passes_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def resolve(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        if len(asked) == 1:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert name_problem(f"https://{NOWHERE}/x", patience=5, silence=30) is None
    assert asked == [NOWHERE, NOWHERE]


def test_behind_a_proxy_its_name_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:3128")
    assert name_problem(f"https://{NOWHERE}/x") is None
    monkeypatch.setenv("https_proxy", "proxy.invalid:3128")
    assert "the name proxy.invalid cannot" in str(name_problem("https://127.0.0.1/x"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert name_problem("https://127.0.0.1/x") is None


def test_the_bucket_is_not_asked_again_and_again() -> None:
    with pytest.raises(SourceError, match=r"cannot list .*: the name pmo\.invalid cannot be resolved .* offline"):
        PmcBucket(PmcOptions(endpoint=f"https://{NOWHERE}", pause=60)).objects("PMC1.1/")


def test_nor_is_the_search() -> None:
    options = EntrezOptions(email="a@example.org", url=f"https://{NOWHERE}/entrez/", backoff=60)
    with EntrezClient(options) as client, pytest.raises(EntrezError, match="offline, behind a proxy") as caught:
        client.ask("retina", 0)
    assert isinstance(caught.value, SystemicError)
