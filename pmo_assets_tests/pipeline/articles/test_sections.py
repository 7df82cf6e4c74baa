"""Classes of sections, by type, title and the section around them."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.sections import section_class
from pmo_assets.records.context import SectionClass


@pytest.mark.parametrize(
    ("title", "section"),
    [
        ("Introduction", "introduction"),
        ("1. Introduction", "introduction"),
        ("I. INTRODUCTION", "introduction"),
        ("Background", "introduction"),
        ("Materials and Methods", "methods"),
        ("2.1 Patients and methods", "methods"),
        ("Methodology", "methods"),
        ("Statistical analysis", "methods"),
        ("Results", "results"),
        ("3. Results and Discussion", "results"),
        ("Experimental Results", "results"),
        ("Discussion", "discussion"),
        ("Conclusions", "conclusion"),
        ("Summary", "conclusion"),
        ("Case presentation", "case"),
        ("2. Case Report", "case"),
        ("Case 2", "case"),
        ("Patient information", "case"),
        ("Appendix A", "appendix"),
        ("Case selection", "other"),
        ("Acknowledgements", "other"),
        ("Result-oriented ophthalmology", "results"),
        ("Retinal imaging", "other"),
        (None, "other"),
    ],
)
def test_class_by_title(title: str | None, section: SectionClass) -> None:
    assert section_class(title) == section


@pytest.mark.parametrize(
    ("kind", "section"),
    [
        ("materials|methods", "methods"),
        ("intro", "introduction"),
        ("cases", "case"),
        ("results", "results"),
        ("supplementary-material", "appendix"),
        ("", "other"),
    ],
)
def test_class_by_type(kind: str, section: SectionClass) -> None:
    assert section_class("Something else", kind=kind) == section


def test_subsections_have_the_class_of_the_section_around_them() -> None:
    assert section_class("Case 2", parent="discussion") == "discussion"
    assert section_class("Purpose", parent="abstract") == "abstract"
    assert section_class("Methods", parent="other") == "methods"
    assert section_class(None, parent="results") == "results"


def test_an_endless_title_is_looked_at_where_it_begins() -> None:
    assert section_class("Results " + "of all " * 100_000) == "results"
    assert section_class("x " * 500_000) == "other"
