"""BioMed Central's own format becomes JATS, element by element."""

from __future__ import annotations

import pytest
from lxml import etree

from pmo_assets.pipeline.articles.biomed_central import jats_from_art


def rewritten(body: str, front: str = "") -> str:
    """The article of an `<art>` with this body and front matter, as text."""
    article = jats_from_art(etree.fromstring(f"<art><fm>{front}</fm><bdy>{body}</bdy><bm/></art>"))
    return etree.tostring(article, encoding="unicode")


def inside(text: str, tag: str) -> str:
    """What stands between the first tag of this name and its end."""
    return text.split(f"<{tag}", 1)[1].split(">", 1)[1].rsplit(f"</{tag}>", 1)[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p><figr fid='F1'>1</figr></p>", '<p><xref fid="F1" ref-type="fig" rid="F1">1</xref></p>'),
        ("<p><it>a</it><b>c</b></p>", "<p><italic>a</italic><bold>c</bold></p>"),
        ("<fig id='F1'/>", '<fig id="F1"/>'),
        (
            "<fig><title>Figure 1</title><caption>Flow.</caption><text>Flow. All.</text><graphic file='x'/></fig>",
            '<fig><label>Figure 1</label><caption>Flow. All.</caption><graphic file="x" href="x"/></fig>',
        ),
        (
            "<fig><caption>Flow.</caption><text><p>All.</p></text></fig>",
            "<fig><caption>Flow.<p>All.</p></caption></fig>",
        ),
        ("<fig><text>All.</text></fig>", "<fig><caption>All.</caption></fig>"),
        (
            "<tbl><title>Table 1</title><caption>Values</caption></tbl>",
            "<table-wrap><label>Table 1</label><caption>Values</caption></table-wrap>",
        ),
        ("<table><title>T</title></table>", "<table-wrap><label>T</label></table-wrap>"),
        ("<tbl><table><tr/></table></tbl>", "<table-wrap><table><tr/></table></table-wrap>"),
    ],
)
def test_bodies(body: str, expected: str) -> None:
    assert inside(rewritten(body), "body") == expected


def test_front_matter() -> None:
    text = rewritten(
        "",
        "<dochead>Case report</dochead><bibl><title>T</title><aug><au><snm>Lee</snm><fnm>Ann</fnm><mi>B</mi></au>"
        "<au><cnm>The Group</cnm></au></aug><source>S</source><pubdate>2015</pubdate><fpage>3</fpage>"
        "<pubid idtype='pmpid'>1</pubid><pubid idtype='doi'>10.1/x</pubid></bibl>",
    )
    assert text.startswith('<article article-type="case-report">')
    assert '<article-id pub-id-type="pmid">1</article-id><article-id pub-id-type="doi">10.1/x</article-id>' in text
    assert "<name><surname>Lee</surname><given-names>Ann B</given-names></name>" in text
    assert "<name><surname>The Group</surname></name>" in text
    assert "<fpage>3</fpage>" in text
    assert "<lpage>" not in text
