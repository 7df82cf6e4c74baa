"""`detection_quality`: how well panels, identifiers and images are found, before and after assembly."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pmo_assets.quality.figure_canvases import Canvas, drawn_boxes, figure_canvases
from pmo_assets.quality.measured import WORST_CASES, Case, Measured, blank_page, figure_title, record_key
from pmo_assets.quality.metrics.detection import (
    IDENTIFIER,
    MISSED,
    NOTHING,
    PANEL,
    UNDECIDED,
    DetectionRecord,
    FigureBoxes,
    LabelledBox,
    calibration_metrics,
    detection_claims,
    detection_metrics,
    detection_record,
    figure_boxes,
    image_types,
    ranked,
    type_confusion,
    worst_detections,
)
from pmo_assets.quality.metrics.matching import FigurePair
from pmo_assets.quality.metrics.metric import Metric
from pmo_assets.quality.metrics.reliability import ReliabilityBin, reliability_bins
from pmo_assets.quality.page_renderer import PageRenderer
from pmo_assets.quality.predictions import detected_boxes
from pmo_assets.quality.scored_articles import ScoredArticles
from pmo_assets.records.average_precision import average_precision, precision_recall
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.viewing.comparisons import detection_comparison, stacked
from pmo_assets.viewing.overlays import draw_legend
from pmo_assets.viewing.quality_plots import confusion_plot, precision_recall_plot, reliability_plot


def _detection_case(record: DetectionRecord, boxes: FigureBoxes, canvas: Canvas | None) -> Case:
    body = blank_page()
    if canvas is not None:
        body = detection_comparison(
            canvas.pixels,
            drawn_boxes(boxes.truth, canvas, False, images=True),
            drawn_boxes(boxes.found, canvas, True, images=True),
        )
        body = stacked([body, draw_legend(body.shape[1])], gap=4)
    return Case(figure_title(record.pair.name, record.pair.truth.label), record.problems, body)


def _detected(scored: ScoredArticles, pair: FigurePair) -> tuple[LabelledBox, ...]:
    row = scored.figure_row(pair)
    if row is None:
        return ()
    return detected_boxes(row, scored.rows("panel_detections", pair), scored.rows("image_detections", pair))


def _reliability(detected: Sequence[FigureBoxes]) -> dict[str, tuple[list[ReliabilityBin], list[ReliabilityBin]]]:
    """Return bins of the scores and of the probabilities per kind of detection."""
    claims = {kind or "image": detection_claims(detected, kind) for kind in (PANEL, IDENTIFIER, None)}
    return {
        name: (reliability_bins(found.scores, found.right), reliability_bins(found.probabilities, found.right))
        for name, found in claims.items()
    }


def detections_measured(scored: ScoredArticles, renderer: PageRenderer, worst: int = WORST_CASES) -> Measured:
    """Compare panels, identifiers, images, their types and marks: as they are in the dataset, and before assembly."""
    figures = figure_boxes(scored.matched.pairs)
    detected = figure_boxes(scored.matched.pairs, functools.partial(_detected, scored))
    before = detection_metrics(detected)
    metrics = detection_metrics(figures)
    metrics += [
        Metric(f"{item.metric} before assembly", item.value, item.n, item.group, item.threshold)
        for item in before
        if item.metric in ("AP", "mAP")
    ]
    metrics += calibration_metrics(detected)
    records = [detection_record(item) for item in figures]
    rows = [
        {
            **record_key(record.pair, scored.cluster(record.pair)),
            "badness": record.badness if record.problems else 0.0,
            "problems": list(record.problems),
            **{
                f"{kind}{suffix}": numbers[place]
                for place, kind in enumerate(("panels", "identifiers", "images"))
                for suffix, numbers in (
                    ("", record.truth),
                    ("_missed", record.missed),
                    ("_spurious", record.spurious),
                    ("_misplaced", record.misplaced),
                )
            },
            "wrong_types": record.wrong_types,
            "wrong_marks": record.wrong_marks,
        }
        for record in records
    ]
    types = image_types(figures)
    kinds = [PANEL, IDENTIFIER, *types]
    rankings = {kind: ranked(figures, kind) for kind in kinds}
    curves = {kind: precision_recall(ranking, 0.5) for kind, ranking in rankings.items()}
    areas = {kind: average_precision(ranking, 0.5) for kind, ranking in rankings.items()}
    confusion = type_confusion(figures)
    columns = [*dict.fromkeys([*IMAGE_TYPES, *types, *(found for _, found in sorted(confusion))])]
    columns = [name for name in columns if name not in (UNDECIDED, MISSED)] + [UNDECIDED, MISSED]
    plots = [
        (
            "precision and recall",
            precision_recall_plot(
                {kind: (curve.recall, curve.precision) for kind, curve in curves.items()},
                {kind: area for kind, area in areas.items() if area is not None},
                title="Detections at IoU 0.5",
            ),
        ),
        ("scores and probabilities", reliability_plot(_reliability(detected), title="Detections before assembly")),
        ("image types", confusion_plot(confusion, [*types, NOTHING], columns, title="Images by type (IoU 0.5)")),
    ]
    of_pair = {item.pair.key: item for item in figures}
    shown = worst_detections(records)[:worst]
    canvases = figure_canvases(scored, renderer, [record.pair for record in shown])
    cases = [_detection_case(r, of_pair[r.pair.key], c) for r, c in zip(shown, canvases, strict=True)]
    note = "Panels, identifiers and images as they are in the dataset; on the page, in PDF points."
    return Measured(metrics, rows, plots, cases, note)
