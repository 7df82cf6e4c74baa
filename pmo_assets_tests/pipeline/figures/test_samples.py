"""Typeset sample articles: whatever the layout, every figure is found on every page it stands on, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.caption_location.labels import figure_number
from pmo_assets.pipeline.figures.extraction import Extraction, FigureOptions, extract_figures
from pmo_assets.records.geometry import iou
from pmo_assets.samples import TypesetArticle, sample_articles, typeset
from pmo_assets_tests.examples import examples
from pmo_assets_tests.samples.random_specs import random_spec

BOXES_ONLY = FigureOptions(render=False)


def _extraction(article: TypesetArticle, with_xml: bool) -> Extraction:
    assert article.pdf is not None
    known = parse_jats(article.xml).figures if with_xml and article.xml is not None else ()
    return extract_figures(article.pdf, known, BOXES_ONLY)


def _assert_all_found(article: TypesetArticle, extraction: Extraction) -> None:
    found = {figure_number(figure.label): figure for figure in extraction.figures}
    wanted = {figure_number(figure["label"]): figure for figure in article.truth["figures"]}
    assert len(extraction.figures) == len(wanted)
    assert found.keys() == wanted.keys()
    for number, figure in wanted.items():
        for places, truth in (
            (found[number].locations, figure["figure_locations"]),
            (found[number].caption_locations, figure["caption_locations"]),
        ):
            assert [place.page for place in places] == [place["page"] for place in truth]
            for place, expected in zip(places, truth, strict=True):
                assert iou(place.bbox, tuple(expected["bbox"])) > 0.9, (article.name, number, place, expected)
        assert found[number].caption == figure["caption"]


@examples(12, derandomize=True)
@given(seed=st.integers(0, 1_000_000), with_xml=st.booleans())
def test_random_layouts(seed: int, with_xml: bool) -> None:
    article = typeset(random_spec(seed))
    _assert_all_found(article, _extraction(article, with_xml))


@pytest.mark.parametrize(
    ("seed", "what"),
    [
        (2, "a figure in each column, one with its caption above"),
        (33, "a heading directly below the figure"),
        (75, "two pages, 'Continued.' on the first"),
        (1012, "the last row of a figure is closer to the next figure's caption"),
        (1144, "an identifier at the very top of the page"),
        (1184, "two pages, short caption far from a narrow figure"),
        (1219, "a plot closer to the neighbouring column's caption than to its own"),
    ],
)
def test_layouts_that_need_a_rule_of_their_own(seed: int, what: str) -> None:
    article = typeset(random_spec(seed))
    _assert_all_found(article, _extraction(article, with_xml=False))


@pytest.mark.parametrize("feature", ["figure_over_two_pages", "caption_beside"])
def test_standard_set(feature: str) -> None:
    articles = list(sample_articles(3, features=[feature]))
    assert articles
    for article in articles:
        _assert_all_found(article, _extraction(article, with_xml=True))
