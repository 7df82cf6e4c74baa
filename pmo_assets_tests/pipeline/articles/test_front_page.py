"""Title, authors, DOI and journal from a PDF: what is confirmed is taken, what is doubtful is left out."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from pmo_assets.pipeline.articles import front_page as reader
from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.licences import license_code, license_url
from pmo_assets.pipeline.figures.page import UnreadablePdf
from pmo_assets_tests.pipeline.articles.pdf_pages import Line, front_page, xmp_packet

TITLE = "Serous macular detachment secondary to an optic pit"
PRINTED: list[Line] = [
    (40, 8, "Case Rep Eyes. 2016;3:17"),
    (52, 8, "https://doi.org/10.1000/eyes.17"),
    (120, 18, TITLE),
    (150, 11, "Selim Cevher, Nedime Sahinoglu-Keskek and Fikret Unal"),
    (170, 8, "Department of Ophthalmology, State Hospital, Konya, Turkey"),
    (185, 8, "Correspondence: cevher@example.org"),
    (200, 8, "Copyright 2016 The Authors. This article is distributed under the Creative Commons Attribution License"),
]


def read(lines: list[Line] = PRINTED, **options: object) -> FrontMatter:
    return read_front_matter(front_page(lines, **options))  # type: ignore[arg-type]


def changed(*changes: tuple[int, Line | None]) -> list[Line]:
    lines: list[Line | None] = list(PRINTED)
    for place, line in changes:
        lines[place] = line
    return [line for line in lines if line is not None]


def test_what_is_printed_is_read_with_its_place() -> None:
    found = read()
    assert found.title == TITLE
    assert found.authors == ("Selim Cevher", "Nedime Sahinoglu-Keskek", "Fikret Unal")
    assert (found.doi, found.journal, found.year) == ("10.1000/eyes.17", "Case Rep Eyes", 2016)
    assert (found.volume, found.pages) == ("3", "17")
    assert found.sources["title"] == "page 1"
    assert found.sources["doi"] == "header or footer"


def test_an_empty_page_says_nothing() -> None:
    assert read([]) == FrontMatter()


def test_a_file_that_is_no_pdf_is_named_so() -> None:
    with pytest.raises(UnreadablePdf):
        read_front_matter(b"nothing")


@pytest.mark.parametrize("step", ["page_content", "loaded_page"])
def test_exhausted_memory_is_no_empty_page(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reader, step, exhausted)
    with pytest.raises(MemoryError):
        read()


def test_exhausted_memory_is_not_a_page_without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_: object) -> None:
        raise RuntimeError("code=2: malloc (72 bytes) failed")

    monkeypatch.setattr(pymupdf.Page, "get_links", exhausted)
    with pytest.raises(RuntimeError, match="malloc"):
        read()


# title


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


# authors


def test_a_first_author_in_the_metadata_is_not_all_authors() -> None:
    found = read(info={"author": "Selim Cevher"})
    assert found.authors == ("Selim Cevher", "Nedime Sahinoglu-Keskek", "Fikret Unal")
    lines = changed((3, (150, 11, "Selim Cevher, the University of Konya, and others at the same place")))
    assert read(lines, info={"author": "Selim Cevher"}).authors == (), "the others are not known"


def test_authors_in_the_metadata_must_be_printed() -> None:
    lines = changed((3, None))
    people = ["Cevher, Selim", "Unal, Fikret"]
    assert read(lines, xmp=xmp_packet(creators=people)).authors == ()
    with_names = [*lines, (300, 9, "S. Cevher and F. Unal wrote the paper.")]
    assert read(with_names, xmp=xmp_packet(creators=people)).authors == ("Selim Cevher", "Fikret Unal")


@pytest.mark.parametrize(
    "byline",
    ["Department of Ophthalmology, Konya", "A case report from Turkey", "Abstract", "SELIM CEVHER, FIKRET UNAL"],
)
def test_what_is_no_list_of_names_gives_no_authors(byline: str) -> None:
    assert read(changed((3, (150, 11, byline)))).authors == ()


@pytest.mark.parametrize(
    "subtitle", ["Diabetic Macular Edema", "Optical Coherence Tomography, Fundus Photography and Visual Fields"]
)
def test_a_subtitle_that_looks_like_names_gives_no_authors(subtitle: str) -> None:
    assert read(changed((3, (150, 11, subtitle)))).authors == ()


def test_marks_and_degrees_are_no_names() -> None:
    lines = changed((3, (150, 11, "Selim Cevher, MD, PhD1*, Tomoko Aoki2 & Jan van der Berg3")))
    assert read(lines).authors == ("Selim Cevher", "Tomoko Aoki", "Jan van der Berg")


# DOI


def test_the_doi_of_the_metadata_counts_unless_the_page_contradicts_it() -> None:
    found = read(xmp=xmp_packet(prism={"doi": "10.1000/EYES.17"}))
    assert (found.doi, found.sources["doi"]) == ("10.1000/EYES.17", "XMP prism:doi, printed in header or footer")
    found = read(changed((1, None)), xmp=xmp_packet(title=TITLE, prism={"doi": "10.1000/other"}))
    assert (found.doi, found.sources["doi"]) == ("10.1000/other", "XMP prism:doi"), (
        "the metadata state the printed title"
    )
    assert read(xmp=xmp_packet(prism={"doi": "10.1000/other"})).doi is None
    assert read(xmp=xmp_packet(title=TITLE, prism={"doi": "10.1000/other"})).doi is None


@pytest.mark.parametrize(
    "title", ["", "A template's example article about something else", "Case Reports in Eye Medicine"]
)
def test_what_a_template_left_in_the_metadata_is_not_believed(title: str) -> None:
    facts = {"doi": "10.1000/t", "publicationName": "Case Reports in Eye Medicine", "coverDate": "2001", "volume": "8"}
    lines: list[Line] = [(40, 8, "Case Reports in Eye Medicine"), (120, 18, TITLE), (300, 9, "This is open access.")]
    deed = "https://creativecommons.org/licenses/by/4.0/"
    found = read(lines, xmp=xmp_packet(title=title, prism=facts, rights=deed))
    assert (found.title, found.doi, found.journal, found.year, found.volume) == (TITLE, None, None, None, None)
    assert found.licences == ()
    found = read(lines, xmp=xmp_packet(title=TITLE, prism=facts, rights=deed), info={"title": title})
    assert (found.doi, found.year, found.licences) == ("10.1000/t", 2001, (deed,))


ANOTHERS = [
    ["Comment on: Smith J et al., https://doi.org/10.1000/original.1"],
    ["We read with interest the article by Smith (doi: 10.1000/original.1) on", "glaucoma."],
    ["This corrects the article: doi:10.1000/original.1"],
    ["Correction to: J Eyes 20, 1 (2020)", "https://doi.org/10.1000/original.1"],
    ["The online version of the original article can be found at", "https://doi.org/10.1000/original.1"],
    ["DOI of original article: https://doi.org/10.1000/original.1"],
    ["In reply to the letter by A. Author, doi:10.1000/original.1"],
    ["Methods are those of the study at https://doi.org/10.1000/original.1 which"],
]


@pytest.mark.parametrize("lines", ANOTHERS)
@pytest.mark.parametrize("top", [40, 310, 800])
def test_the_doi_of_a_commented_corrected_or_cited_article_is_not_the_articles(lines: list[str], top: int) -> None:
    notice: list[Line] = [(top + 11 * n, 9, line) for n, line in enumerate(lines)]
    assert read([*changed((0, None), (1, None)), *notice]).doi is None
    assert read([PRINTED[2], (66, 8, "https://doi.org/10.1000/eyes.17"), *notice]).doi == "10.1000/eyes.17"


@pytest.mark.parametrize(
    "line",
    [
        "bioRxiv preprint doi: https://doi.org/10.1000/eyes.17; this version posted June 7, 2021.",
        "Cevher et al. Case Rep Eyes (2016) 3:17 | https://doi.org/10.1000/eyes.17 | www.example.org",
        "DOI: 10.1000/eyes.17",
    ],
)
def test_header_and_footer_give_the_doi_in_many_forms(line: str) -> None:
    for top in (40, 820):
        assert read([*changed((0, None), (1, None)), (top, 8, line)]).doi == "10.1000/eyes.17"


def test_a_letters_metadata_left_over_from_the_article_it_is_about_are_not_believed() -> None:
    xmp = xmp_packet(title=TITLE, prism={"doi": "10.1000/original.1", "publicationName": "J Eyes"})
    letter = changed((0, None), (1, None), (2, (120, 18, f"Comment on: {TITLE}")))
    assert (read(letter, xmp=xmp).doi, read(letter, xmp=xmp).journal) == (None, None)
    quoting = [
        *changed((0, None), (1, None), (2, (120, 18, "A letter about optic discs"))),
        (300, 9, f"In {TITLE} we read"),
    ]
    assert read(quoting, xmp=xmp).doi is None


@pytest.mark.parametrize(
    "label",
    [
        "Citation:",
        "To cite this article:",
        "Cite this article as:",
        "How to cite this article:",
        "Recommended citation:",
    ],
)
def test_the_articles_own_citation_gives_its_doi(label: str) -> None:
    cited: list[Line] = [
        (300, 9, f"{label} Cevher S, Unal F (2016) Serous macular detachment. Case Rep"),
        (311, 9, "Eyes 3: 17. doi:10.1000/eyes.17"),
        (322, 9, "Editor: A. Editor, author of doi:10.1000/original.1"),
    ]
    found = read([*changed((1, None)), *cited])
    assert (found.doi, found.sources["doi"]) == ("10.1000/eyes.17", "citation on the front page")
    assert read([*PRINTED, (300, 9, f"{label} Another. doi:10.1000/original.1")]).doi is None, "contradicts the header"


def test_dois_of_cited_articles_and_of_data_are_not_the_articles() -> None:
    cited: list[Line] = [
        (300, 9, "References"),
        (312, 9, "1. A. Author. J Eyes 2010. doi:10.1000/cited.1"),
        (830, 8, "2. B. Author. J Eyes 2011. doi:10.1000/cited.2"),
    ]
    data: list[Line] = [(310, 8, "Data: https://doi.org/10.5061/dryad.1234")]
    assert read([*PRINTED, *cited]).doi == "10.1000/eyes.17"
    assert read(changed((1, None)) + cited).doi is None
    assert read([*PRINTED, *data]).doi == "10.1000/eyes.17"
    assert read(changed((1, None)) + data).doi is None


def test_the_doi_of_a_figure_is_not_the_articles() -> None:
    figure: Line = (830, 9, "doi:10.1000/eyes.17.g001")
    assert read([*PRINTED, figure]).doi == "10.1000/eyes.17"
    assert read([*changed((1, None)), figure]).doi is None


def test_two_dois_on_the_page_leave_it_open_unless_one_stands_in_the_header() -> None:
    commented: Line = (300, 9, "Comment on doi:10.1000/eyes.3")
    assert read([*PRINTED, commented]).doi == "10.1000/eyes.17"
    assert read([*PRINTED, (830, 9, "doi:10.1000/eyes.3")]).doi is None


def test_a_doi_that_is_not_announced_as_one_is_left_in_the_text() -> None:
    assert read(changed((1, (300, 9, "as in the record 10.1000/eyes.4 of the registry")))).doi is None


def test_a_doi_broken_into_two_lines_is_taken_from_the_link() -> None:
    lines = changed((1, (52, 8, "https://doi.org/10.1000/eyes.")), (0, (61, 8, "2016.17")))
    assert read(lines).doi is None, "half a DOI is another article's"
    assert read(lines, links=["https://doi.org/10.1000/eyes.2016.17"]).doi == "10.1000/eyes.2016.17"


# journal and year


def test_a_sentence_is_no_citation() -> None:
    found = read([*changed((0, None)), (300, 9, "In study 12 (2014) 33 patients were examined")])
    assert (found.journal, found.volume) == (None, None)
    assert found.year == 2016, "the copyright's"


def test_the_metadata_of_the_publication_counts_first() -> None:
    found = read(
        xmp=xmp_packet(title=TITLE, prism={"publicationName": "Case Reports in Eyes", "coverDate": "2017-01-01"})
    )
    assert (found.journal, found.year) == ("Case Reports in Eyes", 2017)
    assert found.sources["year"] == "XMP prism:coverdate"


def test_several_copyright_years_leave_the_year_open() -> None:
    found = read([*changed((0, None)), (300, 9, "Reproduced from (c) 2009 Somebody")])
    assert found.year is None


# licence


def test_licences_come_from_the_metadata_and_the_pages() -> None:
    found = read(xmp=xmp_packet(title=TITLE, rights="https://creativecommons.org/licenses/by/4.0/"))
    assert found.licences[0] == "https://creativecommons.org/licenses/by/4.0/"
    assert "Creative Commons Attribution License" in found.licences[1]


@pytest.mark.parametrize(
    ("printed", "stated", "code"),
    [
        ("(c) 2021 The Publisher. All rights reserved.", "by", None),
        ("Open access. (c) 2021 The Publisher. All rights reserved.", "by", None),
        ("(c) 2021 The Publisher.", "by", None),
        ("Open access", "by", "CC BY"),
        ("Licensed under Creative Commons", "by-nc", "CC BY-NC"),
        ("This is an open access article under the CC BY-NC 4.0 license, Creative Commons", "by", "CC BY-NC"),
        ("This is an open access article under the CC BY 4.0 license, Creative Commons", "by-nc-nd", "CC BY-NC-ND"),
        ("This article is available under a CC BY license. All rights reserved.", "by", "CC BY"),
    ],
)
def test_a_licence_in_the_metadata_counts_where_the_pages_confirm_it(
    printed: str, stated: str, code: str | None
) -> None:
    xmp = xmp_packet(title=TITLE, rights=f"https://creativecommons.org/licenses/{stated}/4.0/")
    found = read(changed((6, (200, 8, printed))), xmp=xmp)
    assert license_code(" ".join(found.licences)) == code


def test_a_statement_in_words_may_link_to_its_version() -> None:
    deed = "https://creativecommons.org/licenses/by/4.0/"
    found = read(links=["https://example.org/", deed])
    assert found.license_links == deed
    assert license_url("CC BY", *found.licences, found.license_links) == deed
    both = read(links=[deed, "https://creativecommons.org/licenses/by/3.0/"])
    assert license_url("CC BY", *both.licences, both.license_links) is None, "two versions"


# real articles


@pytest.mark.parametrize("name", ["PMC4736323", "bmc_trials_16_1_15", "plos_pone.0056489"])
def test_real_front_pages_say_what_the_xml_says(shared_folder: Path, name: str) -> None:
    folder = shared_folder / "corpus" / name
    found = read_front_matter((folder / "article.pdf").read_bytes())
    article = parse_jats((folder / "article.xml").read_bytes())
    assert (found.title, found.doi, found.year) == (article.title, article.doi, article.year)
    assert found.authors == article.authors
