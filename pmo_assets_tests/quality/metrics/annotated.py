"""Annotated articles for tests: built by hand, with boxes that are easy to reckon with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.annotation.annotations import AnnotatedArticle, AnnotatedFigure

PAGE_BOX = (100.0, 100.0, 300.0, 200.0)
"""A figure of 200 by 100 points."""


def image(
    box: Sequence[float], kind: str | None = "OCT", marked: bool | None = False, score: float = 1.0
) -> dict[str, Any]:
    return {"box": list(box), "type": kind, "marked": marked, "score": score}


def panel(
    identifier: str | None, box: Sequence[float], *images: Mapping[str, Any], text: str | None = "", **more: Any
) -> dict[str, Any]:
    return {"identifier": identifier, "box": list(box), "subcaption": text, "images": list(images), **more}


def figure(
    *panels: Mapping[str, Any],
    label: str = "Figure 1",
    box: Sequence[float] = PAGE_BOX,
    page: int = 0,
    caption: str = "A retina seen from above.",
) -> AnnotatedFigure:
    return AnnotatedFigure.model_validate(
        {
            "label": label,
            "image_cluster_id": "f1",
            "figure_locations": [{"page": page, "bbox": list(box)}],
            "caption": caption,
            "panels": list(panels),
        }
    )


def article(*figures: AnnotatedFigure, name: str = "PMC1") -> AnnotatedArticle:
    return AnnotatedArticle(article_id=name, figures=figures)


def two_panels(**options: Any) -> AnnotatedFigure:
    """A figure of an OCT (left, marked) and a CFP (right)."""
    return figure(
        panel(
            "a",
            (0, 0, 0.5, 1),
            image((0, 0, 0.5, 1), "OCT", True),
            text="An OCT scan.",
            identifier_box=[0, 0, 0.1, 0.1],
        ),
        panel("b", (0.5, 0, 1, 1), image((0.5, 0, 1, 1), "CFP"), text="A fundus photograph."),
        **options,
    )
