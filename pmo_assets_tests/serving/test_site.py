"""The pages' server over real sockets, from a folder and from a bucket: what it sends, what it never does."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import httpx2
import pytest

from pmo_assets.serving.addresses import page_url, served_key
from pmo_assets.serving.index import METRICS_PATH
from pmo_assets.serving.server import free_port, pages_command
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.serving.conftest import SECRET, fill, served
from pmo_assets_tests.viewing.gallery.test_widths import WIDTHS, cut_off, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def client(address: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=address) as made:
        yield made


@pytest.fixture
def reader(pages_address: str) -> Iterator[httpx2.Client]:
    """A client of pages that stay as they are."""
    with httpx2.Client(base_url=pages_address) as made:
        yield made


def raw(address: str, path: str, method: str = "GET") -> http.client.HTTPResponse:
    """Return the answer to a path that is sent as it is: clients put "..", "//" and the like in order."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)) as connection:
        connection.putrequest(method, path, skip_host=False)
        connection.endheaders()
        answer = connection.getresponse()
        answer.body = answer.read()  # type: ignore[attr-defined]
        return answer


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("release/report.html", "text/html; charset=utf-8"),
        ("release/gallery/app/main-1.js", "text/javascript; charset=utf-8"),
        ("release/gallery/app/gallery-1.css", "text/css; charset=utf-8"),
        ("release/hub/README.md", "text/plain; charset=utf-8"),
        ("release/hub/SHA256SUMS", "text/plain; charset=utf-8"),
        ("release/hub/data/panels/train-00000.parquet", "application/vnd.apache.parquet"),
        ("quality/rejections/2026-001.html", "text/html; charset=utf-8"),
    ],
)
def test_a_page_is_sent_whole_with_its_type(reader: httpx2.Client, pages: DataRoot, key: str, kind: str) -> None:
    answer = reader.get(f"/{key}")
    assert (answer.status_code, answer.content) == (200, pages.read(key))
    assert answer.headers["content-type"] == kind
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_head_says_what_get_would_send(reader: httpx2.Client, pages: DataRoot) -> None:
    key = "release/hub/data/panels/train-00000.parquet"
    answer = reader.head(f"/{key}")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(pages.size(key))
    assert reader.head("/release/nothing.html").status_code == 404


def test_what_has_not_changed_is_not_sent_again(client: httpx2.Client, filled: DataRoot) -> None:
    first = client.get("/release/report.html")
    known = {"If-None-Match": first.headers["etag"]}
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/release/report.html", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    filled.write("release/report.html", b"<!DOCTYPE html><title>Report of tomorrow</title>")
    assert client.get("/release/report.html", headers=known).status_code == 200


def test_a_part_of_a_local_file_is_sent(tmp_path: Path) -> None:
    """DuckDB reads a Parquet file's footer alone."""
    root = DataRoot(str(tmp_path))
    fill(root)
    key = "release/hub/data/panels/train-00000.parquet"
    with served(root) as address:
        answer = httpx2.get(f"{address}/{key}", headers={"Range": "bytes=-8"})
    assert (answer.status_code, answer.content) == (206, root.read(key)[-8:])


def test_a_browser_sees_the_card_as_a_page(reader: httpx2.Client) -> None:
    answer = reader.get("/release/hub/README.md", headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["vary"] == "Accept"
    assert "<h1>A card</h1>" in answer.text
    assert "<td>&lt;b&gt;2&lt;/b&gt;</td>" in answer.text, "HTML of the text is shown, not obeyed"
    assert "license: other" not in answer.text


@pytest.mark.parametrize("key", SECRET)
def test_nothing_but_pages_leaves_the_data_root(reader: httpx2.Client, pages: DataRoot, key: str) -> None:
    assert pages.exists(key)
    answer = reader.get(f"/{key}")
    assert answer.status_code == 404
    assert b"secret" not in answer.content.replace(key.encode(), b"")


@pytest.mark.parametrize("manifest", [b'{"version": "1.0.0", "filled": {"restored": 3}}', b"{", b"[]"])
def test_a_folder_with_restored_pictures_is_private(client: httpx2.Client, filled: DataRoot, manifest: bytes) -> None:
    assert client.get("/release/hub/README.md").status_code == 200
    filled.write("release/hub/manifest.json", manifest)
    filled.write("release/hub/SHA256SUMS", filled.read("release/hub/SHA256SUMS") + b"0" * 64 + b"  manifest.json\n")
    assert client.get("/release/hub/README.md").status_code == 404


def test_a_release_that_is_being_replaced_is_not_there(client: httpx2.Client, filled: DataRoot) -> None:
    filled.delete("release/hub/SHA256SUMS")
    assert client.get("/release/hub/README.md").status_code == 404
    filled.write("release/hub/SHA256SUMS", b"half a li")
    assert client.get("/release/hub/README.md").status_code == 404


def test_what_a_new_release_lists_is_served_at_once(client: httpx2.Client, filled: DataRoot) -> None:
    assert client.get("/release/gallery/app/new-2.js").status_code == 404
    filled.write("release/gallery/app/new-2.js", b"'use strict';")
    filled.write("release/gallery/files.txt", b"index.html\napp/new-2.js\n")
    assert client.get("/release/gallery/app/new-2.js").status_code == 200
    assert client.get("/release/gallery/app/main-1.js").status_code == 404


ATTACKS = [
    "/release/../secret.html",
    "/release/%2e%2e/secret.html",
    "/release/..%2fsecret.html",
    "/release/..%5csecret.html",
    "/release/....//secret.html",
    "/release/./../secret.html",
    "/release/gallery/../../secret.html",
    "/release/%252e%252e/secret.html",
    "//secret.html",
    "///etc/passwd",
    "/release//etc/passwd",
    "/release/%00.html",
    "/release/secret.html%00.png",
    "/release/.report.html.1-host.part",
    "/quality/../release/../secret.html",
    "/release\\..\\secret.html",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/file:///etc/passwd",
    "/release/" + "a" * 5000 + ".html",
    "/release/" + "a/" * 2000 + "x.html",
]


@pytest.mark.parametrize("path", ATTACKS)
def test_no_path_leads_out(pages_address: str, path: str) -> None:
    answer = raw(pages_address, path)
    assert answer.status in (400, 404)
    assert b"root:" not in answer.body  # type: ignore[attr-defined]
    assert answer.body != b"secret"  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["/release/", "/release", "/quality", "/quality/"])
