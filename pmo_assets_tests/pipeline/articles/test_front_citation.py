"""Journal, year, volume and pages: a line in a citation's format, not a sentence that looks like one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pmo_assets.pipeline.articles.front_citation import is_plausible_year
from pmo_assets_tests.pipeline.articles.pdf_pages import TITLE, changed, read, xmp_packet


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


@pytest.mark.parametrize(
    ("years", "plausible"), [(-400, False), (-30, True), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_year_of_publication_is_not_far_ahead(years: int, plausible: bool) -> None:
    assert is_plausible_year(str(datetime.now(tz=UTC).year + years)) is plausible
    assert not is_plausible_year("MMXX")
