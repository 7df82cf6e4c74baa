"""The S3 bucket of the PMC Cloud Service: listing and reading without an account, politely, with retries.

Facts: https://pmc.ncbi.nlm.nih.gov/tools/pmcaws/ (bucket `pmc-oa-opendata`, anonymous requests). What lies where in the
bucket is known one floor up (`pmc_cloud`, `pmc_inventory`); here are only folders, objects and bytes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final, TypeVar
from urllib.parse import quote

from botocore import UNSIGNED
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    sleep_using_event,
    stop_after_attempt,
    stop_when_event_set,
    wait_exponential_jitter,
)
from urllib3.exceptions import HTTPError as ConnectionFault

from pmo_assets import __version__
from pmo_assets.records.faults import is_machine_error, raise_fault
from pmo_assets.records.packages import FileMissing, FileTooLarge, SourceError, UnreadableFile
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import StorageError
from pmo_assets.sources.host_names import name_problem

_LOG = logging.getLogger(__name__)

DEFAULT_BUCKET: Final = "pmc-oa-opendata"

ATTEMPTS: Final = 8
"""Most attempts of one request: with pauses of 0.5 s to 20 s, about a minute in all. A server that fails one request in
five fails three in a million of them so often."""

_NEWS: Final = 4
"""Failed attempts of one request that are told: about five seconds have passed then."""

CHUNK: Final = 1 << 20
"""Bytes that are read at a time."""

TRANSFER_TIMEOUT: Final = 900.0
"""Seconds that one object may take to its last byte: a server that sends a byte now and then holds nothing up."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class PmcOptions:
    """Options of reading PMC's bucket: its address, and the number of requests at once.

    Attributes:
        bucket: name of the S3 bucket.
        endpoint: another S3-compatible server (a mirror), with scheme; AWS if None.
        concurrency: requests at once; more threads may read: one that stores what it got holds up no other.
        contact: e-mail that the requests name, so that who runs the service can write before they block.
        read_timeout: seconds without a byte after which a request is repeated.
        pause: seconds before the first repetition; each further pause is about twice as long.
    """

    bucket: str = DEFAULT_BUCKET
    endpoint: str | None = None
    concurrency: int = 8
    contact: str | None = field(default=None, repr=False)
    read_timeout: float = 60.0
    pause: float = 0.5


@dataclass(frozen=True, slots=True)
class BucketObject:
    """An object of the bucket: key, bytes, ETag without quotes, time of its last change."""

    key: str
    size: int
    etag: str
    last_modified: datetime


class _Incomplete(Exception):
    """An answer is not what a bucket gives: it took longer than `TRANSFER_TIMEOUT`, ends early, or is no listing."""


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


_TRANSIENT_CODES: Final = frozenset({"SlowDown", "RequestTimeout", "RequestTimeTooSkewed", "InternalError"})


def _is_transient(error: BaseException) -> bool:
    """Say whether the same request may succeed a little later: the network's or a busy server's fault."""
    if isinstance(error, ClientError):
        return _status(error) >= 500 or _status(error) == 429 or _code(error) in _TRANSIENT_CODES
    # Whatever else botocore raises while a request is under way is of the network: resets, time-outs, short bodies.
    return isinstance(error, BotoCoreError | ConnectionFault | OSError | _Incomplete) and not is_machine_error(error)


@functools.lru_cache(maxsize=1)
def _session() -> tuple[Any, threading.Lock]:
    """Return the boto3 session of this process, and the lock that threads hold while they make a client of it.

    It keeps AWS's descriptions of its services: read again for each batch they take a third of a second, and leave the
    process's memory in pieces.
    """
    import boto3  # a tenth of a second: only for processes that ask PMC

    return boto3.session.Session(), threading.Lock()


_MAX_ERROR_BYTES: Final = 1 << 16


@functools.lru_cache(maxsize=1)
def _parser() -> Any:
    import botocore.parsers  # with boto3, which is not imported before it is needed

    return botocore.parsers.create_parser("rest-xml")


