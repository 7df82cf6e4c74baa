"""Data roots: a local folder, and a prefix on a real S3 server."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.storage.data_root import DataRoot

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def s3_endpoint(s3_server: str) -> Iterator[str]:
    """The address of an S3 server whose keys the environment has as long as the module's tests run."""
    saved = {name: os.environ.get(name) for name in KEYS}
    os.environ.update(KEYS)
    yield s3_server
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
