"""Summary of a comparison of a published file and a release: counts, distributions, and the worst disagreements."""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Final

from pmo_assets.release.comparing.comparison import CONTAINED, ComparedArticle, ComparedPanel, Side, side

IOU_EDGES: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Edges of the classes of overlap; the last class includes 1."""

MARKS: Final = "marked"


def agreement(said: Mapping[Side, int]) -> float | None:
    """Return the share of panels of which both files say the same, 0..1; None without panels."""
    total = sum(said.values())
    return (said["both"] + said["neither"]) / total if total else None


@dataclass
class Numbers:
    """Numbers of 0..1 of which mean, median and classes are wanted."""

    values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, value: float | None) -> None:
        """Take a number; None is none."""
        if value is not None:
            self.values.append(value)

    @property
    def mean(self) -> float | None:
        """Mean; None without numbers."""
        return fmean(self.values) if self.values else None

    @property
    def median(self) -> float | None:
        """Median; None without numbers."""
        return median(self.values) if self.values else None

    def classes(self, edges: Sequence[float] = IOU_EDGES) -> list[int]:
        """Return the count of numbers in each class [lower, upper), the last one with its upper edge."""
        counts = [0] * (len(edges) - 1)
        for value in self.values:
            place = next((n for n, upper in enumerate(edges[1:]) if value < upper), len(counts) - 1)
            counts[place] += 1
        return counts


@dataclass
class ComparisonSummary:
    """Counts, distributions and worst disagreements of a comparison.

    Attributes:
        articles, figures, panels: found by both, by one.
        matched_by: figures by the evidence that they are the same.
        figure_iou, panel_iou: overlaps of those that both have.
        subcaptions: pairs of panels by whether both files have the subcaption.
        exact: compared subcaptions that are the same but for white space.
        edit_similarity, token_overlap: of compared subcaptions.
        same_name: pairs of panels by whether their identifiers are the same.
        contained: per image type, and for marks: panels by which of the files says that they hold it.
        image_types, marks: (there, here) of images in panels that both have.
        same_licence: articles of both by whether their licences are the same.
        licences: (there, here) where they are not.
        absent_articles, absent_figures, absent_panels: reasons why the release lacks those of the published file.
        worst_subcaptions, worst_boxes: pairs that agree least, the worst first.
    """

    articles: Counter[Side] = field(default_factory=Counter)
    figures: Counter[Side] = field(default_factory=Counter)
    panels: Counter[Side] = field(default_factory=Counter)
    matched_by: Counter[str] = field(default_factory=Counter)
    figure_iou: Numbers = field(default_factory=Numbers)
    panel_iou: Numbers = field(default_factory=Numbers)
    subcaptions: Counter[str] = field(default_factory=Counter)
    exact: int = 0
    edit_similarity: Numbers = field(default_factory=Numbers)
    token_overlap: Numbers = field(default_factory=Numbers)
    same_name: Counter[bool] = field(default_factory=Counter)
    contained: Mapping[str, Counter[Side]] = field(
        default_factory=lambda: {name: Counter() for name in (*CONTAINED, MARKS)}
    )
    image_types: Counter[tuple[str, str]] = field(default_factory=Counter)
    marks: Counter[tuple[str, str]] = field(default_factory=Counter)
    same_licence: Counter[bool] = field(default_factory=Counter)
    licences: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    absent_articles: Counter[str] = field(default_factory=Counter)
    absent_figures: Counter[str] = field(default_factory=Counter)
    absent_panels: Counter[str] = field(default_factory=Counter)
    worst_subcaptions: list[ComparedPanel] = field(default_factory=list)
    worst_boxes: list[ComparedPanel] = field(default_factory=list)


class _Worst:
    """The pairs with the lowest values, of any number; of equal ones the first."""

    def __init__(self, kept: int) -> None:
        self._kept, self._order = kept, 0
        self._heap: list[tuple[float, int, ComparedPanel]] = []

    def add(self, value: float, panel: ComparedPanel) -> None:
        self._order += 1
        entry = (-value, -self._order, panel)
        if len(self._heap) < self._kept:
            heapq.heappush(self._heap, entry)
        elif self._heap and entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def panels(self) -> list[ComparedPanel]:
        return [panel for _, _, panel in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


def summarised(articles: Iterable[ComparedArticle], worst: int = 50) -> ComparisonSummary:
    """Return the summary of a comparison.

    Args:
        articles: of both files.
        worst: number of the pairs that agree least to keep.
    """
    summary = ComparisonSummary()
    texts, boxes = _Worst(worst), _Worst(worst)
    for article in articles:
        _count_article(summary, article)
        for panel in article.panels:
            summary.panels[panel.found_by] += 1
            if panel.found_by == "published":
                summary.absent_panels[panel.reason or ""] += 1
            if panel.found_by == "both":
                _count_pair(summary, panel, texts, boxes)
    summary.worst_subcaptions, summary.worst_boxes = texts.panels(), boxes.panels()
    return summary


def _count_article(summary: ComparisonSummary, article: ComparedArticle) -> None:
    summary.articles[article.found_by] += 1
    found: dict[Side, int] = {"both": len(article.figures), "published": len(article.only_published)}
    summary.figures.update(found | {"release": article.only_release})
    summary.absent_figures.update(article.only_published)
    if article.found_by == "published":
        summary.absent_articles.update(article.only_published[:1])
    for match in article.figures:
        summary.matched_by[match.matched_by] += 1
        summary.figure_iou.add(match.iou)
    summary.image_types.update(article.image_types)
    summary.marks.update(article.marks)
    if article.licences is not None:
        there, here = article.licences
        summary.same_licence[there == here] += 1
        if there != here:
            summary.licences[there, here] += 1


def _count_pair(summary: ComparisonSummary, panel: ComparedPanel, texts: _Worst, boxes: _Worst) -> None:
    there, here = panel.published, panel.release
    if there is None or here is None or panel.panel_iou is None:
        return
    summary.panel_iou.add(panel.panel_iou)
    summary.subcaptions[panel.subcaption or ""] += 1
    summary.same_name[bool(panel.same_name)] += 1
    summary.edit_similarity.add(panel.edit_similarity)
    summary.token_overlap.add(panel.token_overlap)
    summary.exact += bool(panel.exact)
    for kind in CONTAINED:
        summary.contained[kind][side(kind in there.image_types, kind in here.image_types)] += 1
    summary.contained[MARKS][side(there.is_marked, here.is_marked)] += 1
    if panel.edit_similarity is not None and not panel.exact:
        texts.add(panel.edit_similarity, panel)
    if panel.panel_iou < 1:
        boxes.add(panel.panel_iou, panel)
