"""A notice reaches webhook and mailbox, and who does not take it is named without secrets."""

from __future__ import annotations

import email
import email.policy
import http.server
import json
import logging
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pmo_assets.serving import notices
from pmo_assets.serving.notices import Notice, NoticeNotSent, mail, post, webhook_body

NOTICE = Notice("pmo-assets: refresh failed", "pmc_candidates: no network\nLook.", "refresh", "4711")


@contextmanager
def webhook(status: int = 200) -> Iterator[tuple[str, list[Any]]]:
    """Give the address of a server and what it got."""
    got: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/secret", got
        server.shutdown()


@contextmanager
def mail_server(*, refuses: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Give the address of a mail server without encryption and the mails that it got."""
    got: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                word = line.split()[0].upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    got.append(b"".join(lines).decode())
                answer = b"550 no" if refuses and word == b"RCPT" else b"221 bye" if word == b"QUIT" else b"250 ok"
                self.wfile.write(answer + b"\r\n")
                if word == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"smtp://127.0.0.1:{server.server_address[1]}", got
        server.shutdown()


def test_a_webhook_gets_all_of_it() -> None:
    with webhook() as (url, got):
        post(NOTICE, url)
    assert got == [{"title": NOTICE.title, "text": NOTICE.text, "job": "refresh", "run": "4711"}]


def test_slack_and_teams_get_what_they_take() -> None:
    assert webhook_body(NOTICE, "https://hooks.slack.com/services/T/B/x") == {
        "text": f"*{NOTICE.title}*\n{NOTICE.text}"
    }
    for url in ("https://a.webhook.office.com/b", "https://prod-1.westeurope.logic.azure.com:443/workflows/x"):
        (attachment,) = webhook_body(NOTICE, url)["attachments"]
        assert [block["text"] for block in attachment["content"]["body"]] == [NOTICE.title, NOTICE.text]
    assert "attachments" not in webhook_body(NOTICE, "https://logic.azure.com.example.org/x")


def test_a_mail_says_what_and_where() -> None:
    with mail_server() as (server, got):
        mail(NOTICE, "me@example.org", server)
    (text,) = got
    message = email.message_from_string(text, policy=email.policy.default)
    assert (message["Subject"], message["To"]) == (NOTICE.title, "me@example.org")
    assert "no network\r\nLook.\r\n\r\nJob refresh, run 4711" in text


def test_the_webhooks_address_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with webhook() as (url, got), caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "httpx2"):
        post(NOTICE, url)
        assert logging.getLogger("httpx2").level == logging.DEBUG, "as it was"
    assert got
    assert "/secret" not in caplog.text


def test_of_a_webhooks_answer_nothing_but_the_status_is_read() -> None:
    class Endless(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            over.wait(60)

        def log_message(self, *_: object) -> None:
            pass

    over = threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            post(NOTICE, f"http://127.0.0.1:{server.server_port}/")  # a body that never ends would be a fault
        finally:
            over.set()
            server.shutdown()


@pytest.mark.parametrize("url", ["http://[", "https://me:hunter2\u2100@example.org/x"])
def test_what_is_no_address_is_said_without_it(url: str) -> None:
    for send in (lambda: post(NOTICE, url), lambda: mail(NOTICE, "me@example.org", url)):
        with pytest.raises(NoticeNotSent) as caught:
            send()
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("status", [404, 500, 302])
def test_a_webhook_that_does_not_take_it_is_named_without_its_secret(status: int) -> None:
    with (
        webhook(status) as (url, _),
        pytest.raises(NoticeNotSent, match=f"HTTP {status}; see PMO_NOTIFY_URL") as caught,
    ):
        post(NOTICE, url)
    assert "secret" not in str(caught.value)
    with pytest.raises(NoticeNotSent, match=r"127\.0\.0\.1 does not answer \(ConnectError\)"):
        post(NOTICE, url)


def test_so_is_a_mail_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server(refuses=True) as (server, got), pytest.raises(NoticeNotSent, match="PMO_SMTP_URL"):
        mail(NOTICE, "me@example.org", server)
    assert got == []
    monkeypatch.setattr(notices, "PATIENCE", 2.0)
    with pytest.raises(NoticeNotSent, match=r"127\.0\.0\.1: ConnectionRefusedError"):
        mail(NOTICE, "me@example.org", server)


def test_a_password_is_not_sent_unencrypted_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server() as (server, got):
        port = int(server.rpartition(":")[2])
        connect = notices._connected
        monkeypatch.setattr(
            notices, "_connected", lambda scheme, _, port, context: connect(scheme, "127.0.0.1", port, context)
        )
        with pytest.raises(NoticeNotSent, match="the password unencrypted") as caught:
            mail(NOTICE, "me@example.org", f"smtp://me:hunter2@mail.example.org:{port}")
    assert "hunter2" not in str(caught.value)
    assert got == []


@pytest.mark.parametrize(("host", "checked"), [("mail.example.org", True), ("127.0.0.1", False)])
def test_who_gets_the_password_shows_a_certificate(monkeypatch: pytest.MonkeyPatch, host: str, checked: bool) -> None:
    asked: list[ssl.SSLContext] = []

    def connected(scheme: str, host: str, port: int | None, context: ssl.SSLContext) -> Any:
        asked.append(context)
        raise ConnectionRefusedError

    monkeypatch.setattr(notices, "_connected", connected)
    with pytest.raises(NoticeNotSent):
        mail(NOTICE, "me@example.org", f"smtps://me:hunter2@{host}")
    with pytest.raises(NoticeNotSent):
        mail(NOTICE, "me@example.org", f"smtps://{host}")
    assert [(c.verify_mode == ssl.CERT_REQUIRED, c.check_hostname) for c in asked] == [(checked,) * 2, (False,) * 2]
