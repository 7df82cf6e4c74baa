"""Facts of a JATS article's front matter: ids, authors, citation, licence, retraction."""

from __future__ import annotations

import pytest

from pmo_assets.records.article import Article
from pmo_assets_tests.pipeline.articles.jats_articles import parsed


def test_front_matter() -> None:
    article = parsed(
        "<sec><title>Case</title><p>The  eye\n was red.</p></sec>",
        journal='<journal-id journal-id-type="nlm-ta">J Eye</journal-id><journal-title-group>'
        "<journal-title>Journal of Eyes</journal-title></journal-title-group>",
        meta='<article-id pub-id-type="pmcid">PMC123456</article-id><article-id pub-id-type="pmid">99</article-id>'
        '<article-id pub-id-type="doi">10.1/x</article-id>'
        "<title-group><article-title>A <italic>red</italic> eye<xref ref-type='fn' rid='n'>*</xref></article-title>"
        "<subtitle>Two cases</subtitle></title-group>"
        '<contrib-group><contrib contrib-type="author"><name><surname>Le Prisé</surname>'
        "<given-names>E. M.</given-names></name></contrib>"
        '<contrib contrib-type="editor"><name><surname>Ed</surname></name></contrib>'
        '<contrib contrib-type="author"><collab>The Eye Group</collab></contrib></contrib-group>'
        '<pub-date pub-type="epub"><year>2015</year></pub-date><pub-date pub-type="ppub"><year>2016</year></pub-date>'
        "<volume>12</volume><issue>3</issue><fpage>45</fpage><lpage>51</lpage>"
        "<abstract><p>In short.</p></abstract>"
        '<abstract abstract-type="graphical"><p>A picture.</p></abstract>'
        '<kwd-group kwd-group-type="author"><kwd>retina</kwd><kwd>OCT</kwd></kwd-group>'
        '<kwd-group kwd-group-type="MESH"><kwd>Fundus Oculi</kwd></kwd-group>'
        '<kwd-group kwd-group-type="abbreviations"><kwd>CFP</kwd></kwd-group>',
    )

    assert article == Article(
        pmcid=123456,
        pmid="99",
        doi="10.1/x",
        title="A red eye: Two cases",
        journal="Journal of Eyes",
        year=2016,
        authors=("E. M. Le Prisé", "The Eye Group"),
        citation="J Eye. 2016; 12(3): 45-51",
        license_code=None,
        license_text="",
        is_retracted=False,
        keywords=("retina", "OCT"),
        mesh_terms=("Fundus Oculi",),
        figures=(),
        table_captions=(),
        text="In short.\nCase\nThe eye was red.",
    )


@pytest.mark.parametrize(
    ("meta", "citation"),
    [
        ("<pub-date><year>2016</year></pub-date><elocation-id>e5</elocation-id>", "2016: e5"),
        ("<volume>2</volume><fpage>7</fpage>", "2: 7"),
        ("<fpage>7</fpage><lpage>7</lpage>", "7"),
    ],
)
def test_citation_as_far_as_known(meta: str, citation: str) -> None:
    assert parsed(meta=meta).citation == citation


@pytest.mark.parametrize(
    ("licence", "code", "text"),
    [
        (
            '<license xlink:href="http://creativecommons.org/licenses/by-nc/4.0/"><license-p>Free.</license-p></license>',
            "CC BY-NC",
            "Free.",
        ),
        (
            "<license><ali:license_ref>https://creativecommons.org/licenses/by/4.0/</ali:license_ref></license>",
            "CC BY",
            "https://creativecommons.org/licenses/by/4.0/",
        ),
        (
            "<license><license-p>Under the Creative Commons Attribution License.</license-p></license>",
            "CC BY",
            "Under the Creative Commons Attribution License.",
        ),
        (
            '<license><p>See <ext-link xlink:href="https://creativecommons.org/licenses/by-nd/4.0/">here</ext-link>.</p>'
            "</license>",
            "CC BY-ND",
            "See here.",
        ),
        ("<license><license-p>All rights reserved.</license-p></license>", None, "All rights reserved."),
    ],
)
def test_licence_from_reference_or_wording(licence: str, code: str | None, text: str) -> None:
    article = parsed(meta=f"<permissions>{licence}</permissions>")

    assert (article.license_code, article.license_text) == (code, text)


@pytest.mark.parametrize(
    ("meta", "attributes", "retracted"),
    [
        ("", 'article-type="retraction"', True),
        ('<related-article related-article-type="retraction-forward"/>', "", True),
        ('<related-article related-article-type="retracted-article"/>', "", True),
        ("<title-group><article-title>RETRACTED: The Eye</article-title></title-group>", "", True),
        ("<title-group><article-title>[Retracted] The Eye</article-title></title-group>", "", True),
        ("<title-group><article-title>Retraction: The Eye</article-title></title-group>", "", True),
        ("<title-group><article-title>Retraction Note to: The Eye</article-title></title-group>", "", True),
        ("<title-group><article-title>Retraction of the Upper Eyelid</article-title></title-group>", "", False),
        ('<related-article related-article-type="corrected-article"/>', 'article-type="correction"', False),
        ("", "", False),
    ],
)
def test_retraction(meta: str, attributes: str, retracted: bool) -> None:
    assert parsed(meta=meta, attributes=attributes).is_retracted is retracted
