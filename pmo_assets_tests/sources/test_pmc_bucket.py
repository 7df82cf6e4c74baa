"""PMC's bucket: what is there comes whole and right, what is not is said, and who is at fault."""

from __future__ import annotations

import errno
import gc
import http.server
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pmo_assets import __version__
from pmo_assets.records.packages import FileMissing, FileTooLarge, SourceError, UnreadableFile
from pmo_assets.records.stores import StorageError, SystemicError
from pmo_assets.sources import pmc_bucket
from pmo_assets.sources.pmc_bucket import ATTEMPTS, PmcBucket, PmcOptions
from pmo_assets_tests.loopback import Answer, CloudArticle, Faults, LoopbackPmc

PICTURE = bytes(range(256)) * 3000
ARTICLE = CloudArticle(7, xml=b"<article/>", pdf=b"%PDF", media={"f.jpg": PICTURE})
KEY = "PMC7.1/f.jpg"


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackPmc]:
    with LoopbackPmc([ARTICLE]) as started:
        yield started


@pytest.fixture
def pmc(server: LoopbackPmc) -> Iterator[LoopbackPmc]:
    server.forget_requests()
    yield server
    server.faults = Faults()
    server.answer(KEY, None)


def bucket_of(endpoint: str, **options: Any) -> PmcBucket:
    return PmcBucket(PmcOptions(**{"endpoint": endpoint, "pause": 0.002, "read_timeout": 5.0, **options}))


@pytest.fixture
def bucket(pmc: LoopbackPmc) -> PmcBucket:
    return bucket_of(pmc.endpoint)


