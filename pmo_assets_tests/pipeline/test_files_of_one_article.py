"""A package whose files are not of one article: rejected before anything is extracted, or no figure of it goes out."""

from __future__ import annotations

import dataclasses
import re
from functools import cache

import pytest

from pmo_assets.pipeline.article import FoundFigures, find_figures
from pmo_assets.pipeline.articles.pdf_identity import MetadataOfAnotherArticle, PdfOfAnotherArticle
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.articles.steps import read_article, read_package_figures
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.pipeline.figures.steps import join_article_figures, locate_pdf_figures, match_article_figures
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.samples import TypesetArticle, sample_articles
from pmo_assets_tests.faults.wrong_pdf import behind_the_right_first_page, without_text
from pmo_assets_tests.pipeline.articles.pdf_pages import front_page
from pmo_assets_tests.pipeline.test_article_steps import credit_of, package_of


@cache
def retina() -> TypesetArticle:
    """An article about the retina: Figure 1 has four pictures, Figure 2 two plots."""
    return next(item for item in sample_articles() if "vector_plots" in item.expected.features)


@cache
def heart() -> TypesetArticle:
    """An article about the heart."""
    return next(
        item for item in sample_articles() if item.expected.features == ("two_columns", "not_ophthalmic", "logo")
    )


def found_in(article: TypesetArticle) -> FoundFigures:
    objects = MemoryObjects({})
    return find_figures(
        package_of(article, objects),
        objects,
        specialty=load_specialty("everything"),
        pixels=MemoryPixels({}),
        figure_options=FigureOptions(max_dpi=100),
    )


@pytest.mark.slow
def test_the_pdf_of_another_article_rejects_the_package_before_anything_is_extracted() -> None:
    found = found_in(dataclasses.replace(retina(), pdf=heart().pdf))
    assert found.figures is None
    (rejection,) = found.rejections
    assert (rejection.stage, rejection.error_class, rejection.traceback_tail) == ("articles", "PdfOfAnotherArticle", "")
    for article in (retina(), heart()):
        assert article.metadata["title"] in rejection.message


@pytest.mark.slow
def test_a_pdf_of_another_article_behind_the_right_first_page_publishes_no_figure_of_it() -> None:
    mine, other = retina().pdf, heart().pdf
    assert mine is not None
    assert other is not None
    found = found_in(dataclasses.replace(retina(), pdf=behind_the_right_first_page(mine, other)))
    assert found.article["pdf_identity"] == "unverified"
    theirs = {figure["caption"] for figure in heart().truth["figures"]}
    assert not [row for row in found.figures or () if row["caption"] in theirs or not row["matched"]]
    assert "FigureUnconfirmed" in {item.error_class for item in found.rejections}


@pytest.mark.slow  # a scan at full size
def test_a_scan_without_text_gives_the_figures_whose_pictures_are_the_packages() -> None:
    pdf = retina().pdf
    assert pdf is not None
    found = found_in(dataclasses.replace(retina(), pdf=without_text(pdf)))
    assert found.article["pdf_identity"] == "unverified"
    assert found.figures
    assert all(row["matched"] for row in found.figures)


def test_the_evidence_stands_in_the_row_of_the_article() -> None:
    row = credit_of(retina())
    assert (row["pdf_identity"], row["identity_evidence"]) == ("verified", ["text", "DOI", "title", "authors"])
    assert row["text_overlap"] >= 0.8
    alone = credit_of(dataclasses.replace(retina(), pdf=None))
    assert (alone["pdf_identity"], alone["identity_evidence"], alone["text_overlap"]) == (None, [], None)


def test_metadata_of_another_article_reject_the_package_with_both_titles() -> None:
    stated = {name: heart().metadata[name] for name in ("title", "doi")}
    with pytest.raises(MetadataOfAnotherArticle) as raised:
        credit_of(retina(), **stated)
    assert all(article.metadata["title"] in str(raised.value) for article in (retina(), heart()))
    with pytest.raises(PdfOfAnotherArticle):
        credit_of(dataclasses.replace(retina(), xml=None), **stated)


def test_metadata_that_nothing_ties_to_a_pdf_grant_no_licence() -> None:
    pdf = front_page([(40.0, 8.0, "Some pages without a title, or anything else that says what they are")])
    bare = dataclasses.replace(retina(), xml=None, pdf=pdf)
    stated = {"title": retina().metadata["title"], "doi": None, "license_code": "CC BY"}
    row = credit_of(bare, **stated)
    assert (row["pdf_identity"], row["license_code"]) == ("unverified", None)
    own = credit_of(dataclasses.replace(retina(), xml=None), **stated)
    assert (own["pdf_identity"], own["license_code"]) == ("verified", "CC BY")


# every figure that the XML lists is accounted for


def accounted(article: TypesetArticle) -> tuple[set[str], set[str], set[str]]:
    """Return the package figures, those that are figures, and those that a step rejected."""
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    package = package_of(article, objects)
    row = read_article(package, objects, load_specialty("everything")).rows[0]
    listed = read_package_figures(row, package, objects)
    located = locate_pdf_figures(row, listed.rows, objects, pixels, FigureOptions(max_dpi=100))
    matches = match_article_figures(row, located.rows, listed.rows, objects, pixels)
    joined = join_article_figures(row, located.rows, matches.rows, listed.rows)
    rejected = {item.part for output in (located, matches, joined) for item in output.rejections}
    return (
        {figure["image_cluster_id"] for figure in listed.rows},
        {figure["image_cluster_id"] for figure in joined.rows},
        {name for name in rejected if name is not None},
    )


def without_captions(article: TypesetArticle) -> TypesetArticle:
    """Return the article with figures of label and graphic alone, and other package pictures than the PDF's."""
    assert article.xml is not None
    xml = re.sub(rb"(<fig\b.*?)<caption>.*?</caption>", rb"\1", article.xml, flags=re.DOTALL)
    return dataclasses.replace(article, xml=xml, figures={})


def test_figures_with_label_and_graphic_but_no_caption_are_matched_by_their_label_and_counted_once() -> None:
    listed, found, rejected = accounted(without_captions(retina()))
    assert len(listed) == 2
    assert found == listed
    assert not rejected


def test_a_listed_figure_that_is_none_of_the_figures_found_is_rejected_by_name() -> None:
    bare = without_captions(retina())
    assert bare.xml is not None
    without_body = re.sub(
        rb"<body>.*?(<fig\b.*</fig>).*?</body>", rb"<body><sec>\1</sec></body>", bare.xml, flags=re.DOTALL
    )
    without_body = re.sub(rb"<p>.*?</p>", b"", without_body, flags=re.DOTALL)
    listed, found, rejected = accounted(dataclasses.replace(bare, xml=without_body))
    assert listed
    assert not (listed & found), "a number alone, and no text that both share"
    assert listed <= rejected
