"""What a page of another site can do to Dagster's UI on this machine: in a real browser, with and without the guard.

Without it the attacks work, which shows that they are some; with it they do not, and the UI does.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from pmo_assets.defs.guarded_webserver import MODULE, stands_guard
from pmo_assets_tests.ui.conftest import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.ui

DEFINITIONS = """
import dagster as dg

@dg.asset
def eye(): ...

defs = dg.Definitions(assets=[eye])
"""

WIPE = "mutation{wipeAssets(assetPartitionRanges:[{assetKey:{path:[%22eye%22]}}]){__typename}}"

ATTACKS = {
    "a picture": "document.body.append(Object.assign(new Image(), {src: `${ui}/graphql?query=${wipe}`}))",
    "a form": """{ const form = Object.assign(document.createElement('form'), {method: 'POST', target: 'frame',
        enctype: 'text/plain', action: `${ui}/graphql?query=${wipe}`});
        document.body.append(Object.assign(document.createElement('iframe'), {name: 'frame'}), form);
        form.submit() }""",
    "a script": """fetch(`${ui}/graphql`, {method: 'POST', mode: 'no-cors',
        headers: {'Content-Type': 'text/plain; application/json'},
        body: JSON.stringify({query: decodeURIComponent(wipe)})})""",
}

SOCKET = """ui => new Promise(done => {
    const socket = new WebSocket(ui.replace('http', 'ws') + '/graphql', 'graphql-ws');
    socket.onopen = () => done('open'); socket.onerror = () => done('refused'); })"""


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def _webserver(module: str, folder: Path) -> Iterator[str]:
    """Give the address of a webserver whose instance knows one materialisation of `eye`."""
    (folder / "defs.py").write_text(DEFINITIONS)
    port = _port()
    environment = {"DAGSTER_HOME": str(folder), "PATH": "/usr/bin:/bin", "DAGSTER_DISABLE_TELEMETRY": "yes"}
    command = [sys.executable, "-m", module, "--port", str(port), "--python-file", str(folder / "defs.py")]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/server_info", timeout=5):
                break
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.25)
        yield url
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def _site() -> Iterator[int]:
    """Give the port of a web site with an empty page, on every name that leads here."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title><body>")

        def log_message(self, format: str, *arguments: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Page]:
    """A page of http://evil.example, a name that leads to this machine, as all names of that browser do."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright (the extra `dev`)")
    arguments = ["--no-sandbox", "--host-resolver-rules=MAP *.example 127.0.0.1"]
    with _site() as port, playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=arguments)
        page = browser.new_context().new_page()
        page.goto(f"http://evil.example:{port}/")
        yield page
        browser.close()


def _materialised(folder: Path) -> bool:
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        return instance.get_latest_materialization_event(dg.AssetKey("eye")) is not None


def _materialise(folder: Path) -> None:
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("eye"))


@pytest.fixture(scope="module", params=["dagster_webserver", MODULE])
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path, bool]]:
    """Address and home of a webserver, and whether it is guarded."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    with _webserver(request.param, folder) as url:
        yield url, folder, request.param == MODULE


def test_whether_it_is_guarded_is_known(target: tuple[str, Path, bool]) -> None:
    url, _, guarded = target
    assert stands_guard(url) is guarded


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_foreign_page_wipes_nothing(target: tuple[str, Path, bool], elsewhere: Page, attack: str) -> None:
    url, folder, guarded = target
    _materialise(folder)
    elsewhere.evaluate(f"([ui, wipe]) => {{ {ATTACKS[attack]} }}", [url, WIPE])
    deadline = time.monotonic() + 15
    while _materialised(folder) and time.monotonic() < (deadline if not guarded else deadline - 12):
        time.sleep(0.2)
    assert _materialised(folder) is guarded


def test_a_foreign_page_opens_no_websocket(target: tuple[str, Path, bool], elsewhere: Page) -> None:
    url, _, guarded = target
    assert elsewhere.evaluate(SOCKET, url) == ("refused" if guarded else "open")


def test_a_name_that_leads_here_reads_nothing(target: tuple[str, Path, bool], elsewhere: Page) -> None:
    """DNS rebinding: the page's own name leads to this machine meanwhile, so that the answer is its own to read."""
    url, _, guarded = target
    page = elsewhere.context.new_page()
    answer = page.goto(url.replace("127.0.0.1", "evil.example"))
    assert answer is not None
    assert (answer.status == 421) is guarded
    page.close()


def test_the_ui_works(target: tuple[str, Path, bool], elsewhere: Page) -> None:
    """Queries, the WebSocket and a mutation from its own pages, and queries of programs."""
    url, folder, _ = target
    _materialise(folder)
    page = elsewhere.context.new_page()
    page.goto(f"{url}/assets/eye")
    page.get_by_text("Materialize").first.wait_for(timeout=60_000)
    assert page.evaluate(SOCKET, url) == "open"
    send = """([url, query]) => fetch(url + '/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'},
        body: JSON.stringify({query})}).then(answer => answer.json())"""
    done = page.evaluate(send, [url, WIPE.replace("%22", '"')])
    assert done["data"]["wipeAssets"]["__typename"] == "AssetWipeSuccess"
    assert not _materialised(folder)
    page.close()
    query = json.dumps({"query": "{version}"}).encode()
    asked = urllib.request.Request(f"{url}/graphql", query, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert json.load(answer)["data"]["version"]
