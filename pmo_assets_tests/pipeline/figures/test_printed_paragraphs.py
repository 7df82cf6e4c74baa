"""Paragraphs of a PDF's running text."""

from __future__ import annotations

from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import TextLine
from pmo_assets.pipeline.figures.printed_paragraphs import PrintedParagraph, PrintedText, printed_paragraphs
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text


def line(text: str, top: float, left: float = 50.0, block: int = 0) -> TextLine:
    return TextLine(text, (left, top, left + 200, top + 10), 10.0, False, "F", block, 0, ())


def paragraphs(*lines: TextLine, headings: frozenset[int] = frozenset()) -> list[PrintedParagraph]:
    body = frozenset(range(len(lines))) - headings
    return list(printed_paragraphs([PrintedText(lines, body, headings)]))


def test_lines_are_joined_and_headings_head_what_follows() -> None:
    found = paragraphs(
        line("2. Results of", 0), line("this study", 12), line("The eye was", 30), line("red. It", 42),
        line("hurt.", 54), headings=frozenset({0, 1}),
    )  # fmt: skip

    assert found == [PrintedParagraph("2. Results of this study", "The eye was red. It hurt.")]


def test_a_paragraph_begins_where_a_line_is_set_in_or_stands_apart_behind_a_full_stop() -> None:
    assert len(paragraphs(line("The eye was red.", 0), line("It hurt.", 12, left=62))) == 2
    assert len(paragraphs(line("The eye was red.", 0), line("It hurt.", 22))) == 2
    assert len(paragraphs(line("The eye was red.", 0), line("It hurt.", 11))) == 1
    assert len(paragraphs(line("The eye was", 0), line("red, as Smith", 12, left=62))) == 1


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    assert paragraphs(line("The eye was", 700), line("red.", 50, left=300)) == [
        PrintedParagraph(None, "The eye was red.")
    ]
    assert len(paragraphs(line("The eye was red.", 700), line("Another day came.", 50, left=300))) == 2


def test_a_hyphen_at_the_end_of_a_line_goes_unless_the_document_has_the_word_with_it() -> None:
    found = paragraphs(
        line("A pre-treated eye with a photore-", 0), line("ceptor, a pre-", 11), line("treated one and a T1-", 22),
        line("Weighted image.", 33),
    )  # fmt: skip

    assert found[0].text == "A pre-treated eye with a photoreceptor, a pre-treated one and a T1-Weighted image."


def test_running_heads_captions_and_page_numbers_are_no_paragraphs() -> None:
    manuscript = Manuscript()
    for number in (1, 2):
        page = manuscript.page()
        page.insert_text((50, 70), "Materials and methods", fontsize=12, fontname="hebo")
        manuscript.body(page, (50, 75, 545, 300))
        manuscript.picture(page, (100, 340, 300, 480))
        manuscript.caption(page, 70, 500, f"Figure {number}. {caption_text(number)}", 300)

    extraction = extract_figures(manuscript.document.tobytes(), options=FigureOptions(render=False, paragraphs=True))

    text = " ".join(paragraph.text for paragraph in extraction.paragraphs)
    assert len(extraction.figures) == 2
    assert text.count("patients were examined") > 4
    assert "Figure" not in text
    assert "Journal of Typeset" not in text
    assert {paragraph.heading for paragraph in extraction.paragraphs} == {"Materials and methods"}
    assert extract_figures(manuscript.document.tobytes(), options=FigureOptions(render=False)).paragraphs == ()
