"""Where tests find the real articles, and the sample articles that several of them share."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from pmo_assets_tests.examples import register_profiles

register_profiles()
hypothesis.settings.load_profile("few")  # unless --hypothesis-profile says otherwise


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make test-faults`."""
    group = parser.getgroup("faults", "hostile inputs (-m faults)")
    group.addoption("--faults-seed", type=int, default=0, help="Seed of the hostile inputs.")
    group.addoption("--faults-first", type=int, default=0, help="Number of the first case of each kind.")
    group.addoption("--faults-count", type=int, default=None, help="Cases of each kind; a usual number if not given.")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what needs the sample articles' way through the whole graph: one process goes it then, not each.

    Of several processes each takes neighbouring tests, and one that has done its own the last ones of another.
    """
    items.sort(key=lambda item: "graph" not in getattr(item, "fixturenames", ()))


def pytest_runtest_setup() -> None:
    """Let Ctrl-C through in every test: those that interrupt would hang without.

    What a shell starts in the background is deaf to it, and libraries leave handlers of their own behind.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Folder with `corpus/`, `annotations/`, …: `PMO_CORPUS`, else `shared` beside the checkout; skips if absent."""
    folder = Path(os.environ.get("PMO_CORPUS") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "corpus").is_dir():
        pytest.skip(f"the real articles are not at {folder}: set PMO_CORPUS to the folder that holds corpus/")
    return folder


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The standard sample articles: `articles/` and `truth/`."""
    from pmo_assets.samples import write_sample_articles

    folder = tmp_path_factory.mktemp("samples")
    write_sample_articles(folder)
    return folder


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """A moto server: it speaks the S3 API over HTTP on loopback; tests get prefixes of their own in its bucket."""
    import pyarrow.fs as pafs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    pafs.S3FileSystem(
        access_key="test", secret_key="test", region="us-east-1", scheme="http",
        endpoint_override=f"{host}:{port}", allow_bucket_creation=True,
    ).create_dir("bucket")  # fmt: skip
    yield f"http://{host}:{port}"
    server.stop()
