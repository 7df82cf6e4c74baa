"""The stand-in of PubMed Central as one HTTP server on loopback: bucket and search, over one log.

    with LoopbackPmc() as pmc:
        pmc.put(*articles)
        pmc.write_inventory(datetime.datetime(2026, 1, 15, 1, tzinfo=datetime.UTC))
        pmc.faults = Faults(share=0.2)
        ...                                    # clients talk to pmc.endpoint and pmc.entrez_url
        assert pmc.gets("PMC10009416.1/PMC10009416.1.pdf") == 1

The bucket is moto's S3 server, which keeps its buckets per process: only one `LoopbackPmc` can hold a bucket of a name
at a time. Requests need no signature.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final
from urllib.parse import quote

from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from pmo_assets.records.article import Article
from pmo_assets_tests.loopback.entrez_evaluator import EntrezIndex, EntrezRecord, record_of
from pmo_assets_tests.loopback.esearch import Esearch
from pmo_assets_tests.loopback.layout import (
    BUCKET,
    INVENTORY_PREFIX,
    METADATA_PREFIX,
    CloudArticle,
    InventoryDamage,
    InventoryRow,
    facts_of,
    inventory_folder,
    inventory_objects,
    md5,
    objects_of,
)
from pmo_assets_tests.loopback.traffic import Answer, Faults, Handler, LoggedRequest, Traffic, WsgiApp

ENTREZ_ROOT: Final = "/entrez/eutils/"
_REGION: Final = "us-east-1"


class LoopbackPmc:
    """The server; a context manager that starts and stops it.

    Args:
        articles: what PMC holds from the beginning.
        port: 0 for any that is free.
        bucket: name of the bucket.

    Attributes:
        search: what answers below `/entrez/eutils/`: its limits, its errors on demand.
    """

    def __init__(
        self,
        articles: Iterable[CloudArticle] = (),
        *,
        port: int = 0,
        bucket: str = BUCKET,
    ) -> None:
        self.bucket = bucket
        self.search = Esearch(self._entrez_index)
        self._indexed: tuple[Mapping[tuple[int, int], CloudArticle], EntrezIndex] | None = None
        self._parsed: dict[bytes, Article] = {}
        self._first = tuple(articles)
        self._articles: dict[tuple[int, int], CloudArticle] = {}
        self._port = port
        # Not moto's dispatcher between all services, which takes as long as the service itself.
        self._s3: WsgiApp = create_backend_app("s3")
        self._traffic = Traffic(self._dispatch)
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> LoopbackPmc:
        """Start the server.

        Raises:
            RuntimeError: if another one in this process holds a bucket of the name.
        """
        if self.bucket in s3_backends.bucket_accounts:
            raise RuntimeError(f"this process already has a bucket {self.bucket}: stop its server, or name another")
        bucket = self._backend.create_bucket(self.bucket, _REGION)
        bucket.policy = json.dumps({
            "Version": "2012-10-17",
            "Statement": [{
                "Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:HeadObject", "s3:ListBucket"],
                "Resource": [f"arn:aws:s3:::{self.bucket}", f"arn:aws:s3:::{self.bucket}/*"],
            }],
        }).encode()  # fmt: skip
        self.put(*self._first)
        self._server = make_server("127.0.0.1", self._port, self._traffic, threaded=True, request_handler=Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server and empty the bucket; answers on their way are reset."""
        assert self._server is not None
        assert self._thread is not None
        self._traffic.stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for key in self.object_keys():
            self.delete_object(key)
        self._backend.delete_bucket(self.bucket)

    # where it is

    @property
    def endpoint(self) -> str:
        """URL of the S3 endpoint, without the bucket: `PMO_PMC_ENDPOINT`."""
        if self._server is None:
            raise RuntimeError("the server has not been started: use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def entrez_url(self) -> str:
        """Root of the E-utilities: `PMO_ENTREZ_URL`."""
        return self.endpoint + ENTREZ_ROOT

    @property
    def environment(self) -> dict[str, str]:
        """Settings of a program that is to talk to this server."""
        return {
            "PMO_PMC_ENDPOINT": self.endpoint,
            "PMO_PMC_BUCKET": self.bucket,
            "PMO_ENTREZ_URL": self.entrez_url,
            "PMO_ENTREZ_EMAIL": "tests@example.org",
        }

    def client(self, **options: Any) -> Any:
        """Return an unsigned boto3 client of the bucket's server; `options` are those of botocore's `Config`."""
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        config = Config(signature_version=UNSIGNED, **options)
        return boto3.client("s3", endpoint_url=self.endpoint, region_name=_REGION, config=config)

    # what PMC holds

    @property
    def articles(self) -> Mapping[tuple[int, int], CloudArticle]:
        """The versions it holds, by number and version, as they are now."""
        return self._articles

    def put(self, *articles: CloudArticle) -> None:
        """Add versions of articles, or replace those of the same number and version."""
        for article in articles:
            objects = objects_of(article)
            for key in self.object_keys(article.prefix):
                if key not in objects:
                    self.delete_object(key)
            for key, data in objects.items():
                self.put_object(key, data)
        self._articles = {**self._articles, **{(each.number, each.version): each for each in articles}}

    def delete(self, number: int, version: int | None = None) -> None:
        """Remove a version of an article, or all of them: from the bucket and from the search."""
        gone = {key: found for key, found in self._articles.items() if key[0] == number and version in (None, key[1])}
        self._articles = {key: found for key, found in self._articles.items() if key not in gone}
        for article in gone.values():
            for name in (*self.object_keys(article.prefix), article.metadata_key):
                self.delete_object(name)

    def put_object(self, key: str, data: bytes, modified: datetime.datetime | None = None) -> None:
        """Write an object; an equal one is left as it is. `modified`: time of the change (UTC), now if not given."""
        found = self._backend.head_object(self.bucket, key)
        if found is None or found.etag.strip('"') != md5(data):
            found = self._backend.put_object(self.bucket, key, data, disable_notification=True)
        if modified is not None:
            found.last_modified = modified.astimezone(datetime.UTC).replace(tzinfo=None)

    def delete_object(self, key: str) -> None:
        """Remove an object, if it is there."""
        self._backend.delete_object(self.bucket, key)

    def object(self, key: str) -> bytes:
        """Return the bytes of an object.

        Raises:
            KeyError: if it is not there.
        """
        found = self._backend.head_object(self.bucket, key)
        if found is None:
            raise KeyError(key)
        return bytes(found.value)

    def object_keys(self, prefix: str = "") -> list[str]:
        """Return the keys that begin with `prefix`, sorted."""
        return sorted(key for key in self._backend.get_bucket(self.bucket).keys if key.startswith(prefix))

    def write_inventory(
        self, at: datetime.datetime, *, damage: InventoryDamage | None = None, rows_per_file: int = 1_000_000
    ) -> str:
        """Write the inventory of what lies below `metadata/` now, and return the key of its manifest.

        Args:
            at: the time it stands for, in UTC.
            damage: what is wrong with it.
            rows_per_file: see `inventory_objects`.
        """
        keys = self._backend.get_bucket(self.bucket).keys
        rows = [
            InventoryRow(key, keys[key].last_modified, keys[key].etag.strip('"'), keys[key].size)
            for key in self.object_keys(METADATA_PREFIX)
        ]
        for key, data in inventory_objects(rows, at, damage=damage, rows_per_file=rows_per_file).items():
            self.put_object(key, data)
        return f"{inventory_folder(at)}manifest.json"

    def delete_inventory(self, at: datetime.datetime | None = None) -> None:
        """Remove the report of a time (its data remain), or all reports with their data."""
        for key in self.object_keys(INVENTORY_PREFIX if at is None else inventory_folder(at)):
            self.delete_object(key)

    # what happens to requests

    @property
    def faults(self) -> Faults:
        """How often requests fail, and how; may be set at any time."""
        return self._traffic.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._traffic.set_faults(faults)

    def answer(self, key: str, answer: Answer | None) -> None:
        """Answer GET and HEAD of an object otherwise: see `Answer`. None for the object itself again."""
        path = f"/{self.bucket}/{key}"
        if answer is None:
            self._traffic.answers.pop(path, None)
        else:
            self._traffic.answers[path] = answer

    def answer_other_bytes(self, key: str) -> None:
        """Answer with as many bytes as the object has, of which one differs: its MD5 is not the one that is stated."""
        data = bytearray(self.object(key))
        data[len(data) // 2] ^= 1
        self.answer(key, Answer(bytes(data)))

    # what was asked

    @property
    def requests(self) -> list[LoggedRequest]:
        """The log of all requests so far."""
        return self._traffic.requests

    def forget_requests(self) -> None:
        """Empty the log."""
        self._traffic.forget()

    def get_counts(self, prefix: str = "") -> Counter[str]:
        """Return how often objects whose keys begin with `prefix` were sent whole (status 200, not reset)."""
        start = f"/{self.bucket}/"
        found = (
            request.path.removeprefix(start)
            for request in self.requests
            if request.method == "GET"
            and request.status == 200
            and request.fault != "reset"
            and request.path.startswith(start + prefix)
            and request.path != start
        )
        return Counter(found)

    def gets(self, key: str) -> int:
        """Return how often an object was sent whole; a slow answer counts, though the client may have given up."""
        return self.get_counts(key)[key]

    def url(self, key: str) -> str:
        """Return the HTTP URL of an object."""
        return f"{self.endpoint}/{self.bucket}/{quote(key)}"

    def _dispatch(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith(ENTREZ_ROOT):
            return self.search(environ, start_response)
        return self._s3(environ, start_response)

    def _entrez_index(self) -> EntrezIndex:
        """Return the index of what is there now: one record per number."""
        articles, indexed = self._articles, self._indexed
        if indexed is None or indexed[0] is not articles:
            by_number: dict[int, list[CloudArticle]] = {}
            for article in articles.values():
                by_number.setdefault(article.number, []).append(article)
            indexed = (articles, EntrezIndex([self._record(versions) for versions in by_number.values()]))
            self._indexed = indexed
        return indexed[1]

    def _record(self, versions: list[CloudArticle]) -> EntrezRecord:
        """Return the record of an article: the text of its published version, else of the highest."""
        shown = max(versions, key=lambda version: (not version.is_manuscript, version.version))
        filters = set()
        if any(version.is_open_access for version in versions):
            filters.add("open_access")
        if any(version.is_manuscript for version in versions):
            filters.add("author_manuscript")
        released = min(version.released for version in versions)
        return record_of(self._facts(shown), shown.number, filters=filters, released=released)

    def _facts(self, version: CloudArticle) -> Article:
        source = version.xml if version.xml is not None else version.text or b""
        digest = hashlib.sha256(source).digest()
        if digest not in self._parsed:
            self._parsed[digest] = facts_of(version)
        return self._parsed[digest]

    @property
    def _backend(self) -> Any:
        return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
