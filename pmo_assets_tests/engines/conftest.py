"""What the engines' tests share: articles, an S3 server, and what one process makes of the batches."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.fs as pafs
import pytest

from pmo_assets_tests.engines.programs import (
    Site,
    answers,
    beside_python,
    digests,
    free_port,
    new_site,
    seconds_at_work,
    seconds_since_asked,
    wait_until,
    wait_until_processed,
)

BATCH_SIZE = 6
BATCHES = 2


@pytest.fixture(scope="session")
def articles(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Typeset articles for two batches."""
    folder = tmp_path_factory.mktemp("articles")
    for package in sorted((sample_folder / "articles").iterdir())[: BATCH_SIZE * BATCHES]:
        shutil.copytree(package, folder / package.name)
    return folder


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A moto server in a process of its own: it speaks the S3 API over HTTP on loopback."""
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    port = free_port()
    with (tmp_path_factory.mktemp("s3") / "log").open("wb") as log, pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        command = [beside_python("moto_server"), "--host", "127.0.0.1", "--port", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: answers(port), "the S3 server answers", 60)
        files = pafs.S3FileSystem(
            endpoint_override=f"127.0.0.1:{port}", scheme="http", allow_bucket_creation=True, request_timeout=60
        )
        files.create_dir("bucket")
        yield f"http://127.0.0.1:{port}"
        server.kill()
        server.wait()


@pytest.fixture
def make_site(articles: Path, s3: str, tmp_path: Path) -> Callable[..., Site]:
    """Make a site with two registered batches; `launcher` and settings as in `new_site`."""
    return lambda **options: new_site(tmp_path, articles, BATCH_SIZE, s3, **options)


@pytest.fixture(scope="session")
def one_process(articles: Path, s3: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digest of everything that the same batches give on the usual way: a process for each run, all steps in it."""
    site = new_site(tmp_path_factory.mktemp("one-process"), articles, BATCH_SIZE, s3)
    with site.daemon() as daemon:
        site.switch_sensor_on()
        wait_until_processed(site, daemon)
    report("one process per run", site)
    made = digests(site.data_root)
    assert sum(key.startswith("/tables/dataset_rows") for key in made) == BATCHES
    return made


def report(engine: str, site: Site) -> None:
    """Print how fast an engine was; `docs/measurements.md` has these lines."""
    count = BATCH_SIZE * BATCHES
    work, asked = seconds_at_work(site), seconds_since_asked(site)
    print(f"\n{engine}: {work:.0f} s at work, {asked:.0f} s since asked, {60 * count / asked:.1f} articles/min")
