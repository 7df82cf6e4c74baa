"""DOIs: recognised, cleaned of what stands around them, compared without case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.dois import clean_doi, doi_key, doi_url, dois_in


@pytest.mark.parametrize(
    ("written", "doi"),
    [
        ("10.1155/2016/4567840", "10.1155/2016/4567840"),
        ("doi:10.1155/2016/4567840", "10.1155/2016/4567840"),
        ("DOI: 10.1155/2016/4567840.", "10.1155/2016/4567840"),
        ("https://doi.org/10.1371/journal.pone.0076677", "10.1371/journal.pone.0076677"),
        ("http://dx.doi.org/10.1016%2Fj.media.2024.103104", "10.1016/j.media.2024.103104"),
        ("10.1016/S0140-6736(16)00123-4", "10.1016/S0140-6736(16)00123-4"),
        ("10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2", None),
        ("10.1155/", None),
        ("10.1155", None),
        ("2016/4567840", None),
        ("", None),
        (None, None),
    ],
)
def test_a_doi_is_freed_of_address_prefix_and_punctuation(written: str | None, doi: str | None) -> None:
    if doi is None and written and "SICI" in written:
        doi = written  # brackets and angles belong to old DOIs
    assert clean_doi(written) == doi


def test_dois_in_running_text_end_where_the_sentence_goes_on() -> None:
    text = "(see doi:10.1000/ab.c), https://doi.org/10.1000/xy(z)1; and 10.1000/q]."
    assert [doi for _, _, doi in dois_in(text)] == ["10.1000/ab.c", "10.1000/xy(z)1", "10.1000/q"]


def test_dois_are_compared_without_case() -> None:
    assert doi_key("10.1016/S0140") == doi_key("10.1016/s0140")


@given(st.text(st.characters(codec="ascii", exclude_categories=["Zs", "Cc"]), min_size=1, max_size=40))
def test_the_address_of_a_doi_gives_it_back(suffix: str) -> None:
    doi = clean_doi(f"10.1000/{suffix}")
    if doi is not None:
        assert clean_doi(doi_url(doi)) == doi
