"""All numbers by which annotated articles are scored, in one mapping."""

from __future__ import annotations

from collections.abc import Mapping

from pmo_assets.annotation.annotations import AnnotatedArticle
from pmo_assets.quality.metrics.assembly import assembly_metrics
from pmo_assets.quality.metrics.detection import IDENTIFIER, PANEL, detection_metrics, figure_boxes
from pmo_assets.quality.metrics.figures import SIMILAR_CAPTION, figure_metrics
from pmo_assets.quality.metrics.matching import matched_articles
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets.records.image_types import IMAGE_TYPES


def score_lines(scores: Mapping[str, float | int | None]) -> list[str]:
    """Return one line per number, for the terminal."""
    return [f"{name:32s} {round(value, 4) if isinstance(value, float) else value}" for name, value in scores.items()]


def article_scores(
    truth: Mapping[int, AnnotatedArticle], found: Mapping[int, AnnotatedArticle]
) -> dict[str, float | int | None]:
    """Return what the annotated articles are scored by, under the names that such tables have.

    None where nothing is annotated that could be scored.

    Args:
        truth: annotated articles by number.
        found: the prediction, by number; an article that is missing counts as predicted empty.
    """
    matched = matched_articles(truth, found)
    figures = figure_metrics(matched)
    boxes = figure_boxes(matched.pairs)
    detection = detection_metrics(boxes)
    assembly = assembly_metrics(matched.pairs)
    counts = {metric.group: metric.n for metric in detection}
    scores: dict[str, float | int | None] = {
        "figures": len(matched.pairs),
        "predicted figures": matched.found,
        "figure recall@0.5": metric_value(figures, "figure recall", threshold=0.5),
        "figure recall@0.9": metric_value(figures, "figure recall", threshold=0.9),
        "figure precision@0.5": metric_value(figures, "figure precision", threshold=0.5),
        "median figure IoU": metric_value(figures, "median figure IoU"),
        "median figure IoU of found": metric_value(figures, "median figure IoU of found"),
        "captions >= 0.95 similar": metric_value(figures, "captions similar", threshold=SIMILAR_CAPTION),
        "label accuracy": metric_value(figures, "label accuracy"),
    }
    for kind in (PANEL, IDENTIFIER):
        scores[f"{kind} boxes"] = counts[kind]
        for threshold in (0.5, 0.75, 0.9):
            scores[f"{kind} AP@{threshold}"] = metric_value(detection, "AP", kind, threshold)
    for threshold in (0.5, 0.75, 0.9):
        scores[f"image mAP@{threshold}"] = metric_value(detection, "mAP", "image types", threshold)
    for kind in IMAGE_TYPES:
        value = metric_value(detection, "AP", kind, 0.5) if kind in counts else None
        scores[f"image {kind} ({counts.get(kind, 0)}) AP@0.5"] = value
    scores |= {
        "image type accuracy": metric_value(detection, "type accuracy", "images found"),
        "mark status accuracy": metric_value(detection, "mark status accuracy", "images found"),
        "multi-panel figures": next(metric.n for metric in assembly if metric.metric == "unprocessed figures"),
        "unprocessed captions": metric_value(assembly, "unprocessed figures", "several panels"),
        "mean average sentence BLEU": metric_value(assembly, "mean average sentence BLEU", "several panels"),
        "panels assigned correctly": metric_value(assembly, "panels assigned"),
    }
    return scores
