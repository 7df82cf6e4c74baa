"""What happens to a request on its way to the bucket or the search: it is logged, it may fail, it may be answered
otherwise than it should. A WSGI middleware; what is behind it knows nothing of it.
"""

from __future__ import annotations

import hashlib
import io
import os
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import parse_qsl

from werkzeug.serving import WSGIRequestHandler

WsgiApp = Callable[[dict[str, Any], Any], Iterable[bytes]]
FaultKind = Literal["500", "503", "reset", "slow"]
"""HTTP 500, S3's 503 "SlowDown", a connection that is reset in the middle of the body, an answer that comes late."""

FAULT_KINDS: tuple[FaultKind, ...] = ("500", "503", "reset", "slow")


class Reset(ConnectionResetError):
    """The connection is to be reset; `Handler` does it."""


class Handler(WSGIRequestHandler):
    """Werkzeug's handler, silent, without Nagle's delay, which resets a connection when it is told to."""

    disable_nagle_algorithm = True

    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:
        """Close the connection; after `Reset` with a TCP RST instead of a FIN, so that the client sees ECONNRESET."""
        self.close_connection = True
        if isinstance(error, Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())

    def log(self, type: str, message: str, *args: Any) -> None:
        """Write nothing: `Traffic` keeps the log."""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request and its answer.

    Attributes:
        method: "GET".
        path: decoded, e.g. "/pmc-oa-opendata/metadata/PMC1.1.json".
        query: parameters, of a form as well.
        status: HTTP status; 0 when the connection was reset before there was one.
        fault: what was done to it; None if it was left alone.
        user_agent: as the client named itself.
        started: seconds of a clock that only goes forward.
        overridden: the answer was an `Answer`.
    """

    method: str
    path: str
    query: Mapping[str, str]
    status: int
    fault: FaultKind | None
    user_agent: str
    started: float
    overridden: bool = False


@dataclass(frozen=True)
class Faults:
    """How often requests fail, and how.

    Whether a request fails depends on the seed, on what it asks for and on how often that was asked, so that threads
    that ask in another order meet the same faults.

    Attributes:
        share: of the requests that fail, 0 to 1.
        kinds: drawn with the same chance each.
        seed: of the draw.
        slow_seconds: how late a slow answer comes; give more than the client's time-out.
        in_a_row: at most this many faults in a row for one request that is repeated; None for no limit.
        only: which paths may fail; None for all.
    """

    share: float = 0.0
    kinds: tuple[FaultKind, ...] = FAULT_KINDS
    seed: int = 0
    slow_seconds: float = 2.0
    in_a_row: int | None = None
    only: Callable[[str], bool] | None = None

    def draw(self, request: str, repeat: int) -> FaultKind | None:
        """Return what happens to the request the `repeat`-th time that it is made (from 0)."""
        if self.share <= 0 or not self.kinds:
            return None
        digest = hashlib.sha256(f"{self.seed} {repeat} {request}".encode(errors="replace")).digest()
        if int.from_bytes(digest[:8], "big") >= self.share * 2**64:
            return None
        return self.kinds[int.from_bytes(digest[8:12], "big") % len(self.kinds)]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered instead of an object: e.g. an HTML page, other bytes than the MD5 says, nothing at all."""

    body: bytes
    content_type: str = "application/octet-stream"
    status: str = "200 OK"

    @classmethod
    def html(cls, text: str = "Please verify that you are not a robot.") -> Answer:
        """A web page, with status 200, as a proxy or a service under maintenance gives it."""
        page = f"<!DOCTYPE html><html><head><title>{text}</title></head><body><p>{text}</p></body></html>"
        return cls(page.encode(), "text/html; charset=utf-8")

    @classmethod
    def empty(cls) -> Answer:
        """No byte."""
        return cls(b"")


SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)
INTERNAL_ERROR = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b"<Error><Code>InternalError</Code><Message>We encountered an internal error. Please try again.</Message></Error>"
)


@dataclass
class Traffic:
    """The middleware. All attributes may be changed while requests come in.

    Attributes:
        app: what answers.
        faults: see `Faults`; set them by `set_faults`.
        answers: path ("/bucket/key") to what is answered instead.
        stopped: set when the server ends: slow answers end at once, late requests are reset.
    """

    app: WsgiApp
    faults: Faults = field(default_factory=Faults)
    answers: dict[str, Answer] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)
    _log: list[LoggedRequest] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)
    _row: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def requests(self) -> list[LoggedRequest]:
        """All requests so far, in the order in which they were answered."""
        with self._lock:
            return list(self._log)

    def set_faults(self, faults: Faults) -> None:
        """Let requests fail otherwise from now on; each is counted from its first time again."""
        with self._lock:
            self.faults = faults
            self._asked.clear()
            self._row.clear()

    def forget(self) -> None:
        """Empty the log."""
        with self._lock:
            self._log.clear()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self.stopped.is_set():
            raise Reset
        request = _request(environ)
        fault = self._drawn(f"{request.method} {request.path} {sorted(request.query.items())}", request.path)
        if fault == "slow":
            self.stopped.wait(self.faults.slow_seconds)
        if fault in ("500", "503"):
            status, body = ("500 Internal Server Error", INTERNAL_ERROR)
            if fault == "503":
                status, body = ("503 Slow Down", SLOW_DOWN)
            answer: Answer | None = Answer(body, "application/xml", status)
        else:
            answer = self.answers.get(request.path)
        status, headers, body = self._answered(environ, answer)
        overridden = answer is not None and fault not in ("500", "503")
        self._add(replace(request, status=int(status.split()[0]), fault=fault, overridden=overridden))
        start_response(status, headers)
        return _broken(body) if fault == "reset" else [body]

    def _answered(self, environ: dict[str, Any], answer: Answer | None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status, headers and body, of `answer` or of the application."""
        if answer is not None:
            length = ("Content-Length", str(len(answer.body)))
            body = b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.body
            return answer.status, [("Content-Type", answer.content_type), length], body
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            started.append((status, headers))

        result = self.app(environ, start_response)
        try:
            body = b"".join(result)
        finally:
            close = getattr(result, "close", None)
            if close is not None:
                close()
        return *started[-1], body

    def _drawn(self, asked: str, path: str) -> FaultKind | None:
        faults = self.faults
        if faults.only is not None and not faults.only(path):
            return None
        with self._lock:
            repeat = self._asked[asked]
            self._asked[asked] += 1
            fault = faults.draw(asked, repeat)
            if fault is None or (faults.in_a_row is not None and self._row[asked] >= faults.in_a_row):
                self._row[asked] = 0
                return None
            self._row[asked] += 1
            return fault

    def _add(self, request: LoggedRequest) -> None:
        with self._lock:
            self._log.append(request)


def _request(environ: dict[str, Any]) -> LoggedRequest:
    query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    if environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        form = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(form)
        query |= dict(parse_qsl(form.decode(errors="replace"), keep_blank_values=True))
    path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
    agent = environ.get("HTTP_USER_AGENT", "")
    return LoggedRequest(environ["REQUEST_METHOD"], path, query, 0, None, agent, time.monotonic())


def _broken(body: bytes) -> Iterator[bytes]:
    """Half of the body, then a reset."""
    yield body[: len(body) // 2]
    raise Reset