class PmcBucket:
    """A connection to the bucket; threads may share it."""

    def __init__(self, options: PmcOptions) -> None:
        self.options = options
        self.name = options.bucket
        self._slots = threading.BoundedSemaphore(max(options.concurrency, 1))
        self._stopped = threading.Event()
        contact = f" (mailto:{options.contact})" if options.contact else ""
        self._user_agent = f"pmo-assets/{__version__}{contact} boto3/{version('boto3')}"
        config = Config(
            # AWS_ENDPOINT_URL is where the data root is, perhaps, and not where PMC is
            ignore_configured_endpoint_urls=True,
            signature_version=UNSIGNED,
            connect_timeout=15,
            read_timeout=options.read_timeout,
            max_pool_connections=max(options.concurrency, 1),
            # one attempt: bodies that break off are none of botocore's retries, so that all are made here
            retries={"mode": "standard", "total_max_attempts": 1},
            s3={"addressing_style": "path" if options.endpoint else "auto"},
            # What a request costs in Python counts, by the hundred thousand. A name of our own is not made anew
            # for each request as `user_agent_extra` is; parameters are ours; files are checked by their MD5.
            user_agent=self._user_agent,
            parameter_validation=False,
            response_checksum_validation="when_required",
        )
        session, making = _session()
        with making:
            self._client = session.client("s3", region_name="us-east-1", endpoint_url=options.endpoint, config=config)
        example = self._client.generate_presigned_url("get_object", Params={"Bucket": self.name, "Key": "KEY"})
        self._address = example.removesuffix("KEY")  # unsigned, it is an address and nothing else
        self._is_known = False
        self._retry = Retrying(
            retry=retry_if_exception(_is_transient),
            stop=stop_after_attempt(ATTEMPTS) | stop_when_event_set(self._stopped),
            sleep=sleep_using_event(self._stopped),
            wait=wait_exponential_jitter(initial=options.pause, max=20, jitter=options.pause),
            before_sleep=_tell,
            reraise=True,
        )

    def uri(self, key: str) -> str:
        """Return where an object is, for people."""
        return f"s3://{self.name}/{key}"

    def stop(self) -> None:
        """Let other threads' reading end soon, with a `SourceError`; nothing can be read any more."""
        self._stopped.set()

    def folders(self, prefix: str) -> list[str]:
        """Return the folders directly below a prefix, each with its trailing slash, sorted.

        Raises:
            SourceError: if the bucket cannot be listed.
        """
        return sorted(
            item["Prefix"] for page in self._pages(prefix, Delimiter="/") for item in page.get("CommonPrefixes", ())
        )

    def objects(self, prefix: str) -> list[BucketObject]:
        """Return the objects whose keys begin with a prefix, in the bucket's order.

        Raises:
            SourceError: if the bucket cannot be listed.
        """
        return [
            BucketObject(item["Key"], item["Size"], item["ETag"].strip('"'), item["LastModified"])
            for page in self._pages(prefix)
            for item in page.get("Contents", ())
        ]

    def _pages(self, prefix: str, **options: str) -> Iterator[dict[str, Any]]:
        following: dict[str, str] = {}
        while True:
            request = {"Bucket": self.name, "Prefix": prefix, **options, **following}
            page = self._asked(f"list {self.uri(prefix)}*", functools.partial(self._page, request))
            yield page
            token = page.get("NextContinuationToken")
            if not token:
                return
            following = {"ContinuationToken": token}

    def _page(self, request: Mapping[str, str]) -> dict[str, Any]:
        page: dict[str, Any] = self._client.list_objects_v2(**request)
        # A web page of a proxy may be well-formed XML too: it must not look like a bucket from which all is gone.
        if page.get("Name") != self.name or page.get("Prefix", "") != request["Prefix"]:
            raise _Incomplete("the answer is no listing of this bucket (a web page of a proxy?)")
        if page.get("IsTruncated") and page.get("NextContinuationToken") in (None, request.get("ContinuationToken")):
            raise _Incomplete("the listing breaks off")
        return page

    def read(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object's bytes.

        Raises:
            FileMissing: if there is no such object.
            FileTooLarge: if there are more than `max_bytes`.
            UnreadableFile: if the bucket refuses it.
            SourceError: if the bucket cannot be reached.
        """

        def received() -> bytes:
            buffer = io.BytesIO()
            self._receive(key, buffer, max_bytes)
            return buffer.getvalue()

        return self._asked(f"read {self.uri(key)}", received, key)

    def download(self, key: str, target: Path, max_bytes: int | None = None) -> None:
        """Write an object's bytes to a local file, chunk by chunk; see `read` for the errors.

        Raises:
            StorageError: if the file cannot be written.
        """
        try:
            with target.open("wb") as stream:

                def received() -> None:
                    stream.seek(0)
                    stream.truncate()
                    self._receive(key, stream, max_bytes)

                self._asked(f"read {self.uri(key)}", received, key)
        except OSError as error:
            raise _cannot_write(target, error) from error

    def _receive(self, key: str, stream: IO[bytes], max_bytes: int | None) -> None:
        with self._slots:
            self._receive_now(key, stream, max_bytes)

    def _receive_now(self, key: str, stream: IO[bytes], max_bytes: int | None) -> None:
        self._raise_if_stopped()
        began = time.monotonic()
        raw, expected = self._opened(key)
        size = 0
        with contextlib.closing(raw):
            if max_bytes is not None and (expected or 0) > max_bytes:
                raise _too_large(key, max_bytes)
            # botocore's stream waits until a chunk is full, however slowly it comes; urllib3's gives what is there
            while chunk := raw.read1(CHUNK):
                size += len(chunk)
                if max_bytes is not None and size > max_bytes:
                    raise _too_large(key, max_bytes)
                if time.monotonic() - began > TRANSFER_TIMEOUT:
                    raise _Incomplete(f"not complete after {TRANSFER_TIMEOUT:.0f} s")
                try:
                    stream.write(chunk)
                except OSError as error:  # of the disk, not of the network
                    raise _cannot_write(getattr(stream, "name", "memory"), error) from error
                if size != expected:  # what has come whole is kept
                    self._raise_if_stopped()
        if expected is not None and size != expected:
            raise _Incomplete(f"{size} of {expected} bytes came")

    def _opened(self, key: str) -> tuple[Any, int | None]:
        """Return urllib3's stream of an object and its length, as far as that is stated.

        An unsigned request is a plain GET: it is sent over the client's connections, but not through the layers that
        sign, validate and route, which take most of the time of a small file.

        Raises:
            ClientError: if the answer is no success, as botocore tells it.
        """
        url = f"{self._address}{quote(key, safe='/~')}"
        request = AWSPreparedRequest("GET", url, {"User-Agent": self._user_agent}, None, stream_output=True)
        answer = self._client._endpoint.http_session.send(request)
        if answer.status_code == 200:
            stated = answer.headers.get("Content-Length")
            return answer.raw, int(stated) if stated is not None and stated.isdigit() else None
        with contextlib.closing(answer.raw) as raw:
            body = raw.read(_MAX_ERROR_BYTES)
        told = {"status_code": answer.status_code, "headers": answer.headers, "body": body}
        raise ClientError(_parser().parse(told, None), "GetObject")

    def _raise_if_stopped(self) -> None:
        if self._stopped.is_set():
            raise SourceError(f"{self.uri('')} is not read any more: the step has ended")

    def _asked(self, what: str, request: Callable[[], Result], key: str | None = None) -> Result:
        """Return a request's result; it is repeated while that may help."""
        if not self._is_known and (problem := name_problem(self._address)):
            raise SourceError(f"cannot {what}: {problem} Else see PMO_PMC_ENDPOINT")
        self._is_known = True
        try:
            return self._retry.copy()(request)
        except ArticleError:
            raise
        except ClientError as error:
            if key is None or _code(error) == "NoSuchBucket" or _status(error) not in (403, 404):
                raise self._unreachable(what, error) from error
            if _code(error) != "NoSuchKey":
                # A proxy, or a service that has blocked this machine, refuses everything: that is no article's fault.
                self._asked(what, functools.partial(self._page, {"Bucket": self.name, "Prefix": key}))
            if _status(error) == 403:
                raise UnreadableFile(f"{self.uri(key)} cannot be read: access denied") from None
            raise FileMissing(f"{self.uri(key)} is not there (any more)") from None
        except (BotoCoreError, ConnectionFault, OSError, _Incomplete) as error:
            raise_fault(error)  # a full disk is none of the bucket's
            raise self._unreachable(what, error) from error

    def _unreachable(self, what: str, error: Exception) -> SourceError:
        place = self.options.endpoint or "AWS"
        # botocore counts attempts of its own, of which there are none
        reason = str(error).replace(" (reached max retries: 0)", "")
        attempts = f" ({ATTEMPTS} attempts)" if _is_transient(error) and not self._stopped.is_set() else ""
        return SourceError(
            f"cannot {what} at {place}: {reason}{attempts}; see that the network is there and that "
            "PMO_PMC_ENDPOINT and PMO_PMC_BUCKET are right, then run again: what was fetched is kept"
        )


def _tell(state: RetryCallState) -> None:
    """Say that a request has failed several times: a single fault is no news."""
    if state.attempt_number >= _NEWS:
        error = state.outcome.exception() if state.outcome is not None else None
        _LOG.warning("PMC's bucket, attempt %d of %d: %s", state.attempt_number, ATTEMPTS, error)


def _cannot_write(place: object, error: OSError) -> StorageError:
    return StorageError(f"cannot write {place}: {error} (check the folder, its permissions and free space)")


def _too_large(key: str, max_bytes: int) -> FileTooLarge:
    return FileTooLarge(f"{key} is larger than {max_bytes / 2**20:.0f} MiB")


def md5_of(content: bytes) -> str:
    """Return the MD5 of bytes, as PMC's metadata states it."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
