"""Notices to a person who is not looking: by mail, or to a webhook (Slack, Teams, any other).

What belongs here: sending one notice. What does not: what is worth a notice, which its sender knows.
"""

from __future__ import annotations

import logging
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx2

from pmo_assets.records.stores import SystemicError

PATIENCE: Final = 15.0
"""Seconds that a server may take to take a notice."""

LOCAL_SERVER: Final = "smtp://localhost"
"""The mail server that Unix machines have, if any."""

_CARD: Final = "application/vnd.microsoft.card.adaptive"

_SLACK: Final = ("hooks.slack.com",)
_TEAMS: Final = (".webhook.office.com", ".logic.azure.com", ".powerplatform.com")
"""Hosts of the webhooks that Teams gives, also those of its workflows."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice.

    Attributes:
        title: one line.
        text: what happened, and what to do.
        job: name of the job that it is about.
        run: id of its run.
    """

    title: str
    text: str
    job: str
    run: str


class NoticeNotSent(SystemicError):
    """A notice did not reach the server that was to pass it on; the message says why, without secrets."""


def webhook_body(notice: Notice, url: str) -> dict[str, Any]:
    """Return what a webhook takes: Slack's text, an adaptive card for Teams, for others all fields."""
    host = urlsplit(url).hostname or ""
    if host.endswith(_SLACK):
        return {"text": f"*{notice.title}*\n{notice.text}"}
    if host.endswith(_TEAMS):
        blocks = [
            {"type": "TextBlock", "text": notice.title, "weight": "Bolder", "wrap": True},
            {"type": "TextBlock", "text": notice.text, "wrap": True},
        ]
        card = {"type": "AdaptiveCard", "version": "1.4", "body": blocks}
        return {"type": "message", "attachments": [{"contentType": _CARD, "content": card}]}
    return asdict(notice)


def post(notice: Notice, url: str) -> None:
    """Send a notice to a webhook, whose address is a secret: who has it may write there.

    Raises:
        NoticeNotSent: if it does not answer, or refuses it.
    """
    try:
        host, body = urlsplit(url).hostname, webhook_body(notice, url)
        # of an answer only the status is read: its body may be without end
        with _addresses_unlogged(), httpx2.stream("POST", url, json=body, timeout=PATIENCE) as answer:
            status = answer.status_code
    except httpx2.HTTPError as error:
        problem = f"{host} does not answer ({type(error).__name__})"
    except (httpx2.InvalidURL, ValueError):
        problem = "it is no address"
    else:
        if status < 300:
            return
        problem = f"{host} answers with HTTP {status}"
    raise NoticeNotSent(f"the notice could not be sent: {problem}; see PMO_NOTIFY_URL") from None


@contextmanager
def _addresses_unlogged() -> Iterator[None]:
    """Keep httpx2, which logs the address of each request, from logging one that is a secret."""
    logger = logging.getLogger("httpx2")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def mail(notice: Notice, to: str, server: str) -> None:
    """Send a notice by mail.

    Args:
        notice: to send.
        to: address; it is the sender's, too.
        server: `smtp://USER:PASSWORD@HOST:PORT` (encrypted as soon as the server offers it; a password is sent in no
            other way, but to this machine), or `smtps://…` (encrypted from the start). User and password may be absent.
            A server that gets a password must have a certificate for its name, unless it is this machine.

    Raises:
        NoticeNotSent: if the server cannot be reached or refuses the mail.
    """
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = notice.title, to, to
    message.set_content(f"{notice.text}\n\nJob {notice.job}, run {notice.run}\n")
    host = "the mail server"
    try:
        parts = urlsplit(server)
        host = parts.hostname or "localhost"
        is_secret = bool(parts.password) and host not in ("localhost", "127.0.0.1", "::1")
        context = _encryption(is_checked=is_secret)
        with _connected(parts.scheme, host, parts.port, context) as connection:
            if parts.scheme != "smtps" and connection.has_extn("starttls"):
                connection.starttls(context=context)
            elif parts.scheme != "smtps" and is_secret:
                raise NoticeNotSent(f"the notice could not be sent: {host} would get the password unencrypted")
            if parts.username and parts.password:
                connection.login(unquote(parts.username), unquote(parts.password))
            connection.send_message(message)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        problem = f"{host}: {type(error).__name__}"
    else:
        return
    raise NoticeNotSent(f"the notice could not be sent: {problem}; see PMO_SMTP_URL and PMO_NOTIFY_EMAIL") from None


def _encryption(*, is_checked: bool) -> ssl.SSLContext:
    """Return how a connection is encrypted; unchecked, any certificate will do, as mail servers among themselves do."""
    context = ssl.create_default_context()
    if not is_checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _connected(scheme: str, host: str, port: int | None, context: ssl.SSLContext) -> smtplib.SMTP:
    if scheme == "smtps":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(host, port or 0, timeout=PATIENCE, context=context)
    else:
        connection = smtplib.SMTP(host, port or 0, timeout=PATIENCE)
    connection.ehlo()
    return connection
