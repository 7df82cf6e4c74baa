"""The DOI: the article's own, not one that it cites, comments on or keeps its data under."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.articles.pdf_pages import PRINTED, TITLE, Line, changed, read, xmp_packet


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
