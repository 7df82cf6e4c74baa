"""Score of the extraction of figures and captions: recall, precision, IoU, caption similarity, labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.metrics.matching import (
    FOUND_IOU,
    FigurePair,
    Matched,
    normalised_label,
    normalised_text,
    text_similarity,
)
from pmo_assets.quality.metrics.metric import Metric, mean, share

IOU_THRESHOLDS = (0.5, 0.75, 0.9)
TIGHT_IOU = 0.9
"""A box below this is loose: it cuts something off or holds what is not the figure's."""
SIMILAR_CAPTION = 0.95
"""A caption counts as right from this similarity on."""

FigureState = Literal["right", "flawed", "missed", "spurious"]


@dataclass(frozen=True, slots=True)
class FigureRecord:
    """Result for one annotated figure, or for a found figure that is none.

    Attributes:
        article_id: number of the article.
        name: name of the article's package.
        ordinal: position of the annotated figure in its article; None when spurious.
        label: as annotated; as found when spurious.
        state: "missed" below an IoU of 0.5, "flawed" when found with a problem.
        iou: on the page, 0..1.
        caption_similarity: 0..1.
        label_right: the numbers of both labels agree.
        problems: the errors, in words; empty when right.
        truth: the annotated figure; None when spurious.
        found: the found figure; None when there is none.
    """

    article_id: int
    name: str
    ordinal: int | None
    label: str
    state: FigureState
    iou: float
    caption_similarity: float
    label_right: bool
    problems: tuple[str, ...]
    truth: AnnotatedFigure | None
    found: AnnotatedFigure | None

    @property
    def badness(self) -> float:
        """Badness, by which the worst are shown first: 2 and more for a missed or spurious figure, else 0..2.5."""
        if self.state in ("missed", "spurious"):
            return 2.0 + (1 - self.iou)
        return (1 - self.iou) + (1 - self.caption_similarity) + (0.0 if self.label_right else 0.5)


def _caption_problem(truth: str | None, found: str | None, similarity: float) -> str:
    wanted, given = normalised_text(truth), normalised_text(found)
    if not given:
        kind = "no caption"
    elif len(given) < len(wanted) and given in wanted:
        kind = "caption cut off"
    elif len(given) > len(wanted) and wanted in given:
        kind = "caption runs on"
    else:
        kind = "caption differs"
    return f"{kind}: {len(given)} instead of {len(wanted)} characters, {similarity:.2f} similar"


def _found_record(pair: FigurePair) -> FigureRecord:
    found, truth = pair.found, pair.truth
    similarity = text_similarity(truth.caption, found.caption) if found else 0.0
    label_right = found is not None and normalised_label(truth.label) == normalised_label(found.label)
    problems = []
    if found is None:
        problems.append("missed: nothing was found here")
    elif pair.iou < FOUND_IOU:
        problems.append(f"missed: the nearest figure overlaps with IoU {pair.iou:.2f}")
    else:
        if pair.iou < TIGHT_IOU:
            problems.append(f"loose box: IoU {pair.iou:.2f}")
        if similarity < SIMILAR_CAPTION:
            problems.append(_caption_problem(truth.caption, found.caption, similarity))
        if not label_right:
            problems.append(f"wrong label: {found.label or 'none'} instead of {truth.label or 'none'}")
    state: FigureState = "missed" if pair.iou < FOUND_IOU else "flawed" if problems else "right"
    return FigureRecord(
        pair.article_id, pair.name, pair.ordinal, truth.label or "", state, pair.iou, similarity, label_right,
        tuple(problems), truth, found,
    )  # fmt: skip


def figure_records(matched: Matched) -> list[FigureRecord]:
    """Return one record per annotated figure and per spurious one, by article."""
    records = [_found_record(pair) for pair in matched.pairs]
    records += [
        FigureRecord(
            number, name, None, figure.label or "", "spurious", 0.0, 0.0, False,
            ("spurious: no annotated figure is here",), None, figure,
        )
        for number, name, figure in matched.spurious
    ]  # fmt: skip
    return sorted(records, key=lambda record: (record.article_id, record.ordinal is None, record.ordinal or 0))


def worst_figures(records: Sequence[FigureRecord]) -> list[FigureRecord]:
    """Return the records with a problem, the worst first."""
    return sorted((record for record in records if record.problems), key=lambda record: -record.badness)


def figure_metrics(matched: Matched) -> list[Metric]:
    """Return recall and precision at `IOU_THRESHOLDS`, median IoU, caption similarity and label accuracy.

    Precision is the share of found figures that are assigned to an annotated one with at least that IoU.
    """
    records = [record for record in figure_records(matched) if record.truth is not None]
    overlaps = [record.iou for record in records]
    positive = [value for value in overlaps if value > 0]
    similarities = [record.caption_similarity for record in records]
    n = len(records)
    metrics = [Metric("figure recall", share([v >= t for v in overlaps]), n, threshold=t) for t in IOU_THRESHOLDS]
    metrics += [
        Metric("figure precision", sum(v >= t for v in overlaps) / max(matched.found, 1), matched.found, threshold=t)
        for t in IOU_THRESHOLDS
    ]
    return [
        *metrics,
        Metric("median figure IoU", median(overlaps) if overlaps else None, n),
        Metric("median figure IoU of found", median(positive) if positive else 0.0, len(positive)),
        Metric("captions similar", share([v >= SIMILAR_CAPTION for v in similarities]), n, threshold=SIMILAR_CAPTION),
        Metric("mean caption similarity", mean(similarities), n),
        Metric("label accuracy", share([record.label_right for record in records]), n),
    ]
