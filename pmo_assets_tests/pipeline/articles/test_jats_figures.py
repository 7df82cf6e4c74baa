"""Figures of a JATS article: which elements are one, their labels, captions, graphics and ids."""

from __future__ import annotations

import pytest

from pmo_assets.records.article import InTextMention, PackageFigure
from pmo_assets_tests.pipeline.articles.jats_articles import fig, figures, parsed


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


def test_ids_are_unique_and_stay_with_their_graphics() -> None:
    body = (
        '<fig id="g2"><caption><p>No graphic</p></caption></fig>'
        "<fig><caption><p>No graphic, no id</p></caption></fig>"
        + fig("<caption><p>One</p></caption>", href="g1")
        + fig("<caption><p>Same</p></caption>", href="g1.jpg", attributes='id="f4"')
        + fig("<caption><p>Two</p></caption>", href="g2")
    )

    assert [name for name, _, _ in figures(body)] == ["g2-2", "fig-2", "g1", "g1-f4", "g2"]


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


def test_table_captions_and_tables_set_as_figures() -> None:
    article = parsed(
        "<table-wrap><label>Table 1</label><caption><p>OCT values</p></caption><table><tr><td>5</td></tr></table>"
        f"</table-wrap>{fig('<label>Table 2</label><caption><p>More</p></caption>')}"
    )

    assert article.table_captions == ("OCT values", "More")
    assert article.text == ""


# figures of the article, and supplements


@pytest.mark.parametrize(
    "label",
    [
        "Figure 1",
        "FIGURE 1",
        "Fig. 1",
        "FIG 2.",
        "Scheme 1",
        "Figure A1",
        "Appendix 1—figure 1",
        "Extended Data Fig. 1",
        "Extended Data Figure 10",
        "Extended data Figure 1-1",
        "Figure EV3",
        "Expanded View Figure 1",
        "Figure S1",
        "Figure 3. (continued)",
        "",
    ],
)
def test_labels_of_figures_that_the_pdf_prints(label: str) -> None:
    assert len(figures(fig(f"<label>{label}</label><caption><p>An eye.</p></caption>"))) == 1


@pytest.mark.parametrize(
    "label",
    [
        "Supplementary Figure 2",
        "Supplementary Fig. S2",
        "Supplemental Figure 2",
        "Suppl. Fig. 2",
        "Suppl Figure 2",
        "Figure 1—figure supplement 1",
        "Appendix 1—figure 1—figure supplement 2",
        "eFigure 1",
        "eFig. 2",
        "e-Figure 3",
        "Online Figure 1",
        "Online-only Fig 1",
        "Web Figure 2",
        "Web Appendix Figure 1",
        "Additional file 1: Figure S1",
        "Supporting Figure 1",
        "Supporting Information Fig. S1",
        "SI Figure 4",
    ],
)
def test_labels_of_supplements(label: str) -> None:
    assert figures(fig(f"<label>{label}</label><caption><p>An eye.</p></caption>")) == []


SUPPLEMENTS = [
    "<back><sec sec-type='supplementary-material'><title>Appendix</title>{}</sec></back>",
    "<back><sec sec-type='supplementary-material'><sec><p>{}</p></sec></sec></back>",
    "<back><sec><title>Supplementary Material</title>{}</sec></back>",
    "<back><sec><title>Supplementary information.</title>{}</sec></back>",
    "<back><sec><title>Supplemental Figures</title>{}</sec></back>",
    "<back><sec><title>Supporting Information</title>{}</sec></back>",
    "<back><sec><title>Additional files</title>{}</sec></back>",
    "<back><app-group><app><title>Supplementary Online Content</title>{}</app></app-group></back>",
    "<back><app content-type='supplementary-material'>{}</app></back>",
    "<back><supplementary-material><p>{}</p></supplementary-material></back>",
    "<floats-group><supplementary-material>{}</supplementary-material></floats-group>",
]


@pytest.mark.parametrize("place", SUPPLEMENTS)
def test_figures_among_supplements_but_for_extended_data(place: str) -> None:
    inside = "".join(
        fig(f"<label>{label}</label><caption><p>Eyes.</p></caption>", href=f"g{n}", attributes="")
        for n, label in enumerate(["Figure S1", "Fig. 1", "", "Extended Data Fig. 1"])
    )

    assert figures(rest=place.format(inside)) == [("g3", "Extended Data Fig. 1", "Eyes.")]


