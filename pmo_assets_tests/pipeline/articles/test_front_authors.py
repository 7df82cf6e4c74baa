"""The authors: a list that is certainly complete, or none."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.articles.pdf_pages import changed, read, xmp_packet


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
