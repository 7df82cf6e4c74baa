"""What a PDF says about itself, as publishers and programs write it."""

from __future__ import annotations

import pymupdf
import pytest

from pmo_assets.pipeline.articles.pdf_metadata import MAX_XMP, PdfMetadata, author_names, pdf_metadata
from pmo_assets_tests.pipeline.articles.pdf_pages import front_page, xmp_packet


def metadata_of(pdf: bytes) -> PdfMetadata:
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        return pdf_metadata(document)


def test_xmp_and_document_information_are_read_with_their_places() -> None:
    xmp = xmp_packet(
        title="A title of ours",
        creators=["Cevher, Selim", "Fikret Unal"],
        prism={"doi": "10.1000/7", "publicationName": "Journal of Eyes", "coverDate": "2016-03-01", "volume": "3"},
        rights="https://creativecommons.org/licenses/by/4.0/",
    )
    found = metadata_of(
        front_page([], info={"title": "x.dvi", "author": "A. One", "subject": "J, 3 (2016) 7"}, xmp=xmp)
    )
    assert found.titles == (("XMP dc:title", "A title of ours"), ("document information", "x.dvi"))
    assert found.authors[0] == ("XMP dc:creator", ("Selim Cevher", "Fikret Unal"))
    assert found.authors[1] == ("document information", ("A. One",))
    assert ("XMP prism:doi", "10.1000/7") in found.dois
    assert found.journals == (("XMP prism:publicationname", "Journal of Eyes"),)
    assert found.dates == (("XMP prism:coverdate", "2016-03-01"),)
    assert found.licences == (("XMP xmprights:webstatement", "https://creativecommons.org/licenses/by/4.0/"),)
    assert ("document information", "J, 3 (2016) 7") in found.subjects


def test_facts_may_be_attributes_and_namespaces_have_versions() -> None:
    xmp = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
    <rdf:Description xmlns:p="http://prismstandard.org/namespaces/basic/3.0/" p:doi="10.1000/8"/>
    </rdf:RDF></x:xmpmeta>"""
    assert metadata_of(front_page([], xmp=xmp)).dois == (("XMP prism:doi", "10.1000/8"),)


@pytest.mark.parametrize(
    "xmp",
    [
        "<x:xmpmeta",
        "not xml at all",
        "<!DOCTYPE a [<!ENTITY e 'eeee'>]><x>&e;</x>",
        xmp_packet(title="t" * MAX_XMP),
    ],
)
def test_xmp_that_cannot_be_trusted_to_be_read_states_nothing(xmp: str) -> None:
    assert metadata_of(front_page([], xmp=xmp)).titles == ()


def test_exhausted_memory_is_not_a_pdf_without_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pymupdf.Document, "get_xml_metadata", exhausted)
    with pytest.raises(MemoryError):
        metadata_of(front_page([]))


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (["Cevher, Selim", "Sahinoglu-Keskek, Nedime"], ("Selim Cevher", "Nedime Sahinoglu-Keskek")),
        (["Michael Beyeler, Emily L. Rounds, Nikil Dutt"], ("Michael Beyeler", "Emily L. Rounds", "Nikil Dutt")),
        (["Ada Lovelace and Charles Babbage"], ("Ada Lovelace", "Charles Babbage")),
        (["van der Berg, Jan; Smith, A. B."], ("Jan van der Berg", "A. B. Smith")),
        (["Jane Roe, John Doe"], ("Jane Roe", "John Doe")),
        ([""], ()),
    ],
)
def test_authors_become_single_names_with_given_names_first(written: list[str], names: tuple[str, ...]) -> None:
    assert author_names(written) == names
