"""The pages of a data root, served over real sockets."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from pmo_assets.release.hub.sums import sums_text
from pmo_assets.serving.server import address_of, listening_socket, web_server
from pmo_assets.serving.site import site
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.storage.conftest import data_root, s3_endpoint
from pmo_assets_tests.viewing.gallery.conftest import browser

__all__ = ["browser", "data_root", "s3_endpoint"]

Metrics = Callable[[], bytes]


@contextlib.contextmanager
def served(root: DataRoot, metrics: Metrics | None = None) -> Iterator[str]:
    """Give the address at which the pages of a data root are served."""
    server = web_server(site(root, metrics))
    with listening_socket("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()


SHARDS = ("panels/train-00000.parquet", "panels/train-00001.parquet")


LISTED = ("README.md", *(f"data/{name}" for name in SHARDS))


def fill(root: DataRoot) -> None:
    """Write what a data root has: pages that are served, and what is not."""
    for key, content in {
        "release/report.html": b"<!DOCTYPE html><title>Report</title>",
        "release/gallery/index.html": b"<!DOCTYPE html><title>Gallery</title>",
        "release/gallery/app/main-1.js": b"'use strict';",
        "release/gallery/app/gallery-1.css": b"body{}",
        "release/hub/README.md": b"---\nlicense: other\n---\n# A card\n\n| a | b |\n|---|---|\n| 1 | <b>2</b> |\n",
        "release/gallery/files.txt": b"index.html\napp/main-1.js\napp/gallery-1.css\n",
        "release/hub/SHA256SUMS": sums_text(
            dict.fromkeys(("README.md", *(f"data/{name}" for name in SHARDS)), "0" * 64)
        ).encode(),
        f"release/hub/data/{SHARDS[0]}": b"PAR1" + bytes(range(256)) * 40 + b"PAR1",
        "quality/figure_quality.html": b"<!DOCTYPE html><title>Figure quality</title>",
        "quality/rejections/2026-001.html": b"<!DOCTYPE html><title>Rejections</title>",
        "release/.report.html.1-host.part": b"half",
        **dict.fromkeys(SECRET, b"secret"),
    }.items():
        root.write(key, content)


SECRET = (
    "manifests/2026-001.parquet",
    "objects/aa/aabb.pdf",
    "answers/aa/aabb.json",
    "tables/articles/2026-001.parquet",
    "quality/annotations.parquet",
    "quality/annotations.json",
    "release/secret.env",
    "release/secret.html",
    "release/versions/1.0.0/rows.parquet",
    "release/hub/private.parquet",
    "release/hub/data/panels/train-00002.parquet",
    "release/gallery/data/figures/0/9.js",
    "secret.html",
)
"""Files of a data root, and beside what is served, that are nobody's business."""


@pytest.fixture
def filled(data_root: DataRoot) -> DataRoot:
    fill(data_root)
    return data_root


@pytest.fixture
def address(filled: DataRoot) -> Iterator[str]:
    with served(filled) as given:
        yield given


@pytest.fixture(scope="module", params=["local", pytest.param("s3", marks=pytest.mark.slow)])
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> DataRoot:
    """A filled data root for tests that change nothing."""
    folder = tmp_path_factory.mktemp("pages")
    if request.param == "local":
        root = DataRoot(str(folder))
    else:
        root = DataRoot(f"s3://bucket/{folder.name}-{time.time_ns()}", request.getfixturevalue("s3_endpoint"))
    fill(root)
    return root


@pytest.fixture(scope="module")
def pages_address(pages: DataRoot) -> Iterator[str]:
    with served(pages) as given:
        yield given
