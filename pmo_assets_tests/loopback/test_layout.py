"""Packages as objects of the bucket, and the command that serves them."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from pmo_assets.samples import sample_articles
from pmo_assets_tests.loopback import CloudArticle, article_from_package, article_from_sample, objects_of
from pmo_assets_tests.loopback.layout import BUCKET, UNNUMBERED, articles_from_folder


def test_sample_articles_lie_as_they_do_in_the_bucket() -> None:
    for sample in sample_articles(features={"retracted", "no_pdf", "no_xml", "table"}):
        objects = objects_of(article_from_sample(sample))
        stem = f"{sample.name}.1"
        record = objects[f"metadata/{stem}.json"]
        documents = {f"{stem}.txt": sample.text.encode(), f"{stem}.xml": sample.xml, f"{stem}.pdf": sample.pdf}
        files = {name: data for name, data in documents.items() if data is not None} | dict(sample.figures)
        urls = {
            name: f"s3://{BUCKET}/{stem}/{name}?md5={hashlib.md5(data).hexdigest()}" for name, data in files.items()
        }

        assert {key: data for key, data in objects.items() if not key.endswith(".json")} == {
            f"{stem}/{name}": data for name, data in files.items()
        }
        assert objects[f"{stem}/{stem}.json"] == record
        assert json.loads(record) == {
            **sample.metadata,
            "version": 1,
            "xml_url": urls.get(f"{stem}.xml"),
            "pdf_url": urls.get(f"{stem}.pdf"),
            "text_url": urls[f"{stem}.txt"],
            "media_urls": [urls[name] for name in sample.figures],
        }


@pytest.mark.slow  # tests the tests' server
def test_package_folders_give_the_same_articles(sample_folder: Path) -> None:
    read = {article.number: article for article in articles_from_folder(sample_folder / "articles")}
    typeset = [article_from_sample(sample) for sample in sample_articles()]

    assert len(read) == len(typeset) == 16
    for article in typeset:
        found = read[article.number]
        assert (found.xml, found.pdf, found.media) == (article.xml, article.pdf, article.media)
        assert (found.license_code, found.is_retracted) == (article.license_code, article.is_retracted)
        assert found.facts == article.facts


def test_what_no_metadata_states_comes_from_the_xml(tmp_path: Path) -> None:
    (tmp_path / "PMC7").mkdir()
    (tmp_path / "PMC7" / "article.xml").write_text(
        "<article><front><article-meta><article-id pub-id-type='pmid'>12</article-id>"
        "<title-group><article-title>Retracted: Eyes</article-title></title-group>"
        "<permissions><license href='https://creativecommons.org/licenses/by-nc/4.0/'/></permissions>"
        "</article-meta></front><body><p>Two eyes.</p></body></article>"
    )
    (tmp_path / "PMC7" / "g1.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "article.pdf").write_bytes(b"%PDF")
    (tmp_path / "notes").mkdir()

    other, seven = sorted(articles_from_folder(tmp_path), key=lambda article: -article.number)

    assert (seven.number, seven.license_code, seven.is_retracted, seven.text) == (7, "CC BY-NC", True, b"Two eyes.")
    assert (seven.facts["pmid"], seven.facts["title"], list(seven.media)) == (12, "Retracted: Eyes", ["g1.jpg"])
    assert (other.number, other.pdf, other.xml) == (UNNUMBERED + 1, b"%PDF", None)
    with pytest.raises(ValueError, match="has no PMC number"):
        article_from_package(tmp_path / "other")


def test_a_text_mining_licence_keeps_pdf_and_media_out() -> None:
    manuscript = CloudArticle(
        9, 2, xml=b"<article/>", pdf=b"%PDF", media={"a.jpg": b"\xff"}, license_code="TDM", is_manuscript=True
    )

    keys = [key.rpartition("/")[2] for key in objects_of(manuscript) if key.startswith(manuscript.prefix)]

    assert keys == ["PMC9.2.xml", "PMC9.2.json"]


@pytest.mark.slow  # tests the tests' server
@pytest.mark.corpus
def test_real_articles_become_objects(shared_folder: Path) -> None:
    articles = articles_from_folder(shared_folder / "corpus")
    objects = {key: data for article in articles for key, data in objects_of(article).items()}
    stated = [json.loads(data) for key, data in objects.items() if key.startswith("metadata/")]

    assert len(stated) == len({article.number for article in articles}) == len(articles)
    assert all(re.fullmatch(r"PMC[0-9]{1,11}\.1/.+|metadata/PMC[0-9]{1,11}\.1\.json", key) for key in objects)
    assert sum(record["license_code"] is not None for record in stated) > len(stated) / 2


def _content(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


@pytest.mark.slow  # tests the tests' server
def test_the_command_serves_a_folder(tmp_path: Path) -> None:
    (tmp_path / "PMC7").mkdir()
    (tmp_path / "PMC7" / "article.xml").write_bytes(b"<article><body><p>Retina</p></body></article>")
    command = [sys.executable, "-m", "pmo_assets_tests.loopback", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = [server.stdout.readline() for _ in range(5)]
        stated = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines[1:])
        try:
            bucket = f"{stated['PMO_PMC_ENDPOINT']}/{stated['PMO_PMC_BUCKET']}"
            assert b"Retina" in _content(f"{bucket}/PMC7.1/PMC7.1.xml")
            assert b"<Id>7</Id>" in _content(f"{stated['PMO_ENTREZ_URL']}esearch.fcgi?db=pmc&term=retina[Body]")
        finally:
            server.send_signal(signal.SIGINT)
    assert server.returncode == 0
    assert lines[0].startswith("# 1 ")
    assert "@" in stated["PMO_ENTREZ_EMAIL"]
