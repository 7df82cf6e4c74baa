"""Credit: citations name what is known and nothing twice; links lead to PubMed Central or to the DOI."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.credit import article_url, citation_text, full_citation, pmc_number, same_article


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("Trials", 2015, "16(1)", "15"), "Trials. 2015; 16(1): 15"),
        (("J. Neural Eng.", 2025, "22", "046017"), "J. Neural Eng. 2025; 22: 046017"),
        (("Trials", 2015, None, None), "Trials. 2015"),
        ((None, 2015, None, "e1"), "2015: e1"),
        (("Trials", None, None, None), "Trials"),
        ((None, None, None, None), ""),
    ],
)
def test_a_citation_leaves_out_what_is_not_known(
    parts: tuple[str | None, int | None, str | None, str | None], text: str
) -> None:
    assert citation_text(*parts) == text


def test_a_full_citation_names_authors_source_and_doi() -> None:
    assert (
        full_citation(["Selim Cevher", "Fikret Unal"], "Case Rep. 2016; 2016: 4567840", "10.1155/2016/4567840")
        == "Selim Cevher, Fikret Unal. Case Rep. 2016; 2016: 4567840. https://doi.org/10.1155/2016/4567840"
    )


def test_more_than_six_authors_are_cited_by_the_first_six() -> None:
    authors = [f"Given Name{n}" for n in range(9)]
    assert full_citation(authors, None, None) == ", ".join(authors[:6]) + " et al"


def test_what_a_sources_citation_holds_already_is_not_said_twice() -> None:
    stated = "Cevher S, et al. Case Rep. 2016. doi: 10.1155/2016/ABC"
    assert full_citation(["Selim Cevher"], stated, "10.1155/2016/abc") == stated


@pytest.mark.parametrize("citation", ["Clin Ophthalmol. 2016; 3: 1", "J Ophthalmol. 2016; 3: 1", "Li. 2016; 3: 1"])
def test_a_surname_inside_a_journals_name_is_no_author(citation: str) -> None:
    assert full_citation(["Fei Li"], citation, None) == f"Fei Li. {citation}"


def test_of_nothing_known_there_is_no_citation() -> None:
    assert full_citation([], None, None) is None
    assert full_citation([], "", None) is None


@pytest.mark.parametrize(
    ("article_id", "stated", "number"),
    [
        (4736323, None, 4736323),
        (4736323, 99, 4736323),
        (10**12 + 5, 99, 99),
        (10**12 + 5, None, None),
        (9 * 10**9, 9 * 10**9, None),
    ],
)
def test_the_pmc_number_is_the_packages_or_the_one_its_xml_states(
    article_id: int, stated: int | None, number: int | None
) -> None:
    assert pmc_number(article_id, stated) == number


def test_articles_are_linked_at_pubmed_central_else_at_their_doi() -> None:
    assert article_url(7, "10.1000/1") == "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/"
    assert article_url(None, "10.1000/1(2)#3") == "https://doi.org/10.1000/1(2)%233"
    assert article_url(None, None) is None


# the same title

TITLE = "Response of the fovea to light: a serous detachment"


@pytest.mark.parametrize(
    "other",
    [TITLE, TITLE.upper(), f"RETRACTED: {TITLE}", f"[Retracted Article] {TITLE}.", TITLE.replace("fovea", "fovéa")],
)
def test_spelling_and_a_retraction_mark_make_no_other_article(other: str) -> None:
    assert same_article(TITLE, other)


@pytest.mark.parametrize(
    "other",
    [
        f"Comment on: {TITLE}", f"Re: {TITLE}", f"Correction: {TITLE}", f"Correction to: {TITLE}",
        f"Erratum to {TITLE}",
        f"Reply to “{TITLE}”", f"Authors' response to {TITLE}", f"Retraction Note: {TITLE}", f"{TITLE}—Reply",
        f"{TITLE}: Author's Reply", f"{TITLE} (Corrigendum)", "", None,
    ],
)  # fmt: skip
def test_what_bears_another_articles_title_is_not_that_article(other: str | None) -> None:
    assert not same_article(TITLE, other)
    assert not same_article(other, other), "two letters about one article bear the same title"


@pytest.mark.parametrize("title", ["Re-evaluation of the fovea", "A long-term dose-response", "Corrections of myopia"])
def test_words_of_a_notice_inside_a_title_make_none(title: str) -> None:
    assert same_article(title, title.upper())


def test_other_titles_are_other_articles() -> None:
    assert not same_article(TITLE, "Another paper about macular holes in the eye")


@given(st.none() | st.text(), st.none() | st.text())
def test_the_order_of_titles_does_not_matter(one: str | None, other: str | None) -> None:
    assert same_article(one, other) == same_article(other, one)