@pytest.mark.parametrize(
    "place",
    [
        "<sec><title>Supplemental oxygen in preterm infants</title>{}</sec>",
        "<sec><title>Supplementation</title>{}</sec>",
        "<sec><title>Supporting evidence</title>{}</sec>",
        "<sec><title>Additional examinations</title>{}</sec>",
        "<boxed-text><label>Box 1</label>{}</boxed-text>",
        "<disp-quote>{}</disp-quote>",
        "<statement><p>{}</p></statement>",
        "<sec sec-type='cases'><list><list-item><p>{}</p></list-item></list></sec>",
    ],
)
def test_places_in_the_body(place: str) -> None:
    assert [name for name, _, _ in figures(place.format(fig("")))] == ["g1"]


@pytest.mark.parametrize(
    "rest",
    [
        "<back><app-group><title>Appendix</title><app><title>A</title><sec><p>{}</p></sec></app></app-group></back>",
        "<back><app>{}</app></back>",
        "<back><sec sec-type='extended-data'>{}</sec></back>",
        "<back><sec><title>Extended data figures and tables</title>{}</sec></back>",
        "<floats-group>{}</floats-group>",
        "<floats-wrap>{}</floats-wrap>",
    ],
)
def test_places_behind_the_body(rest: str) -> None:
    assert [name for name, _, _ in figures(rest=rest.format(fig("")))] == ["g1"]


def test_elife_group_of_a_figure_and_its_supplements() -> None:
    body = (
        "<fig-group>"
        + fig("<label>Figure 3.</label><caption><title>Cells.</title></caption>", href="f003", attributes='id="fig3"')
        + fig("<label>Figure 3—figure supplement 1.</label>", href="fs001", attributes='specific-use="child-fig"')
        + fig("<label>Figure 3S.</label>", href="fs002", attributes='specific-use="child-fig"')
        + "</fig-group>"
    )

    assert figures(body) == [("f003", "Figure 3", "Cells.")]


# panels with graphics of their own


def test_graphics_with_labels_and_captions_are_panels() -> None:
    (figure,) = parsed(
        "<fig id='f2'><label>Fig. 2</label><caption><p>Both eyes.</p></caption>"
        "<graphic xlink:href='f2a'><label>A</label><caption><p>Right.</p></caption></graphic>"
        "<alternatives><graphic xlink:href='f2b.tif'><label>B</label><caption><p>Left.</p></caption></graphic>"
        "<graphic xlink:href='f2b.jpg'><label>B</label><caption><p>Left.</p></caption></graphic></alternatives></fig>"
    ).figures

    assert (figure.label, figure.caption) == ("Fig. 2", "Both eyes. (A) Right. (B) Left.")
    assert figure.graphics == ("f2a", "f2b.jpg")


def test_label_and_caption_at_the_only_graphic() -> None:
    body = (
        "<fig id='f2'><alternatives><graphic xlink:href='f2.jpg'><label>Figure 2</label><caption><p>Flow.</p></caption>"
        "</graphic><graphic xlink:href='f2.tif'/></alternatives></fig>"
    )

    assert figures(body) == [("f2", "Figure 2", "Flow.")]


def test_figures_inside_a_figure_are_its_panels() -> None:
    (figure,) = parsed(
        '<p>See <xref ref-type="fig" rid="f1b">1B</xref>.</p>'
        "<fig id='f1'><label>Figure 1</label><caption><p>Eyes.</p></caption>"
        "<fig id='f1a'><label>A</label><caption><p>Right.</p></caption><graphic xlink:href='a'/></fig>"
        "<p><fig id='f1b'><label>B</label><caption><p>Left.</p></caption><graphic xlink:href='b'/></fig></p></fig>"
    ).figures

    assert (figure.label, figure.caption, figure.graphics) == ("Figure 1", "Eyes. (A) Right. (B) Left.", ("a", "b"))
    assert figure.mentions == (InTextMention("See 1B.", "See 1B."),)


