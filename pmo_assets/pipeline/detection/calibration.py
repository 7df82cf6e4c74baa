"""Calibration of scores: the share of detections of a score, kind and source that are right.

Scores come from many places (a bitmap in the PDF, a gutter, the shape of a letter, a network) and cannot be compared
with each other. `probability` can: of detections with 0.8, eight in ten overlap a true box of their kind by 0.5. It
rises with the score for each kind and source; thresholds look at the score, as in the paper. The same source is worth
less or more where the PDF tells of the figure's bitmaps and texts: what a network sees beside those is mostly nothing.

A curve is a logistic one on the score's log odds, two numbers in `weights/detection_calibration.json`, fitted by
`benchmarks/fit_detection_calibration.py` to what the package's own detectors, structure and network together, find in
synthetic figures. For networks of other weights it is a guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pmo_assets.pipeline.detection.fitted import MEND, shipped_json
from pmo_assets.pipeline.detection.networks.memory_batches import loading

DetectedKind = Literal["panel", "identifier", "image"]

PACKAGE_DATA = ("weights/detection_calibration.json",)
"""Files of the package that this module reads."""

NO_SCORE_SURER: Final = 0.99
"""Scores are taken for no surer than this, either way: structure says 1.0 where it only sees nothing against it."""


@dataclass(frozen=True, slots=True)
class Curve:
    """log odds of being right = offset + slope × log odds of the score; `slope` is not negative."""

    offset: float
    slope: float


Curves = Mapping[DetectedKind, Mapping[str, Curve]]
"""Per kind the curve of each source in flat and in live figures (`curve_name`), of each source in both, and under ""
that of sources that are not listed."""


def curve_name(source: str, live: bool) -> str:
    """Return the name of the curve for a source in live, or in flat, figures."""
    return f"{source}, {'live' if live else 'flat'}"


def score_odds(score: float) -> float:
    """Return the log odds of a score 0..1, kept within those of `NO_SCORE_SURER`."""
    bounded = min(max(score, 1 - NO_SCORE_SURER), NO_SCORE_SURER)
    return math.log(bounded / (1 - bounded))


def scores_worth(curves: Curves, kind: DetectedKind, source: str, score: float, live: bool) -> float:
    """Return the probability 0..1 that a detection is right, by given curves."""
    of_kind = curves[kind]
    curve = of_kind.get(curve_name(source, live)) or of_kind.get(source) or of_kind[""]
    return 1 / (1 + math.exp(-(curve.offset + curve.slope * score_odds(score))))


@lru_cache(maxsize=1)
def fitted_curves() -> Curves:
    """Return the package's curves.

    Raises:
        SystemicError: when they cannot be read.
    """
    with loading("detection_calibration.json", mend=MEND):
        data = shipped_json("detection_calibration.json")
        kinds: tuple[DetectedKind, ...] = ("panel", "identifier", "image")
        return {kind: {source: Curve(*values) for source, values in data[kind].items()} for kind in kinds}


def probability(kind: DetectedKind, source: str, score: float, live: bool) -> float:
    """Return the probability 0..1 that a detection overlaps a true box of its kind by 0.5.

    Args:
        kind: kind of the detected thing.
        source: origin of its box, as in `PanelDetection` and `ImageDetection`.
        score: its score, 0..1.
        live: of the figure, see `FigureView.is_live`.
    """
    return round(scores_worth(fitted_curves(), kind, source, score, live), 4)
