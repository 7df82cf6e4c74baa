"""Score of the detection of panels, identifiers and images: average precision, confusion of types, mark status.

Average precision (`records.average_precision`) is averaged over `GRID` from IoU 0.5 to 0.95 as COCO has it.

Only figures that were found (IoU of at least 0.5) contribute predictions; of the others every box is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.annotation.annotations import AnnotatedFigure
from pmo_assets.quality.metrics.matching import FOUND_IOU, FigurePair, page_box
from pmo_assets.quality.metrics.metric import Metric, mean, share
from pmo_assets.quality.metrics.reliability import brier_score, expected_error, reliability_bins
from pmo_assets.records.average_precision import GRID, Ranked, average_precision, ranked_boxes, right_boxes
from pmo_assets.records.geometry import Box, iou
from pmo_assets.records.image_types import IMAGE_TYPES

SHOWN_THRESHOLDS: Final = (0.5, 0.75, 0.9)
TIGHT_IOU: Final = 0.75
"""A box that is found but below this is badly placed."""

PANEL, IDENTIFIER = "panel", "identifier"
MISSED, NOTHING, UNDECIDED = "missed", "nothing", "undecided"
"""Column of images that were not found, row of images where there is none, column of undecided types."""


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A panel, an identifier or an image.

    Attributes:
        box: PDF points on the page that the figure begins on.
        kind: "panel", "identifier", or the image type (None when undecided).
        score: of the detection; 1 for a truth.
        marked: mark status of an image; None when undecided and for panels.
        name: the panel's identifier.
        probability: of a detection before assembly, that it is right; None elsewhere.
    """

    box: Box
    kind: str | None
    score: float = 1.0
    marked: bool | None = None
    name: str | None = None
    probability: float | None = None

    @property
    def is_image(self) -> bool:
        """True if it is an image."""
        return self.kind not in (PANEL, IDENTIFIER)


@dataclass(frozen=True, slots=True)
class FigureBoxes:
    """The boxes of a figure: annotated and found ones."""

    pair: FigurePair
    truth: tuple[LabelledBox, ...]
    found: tuple[LabelledBox, ...]


def annotated_boxes(figure: AnnotatedFigure) -> tuple[LabelledBox, ...]:
    """Return the boxes of panels, then identifiers, then images, in PDF points; identifiers score as their panel."""
    panels = [LabelledBox(page_box(p.box, figure), PANEL, p.score, name=p.identifier) for p in figure.panels]
    identifiers = [
        LabelledBox(page_box(p.identifier_box, figure), IDENTIFIER, p.score, name=p.identifier)
        for p in figure.panels
        if p.identifier_box is not None
    ]
    images = [
        LabelledBox(page_box(image.box, figure), image.type, image.score, image.marked)
        for panel in figure.panels
        for image in panel.images
    ]
    return (*panels, *identifiers, *images)


def assembled_boxes(pair: FigurePair) -> tuple[LabelledBox, ...]:
    """Return the boxes that assembly made of a figure's detections."""
    return annotated_boxes(pair.found) if pair.found is not None else ()


def figure_boxes(
    pairs: Iterable[FigurePair], found: Callable[[FigurePair], Sequence[LabelledBox]] = assembled_boxes
) -> list[FigureBoxes]:
    """Return annotated and found boxes of every annotated figure; a figure that was not found has no found boxes.

    Args:
        pairs: annotated figures with their counterpart.
        found: the boxes found in a pair's figure, in PDF points.
    """
    return [
        FigureBoxes(pair, annotated_boxes(pair.truth), tuple(found(pair)) if pair.iou >= FOUND_IOU else ())
        for pair in pairs
    ]


def _of_kind(boxes: Iterable[LabelledBox], kind: str | None) -> list[LabelledBox]:
    return [box for box in boxes if (box.is_image if kind is None else box.kind == kind)]


def ranked(figures: Iterable[FigureBoxes], kind: str | None) -> Ranked:
    """Return the found boxes of a class with their overlaps; images of whatever type for None."""
    return ranked_boxes(
        [
            (
                figure.pair.key,
                [(item.box, item.score) for item in _of_kind(figure.found, kind)],
                [item.box for item in _of_kind(figure.truth, kind)],
            )
            for figure in figures
        ]
    )


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of the detections of a kind: score and probability of each, true in `right` if it is right."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    right: tuple[bool, ...]


