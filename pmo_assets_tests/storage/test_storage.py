"""Storage: whole or not at all, the same bytes for the same rows, schemas enforced; local and on a real S3 server."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import multiprocessing
import os
import time
from pathlib import Path

import polars as pl
import pytest
from dataframely.exc import ValidationError

from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import manifest_key
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.rejections import Rejections
from pmo_assets.tables.schemas import checked, empty_table, schema_of

REJECTION = Rejection("articles", 7, None, "NoPdf", "no PDF")


def test_what_is_written_is_read(data_root: DataRoot) -> None:
    data_root.write("a/b.bin", b"one")
    data_root.write("a/b.bin", b"two")
    assert data_root.read("a/b.bin") == b"two"
    assert data_root.exists("a/b.bin")
    assert data_root.keys("a") == ["b.bin"]
    assert data_root.keys("nowhere") == []
    data_root.delete("a/b.bin")
    assert not data_root.exists("a/b.bin")


def test_a_file_is_created_once(data_root: DataRoot) -> None:
    assert data_root.create("claims/0001.parquet", b"first")
    assert not data_root.create("claims/0001.parquet", b"second")
    assert data_root.read("claims/0001.parquet") == b"first"
    assert data_root.keys("claims") == ["0001.parquet"], "nothing else is left"


def test_a_disk_without_second_names_creates_once_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refused)
    root = DataRoot(str(tmp_path))
    assert root.create("x", b"first")
    assert not root.create("x", b"second")
    assert root.read("x") == b"first"


def test_an_answer_that_was_lost_does_not_lose_the_file(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import botocore.httpsession

    root = DataRoot(f"s3://bucket/lost-{time.time_ns()}", s3_endpoint)
    send = botocore.httpsession.URLLib3Session.send
    lost: list[object] = []

    def send_and_lose_the_answer(session: object, request: object) -> object:
        answer = send(session, request)
        if request.method == "PUT" and not lost:  # type: ignore[attr-defined]
            lost.append(request)
            raise botocore.httpsession.EndpointConnectionError(endpoint_url=s3_endpoint)
        return answer

    monkeypatch.setattr(botocore.httpsession.URLLib3Session, "send", send_and_lose_the_answer)
    assert root.create("x", b"first")
    assert lost
    assert not root.create("x", b"second")


def test_a_models_answers_are_kept(data_root: DataRoot) -> None:
    from pmo_assets.models.chat import KeptAnswers
    from pmo_assets.records.chat import ChatRequest, Message
    from pmo_assets_tests.pipeline.captions.scripted_model import ScriptedModel

    model = ScriptedModel([{"identifiers": ["Ω"]}])
    kept = KeptAnswers(model, data_root)
    request = ChatRequest((Message("user", "caption"),), "PanelIdentifiers", {"type": "object"}, "v1")
    assert kept.answer(request).text == kept.answer(request).text == '{"identifiers": ["Ω"]}'
    assert len(model.requests) == 1


def test_a_missing_file_says_where_and_what_to_check(data_root: DataRoot) -> None:
    with pytest.raises(StorageError, match=r"nothing\.bin.*PMO_DATA_ROOT"):
        data_root.read("nothing.bin")


def test_a_failed_write_leaves_the_old_file(data_root: DataRoot) -> None:
    data_root.write("x", b"old")

    def fail() -> None:
        with data_root.writing("x") as stream:
            stream.write(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        fail()
    assert data_root.read("x") == b"old"
    assert data_root.keys("") == ["x"]


def _die_while_writing(root: str) -> None:
    with DataRoot(root).writing("x") as stream:
        stream.write(b"half")
        stream.flush()
        os._exit(9)


@pytest.mark.slow
def test_a_killed_writer_leaves_nothing_that_counts_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_die_while_writing, args=(str(tmp_path),))
    process.start()
    process.join()
    root = DataRoot(str(tmp_path))
    assert process.exitcode == 9
    assert len(list(tmp_path.iterdir())) == 1, "the half file is still there under its temporary name"
    assert not root.exists("x")
    assert root.keys("") == []
    root.write("x", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_objects_are_stored_once_by_content(data_root: DataRoot) -> None:
    store = ContentStore(data_root)
    key = store.put(b"pdf", ".pdf")
    assert store.put(b"pdf", ".pdf") == key
    assert store.get(key) == b"pdf"
    assert key.endswith(".pdf")


@pytest.mark.parametrize("damage", [b"", b"objects/aa/", bytes(75), b"\xff" * 75, b"objects/../x.pdf"])
def test_a_pointer_that_a_power_failure_damaged_counts_as_none(data_root: DataRoot, damage: bytes) -> None:
    store = ContentStore(data_root)
    md5 = hashlib.md5(b"pdf", usedforsecurity=False).hexdigest()
    key = store.put(b"pdf", ".pdf", md5)
    assert store.find(md5, ".pdf") == key
    data_root.write(f"objects/md5/{md5[:2]}/{md5}.pdf", damage)
    assert store.find(md5, ".pdf") is None
    store.put(b"pdf", ".pdf", md5)
    assert store.find(md5, ".pdf") == key


def test_a_damaged_object_is_noticed(data_root: DataRoot) -> None:
    store = ContentStore(data_root)
    key = store.put(b"pdf", ".pdf")
    data_root.write(key, b"other")
    with pytest.raises(StorageError, match="damaged"):
        store.get(key)


def test_pixels_of_a_version_that_made_no_compact_ones_are_read(data_root: DataRoot) -> None:
    store = ParquetPixels(data_root, "pdf_figures", "0001-aa")
    store.write(1, [Picture("f1", 2, 1, b"png")])
    key = "pixels/pdf_figures/0001-aa/1.parquet"
    data_root.write(key, parquet_bytes(read_parquet(data_root, key).drop("compact")))
    assert store.read(1) == {"f1": Picture("f1", 2, 1, b"png", None)}
    data_root.write(key, parquet_bytes(read_parquet(data_root, key).drop("png")))
    with pytest.raises(StorageError, match="has no png: materialise it again"):
        store.read(1)


def test_pixels_are_kept_per_article(data_root: DataRoot) -> None:
    store = ParquetPixels(data_root, "figures", "0001-aa")
    store.write(5, [Picture("f1", 2, 3, b"png"), Picture("f0", 1, 1, b"other")])
    assert store.read(5)["f1"] == Picture("f1", 2, 3, b"png")
    assert store.read(6) == {}
    store.write(5, [])
    assert store.read(5) == {}


def test_a_table_is_checked_sorted_and_written(data_root: DataRoot) -> None:
    tables = Tables(data_root)
    rows = [
        {"article_id": 2, "image_cluster_id": "f", "ordinal": 0, "text": "x", "segments": [[0, 1]], "confidence": 1.0,
         "reasons": [], "method": "grammar"},
        {"article_id": 1, "image_cluster_id": "f", "ordinal": 0, "text": "y", "segments": [], "confidence": 0.5,
         "reasons": ["r"], "method": "grammar"},
    ]  # fmt: skip
    written = tables.write("subcaptions", "0001-aa", rows)
    assert written["article_id"].to_list() == [1, 2]
    assert tables.read("subcaptions", "0001-aa").equals(written)
    assert tables.batches("subcaptions") == ["0001-aa"]


def test_rows_that_break_the_schema_are_refused(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    row = {"stage": "articles", "article_id": 0, "error_class": "E", "message": "m", "traceback_tail": ""}
    with pytest.raises(ValidationError, match="article_id"):
        tables.write("rejections", "0001-aa", [row])
    assert tables.batches("rejections") == []


def test_a_table_that_was_never_made_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="materialise figures"):
        Tables(DataRoot(str(tmp_path))).read("figures", "0001-aa")


@pytest.mark.parametrize("columns", [None, ("article_id", "images")])
@pytest.mark.parametrize("lost", ["modality", "images"])
def test_a_table_of_another_version_is_refused_with_what_to_do(
    tmp_path: Path, lost: str, columns: tuple[str, ...] | None
) -> None:
    """A column that is missing, or a field of the structs in one: the columns' names alone would not tell."""
    tables = Tables(DataRoot(str(tmp_path)))
    now = empty_table(schema_of("panel_assembly"))
    kept = [field for field in now.schema["images"].inner.fields if field.name != lost]  # type: ignore[attr-defined]
    before = now.with_columns(pl.Series("images", [], dtype=pl.List(pl.Struct(kept))))
    before = before.drop(lost, strict=False)
    tables.data_root.write(tables.key("panel_assembly", "0001-aa"), parquet_bytes(before))
    with pytest.raises(StorageError, match="other columns: run `pmo run`"):
        tables.read("panel_assembly", "0001-aa", columns)
    assert tables.read("panel_assembly", "0001-aa", ["article_id", "box"]).columns == ["article_id", "box"]


