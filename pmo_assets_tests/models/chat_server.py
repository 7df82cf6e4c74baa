"""A chat endpoint on loopback that does what a test tells it to: real HTTP, real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pmo_assets.pipeline.captions.split import split_caption

Behaviour = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    """Passes each request to the server's next behaviour."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.requests.append((dict(self.headers), body))
            behaviour = self.server.script.pop(0) if self.server.script else self.server.otherwise
        self.path_asked = self.path
        behaviour(self, body)

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@dataclass
class Server(ThreadingHTTPServer):
    """Behaviours are used up in order; afterwards `otherwise` answers."""

    otherwise: Behaviour
    script: list[Behaviour] = field(default_factory=list)
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True
        self.busy = 0
        self.idle = threading.Condition()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self.idle:
            self.busy += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.idle:
                self.busy -= 1
                self.idle.notify_all()

    def until_idle(self) -> None:
        """Wait until every connection that was taken up has ended."""
        with self.idle:
            assert self.idle.wait_for(lambda: self.busy == 0, timeout=30)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


def completion(text: str) -> bytes:
    """Return a chat completion with the answer `text`."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}).encode()


def says(text: str) -> Behaviour:
    return lambda handler, _: handler.reply(200, completion(text))


def fails(status: int, content: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler, _: handler.reply(status, content, **headers)


def given_in(body: dict[str, Any]) -> dict[str, Any]:
    """Return what a request asks about: the JSON after the examples."""
    asked = (turn["content"] for turn in reversed(body["messages"]) if turn["role"] == "user")
    given: dict[str, Any] = json.loads(next(content for content in asked if content.startswith("{")))
    return given


def reads_captions(handler: Handler, body: dict[str, Any]) -> None:
    """Answer both steps as the grammar does, and summarise by the first sentence: a model whose answers mostly fit."""
    given = given_in(body)
    if "sentences" in given:
        handler.reply(200, completion(json.dumps({"summary": given["sentences"][0]})))
        return
    split = split_caption(given["caption"])
    if "identifiers" in given:
        answer: Any = {
            "subcaptions": [
                {"identifier": item.identifier, "subcaption": item.text or given["caption"]}
                for item in split.subcaptions
            ]
        }
    else:
        answer = {"identifiers": list(split.identifiers)}
    handler.reply(200, completion(json.dumps(answer)))


def looks_at_figures(handler: Handler, body: dict[str, Any]) -> None:
    """Give every undecided panel the first of the caption's names, and leave out every image: it always fits."""
    content = next(turn["content"] for turn in reversed(body["messages"]) if isinstance(turn["content"], list))
    given = json.loads(content[0]["text"])
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    name = next(iter(given["subcaption_options"]))
    assignments = [
        {
            "panel_id": panel["panel_id"],
            "assigned_subcaption": name,
            "evidence": [{"positional_type": "other", "short_description": "as the test says"}],
            "confidence": 0.5,
            "reject_panel": False,
        }
        for panel in given.get("panels", ())
        if not panel["is_final"]
    ]
    answer = {
        "AlphanumericAnswer": {"assignments": assignments},
        "PositionalAnswer": {"groups": [], "left_out": [image["image_id"] for image in given.get("images", ())]},
        "MixedAnswer": {"assignments": assignments, "groups": [], "left_out": []},
    }[body["response_format"]["json_schema"]["name"]]
    handler.reply(200, completion(json.dumps(answer)))


@contextmanager
def chat_server(*script: Behaviour, otherwise: Behaviour = reads_captions) -> Iterator[Server]:
    """Give a running server."""
    server = Server(otherwise, list(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