@contextmanager
def answering(answer: Callable[[http.server.BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Give the address of a server that answers every GET as a function says."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer(self)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def send(
    handler: http.server.BaseHTTPRequestHandler, body: bytes, *headers: tuple[str, str], status: int = 200
) -> None:
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


# listing


@pytest.mark.slow
def test_a_listing_goes_on_over_all_its_pages(server: LoopbackPmc, bucket: PmcBucket) -> None:
    keys = [f"many/{number:05d}" for number in range(1205)]
    for key in keys:
        server.put_object(key, b"x")
    try:
        assert [item.key for item in bucket.objects("many/")] == keys
        assert len([request for request in server.requests if request.query.get("prefix") == "many/"]) == 2
    finally:
        for key in keys:
            server.delete_object(key)


def test_an_object_is_listed_with_size_etag_and_a_time_that_has_a_zone(pmc: LoopbackPmc, bucket: PmcBucket) -> None:
    (item,) = bucket.objects(KEY)
    assert (item.key, item.size) == (KEY, len(PICTURE))
    assert item.etag == pmc_bucket.md5_of(PICTURE)
    assert item.last_modified.tzinfo is not None


def test_folders_are_those_directly_below_a_prefix(bucket: PmcBucket) -> None:
    assert bucket.folders("") == ["PMC7.1/", "metadata/"]
    assert bucket.folders("PMC7.") == ["PMC7.1/"]
    assert bucket.folders("PMC8.") == []


@pytest.mark.parametrize("body", [Answer.html(), Answer(b"<html><body/></html>"), Answer(b""), Answer(b"<Error/>")])
def test_a_web_page_is_not_taken_for_an_empty_listing(pmc: LoopbackPmc, bucket: PmcBucket, body: Answer) -> None:
    path = f"/{pmc.bucket}"
    pmc._traffic.answers[path] = body
    try:
        with pytest.raises(SourceError, match=r"cannot list s3://pmc-oa-opendata/metadata/"):
            bucket.objects("metadata/")
    finally:
        del pmc._traffic.answers[path]


def test_the_listing_of_another_bucket_is_none_of_this_one(bucket: PmcBucket) -> None:
    other = b"<ListBucketResult><Name>other</Name><Prefix></Prefix><KeyCount>0</KeyCount></ListBucketResult>"
    with (
        answering(lambda handler: send(handler, other, ("Content-Length", str(len(other))))) as endpoint,
        pytest.raises(SourceError, match="no listing of this bucket"),
    ):
        bucket_of(endpoint).objects("")


def test_a_listing_that_turns_in_a_circle_ends_with_an_error() -> None:
    page = (
        b"<ListBucketResult><Name>pmc-oa-opendata</Name><Prefix></Prefix><IsTruncated>true</IsTruncated>"
        b"<NextContinuationToken>again</NextContinuationToken></ListBucketResult>"
    )
    with (
        answering(lambda handler: send(handler, page, ("Content-Length", str(len(page))))) as endpoint,
        pytest.raises(SourceError, match="breaks off"),
    ):
        bucket_of(endpoint).objects("")


# reading


@pytest.mark.parametrize("name", ["a b.jpg", "a+b.jpg", "a%20b.jpg", "a#b?c=d&e.jpg", "Übersicht-図.jpg", "a//b.jpg"])
def test_keys_are_taken_literally(pmc: LoopbackPmc, bucket: PmcBucket, name: str) -> None:
    pmc.put_object(f"odd/{name}", name.encode())
    assert bucket.read(f"odd/{name}") == name.encode()
    assert f"odd/{name}" in [item.key for item in bucket.objects("odd/")]


def test_what_is_read_and_downloaded_is_what_the_bucket_holds(bucket: PmcBucket, tmp_path: Path) -> None:
    bucket.download(KEY, tmp_path / "f.jpg")
    assert bucket.read(KEY) == PICTURE == (tmp_path / "f.jpg").read_bytes()
    assert bucket.read(KEY, len(PICTURE)) == PICTURE


def test_an_empty_object_is_empty(pmc: LoopbackPmc, bucket: PmcBucket) -> None:
    pmc.answer(KEY, Answer.empty())
    assert bucket.read(KEY) == b""


def test_an_object_that_is_not_there_is_missing_and_asked_for_once(pmc: LoopbackPmc, bucket: PmcBucket) -> None:
    with pytest.raises(FileMissing, match=r"s3://pmc-oa-opendata/PMC7\.1/none is not there"):
        bucket.read("PMC7.1/none")
    assert len(pmc.requests) == 1


def test_too_large_is_said_by_the_stated_length_before_anything_is_read(pmc: LoopbackPmc, bucket: PmcBucket) -> None:
    with pytest.raises(FileTooLarge):
        bucket.read(KEY, len(PICTURE) - 1)
    assert len(pmc.requests) == 1, "and not tried again"


def test_too_large_is_noticed_when_no_length_is_stated(tmp_path: Path) -> None:
    def endless(handler: http.server.BaseHTTPRequestHandler) -> None:
        with suppress(OSError):  # the client goes away
            send(handler, b"", ("Connection", "close"))
            for _ in range(10_000):
                handler.wfile.write(bytes(1 << 16))

    with answering(endless) as endpoint:
        with pytest.raises(FileTooLarge):
            bucket_of(endpoint).read("k", 100_000)
        with pytest.raises(FileTooLarge):
            bucket_of(endpoint).download("k", tmp_path / "k", 100_000)
    assert (tmp_path / "k").stat().st_size <= 100_000


@pytest.mark.parametrize(
    ("status", "error"), [("403 Forbidden", UnreadableFile), ("404 Not Found", FileMissing)], ids=["403", "404"]
)
def test_an_object_that_is_refused_is_one_articles_problem(
    pmc: LoopbackPmc, bucket: PmcBucket, status: str, error: type[Exception]
) -> None:
    pmc.answer(KEY, Answer(b"", status=status))
    with pytest.raises(error):
        bucket.read(KEY)


@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("body", [b"<Error><Code>AccessDenied</Code></Error>", b"<html>Blocked</html>", b""])
def test_who_refuses_everything_is_no_articles_problem(status: int, body: bytes) -> None:
    """Else a batch would be rejected, and its articles never fetched, because a proxy was in the way for a minute."""
    with answering(lambda handler: send(handler, body, ("Content-Length", str(len(body))), status=status)) as endpoint:
        for ask in (lambda: bucket_of(endpoint).read("k"), lambda: bucket_of(endpoint).objects("k")):
            with pytest.raises(SourceError):
                ask()


def test_where_the_data_root_is_says_nothing_about_pmc(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, "http://minio.example.org:9000")
    assert "amazonaws.com" in PmcBucket(PmcOptions())._client.meta.endpoint_url


def test_a_bucket_that_does_not_exist_is_no_missing_file(pmc: LoopbackPmc) -> None:
    wrong = bucket_of(pmc.endpoint, bucket="pmc-oa-opendate")
    for ask in (lambda: wrong.read("k"), lambda: wrong.objects("k"), lambda: wrong.folders("")):
        with pytest.raises(SourceError, match=r"NoSuchBucket.*PMO_PMC_BUCKET") as caught:
            ask()
        assert "attempts" not in str(caught.value), "it was asked once"


def test_where_nobody_answers_the_error_says_what_to_look_at() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SourceError, match=rf"at {endpoint}.*PMO_PMC_ENDPOINT.*run again"):
            bucket_of(endpoint, pause=0.001).read("k")


# faults on the way


@pytest.mark.parametrize("kind", ["500", "503", "reset"])
def test_a_fault_that_passes_is_not_noticed(pmc: LoopbackPmc, bucket: PmcBucket, kind: Any, tmp_path: Path) -> None:
    pmc.faults = Faults(share=1, kinds=(kind,), in_a_row=3)
    bucket.download(KEY, tmp_path / "f.jpg")
    assert (tmp_path / "f.jpg").read_bytes() == PICTURE, "what came before the fault is not in it"
    assert bucket.read(KEY) == PICTURE
    assert [item.key for item in bucket.objects("PMC7.1/")] == [
        f"PMC7.1/PMC7.1.{end}" for end in ("json", "pdf", "xml")
    ] + [KEY]
    assert sum(request.fault == kind for request in pmc.requests) == 9


def test_who_does_not_answer_in_time_is_asked_again(pmc: LoopbackPmc) -> None:
    pmc.faults = Faults(share=1, kinds=("slow",), in_a_row=1, slow_seconds=2)
    assert bucket_of(pmc.endpoint, read_timeout=0.3).read(KEY) == PICTURE


def test_a_fault_that_stays_ends_after_some_attempts(pmc: LoopbackPmc, bucket: PmcBucket) -> None:
    pmc.faults = Faults(share=1, kinds=("503",))
    with pytest.raises(SourceError, match="SlowDown"):
        bucket.read(KEY)
    assert sum(request.fault == "503" for request in pmc.requests) == ATTEMPTS


def test_a_body_that_ends_too_early_is_not_taken_for_the_object() -> None:
    sent = iter([PICTURE[:1000], PICTURE[:-1], b"", PICTURE])
    with answering(lambda handler: send(handler, next(sent), ("Content-Length", str(len(PICTURE))))) as endpoint:
        assert bucket_of(endpoint).read("k") == PICTURE


def test_a_server_that_sends_a_byte_now_and_then_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pmc_bucket, "TRANSFER_TIMEOUT", 0.3)
    monkeypatch.setattr(pmc_bucket, "ATTEMPTS", 2)

    def dribble(handler: http.server.BaseHTTPRequestHandler) -> None:
        with suppress(OSError):  # the client goes away
            send(handler, b"", ("Content-Length", "100000"))
            for _ in range(1000):
                handler.wfile.write(b"x")
                time.sleep(0.05)

    began = time.monotonic()
    with answering(dribble) as endpoint, pytest.raises(SourceError, match="not complete after"):
        bucket_of(endpoint).read("k")
    assert time.monotonic() - began < 5