def test_rejections_of_stages_are_collected_in_order(data_root: DataRoot) -> None:
    tables = Tables(data_root)
    tables.write_rejections("articles", "0001-aa", [REJECTION])
    tables.write_rejections("figures", "0001-aa", [])
    collected = tables.read_rejections(["figures", "articles", "panels"], "0001-aa")
    assert collected["error_class"].to_list() == ["NoPdf"]
    assert collected.schema == empty_table(Rejections).schema


def test_rejections_name_the_package_as_the_manifest_does(data_root: DataRoot) -> None:
    tables = Tables(data_root)
    data_root.write(manifest_key("0001-aa"), parquet_bytes(pl.DataFrame({"article_id": [7], "name": ["a folder"]})))
    others = (
        dataclasses.replace(REJECTION, unit_id=8),
        dataclasses.replace(REJECTION, unit_id=9, owner="its own name"),
    )
    tables.write_rejections("articles", "0001-aa", [dataclasses.replace(REJECTION, unit_id=7), *others])
    collected = tables.read_rejections(["articles"], "0001-aa")
    assert dict(collected.select("article_id", "package").iter_rows()) == {7: "a folder", 8: None, 9: "its own name"}


def test_rejections_that_an_earlier_version_wrote_get_their_packages_names(data_root: DataRoot) -> None:
    tables = Tables(data_root)
    data_root.write(manifest_key("0001-aa"), parquet_bytes(pl.DataFrame({"article_id": [7], "name": ["a folder"]})))
    rows = [{"stage": "s", "article_id": 7, "error_class": "E", "message": "m", "traceback_tail": ""}]
    data_root.write("rejections/articles/0001-aa.parquet", parquet_bytes(checked(Rejections, rows).drop("package")))
    assert tables.read_rejections(["articles"], "0001-aa")["package"].to_list() == ["a folder"]


def test_the_same_rows_give_the_same_bytes() -> None:
    rows = [
        {"stage": "s", "article_id": i, "error_class": "E", "message": "m", "traceback_tail": ""} for i in range(1, 50)
    ]
    first, second = (parquet_bytes(checked(Rejections, rows)) for _ in range(2))
    assert first == second
