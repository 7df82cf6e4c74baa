"""Keys come from the environment and stand nowhere else: not in logs, metadata, errors, databases, tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from pmo_assets.settings.listed import secret_options
from pmo_assets_tests.cli.command_line import Pmo

MARK = "MARKEDsecret"

OTHERS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "HF_TOKEN",
    "DAGSTER_PG_PASSWORD",
)


SECRETS = {
    **{f"PMO_{name.upper()}": f"{MARK}{number}" for number, name in enumerate(secret_options())},
    **{name: f"{MARK}{chr(65 + number)}" for number, name in enumerate(OTHERS)},
}


class Refuses(BaseHTTPRequestHandler):
    """A server that answers nothing it is asked for, and repeats what it was sent, as debugging servers do."""

    status = 401

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        body = f"refused: {dict(self.headers)} {self.path}".encode()
        self.send_response(self.status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_HEAD = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def serving() -> Iterator[Callable[[int], str]]:
    """Start servers that refuse with a status; give their addresses."""
    servers: list[ThreadingHTTPServer] = []

    def serve(status: int) -> str:
        handler = type("Handler", (Refuses,), {"status": status})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()


@pytest.fixture
def marked(pmo: Pmo) -> Callable[..., str]:
    """Run a command with every secret set to a marker; return what it said."""

    def run(*arguments: str | Path, **variables: str) -> str:
        done = pmo(*arguments, **{**SECRETS, "PMO_LOG_FORMAT": "json", "PMO_LOG_LEVEL": "DEBUG", **variables})
        return f"status {done.returncode}\n{done.stdout}{done.stderr}"

    return run


def leaks(folder: Path, said: str) -> list[str]:
    """Return where a marker stands: files (databases too, whose text is plain), and what was said."""
    found = [str(path) for path in folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]
    return found + [line for line in said.splitlines() if MARK in line]


def test_every_kind_of_key_is_tried() -> None:
    assert {"llm_api_key", "vlm_api_key", "entrez_api_key"} <= set(secret_options())


@pytest.mark.slow
def test_commands_that_show_settings_show_no_key(marked: Callable[..., str], tmp_path: Path) -> None:
    said = marked("settings") + marked("home") + marked("batches", "list")
    assert "PMO_LLM_API_KEY" in said
    assert leaks(tmp_path, said) == []


@pytest.mark.slow
def test_a_batch_whose_language_model_refuses_leaves_no_key_anywhere(
    marked: Callable[..., str], few_articles: Path, serving: Callable[[int], str], tmp_path: Path
) -> None:
    asked = {
        "PMO_LLM_BASE_URL": f"{serving(401)}/v1", "PMO_LLM_MODEL": "m", "PMO_VLM_MODEL": "m",
        "PMO_CAPTION_THRESHOLD": "1", "PMO_LLM_RETRIES": "1",
    }  # fmt: skip
    for package in sorted(few_articles.iterdir())[:2]:  # a run for each refusal takes seconds
        shutil.copytree(package, tmp_path / "articles" / package.name)
    said = marked("batches", "add", "--source", tmp_path / "articles")
    failed = marked("--debug", "run", **asked)
    assert "refuses the key" in failed, failed[-2000:]
    assert "Traceback" in failed
    again = marked("--debug", "run", **{**asked, "PMO_LLM_BASE_URL": f"{serving(503)}/v1"})
    assert "request_repeated" in again
    assert leaks(tmp_path, said + failed + again) == []


@pytest.mark.slow
def test_a_store_and_a_search_that_refuse_leave_no_key_anywhere(
    marked: Callable[..., str], serving: Callable[[int], str], tmp_path: Path
) -> None:
    refusing = serving(403)
    store = marked("--debug", "batches", "list", PMO_DATA_ROOT="s3://bucket/root", PMO_S3_ENDPOINT=refusing)
    assert "status 1" in store
    search = marked(
        "--debug", "pmc", "find",
        PMO_ENTREZ_URL=f"{refusing}/", PMO_PMC_ENDPOINT=refusing, PMO_ENTREZ_EMAIL="someone@example.org",
    )  # fmt: skip
    assert "status 1" in search
    assert leaks(tmp_path, store + search) == []


@pytest.mark.slow
def test_a_file_with_keys_that_everybody_can_read_is_told(marked: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PMO_ENTREZ_API_KEY=k\nPMO_BATCH_SIZE=20\n")
    file.chmod(0o644)
    assert "can read PMO_ENTREZ_API_KEY in" in marked("settings")
    file.chmod(0o600)
    assert "can read" not in marked("settings")