def test_a_folder_leads_to_the_index(pages_address: str, path: str) -> None:
    answer = raw(pages_address, path)
    assert (answer.status, answer.getheader("location")) == (307, "/")


def test_the_gallerys_folder_leads_to_its_page(reader: httpx2.Client) -> None:
    answer = reader.get("/release/gallery/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/release/gallery/index.html")


def test_links_are_not_followed_out_of_a_folder(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path / "root"))
    fill(root)
    (tmp_path / "outside.html").write_text("outside")
    folder = tmp_path / "root" / "release"
    (folder / "out.html").symlink_to(tmp_path / "outside.html")
    (folder / "out.md").symlink_to(tmp_path / "outside.html")
    (folder / "within.html").symlink_to(tmp_path / "root" / "secret.html")
    (folder / "up").symlink_to(tmp_path)
    (folder / "report.html").rename(folder / "pages.html")
    (folder / "report.html").symlink_to(folder / "pages.html")
    listed = "".join(f"{name}\n" for name in ("out.html", "out.md", "within.html", "up/outside.html"))
    for name in ("out.html", "out.md", "within.html", "up"):
        (folder / name).rename(folder / "gallery" / name)
    (folder / "gallery" / "files.txt").write_text(listed)
    html = {"Accept": "text/html"}
    with served(root) as address:
        for name in ("out.html", "out.md", "within.html", "up/outside.html"):
            answer = httpx2.get(f"{address}/release/gallery/{name}", headers=html)
            assert answer.status_code == 404, name
            assert answer.text != "outside"
        assert httpx2.get(f"{address}/release/report.html").status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(pages_address: str, pages: DataRoot, method: str) -> None:
    assert raw(pages_address, "/release/report.html", method).status == 405
    assert pages.exists("release/report.html")


def test_the_index_leads_to_pages_that_are_there(reader: httpx2.Client) -> None:
    index = reader.get("/")
    links = re.findall(r'<a href="(/[^"]+)"', index.text)
    assert {"/release/gallery/index.html", "/release/report.html", "/quality/figure_quality.html"} <= set(links)
    assert "/quality/rejections/2026-001.html" in links
    for link in set(links) - {METRICS_PATH}:
        assert reader.get(link).status_code == 200, link


def test_an_empty_data_root_says_what_to_do(tmp_path: Path) -> None:
    with served(DataRoot(str(tmp_path / "nothing"))) as address:
        index = httpx2.get(address)
        missing = httpx2.get(f"{address}/release/gallery/index.html")
    assert index.status_code == 200
    assert "materialise dataset_report" in index.text
    assert missing.status_code == 404
    assert "made by the asset pubmed_ophtha" in missing.text
    assert 'href="/"' in missing.text


def test_what_is_asked_for_is_no_part_of_the_page(reader: httpx2.Client) -> None:
    answer = reader.get("/release/<script>alert(1)</script>.html")
    assert answer.status_code == 404
    assert "<script>" not in answer.text


@pytest.mark.slow  # the S3 client tries for ten seconds
def test_a_storage_that_is_gone_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with served(DataRoot("s3://bucket/root", "http://127.0.0.1:9")) as address:
        answer = httpx2.get(address, timeout=60)
    assert answer.status_code == 503
    assert "cannot be read" in answer.text
    assert "check bucket, endpoint and keys" in answer.text


def test_an_address_is_the_setting_and_the_key() -> None:
    assert page_url("https://pages.example.org/pmo/", "quality/a b.html") == (
        "https://pages.example.org/pmo/quality/a%20b.html"
    )
    assert served_key("/quality/a b.html") == "quality/a b.html"


def _started(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    found = re.search(r"at (http://\S+)", process.stderr.readline())
    assert found is not None
    return found.group(1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    fill(DataRoot(str(tmp_path)))
    environment = {**os.environ, "PMO_DATA_ROOT": str(tmp_path)}
    port = free_port()
    process = subprocess.Popen(
        pages_command("127.0.0.1", port), env=environment, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        address = _started(process)
        assert address == f"http://127.0.0.1:{port}"
        with httpx2.Client(base_url=address) as client:
            assert client.get("/release/report.html").status_code == 200
            started = time.monotonic()
            process.send_signal(number)
            process.wait(timeout=20)
        assert time.monotonic() - started < 10
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            pages_command("127.0.0.1", port), capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60
        )
    assert ended.returncode == 1
    assert f"port {port}" in ended.stderr
    assert "--port" in ended.stderr
    assert sys.executable not in ended.stderr


@pytest.mark.slow  # a browser starts
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_index_missing_page_and_card_fit_every_width_and_axe_is_content(
    browser: Browser, address: str, scheme: Literal["light", "dark"]
) -> None:
    pytest.importorskip("axe_core_python", reason="needs axe-core (the extra `dev`)")
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        for path in ("/", "/release/hub/README.md", "/release/nothing.html"):
            page.goto(f"{address}{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert cut_off(page) == []
            assert violations(page) == []
        page.close()
