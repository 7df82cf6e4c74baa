"""JATS XML read into an article: exact facts of small files, hostile files refused, real articles as annotated."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.jats import MalformedXml, UnsafeXml, image_cluster_id, parse_jats
from pmo_assets.records.article import Article, InTextMention, PackageFigure
from pmo_assets.records.rejections import ArticleError

NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)
DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.1 20151215//EN" '
    '"JATS-archivearticle1.dtd">'
)


def parsed(body: str = "", *, meta: str = "", journal: str = "", rest: str = "", attributes: str = "") -> Article:
    return parse_jats(
        f"{DOCTYPE}<article {NAMESPACES} {attributes}><front><journal-meta>{journal}</journal-meta>"
        f"<article-meta>{meta}</article-meta></front><body>{body}</body>{rest}</article>".encode()
    )


def figures(body: str = "", *, rest: str = "") -> list[tuple[str, str, str]]:
    """(image_cluster_id, label, caption) of every figure."""
    return [(fig.image_cluster_id, fig.label, fig.caption) for fig in parsed(body, rest=rest).figures]


def fig(inner: str, *, href: str = "g1", attributes: str = 'id="f1"') -> str:
    return f'<fig {attributes}>{inner}<graphic xlink:href="{href}"/></fig>'


def caption_of(inner: str) -> str:
    ((_, _, caption),) = figures(fig(f"<label>Figure 1</label><caption>{inner}</caption>"))
    return caption


# facts of the article


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


def test_an_empty_article_has_no_facts() -> None:
    article = parse_jats(b"<article/>")

    assert (article.pmcid, article.title, article.citation, article.year, article.text) == (None, "", "", None, "")


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


# figures


def test_figure_with_all_its_facts() -> None:
    article = parsed(
        '<p>See <xref ref-type="fig" rid="f1">Figure 1</xref>. It is red.</p>'
        '<fig id="f1"><label>Figure 1.</label><caption><title>Eyes.</title><p>Left  eye.</p></caption>'
        '<graphic xlink:href="a/b/CRIOPM2016-4567840.001"/></fig>'
    )

    assert article.figures == (
        PackageFigure(
            image_cluster_id="CRIOPM2016-4567840.001",
            label="Figure 1",
            caption="Eyes. Left eye.",
            graphics=("a/b/CRIOPM2016-4567840.001",),
            mentions=(InTextMention("See Figure 1.", "See Figure 1. It is red."),),
        ),
    )


@pytest.mark.parametrize(
    ("href", "name"),
    [
        ("CRIOPM2016-4567840.001", "CRIOPM2016-4567840.001"),
        ("pone.0056489.g001.tif", "pone.0056489.g001"),
        ("figures/NPR2-43-85-g001.JPG", "NPR2-43-85-g001"),
        ("info:doi/10.1371/journal.pone.0056489.g001", "journal.pone.0056489.g001"),
        ("dir\\fig1.eps", "fig1"),
        ("a.b.c", "a.b.c"),
        ("../..", ""),
        (".png", ""),
    ],
)
def test_image_cluster_id_drops_folder_and_picture_extension_only(href: str, name: str) -> None:
    assert image_cluster_id(href) == name


def test_ids_are_unique_and_stay_with_their_graphics() -> None:
    body = (
        '<fig id="g2"><caption><p>No graphic</p></caption></fig>'
        "<fig><caption><p>No graphic, no id</p></caption></fig>"
        + fig("<caption><p>One</p></caption>", href="g1")
        + fig("<caption><p>Same</p></caption>", href="g1.jpg", attributes='id="f4"')
        + fig("<caption><p>Two</p></caption>", href="g2")
    )

    assert [name for name, _, _ in figures(body)] == ["g2-2", "fig-2", "g1", "g1-f4", "g2"]


def test_graphics_of_alternatives_thumbnails_last() -> None:
    (figure,) = parsed(
        '<fig id="f"><alternatives><graphic xlink:href="small.gif" specific-use="thumbnail"/>'
        '<graphic xlink:href="large.tif"/><graphic xlink:href="large.jpg"/></alternatives></fig>'
    ).figures

    assert (figure.image_cluster_id, figure.graphics) == ("large", ("large.tif", "large.jpg"))


def test_figures_of_body_appendix_boxes_and_floats_in_document_order() -> None:
    body = (
        "<sec><p>"
        + fig("<label>1</label>", href="in-paragraph")
        + "</p><boxed-text>"
        + fig("", href="in-box")
        + "</boxed-text></sec>"
    )
    rest = (
        f"<back><app-group><app>{fig('', href='in-appendix')}</app></app-group></back>"
        f"<floats-group>{fig('', href='floating')}</floats-group>"
    )

    assert [name for name, _, _ in figures(body, rest=rest)] == ["in-paragraph", "in-box", "in-appendix", "floating"]


@pytest.mark.parametrize(
    "body",
    [
        f"<table-wrap>{fig('')}</table-wrap>",
        f"<supplementary-material>{fig('')}</supplementary-material>",
        f'<sec sec-type="supplementary-material">{fig("")}</sec>',
        fig("<label>Supplementary Figure 1</label>"),
        fig("<label>Figure 1—figure supplement 1</label>"),
        fig("<label>Table 2</label>"),
        fig("", attributes='fig-type="graphical-abstract"'),
        fig("<label>Graphical abstract</label>"),
        fig("<caption><title>Graphical Abstract</title></caption>"),
        fig("", attributes='fig-type="portrait"'),
        f"<bio>{fig('')}</bio>",
        '<fig><label>Video 1</label><caption><p>Surgery</p></caption><media xlink:href="v.mp4"/></fig>',
        '<fig><label>Figure 1</label><caption><p>Surgery</p></caption><media xlink:href="v.mp4"/></fig>',
        "<fig><label>Figure 1</label></fig>",
    ],
)
def test_what_is_no_figure(body: str) -> None:
    assert figures(body) == []


@pytest.mark.parametrize("kind", ["graphical", "teaser", "video-abstract"])
def test_graphical_abstracts_are_no_figures(kind: str) -> None:
    article = parsed(meta=f'<abstract abstract-type="{kind}"><p>{fig("")}</p></abstract>')

    assert (article.figures, article.text) == ((), "")


def test_peer_review_is_not_the_article() -> None:
    rest = f"<sub-article><body><p>Reply</p>{fig('')}</body></sub-article>"

    assert figures(rest=rest) == []
    assert parsed(rest=rest).text == ""


def test_a_methods_section_of_a_protocol_keeps_its_figures() -> None:
    assert [name for name, _, _ in figures(f'<sec sec-type="protocol">{fig("")}</sec>')] == ["g1"]


# captions


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<p>10<sup>−3</sup> mol CO<sub>2</sub></p>", "10−3 mol CO2"),
        ("<p>see <xref ref-type='fig' rid='f2'>Figure 2</xref>, <bold>bold</bold></p>", "see Figure 2, bold"),
        (
            "<p>Signs:</p><list><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list>",
            "Signs: one two",
        ),
        ("<p>a<break/>b</p>", "a b"),
        ("<p>a<!-- hidden -->b<?pi?>c</p>", "abc"),
        (
            "<p>value <inline-formula><tex-math>\\frac{a}{b}</tex-math></inline-formula>of</p>",
            "value of",
        ),
        (
            "<p>n <inline-formula><alternatives><tex-math>x^2</tex-math><mml:math><mml:msup><mml:mi>x</mml:mi>"
            "<mml:mn>2</mml:mn></mml:msup></mml:math><inline-graphic xlink:href='e1'/></alternatives></inline-formula>"
            "</p>",
            "n x2",
        ),
        (
            "<p><mml:math><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac><mml:mo>=</mml:mo>"
            "<mml:mfenced><mml:mn>1</mml:mn><mml:mn>2</mml:mn></mml:mfenced></mml:math></p>",
            "a/b=(1,2)",
        ),
        ("<p>5\u2009mm\u00a0\u200bwide</p>", "5 mm wide"),
        ("<p>Note<fn><p>hidden</p></fn> here</p>", "Note here"),
        ("<title>Figure 1.</title><p>Text</p>", "Text"),
        ("<p>Figure 1: The eye</p>", "The eye"),
        ("<p>Figure 1(a) shows</p>", "Figure 1(a) shows"),
        ("<p>Figure 12 is alike</p>", "Figure 12 is alike"),
    ],
)
def test_caption_is_plain_text(inner: str, text: str) -> None:
    assert caption_of(inner) == text


@pytest.mark.parametrize(
    ("caption", "label", "rest"),
    [
        ("<title>Fig. 3</title><p>The eye</p>", "Fig. 3", "The eye"),
        ("<p><bold>Figure 2:</bold> the eye</p>", "Figure 2", "the eye"),
        ("<p>Figure 2 of the eye</p>", "", "Figure 2 of the eye"),
        ("<p>The eye</p>", "", "The eye"),
    ],
)
def test_a_label_inside_the_caption(caption: str, label: str, rest: str) -> None:
    assert figures(fig(f"<caption>{caption}</caption>")) == [("g1", label, rest)]


# figure groups


def test_group_with_a_caption_is_one_figure_with_panels() -> None:
    (figure,) = parsed(
        '<p>As in <xref ref-type="fig" rid="b">2(b)</xref>.</p>'
        '<fig-group id="g"><label>Figure 2</label><caption><p>Eyes.</p></caption>'
        '<fig id="a"><label>(a)</label><caption><p>Left.</p></caption><graphic xlink:href="e2a"/></fig>'
        '<fig id="b"><label>b</label><caption><p>Right.</p></caption><graphic xlink:href="e2b"/></fig>'
        '<fig id="c"><label>c</label><graphic xlink:href="e2c"/></fig></fig-group>'
    ).figures

    assert figure == PackageFigure(
        image_cluster_id="e2a",
        label="Figure 2",
        caption="Eyes. (a) Left. (b) Right.",
        graphics=("e2a", "e2b", "e2c"),
        mentions=(InTextMention("As in 2(b).", "As in 2(b)."),),
    )


def test_group_of_numbered_figures() -> None:
    body = (
        "<fig-group>"
        + fig("<label>Figure 3</label><caption><p>Three</p></caption>", href="e3")
        + fig("<label>Figure 4</label><caption><p>Four</p></caption>", href="e4")
        + "</fig-group>"
    )

    assert figures(body) == [("e3", "Figure 3", "Three"), ("e4", "Figure 4", "Four")]


def test_group_without_caption_continues_its_first_figure() -> None:
    (figure,) = parsed(
        "<fig-group>"
        + fig("<label>Figure 3</label><caption><p>Three</p></caption>", href="e3a")
        + fig("<label>(b)</label><caption><p>Right</p></caption>", href="e3b", attributes="")
        + fig("", href="e3c", attributes="")
        + "</fig-group>"
    ).figures

    assert (figure.image_cluster_id, figure.label, figure.caption, figure.graphics) == (
        "e3a",
        "Figure 3",
        "Three (b) Right",
        ("e3a", "e3b", "e3c"),
    )


# text


def test_table_captions_and_tables_set_as_figures() -> None:
    article = parsed(
        "<table-wrap><label>Table 1</label><caption><p>OCT values</p></caption><table><tr><td>5</td></tr></table>"
        f"</table-wrap>{fig('<label>Table 2</label><caption><p>More</p></caption>')}"
    )

    assert article.table_captions == ("OCT values", "More")
    assert article.text == ""


def test_running_text_without_floats_and_nested_paragraphs_once() -> None:
    article = parsed(
        "<p>Before <list><list-item><p>inside</p></list-item></list> after"
        + fig("<caption><p>Caption</p></caption>")
        + "</p>",
        rest="<back><ack><p>Thanks</p></ack><ref-list><ref><p>Ref</p></ref></ref-list></back>",
    )

    assert article.text == "Before after\ninside"


def test_mentions_by_plain_text_exclude_captions() -> None:
    article = parsed(
        "<p>Cases (Figs. 1–2) differ.</p>"
        + fig("<label>Figure 1</label><caption><p>As in Figure 2</p></caption>", href="a")
        + fig("<label>Fig. 2</label><caption><p>B</p></caption>", href="b")
    )

    sentence = InTextMention("Cases (Figs. 1–2) differ.", "Cases (Figs. 1–2) differ.")
    assert [figure.mentions for figure in article.figures] == [(sentence,), (sentence,)]


# flavours


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


# hostile files

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


@settings(max_examples=150, deadline=None)
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
