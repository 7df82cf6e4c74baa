"""Numbers for Prometheus: what the tables tell, quickly, also of many batches, and without an instance."""

from __future__ import annotations

import time

import httpx2
import polars as pl
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pmo_assets.records.rejections import Rejection
from pmo_assets.release.keys import rejection_page_key
from pmo_assets.serving.index import index_page
from pmo_assets.serving.metrics import Metrics
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.removed import remove_batch
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.serving.conftest import served

Numbers = dict[tuple[str, str], float]


def numbers(text: str) -> Numbers:
    """Return (name, first label) -> value."""
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def finish(root: DataRoot, batch: str, rows: int, rejections: tuple[str, ...] = ()) -> None:
    """Write what the numbers are read from."""
    table = parquet_bytes(pl.DataFrame({"article_id": range(rows)}))
    for asset in ("articles", "figures", "panels", "dataset_rows"):
        root.write(f"tables/{asset}/{batch}.parquet", table)
    named = pl.DataFrame({"article_id": range(rows), "name": map(str, range(rows))})
    root.write(f"manifests/{batch}.parquet", parquet_bytes(named))
    said = [Rejection(stage, 1, None, "NoPdf", "no PDF") for stage in rejections]
    tables = Tables(root)
    tables.write_rejections("articles", batch, said)
    tables.write("rejections", batch, tables.read_rejections(["articles"], batch))


def test_tables_are_counted(data_root: DataRoot) -> None:
    finish(data_root, "2026-001", 3, ("articles", "articles", "pdf_figures"))
    finish(data_root, "2026-002", 4)
    data_root.write("manifests/2026-003.parquet", b"registered")
    told = numbers(Metrics(data_root)().decode())
    assert told["pmo_batches", "registered"] == 3
    assert told["pmo_batches", "finished"] == 2
    assert told["pmo_rows", "articles"] == told["pmo_rows", "dataset_rows"] == 7
    assert told["pmo_rejections", "articles"] == 2
    assert told["pmo_rejections", "pdf_figures"] == 1
    assert ("pmo_release_age_seconds", "") not in told, "there is no release yet"


def test_what_was_removed_is_not_counted_nor_linked(tmp_path) -> None:
    root = DataRoot(str(tmp_path))
    for batch, rows in (("2026-001", 3), ("2026-002", 4)):
        finish(root, batch, rows, ("articles",))
        root.write(rejection_page_key(batch), b"<p>why</p>")
    remove_batch(root, "2026-002")
    told = numbers(Metrics(root)().decode())
    assert (told["pmo_batches", "registered"], told["pmo_batches", "finished"]) == (1, 1)
    assert (told["pmo_rows", "articles"], told["pmo_rejections", "articles"]) == (3, 1)
    page = index_page(root, metrics=False)
    assert "2026-001" in page
    assert "2026-002" not in page


def test_an_empty_data_root_has_numbers(tmp_path) -> None:
    told = numbers(Metrics(DataRoot(str(tmp_path / "nothing")))().decode())
    assert told["pmo_batches", "registered"] == 0


def test_a_changed_table_is_counted_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("pmo_assets.serving.metrics.FRESH_SECONDS", 0.0)
    root = DataRoot(str(tmp_path))
    metrics = Metrics(root)
    for rows in (3, 5):
        finish(root, "2026-001", rows)
        assert numbers(metrics().decode())["pmo_rows", "articles"] == rows


def test_the_release_has_an_age(tmp_path) -> None:
    root = DataRoot(str(tmp_path))
    root.write("release/versions/1.2.0/manifest.json", b"{}")
    told = numbers(Metrics(root)().decode())
    assert 0 <= told["pmo_release_age_seconds", ""] < 60
    assert told["pmo_release_info", "1.2.0"] == 1


def test_the_server_tells_them_as_prometheus_reads_them(tmp_path) -> None:
    root = DataRoot(str(tmp_path))
    finish(root, "2026-001", 3)
    with served(root, Metrics(root)) as address:
        answer = httpx2.get(f"{address}/metrics")
        index = httpx2.get(address)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert numbers(answer.text)["pmo_rows", "articles"] == 3
    assert 'href="/metrics"' in index.text


@pytest.mark.slow  # a thousand batches
def test_a_thousand_batches_are_counted_in_two_seconds(tmp_path) -> None:
    root = DataRoot(str(tmp_path))
    finish(root, "2026-0000", 200, ("articles",))
    for asset in ("articles", "figures", "panels", "dataset_rows", "rejections"):
        folder = tmp_path / "tables" / asset
        first = folder / "2026-0000.parquet"
        for number in range(1, 1000):
            (folder / f"2026-{number:04d}.parquet").hardlink_to(first)
    metrics = Metrics(root)
    started = time.perf_counter()
    told = numbers(metrics().decode())
    assert time.perf_counter() - started < 2 * 3, "less than two seconds on an idle machine"
    assert told["pmo_batches", "finished"] == 1000
    assert told["pmo_rows", "panels"] == 200_000
    assert told["pmo_rejections", "articles"] == 1000
    started = time.perf_counter()
    metrics()
    assert time.perf_counter() - started < 0.1, "the same answer is given again"
