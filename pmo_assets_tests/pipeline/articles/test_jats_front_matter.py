"""Facts of a JATS article's front matter: ids, authors, citation, licence, retraction."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.licences import license_code
from pmo_assets.records.article import Article
from pmo_assets.records.context import RunningParagraph
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
        paragraphs=(
            RunningParagraph("abstract", None, "In short."),
            RunningParagraph("case", "Case", "The eye was red."),
        ),
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


BY = "https://creativecommons.org/licenses/by/4.0/"
BY_NC = "https://creativecommons.org/licenses/by-nc/4.0/"

LICENCES = [
    pytest.param(
        f'<license license-type="open-access" xlink:href="{BY}"><license-p>Open Access.</license-p></license>', "CC BY",
        id="by the element's address",
    ),
    pytest.param(
        f'<ali:free_to_read/><license><ali:license_ref start_date="2020-01-01">{BY}</ali:license_ref>'
        "<license-p>Open Access.</license-p></license>", "CC BY",
        id="by a reference",
    ),
    pytest.param(f"<ali:license_ref>{BY_NC}</ali:license_ref>", "CC BY-NC", id="a reference without a licence"),
    pytest.param(
        '<license><ali:license_ref specific-use="textmining" content-type="ccbyncndlicense">'
        "https://creativecommons.org/licenses/by-nc-nd/4.0/</ali:license_ref><license-p>Open.</license-p></license>",
        "CC BY-NC-ND",
        id="PMC's reference",
    ),
    pytest.param(
        '<license><ali:license_ref specific-use="textmining" content-type="ccbylicense"/></license>', "CC BY",
        id="PMC's content type alone",
    ),
    pytest.param(
        f'<license><ali:license_ref specific-use="tdm">{BY}</ali:license_ref><license-p>All rights reserved.'
        "</license-p></license>", None,
        id="a publisher's licence to mine",
    ),
    pytest.param(
        f'<ali:license_ref applies_to="tdm">{BY}</ali:license_ref><ali:license_ref applies_to="am">{BY}'
        f'</ali:license_ref><ali:license_ref applies_to="vor">{BY_NC}</ali:license_ref>', "CC BY-NC",
        id="mining, manuscript and published version",
    ),
    pytest.param(
        '<ali:license_ref start_date="2014-01-01">http://www.elsevier.com/tdm/userlicense/1.0/</ali:license_ref>'
        f'<ali:license_ref start_date="2016-01-01">{BY}</ali:license_ref>', "CC BY",
        id="Elsevier: from a date",
    ),
    pytest.param(
        '<license license-type="creativeCommonsBy-nc"><license-p>Open access.</license-p></license>', "CC BY-NC",
        id="Wiley: by its type",
    ),
    pytest.param(
        '<license><license-p><graphic xlink:href="https://i.creativecommons.org/l/by-nc-sa/4.0/80x15.png"/></license-p>'
        "</license>", "CC BY-NC-SA",
        id="by its badge",
    ),
    pytest.param(
        f'<license xlink:href="{BY}"><license-p>Creative Commons Attribution Non-Commercial</license-p></license>',
        "CC BY-NC",
        id="address and text contradict each other",
    ),
    pytest.param(
        f'<license xlink:href="{BY}"><license-p>Open access.</license-p></license><license license-type="covid-19-tdm">'
        "<license-p>Free for the duration of the pandemic.</license-p></license>", "CC BY",
        id="BMJ: a second licence to mine",
    ),
    pytest.param(
        f'<license xlink:href="{BY}"><license-p>CC BY</license-p></license><license xlink:href="{BY_NC}"/>', "CC BY-NC",
        id="two licences",
    ),
    pytest.param(
        "<license><license-p>This file is available for text mining. It may also be used consistent with the "
        "principles of fair use under the copyright law.</license-p></license>", "TDM",
        id="author manuscript",
    ),
    pytest.param("<copyright-statement>© 2011 Lee. CC BY</copyright-statement>", "CC BY", id="copyright statement"),
    pytest.param("<copyright-statement>© 2011 Elsevier</copyright-statement>", None, id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("permissions", "code"), LICENCES)
def test_licences_as_publishers_and_pmc_state_them(permissions: str, code: str | None) -> None:
    assert parsed(meta=f"<permissions>{permissions}</permissions>").license_code == code


@pytest.mark.parametrize(
    ("stated", "code"),
    [("CC BY-NC", "CC BY-NC"), ("CC0", "CC BY"), ("TDM", "TDM"), ("NO-CC CODE", None), ("", "CC BY"), ("  ", "CC BY")],
)
def test_of_pmcs_own_code_and_the_statements_the_conditions_of_both_hold(stated: str, code: str | None) -> None:
    article = parsed(
        meta=f'<permissions><license xlink:href="{BY}"/></permissions><custom-meta-group><custom-meta>'
        "<meta-name>pmc-prop-has-pdf</meta-name><meta-value>yes</meta-value></custom-meta><custom-meta>"
        f"<meta-name>pmc-license-ref</meta-name><meta-value>{stated}</meta-value></custom-meta></custom-meta-group>"
    )

    assert article.license_code == code
    assert (article.license_url == BY) == (code == "CC BY")


def test_a_licence_of_a_figure_is_not_the_articles() -> None:
    body = (
        '<fig id="f1"><label>Figure 1</label><graphic xlink:href="g1"/><permissions><copyright-statement>© Elsevier'
        f'</copyright-statement><license xlink:href="{BY}"><license-p>Reproduced.</license-p></license></permissions>'
        "</fig>"
    )

    assert parsed(body).license_code is None
    assert parsed(body, meta=f'<permissions><license xlink:href="{BY_NC}"/></permissions>').license_code == "CC BY-NC"


def test_statements_are_not_read_across_their_ends() -> None:
    licences = "<license><license-p>CC</license-p></license><license><license-p>by the authors</license-p></license>"

    assert parsed(meta=f"<permissions>{licences}</permissions>").license_code is None


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ("<license><license-p>CC BY 4.0 ND</license-p></license>", "CC BY-ND"),
        (f'<license xlink:href="{BY}"><license-p>No derivatives.</license-p></license>', "CC BY-ND"),
        (f'<license xlink:href="{BY}"><license-p>Not under CC BY.</license-p></license>', None),
        (f'<license xlink:href="{BY}"><license-p>All rights reserved.</license-p></license>', None),
        (f'<license xlink:href="{BY}"/><copyright-statement>© 2014 A Press. All rights reserved.</copyright-statement>',
         "CC BY"),
        (f'<license xlink:href="{BY}"/><copyright-statement>© 2014 A Press. Personal use only.</copyright-statement>',
         None),
        (f'<license xlink:href="{BY}"><license-p><graphic xlink:href="cc-by-nc.png"/></license-p></license>',
         "CC BY-NC"),
        (f'<license xlink:href="{BY}"><license-p>See <ext-link xlink:href="https://www.example.org/terms-of-use">here'
         "</ext-link></license-p></license>", None),
    ],
)  # fmt: skip
def test_what_any_statement_takes_away_is_taken_away(statements: str, code: str | None) -> None:
    article = parsed(meta=f"<permissions>{statements}</permissions>")

    assert article.license_code == code
    assert article.license_url is None or license_code(article.license_url) == code


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
