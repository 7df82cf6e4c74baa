"""Mentions of typeset articles, whose references are known exactly: by the XML, and by the printed pages alone."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.paragraphs import paragraphs_of_pdf
from pmo_assets.pipeline.context.panel_mentions import NamedFigure, panel_mentions
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.records.context import RunningParagraph
from pmo_assets.samples.spec import TypesetArticle
from pmo_assets.samples.typesetter import typeset
from pmo_assets_tests.samples.random_specs import random_spec

Named = tuple[int, str | None]
"""Number of a figure, and the panel of it that is named; None for the figure as a whole."""


@cache
def article(seed: int) -> TypesetArticle:
    return typeset(dataclasses.replace(random_spec(seed), reference_sentences=6))


def letters(text: str) -> str:
    return "".join(text.split())


def paragraphs(made: TypesetArticle, source: str) -> tuple[RunningParagraph, ...]:
    assert made.xml is not None
    assert made.pdf is not None
    if source == "xml":
        return parse_jats(made.xml).paragraphs
    return tuple(
        paragraphs_of_pdf(extract_figures(made.pdf, options=FigureOptions(render=False, paragraphs=True)).paragraphs)
    )


@pytest.mark.parametrize("source", ["xml", "pdf"])
@pytest.mark.parametrize("seed", [21, 22, 24])
def test_every_reference_is_read_and_nothing_else(seed: int, source: str) -> None:
    made = article(seed)
    figures = [
        NamedFigure(str(number), figure["label"], tuple(panel["identifier"] for panel in figure["panels"]))
        for number, figure in enumerate(made.truth["figures"], start=1)
    ]
    clusters = {figure["image_cluster_id"]: str(n) for n, figure in enumerate(made.truth["figures"], start=1)}
    text = [
        dataclasses.replace(
            paragraph,
            references=tuple(
                dataclasses.replace(mark, image_cluster_id=clusters[mark.image_cluster_id])
                for mark in paragraph.references
            ),
        )
        for paragraph in paragraphs(made, source)
    ]
    truth: dict[str, set[Named]] = {}
    for item in made.references:
        for one in item.named or ():
            names: set[Named] = {(one.figure, name) for name in one.identifiers} or {(one.figure, None)}
            truth.setdefault(letters(item.sentence), set()).update(names)
    carried_on = {letters(item.sentence) for item in made.references if item.named is None}

    found: dict[str, set[Named]] = {}
    for number, own in panel_mentions(text, figures).items():
        for mention in own.mentions:
            if mention.kind == "follows":
                assert letters(mention.sentence) in carried_on
            else:
                found.setdefault(letters(mention.sentence), set()).add((int(number), mention.identifier))

    assert found == truth
