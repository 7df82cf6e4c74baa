"""Figures of a JATS article: which elements are one, their labels, captions, graphics and ids."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.jats_figures import image_cluster_id
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
