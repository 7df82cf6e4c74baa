"""Which found figure is which annotated one, and how texts, labels and identifiers are compared.

Boxes are compared on the page, in PDF points, so that a figure box that is off does not shift its panels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein

from pmo_assets.annotation.annotations import AnnotatedArticle, AnnotatedFigure
from pmo_assets.records.geometry import Box, denormalise, iou
from pmo_assets.records.pairing import best_pairing

FOUND_IOU = 0.5
"""A figure, panel or image counts as found from this IoU on."""


@dataclass(frozen=True, slots=True)
class FigurePair:
    """An annotated figure and the found figure that is assigned to it.

    Attributes:
        article_id: number of the article.
        name: name of the article's package.
        ordinal: position of the annotated figure in its article.
        truth: the annotated figure.
        found: the found one; None when none overlaps.
        found_ordinal: its position among the article's found figures.
        iou: of the two on their page, 0..1.
    """

    article_id: int
    name: str
    ordinal: int
    truth: AnnotatedFigure
    found: AnnotatedFigure | None
    found_ordinal: int | None
    iou: float

    @property
    def key(self) -> tuple[int, int]:
        """Unique among all pairs."""
        return self.article_id, self.ordinal


@dataclass(frozen=True, slots=True)
class Matched:
    """All annotated figures with their counterpart, and the found figures that have none.

    Attributes:
        pairs: one per annotated figure, by article and position.
        spurious: (article number, name, found figure) that overlap no annotated figure left to assign.
        found: number of found figures.
    """

    pairs: tuple[FigurePair, ...]
    spurious: tuple[tuple[int, str, AnnotatedFigure], ...]
    found: int


def normalised_label(label: str | None) -> str:
    """Return the number in a label ("Figure 3" gives "3", "Fig. S2" gives "s2"); "" when there is none."""
    match = re.search(r"(s?\d+)", (label or "").lower())
    return match[1] if match else ""


def normalised_text(text: str | None) -> str:
    """Return a text with every run of white space as one blank, trimmed; "" for None."""
    return re.sub(r"\s+", " ", text or "").strip()


def text_similarity(a: str | None, b: str | None) -> float:
    """Return 1 - edit distance / length of the longer text, 0..1, after collapsing white space."""
    return float(Levenshtein.normalized_similarity(normalised_text(a), normalised_text(b)))


def page_box(box: Box, figure: AnnotatedFigure) -> Box:
    """Return a box normalised to a figure in PDF points of the page that the figure begins on."""
    return denormalise(box, figure.figure_locations[0].bbox)


def figure_iou(a: AnnotatedFigure, b: AnnotatedFigure) -> float:
    """Return the best IoU of two figures' locations on a common page, 0..1."""
    return max(
        (iou(p.bbox, q.bbox) for p in a.figure_locations for q in b.figure_locations if p.page == q.page), default=0.0
    )


def assigned_figures(
    truth: Sequence[AnnotatedFigure], found: Sequence[AnnotatedFigure]
) -> dict[int, tuple[int, float]]:
    """Return {annotated: (found, IoU)} of the assignment with the highest sum of IoU; only pairs that overlap."""
    if not truth or not found:
        return {}
    overlaps = np.array([[figure_iou(a, b) for b in found] for a in truth])
    rows, columns = best_pairing(overlaps)
    return {int(i): (int(j), float(overlaps[i, j])) for i, j in zip(rows, columns, strict=True) if overlaps[i, j] > 0}


def matched_articles(truth: Mapping[int, AnnotatedArticle], found: Mapping[int, AnnotatedArticle]) -> Matched:
    """Pair the figures of every annotated article; an article of which nothing was found has figures without a pair.

    Args:
        truth: annotated articles by number.
        found: articles as the pipeline found them, by number; those that are not annotated do not count.
    """
    pairs: list[FigurePair] = []
    spurious: list[tuple[int, str, AnnotatedFigure]] = []
    count = 0
    for number, article in truth.items():
        figures = found[number].figures if number in found else ()
        count += len(figures)
        assigned = assigned_figures(article.figures, figures)
        for ordinal, figure in enumerate(article.figures):
            index, overlap = assigned.get(ordinal, (None, 0.0))
            other = figures[index] if index is not None else None
            pairs.append(FigurePair(number, article.article_id, ordinal, figure, other, index, overlap))
        taken = {index for index, _ in assigned.values()}
        spurious += [(number, article.article_id, f) for index, f in enumerate(figures) if index not in taken]
    return Matched(tuple(pairs), tuple(spurious), count)