def detection_claims(figures: Sequence[FigureBoxes], kind: str | None) -> Claims:
    """Return the claims of the found boxes of a class that state a probability; of images of any type for None."""
    found = [item for figure in figures for item in _of_kind(figure.found, kind)]
    right = right_boxes(ranked(figures, kind), FOUND_IOU)
    stated = [(i.score, i.probability, ok) for i, ok in zip(found, right, strict=True) if i.probability is not None]
    return Claims(tuple(s for s, _, _ in stated), tuple(p for _, p, _ in stated), tuple(ok for _, _, ok in stated))


def calibration_metrics(figures: Sequence[FigureBoxes]) -> list[Metric]:
    """Return the calibration of scores and probabilities: expected calibration error and Brier score."""
    metrics = []
    for kind in (PANEL, IDENTIFIER, None):
        claims = detection_claims(figures, kind)
        for values, suffix in ((claims.probabilities, ""), (claims.scores, " of scores")):
            error = expected_error(reliability_bins(values, claims.right)) if values else None
            brier = brier_score(values, claims.right) if values else None
            metrics.append(Metric(f"calibration error{suffix}", error, len(values), kind or "any image"))
            metrics.append(Metric(f"Brier score{suffix}", brier, len(values), kind or "any image"))
    return metrics


def image_types(figures: Iterable[FigureBoxes]) -> list[str]:
    """Return the types of annotated images, those of the paper first, in its order."""
    seen = {box.kind for figure in figures for box in figure.truth if box.is_image and box.kind is not None}
    return [*(kind for kind in IMAGE_TYPES if kind in seen), *sorted(seen - set(IMAGE_TYPES))]


def paired_images(figures: Iterable[FigureBoxes]) -> list[tuple[LabelledBox, LabelledBox | None]]:
    """Return every annotated image with the found one that overlaps it most; None when that is below IoU 0.5."""
    pairs: list[tuple[LabelledBox, LabelledBox | None]] = []
    for figure in figures:
        found = _of_kind(figure.found, None)
        for image in _of_kind(figure.truth, None):
            best = max(found, key=lambda other: iou(other.box, image.box), default=None)
            pairs.append((image, best if best is not None and iou(best.box, image.box) >= FOUND_IOU else None))
    return pairs


def type_confusion(figures: Sequence[FigureBoxes]) -> Counter[tuple[str, str]]:
    """Count (annotated type, found type) over images; `MISSED`, `NOTHING` and `UNDECIDED` stand for what is not there.

    An image is paired with the found one that overlaps it most, by at least 0.5.
    """
    confusion = Counter(
        (image.kind or UNDECIDED, MISSED if other is None else other.kind or UNDECIDED)
        for image, other in paired_images(figures)
    )
    for figure in figures:
        wanted = [box.box for box in _of_kind(figure.truth, None)]
        for box in _of_kind(figure.found, None):
            if max((iou(box.box, other) for other in wanted), default=0.0) < FOUND_IOU:
                confusion[NOTHING, box.kind or UNDECIDED] += 1
    return confusion


def detection_metrics(figures: Sequence[FigureBoxes]) -> list[Metric]:
    """Return average precision per class, its mean over image types, type and mark status accuracy.

    Thresholds are `SHOWN_THRESHOLDS`; a metric without one is the mean over `GRID`. "any image" takes images of all
    types as one class. Undecided mark status counts as unmarked, an undecided type as wrong.
    """
    metrics: list[Metric] = []
    types = image_types(figures)
    of_types: dict[float | None, list[float]] = {}
    for kind in (PANEL, IDENTIFIER, *types, None):
        ranking = ranked(figures, kind)
        grid = {threshold: average_precision(ranking, threshold) for threshold in sorted({*GRID, *SHOWN_THRESHOLDS})}
        values: list[tuple[float | None, float | None]] = [(t, grid[t]) for t in SHOWN_THRESHOLDS]
        values.append((None, mean([value for t in GRID if (value := grid[t]) is not None])))
        for threshold, value in values:
            metrics.append(Metric("AP", value, ranking.truths, kind or "any image", threshold))
            if kind in types and value is not None:
                of_types.setdefault(threshold, []).append(value)
    images = sum(box.is_image for figure in figures for box in figure.truth)
    metrics += [
        Metric("mAP", mean(of_types.get(threshold, [])), images, "image types", threshold)
        for threshold in (*SHOWN_THRESHOLDS, None)
    ]
    pairs = [(image, other) for image, other in paired_images(figures) if other is not None]
    metrics.append(Metric("type accuracy", share([a.kind == b.kind for a, b in pairs]), len(pairs), "images found"))
    marks = [bool(a.marked) == bool(b.marked) for a, b in pairs]
    return [*metrics, Metric("mark status accuracy", share(marks), len(pairs), "images found")]


