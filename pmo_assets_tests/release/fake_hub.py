"""The part of the Hugging Face hub's API that a push uses, on loopback: git refs, trees, LFS uploads, commits, tags.

Written from what `huggingface_hub` asks and reads, and from the hub's documentation. It holds files by their hash,
knows commits, and answers with faults if told to. What it is not: Xet (the tests turn it off), quotas, the real rules
for which file is stored apart from git (here: by extension), and the real validation of cards (here: the head is YAML
with a licence).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

Fault = Callable[[str, str], int | str | None]
"""Says for a request's method and path which status it is answered with, "reset" to cut the line after half of the body
was read, "lost" to do what was asked and cut the line before the answer; None: no fault."""

LARGE = (".parquet",)
"""Files that are stored apart from git."""


@dataclass(frozen=True)
class Commit:
    """A commit: its id, its message, and the files that it leaves, each with its bytes."""

    oid: str
    message: str
    files: Mapping[str, bytes]


@dataclass
class Repository:
    """A repository: its branches' commits, newest last, and its tags."""

    private: bool
    branches: dict[str, list[Commit]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, message: str, files: Mapping[str, bytes]) -> Commit:
        """Add a commit to a branch."""
        history = self.branches.setdefault(branch, [])
        content = repr((branch, len(history), message, sorted(files.items()))).encode()
        made = Commit(hashlib.sha1(content).hexdigest(), message, dict(files))
        history.append(made)
        return made

    def files(self, branch: str = "main") -> Mapping[str, bytes]:
        """Return what a branch holds."""
        return self.branches[branch][-1].files