def test_another_figure_inside_a_figure_is_one_of_its_own() -> None:
    body = (
        "<fig id='f1'><label>Figure 1</label><caption><p>Eyes.</p></caption><graphic xlink:href='g1'/>"
        "<fig id='f2'><label>Figure 2</label><caption><p>Ears.</p></caption><graphic xlink:href='g2'/></fig></fig>"
    )

    assert figures(body) == [("g1", "Figure 1", "Eyes."), ("g2", "Figure 2", "Ears.")]


def test_members_that_bear_the_number_of_their_group_are_its_panels() -> None:
    (figure,) = parsed(
        "<fig-group><label>Figure 3</label><caption><p>Eyes.</p></caption>"
        + fig("<label>Figure 3A</label><caption><p>Right.</p></caption>", href="e3a", attributes="")
        + fig("<label>Figure 3B</label><caption><p>Left.</p></caption>", href="e3b", attributes="")
        + "</fig-group>"
    ).figures

    assert (figure.label, figure.graphics) == ("Figure 3", ("e3a", "e3b"))
    assert figure.caption == "Eyes. (Figure 3A) Right. (Figure 3B) Left."


def test_groups_inside_a_group() -> None:
    body = (
        "<fig-group><fig-group><label>Figure 1</label><caption><p>One.</p></caption>"
        + fig("<label>a</label><caption><p>Right.</p></caption>", href="e1a", attributes="")
        + "</fig-group><fig-group><label>Figure 2</label><caption><p>Two.</p></caption>"
        + fig("", href="e2", attributes="")
        + "</fig-group></fig-group>"
    )

    assert figures(body) == [("e1a", "Figure 1", "One. (a) Right."), ("e2", "Figure 2", "Two.")]


# several languages


@pytest.mark.parametrize(
    "body",
    [
        "<fig id='f1'><label xml:lang='pt'>Figura 1</label><label xml:lang='en'>Figure 1</label>"
        "<caption xml:lang='pt'><p>Olhos.</p></caption><caption xml:lang='en'><p>Eyes.</p></caption>"
        "<graphic xlink:href='g1'/></fig>",
        "<fig-group id='f1'><fig xml:lang='pt'><label>Figura 1</label><caption><p>Olhos.</p></caption></fig>"
        "<fig xml:lang='en'><label>Figure 1</label><caption><p>Eyes.</p></caption></fig>"
        "<graphic xlink:href='g1.tif'/></fig-group>",
        "<block-alternatives><fig xml:lang='es'><label>Figura 1</label><caption><p>Ojos.</p></caption>"
        "<graphic xlink:href='g1es'/></fig><fig xml:lang='en'><label>Figure 1</label><caption><p>Eyes.</p></caption>"
        "<graphic xlink:href='g1'/></fig></block-alternatives>",
    ],
    ids=["labels and captions", "group (SciELO)", "block-alternatives"],
)
def test_a_figure_in_several_languages_is_one_in_english(body: str) -> None:
    assert figures(body) == [("g1", "Figure 1", "Eyes.")]


def test_without_english_the_first_language_counts() -> None:
    body = (
        "<fig><caption xml:lang='de'><p>Augen.</p></caption><caption xml:lang='fr'><p>Yeux.</p></caption>"
        "<graphic xlink:href='g1'/></fig>"
    )

    assert figures(body) == [("g1", "", "Augen.")]


# publishers

