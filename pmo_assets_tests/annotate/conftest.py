"""A real Label Studio server on loopback with SQLite; started once, only for `make test-annotate`."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pmo_assets_tests.annotate.browser import free_port

EMAIL = "annotator@example.org"
PASSWORD = "only-on-loopback-1"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
START_SECONDS = 400


@dataclass
class RunningLabelStudio:
    """A running server, and the folder whose files it shows."""

    url: str
    documents: Path


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLabelStudio]:
    """The server of `PMO_TEST_LABEL_STUDIO`, set by `make test-annotate`; skips if it is not."""
    program = os.environ.get("PMO_TEST_LABEL_STUDIO")
    if not program:
        pytest.skip("needs Label Studio in an environment of its own: run `make test-annotate`")
    folder, port = tmp_path_factory.mktemp("label_studio"), free_port()
    documents = tmp_path_factory.mktemp("documents")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "LABEL_STUDIO_"))}
    environment = {
        **kept,
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(documents),
        "COLLECT_ANALYTICS": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "LATEST_VERSION_CHECK": "false",
    }
    command = [
        program, "start", "--no-browser", "--port", str(port), "--username", EMAIL, "--password", PASSWORD,
        "--user-token", TOKEN, "--enable-legacy-api-token",
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            _wait(process, url, folder / "server.log")
            yield RunningLabelStudio(url, documents)
        finally:
            process.terminate()
            process.wait(60)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(2)
    raise RuntimeError(f"Label Studio does not answer: {log.read_text(errors='replace')[-1500:]}")