class Refused(Exception):
    """A request is answered with an error."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass
class FakeHub:
    """The hub's state, and the requests that it got.

    Attributes:
        repositories: by name.
        objects: content of files apart from git, by SHA-256: they stay also if no commit names them.
        token: without it nothing may be written, and nothing private seen.
        fault: what is answered instead; see `Fault`.
        requests: "METHOD path" of all, in order.
    """

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    token: str = "hf_right"
    fault: Fault = lambda method, path: None
    requests: list[str] = field(default_factory=list)
    address: str = ""
    lock: Lock = field(default_factory=Lock)

    def counted(self, pattern: str) -> int:
        """Return how many requests match a pattern."""
        return sum(re.search(pattern, request) is not None for request in self.requests)

    def add(self, name: str, files: Mapping[str, bytes], *, private: bool = False) -> Repository:
        """Add a repository with a first commit."""
        repository = self.repositories[name] = Repository(private)
        repository.commit("main", "initial commit", {".gitattributes": b"*.parquet filter=lfs\n", **files})
        for path, content in files.items():
            if path.endswith(LARGE):
                self.objects[hashlib.sha256(content).hexdigest()] = content
        return repository

    # what the API does

    def answer(self, method: str, path: str, body: bytes, token: str | None) -> tuple[int, Any]:
        """Return status and JSON of a request."""
        writes = not (method == "GET" or path == "/api/validate-yaml")
        if token is not None and token != self.token:
            raise Refused(401, message="Invalid credentials")
        if writes and token is None and not path.startswith("/lfs/"):
            raise Refused(401, message="Authorization required")
        for pattern, wanted, act in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and method == wanted:
                return act(self, body, token, **{name: unquote(text) for name, text in match.groupdict().items()})
        raise Refused(404, message=f"the fake hub knows no {method} {path}")

    def seen(self, name: str, token: str | None) -> Repository:
        """Return a repository, as who asks may see it."""
        found = self.repositories.get(name)
        if found is None or (found.private and token is None):
            raise Refused(401 if token is None else 404, "RepoNotFound", "Repository not found")
        return found

    def create(self, body: bytes, token: str | None) -> tuple[int, Any]:
        asked = json.loads(body)
        name = f"{asked['organization']}/{asked['name']}"
        assert asked["type"] == "dataset"
        if name in self.repositories:
            raise Refused(409, message="You already created this dataset repo")
        private = asked.get("visibility") == "private" or bool(asked.get("private"))
        self.add(name, {}, private=private)
        return 200, {"url": f"{self.address}/datasets/{name}", "id": name}

    def refs(self, body: bytes, token: str | None, name: str) -> tuple[int, Any]:
        repository = self.seen(name, token)
        branches = [
            {"name": branch, "ref": f"refs/heads/{branch}", "targetCommit": history[-1].oid}
            for branch, history in repository.branches.items()
        ]
        tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": oid} for tag, oid in repository.tags.items()]
        return 200, {"branches": branches, "tags": tags, "converts": []}

    def tree(self, body: bytes, token: str | None, name: str, revision: str) -> tuple[int, Any]:
        history = [commit for commits in self.seen(name, token).branches.values() for commit in commits]
        found = next((commit for commit in history if commit.oid == revision), None)
        if found is None:
            raise Refused(404, "RevisionNotFound", "Invalid rev id")
        return 200, [_listed(path, content) for path, content in found.files.items()]

    def branch(self, body: bytes, token: str | None, name: str, branch: str) -> tuple[int, Any]:
        repository = self.seen(name, token)
        if branch in repository.branches:
            raise Refused(409, message="Reference already exists")
        repository.branches[branch] = list(repository.branches["main"])
        return 200, {}

    def validate(self, body: bytes, token: str | None) -> tuple[int, Any]:
        try:
            head = yaml.safe_load(json.loads(body)["content"].split("---\n")[1])
            errors = [] if head.get("license") else [{"message": '"license" is required'}]
        except (IndexError, yaml.YAMLError):
            errors = [{"message": "no YAML head"}]
        return (400, {"errors": errors, "warnings": []}) if errors else (200, {"errors": [], "warnings": []})

    def preupload(self, body: bytes, token: str | None, name: str, revision: str) -> tuple[int, Any]:
        self.seen(name, token)
        files = json.loads(body)["files"]
        answers = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["path"].endswith(LARGE) else "regular",
                "shouldIgnore": False,
            }
            for file in files
        ]
        return 200, {"files": answers}

    def batch(self, body: bytes, token: str | None, name: str) -> tuple[int, Any]:
        self.seen(name, token)
        answers = []
        for wanted in json.loads(body)["objects"]:
            answer = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.objects:
                places = {"upload": f"/lfs/{wanted['oid']}", "verify": f"/lfs-verify/{name}"}
                answer["actions"] = {action: {"href": self.address + path} for action, path in places.items()}
            answers.append(answer)
        return 200, {"transfer": "basic", "objects": answers}

    def put(self, body: bytes, token: str | None, oid: str) -> tuple[int, Any]:
        if hashlib.sha256(body).hexdigest() != oid:
            raise Refused(400, message="the content is not what its hash says")
        self.objects[oid] = body
        return 200, {}

    def verify(self, body: bytes, token: str | None, name: str) -> tuple[int, Any]:
        asked = json.loads(body)
        if len(self.objects.get(asked["oid"], b"")) != asked["size"]:
            raise Refused(404, message="the object is not there")
        return 200, {}

    def make_commit(self, body: bytes, token: str | None, name: str, branch: str) -> tuple[int, Any]:
        repository = self.seen(name, token)
        lines = [json.loads(line) for line in body.splitlines()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        head = repository.branches[branch][-1]
        if header.get("parentCommit") not in (None, head.oid):
            raise Refused(412, message="A commit has happened since. Please refresh and try again.")
        files = dict(head.files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.objects:
                    raise Refused(400, message=f"{value['path']} was not uploaded")
                files[value["path"]] = self.objects[value["oid"]]
            elif line["key"] == "deletedFile" and files.pop(value["path"], None) is None:
                raise Refused(404, "EntryNotFound", "A file with this name doesn't exist")
        made = repository.commit(branch, header["summary"], files)
        return 200, {"commitUrl": f"{self.address}/datasets/{name}/commit/{made.oid}", "commitOid": made.oid}

    def make_tag(self, body: bytes, token: str | None, name: str, revision: str) -> tuple[int, Any]:
        repository = self.seen(name, token)
        tag = json.loads(body)["tag"]
        if tag in repository.tags:
            raise Refused(409, message="Tag already exists")
        repository.tags[tag] = revision
        return 200, {}


_NAME = r"(?P<name>[\w-]+/[\w.-]+)"

ROUTES: tuple[tuple[str, str, Callable[..., tuple[int, Any]]], ...] = (
    (r"/api/repos/create", "POST", FakeHub.create),
    (r"/api/validate-yaml", "POST", FakeHub.validate),
    (rf"/api/datasets/{_NAME}/refs", "GET", FakeHub.refs),
    (rf"/api/datasets/{_NAME}/tree/(?P<revision>[^/]+)/?", "GET", FakeHub.tree),
    (rf"/api/datasets/{_NAME}/branch/(?P<branch>[^/]+)", "POST", FakeHub.branch),
    (rf"/api/datasets/{_NAME}/preupload/(?P<revision>[^/]+)", "POST", FakeHub.preupload),
    (rf"/api/datasets/{_NAME}/commit/(?P<branch>[^/]+)", "POST", FakeHub.make_commit),
    (rf"/api/datasets/{_NAME}/tag/(?P<revision>[^/]+)", "POST", FakeHub.make_tag),
    (rf"/datasets/{_NAME}\.git/info/lfs/objects/batch", "POST", FakeHub.batch),
    (r"/lfs/(?P<oid>[0-9a-f]{64})", "PUT", FakeHub.put),
    (rf"/lfs-verify/{_NAME}", "POST", FakeHub.verify),
)


def _listed(path: str, content: bytes) -> dict[str, Any]:
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    if not path.endswith(LARGE):
        return {"type": "file", "path": path, "size": len(content), "oid": blob}
    sha256 = hashlib.sha256(content).hexdigest()
    pointer = {"oid": sha256, "size": len(content), "pointerSize": 130}
    return {"type": "file", "path": path, "size": len(content), "oid": "0" * 40, "lfs": pointer}


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub

    def respond(self) -> None:
        hub, path = self.hub, urlsplit(self.path).path
        with hub.lock:
            hub.requests.append(f"{self.command} {path}")
            fault = hub.fault(self.command, path)
        length = int(self.headers.get("Content-Length") or 0)
        if fault == "reset":
            self.rfile.read(length // 2)
            self.close_connection = True
            self.connection.close()
            return
        body = self.rfile.read(length)
        if isinstance(fault, int):
            self.reply(fault, {"error": "a fault"}, {"Retry-After": "7"} if fault == 429 else {})
            return
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        try:
            with hub.lock:
                status, answer = hub.answer(self.command, path, body, token)
        except Refused as refused:
            headers = {"X-Error-Code": refused.code, "X-Error-Message": refused.message}
            self.reply(
                refused.status, {"error": refused.message}, {name: text for name, text in headers.items() if text}
            )
            return
        if fault == "lost":
            self.close_connection = True
            self.connection.close()
            return
        self.reply(status, answer, {})

    do_GET = do_POST = do_PUT = respond

    def reply(self, status: int, answer: Any, headers: Mapping[str, str]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        return


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    """Serve a hub without repositories on loopback."""
    hub = FakeHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
