"""XML files of every flavour give an article; hostile and broken ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.pipeline.articles import jats_xml
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.jats_xml import MalformedXml, UnsafeXml, article_element
from pmo_assets_tests.pipeline.articles.jats_articles import DOCTYPE


def test_inside_an_articleset_and_other_namespaces() -> None:
    inner = "<front><article-meta><title-group><article-title>T</article-title></title-group></article-meta></front>"

    assert parse_jats(f"<pmc-articleset><article>{inner}</article><article/></pmc-articleset>".encode()).title == "T"
    assert (
        parse_jats(
            f'<OAI-PMH xmlns="http://oai"><article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/">{inner}</article>'
            "</OAI-PMH>".encode()
        ).title
        == "T"
    )


@pytest.mark.parametrize("doctype", ["", DOCTYPE, '<!DOCTYPE article [<!ENTITY nbsp "&#160;">]>'])
def test_named_characters_are_read_without_a_dtd(doctype: str) -> None:
    xml = f"{doctype}<article><body><p>5&nbsp;&micro;m &lt; &eacute;&unheardof;</p></body></article>"
    article = parse_jats(xml.encode())

    assert article.text == "5 µm < é\ufffd"


def test_own_character_entities_are_honoured() -> None:
    assert (
        parse_jats(
            b'<!DOCTYPE article [<!ENTITY eye "&#128065;">]><article><body><p>an &eye;</p></body></article>'
        ).text
        == "an \U0001f441"
    )


def test_missing_namespace_declarations_are_supplied() -> None:
    article = parse_jats(b'<article><body><fig><graphic xlink:href="g"/></fig></body></article>')

    assert article.figures[0].graphics == ("g",)


def test_other_encodings() -> None:
    xml = "<article><body><p>\u00e9t\u00e9</p></body></article>"

    assert parse_jats(f'<?xml version="1.0" encoding="utf-16"?>{xml}'.encode("utf-16")).text == "été"
    assert parse_jats(b'<?xml version="1.0" encoding="iso-8859-1"?>' + xml.encode("latin-1")).text == "été"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 11))
PARAMETER_LAUGHS = "".join(f'<!ENTITY % l{n} "{f"&#37;l{n - 1};" * 10}">' for n in range(1, 11))


@pytest.mark.parametrize(
    "xml",
    [
        f'<!DOCTYPE article [<!ENTITY l0 "lol">{LAUGHS}]><article><body><p>&l10;</p></body></article>',
        f'<!DOCTYPE article [<!ENTITY l0 "lol">{LAUGHS}]><article article-type="&l10;"/>',
        f'<!DOCTYPE article [<!ENTITY l0 "lol">{LAUGHS}]><article/>',
        f'<!DOCTYPE article [<!ENTITY % l0 "lol">{PARAMETER_LAUGHS}%l10;]><article/>',
        f'<!DOCTYPE article [<!ENTITY a "{"a" * 50_000}">]><article><body>{"&a;" * 50_000}</body></article>',
        f'<!DOCTYPE article [<!ENTITY a "{"a" * 60}">]><article><body>{"&a;" * 500_000}</body></article>',
        '<!DOCTYPE article [<!ENTITY a "&b;"><!ENTITY b "&a;">]><article><body>&a;</body></article>',
        '<!DOCTYPE article [<!ENTITY % e SYSTEM "file:///etc/passwd">%e;]><article/>',
        '<!DOCTYPE article [<!ENTITY e "<fig/>">]><article><body>&e;</body></article>',
        "<article>" + "<sec>" * 2000 + "</sec>" * 2000 + "</article>",
        "<article>" + "<p/>" * 4_000_001 + "</article>",
        "<article>" + "x" * 11_000_000 + "</article>",
    ],
    ids=lambda xml: xml[:60],
)
def test_bombs_are_refused(xml: str) -> None:
    with pytest.raises(UnsafeXml):
        parse_jats(xml.encode())


def test_files_are_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")

    xml = f'<!DOCTYPE article [<!ENTITY e SYSTEM "{secret.as_uri()}">]><article><body><p>&e;</p></body></article>'

    with pytest.raises(UnsafeXml, match="external entity 'e'"):
        parse_jats(xml.encode())


def test_a_document_type_of_a_file_is_not_loaded(tmp_path: Path) -> None:
    dtd = tmp_path / "article.dtd"
    dtd.write_text('<!ENTITY secret "the secret">')

    article = parse_jats(
        f'<!DOCTYPE article SYSTEM "{dtd.as_uri()}"><article><body><p>a &secret;</p></body></article>'.encode()
    )

    assert article.text == "a \ufffd"


def test_unparsed_entities_are_harmless() -> None:
    xml = b'<!DOCTYPE article [<!NOTATION TIFF SYSTEM "x"><!ENTITY gr1 SYSTEM "gr1.tif" NDATA TIFF>]><article/>'

    assert parse_jats(xml).figures == ()


def test_size_limit_is_the_callers() -> None:
    with pytest.raises(UnsafeXml, match="10 bytes"):
        parse_jats(b"<article/>", max_bytes=9)


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b"   ",
        b"%PDF-1.4",
        b"<article>",
        b"<article><body></article>",
        b"<article>\x00</article>",
        b"<article>\xff\xfe</article>",
        b"<html><body/></html>",
        b'<?xml version="1.0" encoding="no-such"?><article/>',
        b"<article><unknown:p/></article>",
    ],
)
def test_malformed_files(xml: bytes) -> None:
    with pytest.raises(MalformedXml):
        parse_jats(xml)


def test_tags_and_attributes_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    xml = b'<article a="1" b="2"><body c="3"/></article>'
    monkeypatch.setattr(jats_xml, "MAX_MARKUP", 6)
    assert article_element(xml, 1000).tag == "article"
    monkeypatch.setattr(jats_xml, "MAX_MARKUP", 5)
    with pytest.raises(UnsafeXml, match="5 tags"):
        article_element(xml, 1000)