PUBLISHERS = [
    pytest.param(
        '<fig id="fig1"><label>Fig. 1</label><caption><p>Fundus.</p></caption><alt-text id="at1">Fig. 1</alt-text>'
        '<graphic xlink:href="gr1"/></fig>',
        ("gr1", "Fig. 1", "Fundus."),
        id="Elsevier",
    ),
    pytest.param(
        '<fig id="Fig1" position="float"><label>Fig. 1</label><caption><p>Fundus <bold>a</bold> OD.</p></caption>'
        '<graphic xlink:href="12886_2020_1_Fig1_HTML.jpg" id="MO1"/></fig>',
        ("12886_2020_1_Fig1_HTML", "Fig. 1", "Fundus a OD."),
        id="Springer, BMC",
    ),
    pytest.param(
        '<fig id="F1" position="float"><label>FIGURE 1</label><caption><p><bold>(A)</bold> OCT.</p></caption>'
        '<graphic xlink:href="fmed-09-1-g001.tif"><alt-text content-type="machine-generated">A scan.</alt-text>'
        "</graphic></fig>",
        ("fmed-09-1-g001", "FIGURE 1", "(A) OCT."),
        id="Frontiers",
    ),
    pytest.param(
        '<fig id="jcm-09-1-f001" position="float"><object-id pub-id-type="pii">jcm-09-1-f001_Figure 1</object-id>'
        '<label>Figure 1</label><caption><p>OCT.</p></caption><graphic xlink:href="jcm-09-1-g001"/></fig>',
        ("jcm-09-1-g001", "Figure 1", "OCT."),
        id="MDPI",
    ),
    pytest.param(
        '<fig id="pone-1-g001"><object-id pub-id-type="doi">10.1371/journal.pone.1.g001</object-id><label>Fig 1</label>'
        "<caption><title>Eyes.</title><p>Left.</p></caption>"
        '<graphic mimetype="image" position="float" xlink:href="pone.1.g001"/></fig>',
        ("pone.1.g001", "Fig 1", "Eyes. Left."),
        id="PLOS",
    ),
    pytest.param(
        '<fig fig-type="FIGURE" id="aos1-fig-0001"><label>Figure 1</label><caption><p>OCT.</p></caption>'
        '<graphic id="nlm-graphic-1" xlink:href="AOS-98-e1-g001"/><attrib>Photo: clinic</attrib></fig>',
        ("AOS-98-e1-g001", "Figure 1", "OCT."),
        id="Wiley",
    ),
    pytest.param(
        '<fig-group id="fig1"><label>Figure 1</label><caption><p>(a) Right. (b) Left.</p></caption>'
        '<fig id="fig1a"><label>(a)</label><graphic xlink:href="CRIOPM2016-1.001a"/></fig>'
        '<fig id="fig1b"><label>(b)</label><graphic xlink:href="CRIOPM2016-1.001b"/></fig></fig-group>',
        ("CRIOPM2016-1.001a", "Figure 1", "(a) Right. (b) Left."),
        id="Hindawi",
    ),
    pytest.param(
        '<fig id="ckx1-F1" orientation="portrait"><label>Figure 1.</label><caption><p>Where <inline-formula><mml:math>'
        "<mml:semantics><mml:mrow><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn></mml:mrow>"
        '<mml:annotation encoding="TeX">x=1</mml:annotation></mml:semantics></mml:math></inline-formula>.</p></caption>'
        '<graphic xlink:href="ckx1f1.tif"/></fig>',
        ("ckx1f1", "Figure 1", "Where x=1."),
        id="OUP, MathML",
    ),
    pytest.param(
        '<fig id="F0001" position="float"><label>Figure 1</label><caption><p>OCT.</p><p><bold>Notes:</bold> Adapted '
        'with permission.</p></caption><graphic content-type="black-white" xlink:href="OPTH-14-1-g0001.jpg"/></fig>',
        ("OPTH-14-1-g0001", "Figure 1", "OCT. Notes: Adapted with permission."),
        id="Dove",
    ),
    pytest.param(
        '<fig id="eoi1f1" fig-type="figure"><label>Figure 1. </label><caption><title>Trial Flow</title><p>IOP.</p>'
        '</caption><long-desc>Flow.</long-desc><graphic xlink:href="jamaophth-e1-g001.jpg"/></fig>',
        ("jamaophth-e1-g001", "Figure 1", "Trial Flow IOP."),
        id="JAMA",
    ),
    pytest.param(
        '<fig id="Fig7" position="anchor"><label>Extended Data Fig. 1</label><caption><title>Eyes</title><p>a, b.</p>'
        '</caption><graphic xlink:href="41586_2023_1_Fig7_ESM.jpg"/></fig>',
        ("41586_2023_1_Fig7_ESM", "Extended Data Fig. 1", "Eyes a, b."),
        id="Nature",
    ),
]


@pytest.mark.parametrize(("body", "expected"), PUBLISHERS)
def test_figures_as_publishers_set_them(body: str, expected: tuple[str, str, str]) -> None:
    assert figures(body) == [expected]
    assert figures(rest=f"<floats-group>{body}</floats-group>") == [expected]
