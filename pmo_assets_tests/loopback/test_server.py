"""The stand-in itself: what it serves, what it logs, how it fails."""

from __future__ import annotations

import csv
import datetime
import gzip
import hashlib
import json
import socket
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError

import pytest
from botocore.exceptions import ClientError

from pmo_assets_tests.loopback import (
    Answer,
    CloudArticle,
    Faults,
    LoopbackPmc,
)

SMALL = CloudArticle(
    10009416, xml=b"<article/>", pdf=b"%PDF-1.4 " + bytes(range(200)), text=b"text", media={"a-g001.jpg": b"\xff\xd8"}
)
DAY = datetime.datetime(2026, 1, 15, 1, tzinfo=datetime.UTC)


@pytest.fixture
def pmc() -> Iterator[LoopbackPmc]:
    with LoopbackPmc([SMALL]) as server:
        yield server


def _get(server: LoopbackPmc, key: str, **options: Any) -> bytes:
    return bytes(server.client(**options).get_object(Bucket=server.bucket, Key=key)["Body"].read())


def _rows(server: LoopbackPmc, manifest_key: str) -> list[list[str]]:
    files = json.loads(server.object(manifest_key))["files"]
    text = "".join(gzip.decompress(server.object(item["key"])).decode() for item in files)
    return list(csv.reader(text.splitlines()))


def test_an_unsigned_client_reads_and_lists(pmc: LoopbackPmc) -> None:
    listing = pmc.client().list_objects_v2(Bucket=pmc.bucket, Prefix="PMC10009416.", Delimiter="/")

    assert _get(pmc, SMALL.key("pdf")) == SMALL.pdf
    assert pmc.client().head_object(Bucket=pmc.bucket, Key=SMALL.key("xml"))["ContentLength"] == len(SMALL.xml or b"")
    assert [item["Prefix"] for item in listing["CommonPrefixes"]] == ["PMC10009416.1/"]
    with urllib.request.urlopen(pmc.url(SMALL.key("a-g001.jpg"))) as response:
        assert response.read() == b"\xff\xd8"
        assert response.headers["ETag"].strip('"') == hashlib.md5(b"\xff\xd8").hexdigest()
    with pytest.raises(ClientError, match="NoSuchKey"):
        _get(pmc, "PMC1.1/PMC1.1.pdf")
    assert pmc.gets(SMALL.key("pdf")) == 1
    assert pmc.gets("PMC1.1/PMC1.1.pdf") == 0


def test_urls_of_the_metadata_hold(pmc: LoopbackPmc) -> None:
    stated = json.loads(_get(pmc, SMALL.metadata_key))

    assert stated == json.loads(_get(pmc, SMALL.key("json")))
    assert stated["pmcid"] == "PMC10009416"
    for url in (stated["xml_url"], stated["pdf_url"], stated["text_url"], *stated["media_urls"]):
        key, digest = url.removeprefix(f"s3://{pmc.bucket}/").split("?md5=")
        assert hashlib.md5(_get(pmc, key)).hexdigest() == digest


def test_articles_change_and_go(pmc: LoopbackPmc) -> None:
    pmc.put(CloudArticle(SMALL.number, xml=b"<article>2</article>", facts={"title": ...}))
    stated = json.loads(pmc.object(SMALL.metadata_key))

    assert (stated["pdf_url"], "title" in stated) == (None, False)
    assert SMALL.key("pdf") not in pmc.object_keys()
    pmc.delete(SMALL.number)
    assert pmc.object_keys() == []


def test_an_inventory_lists_the_metadata(pmc: LoopbackPmc) -> None:
    pmc.put(CloudArticle(5, xml=b"<article/>"), CloudArticle(5, 2, xml=b"<article/>"))
    key = pmc.write_inventory(DAY, rows_per_file=2)
    manifest = json.loads(pmc.object(key))

    assert key == "inventory-reports/pmc-oa-opendata/metadata/2026-01-15T01-00Z/manifest.json"
    assert pmc.object(key.replace(".json", ".checksum")).decode().strip() == hashlib.md5(pmc.object(key)).hexdigest()
    assert manifest["fileSchema"] == "Bucket, Key, LastModifiedDate, ETag"
    assert [item["MD5checksum"] for item in manifest["files"]] == [
        hashlib.md5(pmc.object(item["key"])).hexdigest() for item in manifest["files"]
    ]
    assert [(row[0], row[1], row[3]) for row in _rows(pmc, key)] == [
        (pmc.bucket, name, hashlib.md5(pmc.object(name)).hexdigest())
        for name in ("metadata/PMC10009416.1.json", "metadata/PMC5.1.json", "metadata/PMC5.2.json")
    ]