@dataclass(frozen=True, slots=True)
class DetectionRecord:
    """Errors of detection in one figure.

    Attributes:
        pair: the figure.
        truth: number of annotated boxes: panels, identifiers, images.
        found: number of found boxes, likewise.
        missed: annotated boxes that no found one of the kind overlaps by 0.5, likewise.
        spurious: found boxes left over, likewise.
        misplaced: boxes found with an IoU between 0.5 and `TIGHT_IOU`, likewise.
        wrong_types: images found with another type.
        wrong_marks: images found with another mark status.
        problems: all that in words; empty when nothing is wrong.
    """

    pair: FigurePair
    truth: tuple[int, int, int]
    found: tuple[int, int, int]
    missed: tuple[int, int, int]
    spurious: tuple[int, int, int]
    misplaced: tuple[int, int, int]
    wrong_types: int
    wrong_marks: int
    problems: tuple[str, ...]

    @property
    def badness(self) -> float:
        """Badness, by which the worst are shown first: share of wrong boxes, weighted by the kind of error."""
        boxes = max(1, sum(self.truth) + sum(self.spurious))
        wrong = sum(self.missed) + sum(self.spurious) + 0.5 * (sum(self.misplaced) + self.wrong_types)
        return (wrong + 0.25 * self.wrong_marks) / boxes


def _greedy_pairs(
    truth: Sequence[LabelledBox], found: Sequence[LabelledBox]
) -> tuple[list[LabelledBox], list[LabelledBox], int]:
    """Return the missed boxes, the spurious ones, and the number of misplaced ones, by greedy assignment on IoU."""
    candidates = sorted(
        ((iou(a.box, b.box), i, j) for i, a in enumerate(truth) for j, b in enumerate(found)),
        key=lambda item: (-item[0], item[1], item[2]),
    )
    left, right = set(range(len(truth))), set(range(len(found)))
    misplaced = 0
    for overlap, i, j in candidates:
        if overlap < FOUND_IOU:
            break
        if i in left and j in right:
            left.discard(i)
            right.discard(j)
            misplaced += overlap < TIGHT_IOU
    return [truth[i] for i in sorted(left)], [found[j] for j in sorted(right)], misplaced


def _counted(count: int, kind: str) -> str:
    return f"{count} {kind}{'s' if count != 1 else ''}"


def detection_record(figure: FigureBoxes) -> DetectionRecord:
    """Return the errors of detection in a figure; images are paired whatever their type."""
    counts: dict[str, list[int]] = {name: [] for name in ("truth", "found", "missed", "spurious", "misplaced")}
    problems = [] if figure.pair.iou >= FOUND_IOU else ["the figure itself was not found"]
    words: dict[str, list[str]] = {"missed": [], "spurious": [], "misplaced": []}
    for kind, name in ((PANEL, PANEL), (IDENTIFIER, IDENTIFIER), (None, "image")):
        truth, found = _of_kind(figure.truth, kind), _of_kind(figure.found, kind)
        missed, spurious, misplaced = _greedy_pairs(truth, found)
        numbers = (len(truth), len(found), len(missed), len(spurious), misplaced)
        for place, number in zip(counts, numbers, strict=True):
            counts[place].append(number)
            if number and place in words:
                words[place].append(_counted(number, name))
    problems += [f"{place} {', '.join(parts)}" for place, parts in words.items() if parts]
    pairs = [(a, b) for a, b in paired_images([figure]) if b is not None]
    wrong_types = [(a, b) for a, b in pairs if a.kind != b.kind]
    wrong_marks = [(a, b) for a, b in pairs if bool(a.marked) != bool(b.marked)]
    confused = Counter(f"{b.kind or UNDECIDED} instead of {a.kind}" for a, b in wrong_types)
    problems += [f"{count} × {text}" for text, count in sorted(confused.items())]
    if wrong_marks:
        problems.append(f"mark status of {_counted(len(wrong_marks), 'image')} wrong")

    def three(name: str) -> tuple[int, int, int]:
        panels, identifiers, images = counts[name]
        return panels, identifiers, images

    return DetectionRecord(
        figure.pair, three("truth"), three("found"), three("missed"), three("spurious"), three("misplaced"),
        len(wrong_types), len(wrong_marks), tuple(problems),
    )  # fmt: skip


def worst_detections(records: Iterable[DetectionRecord]) -> list[DetectionRecord]:
    """Return the records with a problem, the worst first; of equal ones the figure with more boxes."""
    return sorted((r for r in records if r.problems), key=lambda r: (-r.badness, -sum(r.truth), r.pair.key))
