"""The title: what the page prints is taken, what only the metadata say is not."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.articles.pdf_pages import PRINTED, TITLE, Line, changed, read


@pytest.mark.parametrize(
    "garbage",
    [
        "untitled", "Microsoft Word - manuscript_final.doc", "4567840.dvi", "pone.0056489 1..7", "elsarticle",
        "Layout 1",
        "Title", "s13063-014-0535-7.pdf", "PowerPoint Presentation", "main",
    ],
)  # fmt: skip
def test_garbage_in_the_metadata_is_no_title(garbage: str) -> None:
    assert read(info={"title": garbage}).title == TITLE
    assert read([(120, 9, "Nothing that looks like one")], info={"title": garbage}).title is None


def test_the_title_of_another_article_in_the_metadata_is_not_believed() -> None:
    left_over = "A template's example article about something else"
    assert read(info={"title": left_over}).title == TITLE
    assert read([], info={"title": left_over}).title is None, "nothing on the page confirms it"


def test_a_title_in_the_metadata_finds_the_printed_one_among_larger_type() -> None:
    lines = [*PRINTED, (90, 30, "Case Reports in Eye Medicine")]
    assert read(lines).title != TITLE
    found = read(lines, info={"title": TITLE})
    assert (found.title, found.sources["title"]) == (TITLE, "page 1, as in document information")


def test_what_is_printed_counts_where_the_metadata_lost_characters() -> None:
    printed = "Naïve Bayes for naïve eyes: a façade of fovea images"
    found = read(changed((2, (120, 18, printed))), info={"title": printed.encode("ascii", "replace").decode()})
    assert found.title == printed


def test_a_title_of_several_lines_is_one_and_the_kind_of_article_is_none_of_it() -> None:
    lines = [(96, 18, "Case Report"), (120, 18, "Serous macular detachment"), (142, 18, "secondary to an optic pit")]
    assert read(lines).title == TITLE


def test_two_headings_of_the_same_size_leave_the_title_open() -> None:
    lines = [(120, 18, TITLE), (300, 18, "Another article begins on the same page")]
    assert read(lines).title is None


def test_a_platforms_cover_page_does_not_hide_the_title() -> None:
    cover: list[Line] = [(80, 24, "Repository of the University Library"), (140, 9, TITLE)]
    assert read(cover, second=PRINTED, info={"title": TITLE}).title == TITLE