def test_an_inventory_can_be_damaged(pmc: LoopbackPmc) -> None:
    pmc.put(*(CloudArticle(n, xml=b"<article/>") for n in range(1, 40)))
    sound = _rows(pmc, pmc.write_inventory(DAY))

    def damaged(hour: int, damage: Any) -> str:
        return pmc.write_inventory(DAY.replace(hour=hour), damage=damage)

    shuffled = _rows(pmc, damaged(2, "shuffled_rows"))
    assert shuffled != sound
    assert sorted(shuffled) == sound
    wider = damaged(3, "extra_columns")
    schema = json.loads(pmc.object(wider))["fileSchema"].split(", ")
    assert [[row[schema.index(name)] for name in ("Bucket", "Key", "ETag")] for row in _rows(pmc, wider)] == [
        [row[0], row[1], row[3]] for row in sound
    ]
    with pytest.raises(EOFError):
        _rows(pmc, damaged(4, "truncated_gzip"))
    with pytest.raises(KeyError, match=r"csv\.gz"):
        _rows(pmc, damaged(5, "missing_file"))
    with pytest.raises(KeyError, match="manifest"):
        _rows(pmc, damaged(6, "no_manifest"))


@pytest.mark.slow  # many requests
def test_faults_come_at_the_share_that_was_asked_for_and_come_again(pmc: LoopbackPmc) -> None:
    def ask(number: int) -> None:
        with suppress(HTTPError):
            urllib.request.urlopen(pmc.url(SMALL.key("pdf")) + f"?n={number}", timeout=5).close()

    def outcomes(seed: int) -> list[tuple[str, str | None]]:
        pmc.faults = Faults(share=0.3, kinds=("500", "503"), seed=seed)
        pmc.forget_requests()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(400)))
        return sorted((request.query["n"], request.fault) for request in pmc.requests)

    first = outcomes(1)
    kinds = Counter(fault for _, fault in first)

    assert 45 <= kinds["500"] <= 75
    assert 45 <= kinds["503"] <= 75
    assert kinds[None] == 400 - kinds["500"] - kinds["503"]
    assert outcomes(1) == first
    assert outcomes(2) != first


def _receive(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def test_a_reset_comes_in_the_middle_of_the_body(pmc: LoopbackPmc) -> None:
    pmc.faults = Faults(share=1, kinds=("reset",))
    with socket.create_connection(("127.0.0.1", int(pmc.endpoint.rsplit(":", 1)[1]))) as connection:
        connection.sendall(f"GET /{pmc.bucket}/{SMALL.key('pdf')} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        with pytest.raises(ConnectionResetError):
            _receive(connection)
    assert [(request.status, request.fault) for request in pmc.requests] == [(200, "reset")]
    assert pmc.gets(SMALL.key("pdf")) == 0
    pmc.faults = Faults()
    assert _get(pmc, SMALL.key("pdf")) == SMALL.pdf


def test_a_slow_answer_exceeds_a_time_out(pmc: LoopbackPmc) -> None:
    pmc.faults = Faults(share=1, kinds=("slow",), slow_seconds=5)

    with pytest.raises(TimeoutError):
        urllib.request.urlopen(pmc.url(SMALL.key("pdf")), timeout=0.3)


@pytest.mark.slow  # waits
def test_a_client_with_retries_gets_through(pmc: LoopbackPmc) -> None:
    pmc.faults = Faults(share=0.9, kinds=("500", "503"), in_a_row=2)

    assert all(_get(pmc, SMALL.key("pdf"), retries={"total_max_attempts": 3}) == SMALL.pdf for _ in range(3))


def test_one_key_can_be_answered_otherwise(pmc: LoopbackPmc) -> None:
    key = SMALL.key("pdf")

    pmc.answer(key, Answer.html())
    assert _get(pmc, key).startswith(b"<!DOCTYPE html>")
    pmc.answer_other_bytes(key)
    assert len(_get(pmc, key)) == len(SMALL.pdf or b"")
    assert _get(pmc, key) != SMALL.pdf
    pmc.answer(key, Answer.empty())
    assert _get(pmc, key) == b""
    pmc.answer(key, None)
    assert _get(pmc, key) == SMALL.pdf
    assert [request.overridden for request in pmc.requests] == [True] * 4 + [False]


def test_only_one_server_holds_the_bucket(pmc: LoopbackPmc) -> None:
    with pytest.raises(RuntimeError, match="already has a bucket"):
        LoopbackPmc().__enter__()
