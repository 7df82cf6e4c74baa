"""Data roots: a local folder, and a prefix on a real S3 server."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.fs as pafs
import pytest

from pmo_assets.storage.data_root import DataRoot


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    """A moto server: it speaks the S3 API over HTTP on loopback."""
    from moto.server import ThreadedMotoServer

    saved = {name: os.environ.get(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")}
    os.environ.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test", AWS_REGION="us-east-1")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    pafs.S3FileSystem(endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True).create_dir(
        "bucket"
    )
    yield endpoint
    server.stop()
    for name, value in saved.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(params=["local", "s3"])
def data_root(request: pytest.FixtureRequest, tmp_path: Path) -> DataRoot:
    if request.param == "local":
        return DataRoot(str(tmp_path / "root"))
    prefix = f"s3://bucket/{tmp_path.name}-{datetime.datetime.now(tz=datetime.UTC).timestamp()}"
    return DataRoot(prefix, request.getfixturevalue("s3_endpoint"))