def test_who_stops_waits_for_no_further_attempt(pmc: LoopbackPmc) -> None:
    pmc.faults = Faults(share=1, kinds=("503",))
    bucket = bucket_of(pmc.endpoint, pause=20)
    threading.Timer(0.3, bucket.stop).start()
    began = time.monotonic()
    with pytest.raises(SourceError):
        bucket.read(KEY)
    assert time.monotonic() - began < 5


# faults of this machine


class FullDisk:
    """A file on a disk that is full."""

    name = "/full/f.jpg"

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def seek(self, _: int) -> None:
        pass

    truncate = flush = lambda self: None

    def write(self, _: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_not_blamed_on_pmc_and_not_tried_again(
    pmc: LoopbackPmc, bucket: PmcBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "open", lambda *_: FullDisk())
    with pytest.raises(StorageError, match=r"cannot write /full/f\.jpg: .*No space left"):
        bucket.download(KEY, Path("f.jpg"))
    # The answer of an earlier test that was slow on purpose may end, and be noted, only now.
    assert len([request for request in pmc.requests if request.fault is None]) == 1


@pytest.mark.parametrize("place", ["none/f.jpg", "x" * 300])
def test_a_file_that_cannot_be_made_is_not_blamed_on_pmc(
    pmc: LoopbackPmc, bucket: PmcBucket, tmp_path: Path, place: str
) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        bucket.download(KEY, tmp_path / place)
    # The answer of an earlier test that was slow on purpose may end, and be noted, only now.
    assert not [request for request in pmc.requests if request.fault is None]


def test_no_file_handles_left_is_a_fault_of_the_machine(
    bucket: PmcBucket, monkeypatch: pytest.MonkeyPatch, pmc: LoopbackPmc
) -> None:
    def exhausted(*_: object, **__: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "socket", exhausted)
    with pytest.raises(SystemicError, match=r"mend it .*open files") as caught:
        bucket.read(KEY)
    assert not isinstance(caught.value, SourceError)


# manners


def test_requests_name_the_program_and_whom_to_write_to_and_bear_no_signature() -> None:
    seen: list[dict[str, str]] = []

    def note(handler: http.server.BaseHTTPRequestHandler) -> None:
        seen.append({name.lower(): value for name, value in handler.headers.items()})
        send(handler, b"x", ("Content-Length", "1"))

    with answering(note) as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "secret-key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        bucket_of(endpoint, contact="a@example.org").read("k")
        bucket_of(endpoint).read("k")
    assert f"pmo-assets/{__version__} (mailto:a@example.org)" in seen[0]["user-agent"]
    assert "mailto" not in seen[1]["user-agent"]
    assert not any("authorization" in headers or "x-amz-security-token" in headers for headers in seen)
    assert "secret-key" not in str(seen)


def test_the_contact_is_not_shown_with_the_options() -> None:
    assert "a@example.org" not in repr(PmcOptions(contact="a@example.org"))


def test_threads_share_a_bucket(pmc: LoopbackPmc) -> None:
    bucket = bucket_of(pmc.endpoint, concurrency=16)
    pmc.faults = Faults(share=0.2, kinds=("500", "503", "reset"), in_a_row=4)
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: bucket.read(KEY), range(64))) == {PICTURE}


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_connections_are_given_back(bucket: PmcBucket) -> None:
    for _ in range(30):
        with pytest.raises(FileTooLarge):
            bucket.read(KEY, 10)
    gc.collect()
    assert bucket.read(KEY) == PICTURE
