"""A Label Studio server: projects made of an export, answers taken from it.

Its API by HTTP: `label-studio-sdk` brings some hundred modules for these five requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2

from pmo_assets.annotation.export import PICTURES, TITLE_PREFIX
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings.addresses import plain_address

TIMEOUT: Final = 300.0
"""Seconds that an answer may take: the server reads predictions of hundreds of tasks in one request."""

PUSHED_BYTES: Final = 20_000_000
"""Bytes of tasks in one request: the server's limit is 250 MB, and its memory is several times that."""

PULLED_BYTES: Final = 2_000_000_000
"""Most bytes of an export, which repeats embedded pictures."""


class ServerRefused(SystemicError):
    """Label Studio cannot be reached or refuses; the message says what and what to do."""


@dataclass
class LabelStudio:
    """A server; closed as a context.

    Attributes:
        url: its address.
        token: a personal access token (Account & Settings), or a legacy token where these are allowed. Never shown.
    """

    url: str
    token: str

    def __post_init__(self) -> None:
        """Open the client; nothing is sent.

        Raises:
            ServerRefused: if the address holds a password, or there is no token.
        """
        try:
            plain_address(self.url)
        except ValueError as error:
            raise ServerRefused(f"{error}; the token goes into LABEL_STUDIO_API_KEY") from None
        token = self.token.strip()
        if not token or not (token.isascii() and token.isprintable()):
            raise ServerRefused("no token: put it into LABEL_STUDIO_API_KEY (Account & Settings, Access Token)")
        self._client = httpx2.Client(base_url=self.url.rstrip("/"), timeout=TIMEOUT)
        self._authorization = "" if token.count(".") == 2 else f"Token {token}"

    def __enter__(self) -> LabelStudio:
        """Return the server."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def _request(
        self, method: str, path: str, *, body: Any = None, authorized: bool = True, again: bool = True
    ) -> httpx2.Response:
        headers = {"Content-Type": "application/json"}
        if authorized:
            if not self._authorization:  # a personal access token is exchanged for one that lives some minutes
                answer = self._request(
                    "POST", "/api/token/refresh", body={"refresh": self.token.strip()}, authorized=False
                )
                self._authorization = f"Bearer {_field(answer, 'access')}"
            headers["Authorization"] = self._authorization
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            answer = self._client.request(method, path, content=content, headers=headers)
        except httpx2.HTTPError as error:
            raise ServerRefused(
                f"Label Studio at {self.url} cannot be reached: {type(error).__name__}: {error}"
            ) from None
        if answer.status_code == 401 and authorized and again and self._authorization.startswith("Bearer"):
            self._authorization = ""
            return self._request(method, path, body=body, again=False)
        if answer.status_code >= 300:
            detail = " ".join(answer.text[:300].split())
            hint = (
                "; is the token right? A legacy token needs --enable-legacy-api-token"
                if answer.status_code == 401
                else ""
            )
            raise ServerRefused(f"Label Studio answers {answer.status_code} to {method} {path}: {detail}{hint}")
        return answer

    def create_project(self, made: dict[str, Any]) -> int:
        """Create a project (`export.project`) and return its number."""
        return int(_field(self._request("POST", "/api/projects", body=made), "id"))

    def add_local_files(self, project: int, folder: Path) -> None:
        """Let a project's tasks show pictures of a folder on the server's machine.

        Raises:
            ServerRefused: if the server does not serve local files from there.
        """
        self._request(
            "POST",
            "/api/storages/localfiles",
            body={"project": project, "path": str(folder), "title": PICTURES, "use_blob_urls": True},
        )

    def import_tasks(self, project: int, tasks: Path) -> int:
        """Put the tasks of a file (`tasks.json` of an export) into a project and return how many."""
        count = 0
        for part in _parts(tasks):
            self._request("POST", f"/api/projects/{project}/import", body=b"[" + b",".join(part) + b"]")
            count += len(part)
        return count

    def projects(self) -> dict[int, str]:
        """Return the titles of the projects that were made by an export, by number."""
        found: dict[int, str] = {}
        page = 1
        while True:
            answer = _json(self._request("GET", f"/api/projects?page={page}&page_size=100"))
            results = answer.get("results", []) if isinstance(answer, dict) else answer
            found |= {int(item["id"]): str(item["title"]) for item in results}
            if not isinstance(answer, dict) or not answer.get("next"):
                return {number: title for number, title in found.items() if title.startswith(TITLE_PREFIX.strip())}
            page += 1

    def answers(self, project: int) -> bytes:
        """Return a project's export (JSON), with the tasks that people answered."""
        answer = self._request("GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=false")
        if len(answer.content) > PULLED_BYTES:
            raise ServerRefused(f"the export of project {project} is larger than {PULLED_BYTES / 1e9:.0f} GB")
        return bytes(answer.content)

    def push(self, folder: Path, interface: str, *, local_files: bool) -> tuple[int, int]:
        """Make a project of an exported interface; return its number and how many tasks it has.

        Args:
            folder: of the export.
            interface: which one.
            local_files: the server shows the pictures from the folder.
        """
        made = json.loads((folder / interface / "project.json").read_text("utf-8"))
        number = self.create_project(made)
        if local_files:
            self.add_local_files(number, (folder / PICTURES).absolute())
        return number, self.import_tasks(number, folder / interface / "tasks.json")


def _json(answer: httpx2.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise ServerRefused(f"this is no Label Studio: {' '.join(answer.text[:120].split())}") from None


def _field(answer: httpx2.Response, name: str) -> Any:
    content = _json(answer)
    if not isinstance(content, dict) or name not in content:
        raise ServerRefused(f"Label Studio's answer has no {name!r}: is this the right address?")
    return content[name]


def _parts(tasks: Path) -> Iterator[Sequence[bytes]]:
    """Yield the tasks of a file in parts that fit into a request; a task stands in one line (`export.write_export`)."""
    part: list[bytes] = []
    size = 0
    with tasks.open("rb") as file:
        for line in file:
            task = line.strip().rstrip(b",")
            if task in (b"[", b"]", b""):
                continue
            if part and size + len(task) > PUSHED_BYTES:
                yield part
                part, size = [], 0
            part.append(task)
            size += len(task)
    if part:
        yield part
