"""What lies on disk afterwards."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
from pathlib import Path

from pmo_assets.samples import sample_specs, write_pmc_cloud_layout, write_sample_articles
from pmo_assets.samples.packages import BUCKET, INVENTORY_DATE
from pmo_assets.samples.spec import FIRST_ARTICLE_NUMBER

FEW = ("not_ophthalmic", "retraction_notice", "no_pdf")
"""Features of the cheapest articles: two cardiology reports, a notice, a package without PDF."""


def test_packages_and_truth_are_written(tmp_path: Path) -> None:
    written = write_sample_articles(tmp_path)
    assert len(written) == len(sample_specs())
    for sample in written:
        files = {p.name for p in sample.folder.iterdir()}
        assert files <= {"article.pdf", "article.xml", "metadata.json", "figures"}
        assert ("article.pdf" in files) == ("no_pdf" not in sample.expected.features)
        assert ("article.xml" in files) == ("no_xml" not in sample.expected.features)
        assert json.loads((sample.folder / "metadata.json").read_text())["pmcid"] == sample.name
        assert (sample.truth is not None) == sample.expected.pdf_readable
        if sample.truth is not None:
            truth = json.loads(sample.truth.read_text())
            assert truth["article_id"] == sample.name
            jpegs = {p.stem for p in sample.folder.glob("figures/*.jpg")}
            assert {f["image_cluster_id"] for f in truth["figures"]} - {None} <= jpegs
    assert sorted(p.name for p in tmp_path.iterdir()) == ["articles", "truth"]


def test_copies_get_new_numbers_and_new_content(tmp_path: Path) -> None:
    written = write_sample_articles(tmp_path, copies=2, features=FEW)
    assert [s.article_id - FIRST_ARTICLE_NUMBER for s in written] == [7, 8, 9, 14, 23, 24, 25, 30]
    first, second = written[1].folder, written[5].folder
    assert (first / "article.pdf").read_bytes() != (second / "article.pdf").read_bytes()


def test_pmc_cloud_layout_has_urls_with_the_right_digest(tmp_path: Path) -> None:
    for sample in write_pmc_cloud_layout(tmp_path, features=FEW):
        stem = sample.folder.name
        assert stem == f"{sample.name}.1"
        record = (tmp_path / "metadata" / f"{stem}.json").read_bytes()
        assert (sample.folder / f"{stem}.json").read_bytes() == record
        metadata = json.loads(record)
        assert (metadata["pdf_url"] is None) == ("no_pdf" in sample.expected.features)
        urls = [metadata[k] for k in ("xml_url", "pdf_url", "text_url")] + metadata["media_urls"]
        for url in filter(None, urls):
            match = re.fullmatch(rf"s3://{BUCKET}/(.+)\?md5=([0-9a-f]{{32}})", url)
            assert match is not None
            assert hashlib.md5((tmp_path / match[1]).read_bytes()).hexdigest() == match[2]


def test_the_inventory_lists_every_metadata_object(tmp_path: Path) -> None:
    written = write_pmc_cloud_layout(tmp_path, features=FEW)
    manifest = tmp_path / f"inventory-reports/{BUCKET}/metadata/{INVENTORY_DATE}/manifest.json"
    key = json.loads(manifest.read_text())["files"][0]["key"]
    rows = list(csv.reader(gzip.decompress((tmp_path / key).read_bytes()).decode().splitlines()))
    assert [row[1] for row in rows] == sorted(f"metadata/{s.name}.1.json" for s in written)
    for bucket, name, _, etag in rows:
        assert bucket == BUCKET
        assert hashlib.md5((tmp_path / name).read_bytes()).hexdigest() == etag


def test_writing_twice_gives_the_same_files(tmp_path: Path) -> None:
    def snapshot() -> dict[str, bytes]:
        return {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

    write_pmc_cloud_layout(tmp_path, features=FEW)
    first = snapshot()
    write_pmc_cloud_layout(tmp_path, features=FEW)
    assert snapshot() == first
