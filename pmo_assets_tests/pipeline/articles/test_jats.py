"""JATS XML read into an article: any tree of elements, and real articles as annotated."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.records.article import InTextMention, PackageFigure
from pmo_assets.records.rejections import ArticleError
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.articles.jats_articles import NAMESPACES


def test_an_empty_article_has_no_facts() -> None:
    article = parse_jats(b"<article/>")

    assert (article.pmcid, article.title, article.citation, article.year, article.text) == (None, "", "", None, "")


def test_biomed_central_articles() -> None:
    article = parse_jats(
        b"<!DOCTYPE art SYSTEM 'http://www.biomedcentral.com/xml/article.dtd'><art><fm><dochead>Research</dochead><bibl>"
        b"<title><p>A trial</p></title><aug><au><snm>Lee</snm><fnm>Ann</fnm></au></aug><source>Trials</source>"
        b"<pubdate>2015</pubdate><volume>16</volume><issue>1</issue><fpage>15</fpage>"
        b"<xrefbib><pubid idtype='doi'>10.1186/x</pubid></xrefbib></bibl>"
        b"<cpyrt><note>Creative Commons Attribution License</note></cpyrt><kwdg><kwd>eye</kwd></kwdg>"
        b"<abs><sec><st><p>Abstract</p></st><p>Short.</p></sec></abs></fm>"
        b"<bdy><sec><p>See Figure <figr fid='F1'>1</figr>.</p><fig id='F1'><title><p>Figure 1</p></title>"
        b"<caption><p>Flow. </p></caption><text><p><b>Flow.</b> All steps.</p></text><graphic file='x-1'/></fig>"
        b"<tbl id='T1'><title><p>Table 1</p></title><caption><p>Values</p></caption></tbl></sec></bdy></art>"
    )

    assert (article.title, article.authors, article.citation, article.doi) == (
        "A trial",
        ("Ann Lee",),
        "Trials. 2015; 16(1): 15",
        "10.1186/x",
    )
    assert (article.license_code, article.keywords, article.table_captions) == ("CC BY", ("eye",), ("Values",))
    assert article.figures == (
        PackageFigure(
            "x-1", "Figure 1", "Flow. All steps.", ("x-1",), (InTextMention("See Figure 1.", "See Figure 1."),)
        ),
    )


@given(st.binary(max_size=200))
def test_random_bytes_raise_article_errors_only(xml: bytes) -> None:
    with contextlib.suppress(ArticleError):
        parse_jats(xml)


TAGS = [
    "fig", "fig-group", "label", "caption", "title", "p", "graphic", "media", "alternatives", "table-wrap", "xref",
    "sec", "front", "article-meta", "journal-meta", "contrib-group", "contrib", "name", "surname", "permissions",
    "license", "abstract", "kwd-group", "kwd", "pub-date", "year", "article-id", "title-group", "article-title",
    "body", "back", "article", "floats-group", "boxed-text", "mfrac", "mfenced", "math", "list", "list-item",
    "sub-article", "art", "fm", "bibl", "bdy", "text", "table", "tbl", "aug", "au", "figr", "abs", "cpyrt", "note",
]  # fmt: skip
ATTRIBUTES = ["id", "rid", "ref-type", "xlink:href", "fig-type", "pub-id-type", "file", "fid", "sec-type", "open"]
WORDS = st.text(alphabet="Fig.ure 12–,aA(b)RETRACTED:&nbsp;\u200b", max_size=12).map(
    lambda text: text.replace("&", "&amp;").replace('"', "")
)


@st.composite
def elements(draw: st.DrawFn, depth: int = 4) -> str:
    tag = draw(st.sampled_from(TAGS))
    names = draw(st.lists(st.sampled_from(ATTRIBUTES), unique=True, max_size=3))
    attributes = "".join(f' {name}="{draw(WORDS)}"' for name in names)
    parts = [draw(WORDS)]
    for _ in range(draw(st.integers(0, 3)) if depth else 0):
        parts += [draw(elements(depth=depth - 1)), draw(WORDS)]
    return f"<{tag}{attributes}>{''.join(parts)}</{tag}>"


@examples(150)
@given(st.sampled_from(["article", "art", "pmc-articleset"]), st.lists(elements(), max_size=4))
def test_random_trees_give_an_article_with_unique_ids_or_an_article_error(root: str, children: list[str]) -> None:
    xml = f"<{root} {NAMESPACES}>{''.join(children)}</{root}>".encode()
    try:
        article = parse_jats(xml)
    except ArticleError:
        return

    ids = [figure.image_cluster_id for figure in article.figures]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert all(figure.caption == " ".join(figure.caption.split()) for figure in article.figures)
    assert article == parse_jats(xml)


# real articles


@pytest.mark.corpus
def test_real_articles_are_read_as_annotated(shared_folder: Path) -> None:
    wrong = []
    compared = 0
    for truth_file in sorted((shared_folder / "annotations").glob("*.json")):
        truth = json.loads(truth_file.read_text())
        xml = shared_folder / "corpus" / truth["article_id"] / "article.xml"
        if not xml.exists():
            continue
        compared += 1
        expected = [(f["image_cluster_id"], f["label"], f["caption"]) for f in truth["figures"]]
        found = [(f.image_cluster_id, f.label, f.caption) for f in parse_jats(xml.read_bytes()).figures]
        if found != expected:
            wrong.append(truth["article_id"])

    assert wrong == []
    assert compared > 0


@pytest.mark.corpus
def test_every_real_article_is_read(shared_folder: Path) -> None:
    articles = [parse_jats(xml.read_bytes()) for xml in sorted(shared_folder.glob("corpus/*/article.xml"))]

    assert len(articles) > 0
    assert all(article.title and article.license_code for article in articles)
    mentioned = [bool(figure.mentions) for article in articles for figure in article.figures]
    assert sum(mentioned) / len(mentioned) > 0.95
