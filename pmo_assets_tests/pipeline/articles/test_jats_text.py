"""Text of JATS elements as a reader sees it: captions, running text, the paragraphs that mention figures."""

from __future__ import annotations

import pytest

from pmo_assets.records.article import InTextMention
from pmo_assets_tests.pipeline.articles.jats_articles import caption_of, fig, parsed


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


def test_running_text_without_floats_and_nested_paragraphs_once() -> None:
    article = parsed(
        "<p>Before <list><list-item><p>inside</p></list-item></list> after"
        + fig("<caption><p>Caption</p></caption>")
        + "</p>",
        rest="<back><ack><p>Thanks</p></ack><ref-list><ref><p>Ref</p></ref></ref-list></back>",
    )

    assert article.text == "Before after\ninside"


def test_a_link_to_the_own_figure_on_the_words_for_another_publications_is_none() -> None:
    link = "<xref ref-type='fig' rid='f1'>Fig 1</xref>"
    article = parsed(
        f"<p>It is red ({link}), unlike theirs ({link} in [73]).</p>" + fig("<caption><p>Caption</p></caption>")
    )

    assert [reference.offset for reference in article.paragraphs[0].references] == [len("It is red (")]


def test_mentions_by_plain_text_exclude_captions() -> None:
    article = parsed(
        "<p>Cases (Figs. 1–2) differ.</p>"
        + fig("<label>Figure 1</label><caption><p>As in Figure 2</p></caption>", href="a")
        + fig("<label>Fig. 2</label><caption><p>B</p></caption>", href="b")
    )

    sentence = InTextMention("Cases (Figs. 1–2) differ.", "Cases (Figs. 1–2) differ.")
    assert [figure.mentions for figure in article.figures] == [(sentence,), (sentence,)]
