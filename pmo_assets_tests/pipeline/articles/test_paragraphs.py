"""Running text of an article, as its table holds it."""

from __future__ import annotations

from pmo_assets.pipeline.articles.mentions import MAX_PARAGRAPH, MAX_TEXT
from pmo_assets.pipeline.articles.paragraphs import (
    MAX_PARAGRAPHS,
    MAX_REFERENCES,
    RunningTextCut,
    bounded,
    paragraphs_of_pdf,
)
from pmo_assets.pipeline.figures.printed_paragraphs import PrintedParagraph
from pmo_assets.records.context import CrossReference, RunningParagraph
from pmo_assets_tests.pipeline.articles.jats_articles import fig, parsed


def link(target: str, text: str) -> str:
    return f'<xref ref-type="fig" rid="{target}">{text}</xref>'


def test_paragraphs_of_the_xml_have_section_title_and_cross_references() -> None:
    article = parsed(
        f"<p>No section ({link('f1', '2A')}).</p>"
        "<sec><title>2. Methods</title><sec><title>Imaging</title>"
        f"<p>See {link('f1 f2', 'Figs. 1, 2')}.</p></sec></sec>"
        f"<sec sec-type='results'><title>Findings</title><p>None {link('t1', 'Fig. 9')}.</p></sec>"
        + fig("<label>Figure 1</label>", href="g1")
        + fig("<label>Figure 2</label>", href="g2", attributes='id="f2"'),
        meta="<abstract><sec><title>Purpose</title><p>In short.</p></sec></abstract>",
    )

    assert article.paragraphs == (
        RunningParagraph("abstract", "Purpose", "In short."),
        RunningParagraph("other", None, "No section (2A).", (CrossReference(12, "g1"),)),
        RunningParagraph("methods", "Imaging", "See Figs. 1, 2.", (CrossReference(4, "g1"), CrossReference(4, "g2"))),
        RunningParagraph("results", "Findings", "None Fig. 9."),
    )


def test_only_titles_that_name_a_figure_are_paragraphs() -> None:
    article = parsed("<sec><title>Case 1 (Figure 2)</title><p>Text.</p></sec>")

    assert [paragraph.text for paragraph in article.paragraphs] == ["Case 1 (Figure 2)", "Text."]


def test_paragraphs_of_the_pdf_have_the_class_of_the_last_heading_with_one() -> None:
    printed = [
        PrintedParagraph(None, "Front."),
        PrintedParagraph("3. Results", "One."),
        PrintedParagraph("Visual fields", "Two."),
        PrintedParagraph("References", "[1] A. Author, 2011."),
        PrintedParagraph("Appendix", "Three."),
    ]

    assert [(one.section, one.section_title, one.text) for one in paragraphs_of_pdf(printed)] == [
        ("other", None, "Front."),
        ("results", "3. Results", "One."),
        ("results", "Visual fields", "Two."),
        ("appendix", "Appendix", "Three."),
    ]


def test_a_paragraph_of_a_million_characters_is_several_and_loses_nothing() -> None:
    text = ("A sentence of the text. " * 50_000).strip()
    marks = tuple(CrossReference(offset, "g1") for offset in range(0, len(text), 24_000))

    kept, cut = bounded([RunningParagraph("results", "R", text, marks)])

    assert cut is None
    assert " ".join(piece.text for piece in kept) == text
    assert max(len(piece.text) for piece in kept) <= MAX_PARAGRAPH
    places = [(piece, mark.offset) for piece in kept for mark in piece.references]
    assert len(places) == len(marks)
    assert all(piece.text[offset:].startswith("A sentence") for piece, offset in places)


def test_text_without_blanks_is_cut_anywhere() -> None:
    kept, cut = bounded([RunningParagraph("other", None, "ש" * 50_000)])

    assert cut is None
    assert "".join(piece.text for piece in kept) == "ש" * 50_000


def test_what_is_left_out_is_said() -> None:
    long = [RunningParagraph("other", None, "x" * MAX_PARAGRAPH) for _ in range(MAX_TEXT // MAX_PARAGRAPH + 3)]
    many = [RunningParagraph("other", None, "x")] * (MAX_PARAGRAPHS + 7)
    linked = RunningParagraph("other", None, "x", tuple(CrossReference(0, f"g{n}") for n in range(MAX_REFERENCES + 5)))

    for paragraphs, count, said in (
        (long, MAX_TEXT // MAX_PARAGRAPH, f"{3 * MAX_PARAGRAPH} characters"),
        (many, MAX_PARAGRAPHS, "7 characters"),
        ([linked], 1, "5 cross-references"),
    ):
        kept, cut = bounded(paragraphs)
        assert len(kept) == count
        assert isinstance(cut, RunningTextCut)
        assert said in str(cut)
        assert max(len(piece.references) for piece in kept) <= MAX_REFERENCES
