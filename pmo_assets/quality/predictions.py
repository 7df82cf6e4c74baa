"""Findings of the pipeline as annotated articles, read back from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.annotation.annotations import AnnotatedArticle
from pmo_assets.pipeline.article import ArticleResult, annotation
from pmo_assets.quality.metrics.detection import IDENTIFIER, PANEL, LabelledBox
from pmo_assets.quality.metrics.matching import page_box
from pmo_assets.records.step_output import Row, rows_by_figure, rows_by_unit


def predicted_articles(
    names: Mapping[int, str], figures: Sequence[Row], assembled: Sequence[Row] = ()
) -> dict[int, AnnotatedArticle]:
    """Return the annotated articles that `pmo article` would write, from tables `figures` and `panel_assembly`.

    Figures stand in their order in the article; without assembly they have no panels.

    Args:
        names: package name by article number; other articles are left out.
        figures: rows of `figures`.
        assembled: rows of `panel_assembly`.
    """
    of_article, panels = rows_by_unit(figures), rows_by_unit(assembled)
    articles = {}
    for number, name in names.items():
        rows = sorted(of_article.get(number, []), key=lambda row: row["ordinal"])
        result = ArticleResult({"article_id": number}, rows, rows_by_figure(panels.get(number, [])), [])
        articles[number] = AnnotatedArticle.model_validate(annotation(name, result))
    return articles


def detected_boxes(figure: Mapping[str, Any], panels: Sequence[Row], images: Sequence[Row]) -> tuple[LabelledBox, ...]:
    """Return a figure's detections before assembly, in PDF points.

    Args:
        figure: row of `figures`.
        panels: its rows of `panel_detections`.
        images: its rows of `image_detections`.
    """
    frame = AnnotatedArticle.model_validate(
        {"article_id": "x", "figures": [{"figure_locations": figure["locations"]}]}
    ).figures[0]
    kinds = {"panel": PANEL, "identifier": IDENTIFIER}
    found = [
        LabelledBox(
            page_box(tuple(row["box"]), frame),
            kinds[row["kind"]],
            row["score"],
            name=row["text"],
            probability=row["probability"],
        )
        for row in panels
    ]
    found += [
        LabelledBox(
            page_box(tuple(row["box"]), frame),
            row["image_type"],
            row["score"],
            row["marked"],
            probability=row["probability"],
        )
        for row in images
    ]
    return tuple(found)
