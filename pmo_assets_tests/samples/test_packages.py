"""What lies on disk afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pmo_assets.samples import sample_specs, write_sample_articles
from pmo_assets.samples.spec import FIRST_ARTICLE_NUMBER

FEW = ("not_ophthalmic", "retraction_notice", "no_pdf")
"""Features of the cheapest articles: two cardiology reports, a notice, a package without PDF."""


@pytest.mark.slow  # every sample article
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


def test_writing_twice_gives_the_same_files(tmp_path: Path) -> None:
    def snapshot() -> dict[str, bytes]:
        return {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

    write_sample_articles(tmp_path, features=FEW)
    first = snapshot()
    write_sample_articles(tmp_path, features=FEW)
    assert snapshot() == first
