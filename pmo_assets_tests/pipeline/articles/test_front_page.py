"""Title, authors, DOI and journal from a PDF: what is confirmed is taken, what is doubtful is left out."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from pmo_assets.pipeline.articles import front_page as reader
from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.licences import license_code, license_url
from pmo_assets.pipeline.figures.page import UnreadablePdf
from pmo_assets_tests.pipeline.articles.pdf_pages import TITLE, changed, read, xmp_packet


def test_what_is_printed_is_read_with_its_place() -> None:
    found = read()
    assert found.title == TITLE
    assert found.authors == ("Selim Cevher", "Nedime Sahinoglu-Keskek", "Fikret Unal")
    assert (found.doi, found.journal, found.year) == ("10.1000/eyes.17", "Case Rep Eyes", 2016)
    assert (found.volume, found.pages) == ("3", "17")
    assert found.sources["title"] == "page 1"
    assert found.sources["doi"] == "header or footer"


def test_an_empty_page_says_nothing() -> None:
    assert read([]) == FrontMatter()


def test_a_file_that_is_no_pdf_is_named_so() -> None:
    with pytest.raises(UnreadablePdf):
        read_front_matter(b"nothing")


@pytest.mark.parametrize("step", ["page_text", "loaded_page"])
def test_exhausted_memory_is_no_empty_page(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reader, step, exhausted)
    with pytest.raises(MemoryError):
        read()


def test_exhausted_memory_is_not_a_page_without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_: object) -> None:
        raise RuntimeError("code=2: malloc (72 bytes) failed")

    monkeypatch.setattr(pymupdf.mupdf, "fz_load_links", exhausted)
    with pytest.raises(RuntimeError, match="malloc"):
        read()


def test_licences_come_from_the_metadata_and_the_pages() -> None:
    found = read(xmp=xmp_packet(title=TITLE, rights="https://creativecommons.org/licenses/by/4.0/"))
    assert found.licences[0] == "https://creativecommons.org/licenses/by/4.0/"
    assert "Creative Commons Attribution License" in found.licences[1]


@pytest.mark.parametrize(
    ("printed", "stated", "code"),
    [
        ("(c) 2021 The Publisher. All rights reserved.", "by", None),
        ("Open access. (c) 2021 The Publisher. All rights reserved.", "by", None),
        ("(c) 2021 The Publisher.", "by", None),
        ("Open access", "by", "CC BY"),
        ("Licensed under Creative Commons", "by-nc", "CC BY-NC"),
        ("This is an open access article under the CC BY-NC 4.0 license, Creative Commons", "by", "CC BY-NC"),
        ("This is an open access article under the CC BY 4.0 license, Creative Commons", "by-nc-nd", "CC BY-NC-ND"),
        ("This article is available under a CC BY license. All rights reserved.", "by", None),
        ("This article is available under a CC BY license, personal use only.", "by", None),
    ],
)
def test_a_licence_in_the_metadata_counts_where_the_pages_confirm_it(
    printed: str, stated: str, code: str | None
) -> None:
    xmp = xmp_packet(title=TITLE, rights=f"https://creativecommons.org/licenses/{stated}/4.0/")
    found = read(changed((6, (200, 8, printed))), xmp=xmp)
    assert license_code(" ".join(found.licences)) == code


def test_a_statement_in_words_may_link_to_its_version() -> None:
    deed = "https://creativecommons.org/licenses/by/4.0/"
    found = read(links=["https://example.org/", deed])
    assert found.license_links == deed
    assert license_url("CC BY", *found.licences, found.license_links) == deed
    both = read(links=[deed, "https://creativecommons.org/licenses/by/3.0/"])
    assert license_url("CC BY", *both.licences, both.license_links) is None, "two versions"


@pytest.mark.parametrize("name", ["PMC4736323", "bmc_trials_16_1_15", "plos_pone.0056489"])
def test_real_front_pages_say_what_the_xml_says(shared_folder: Path, name: str) -> None:
    folder = shared_folder / "corpus" / name
    found = read_front_matter((folder / "article.pdf").read_bytes())
    article = parse_jats((folder / "article.xml").read_bytes())
    assert (found.title, found.doi, found.year) == (article.title, article.doi, article.year)
    assert found.authors == article.authors
