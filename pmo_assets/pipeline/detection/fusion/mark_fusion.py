"""Mark status from all evidence: both looks of the network, vector shapes of the PDF, and the caption's words.

A logistic function of each source's evidence, fitted by `benchmarks/fit_mark_decision.py`
(`weights/mark_decision.json`). Words belong to a panel, not to an image: where several images share them, they speak
for the one whose pixels look most like it, and less for the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.pipeline.detection.networks.onnx_marks import MarkLooks, OnnxMarkNetwork
from pmo_assets.pipeline.detection.protocols import VectorEvidence
from pmo_assets.pipeline.detection.structure.marks import MARK_WORDS, is_plot

PACKAGE_DATA = ("weights/mark_decision.json",)
"""Files of the package that this module reads."""

SMALLEST: Final = 12
"""Pixels: in pictures that are smaller on a side no mark can be seen."""

UNSEEN_NAMED, UNSEEN = 0.8, 0.3
"""Scores of pictures too small to see a mark in: the caption names marks, or does not."""

SUREST: Final = 6.0
"""Log odds that the network's answers are bounded by: it has no evidence for more."""

_ARROWS: Final = re.compile(r"\barrow", re.IGNORECASE)
_SENTENCES: Final = re.compile(r"(?<=[.;])\s+")
_ONE: Final = re.compile(r"\b(?:arrow|arrowhead|asterisk|star|circle|box|rectangle)\b", re.IGNORECASE)
_SEVERAL: Final = re.compile(r"\b(?:arrow|arrowhead|asterisk|star|circle|boxe|rectangle)s\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MarkEvidence:
    """Evidence of marks on an image.

    Attributes:
        first: the network's probability for the whole picture.
        second: for its most suspicious places; None when they were not looked at.
        drawn: evidence of the vector shapes over the picture.
        plot: most of the picture is paper.
        words: the caption's words about it; "" when unknown.
    """

    first: float
    second: float | None
    drawn: VectorEvidence
    plot: bool
    words: str


def _evidence(looks: MarkLooks, plot: bool, drawn: VectorEvidence, words: str) -> MarkEvidence:
    return MarkEvidence(looks.first, looks.second, drawn, plot, words)


def log_odds(probability: float) -> float:
    """Return the log odds of a probability, bounded by `SUREST`."""
    return min(max(math.log(max(probability, 1e-6) / max(1 - probability, 1e-6)), -SUREST), SUREST)


def pixel_terms(evidence: MarkEvidence) -> dict[str, float]:
    """Return the terms that do not depend on words; "constant" is 1."""
    first = log_odds(evidence.first)
    second = first if evidence.second is None else log_odds(evidence.second)
    # Vectors over a picture that is mostly paper are its drawing, unless they stand alone.
    drawn = "none" if evidence.plot and evidence.drawn != "lone mark" else evidence.drawn
    return {
        "constant": 1.0,
        "first": first,
        "second": second,
        "larger": max(first, second),
        "plot": float(evidence.plot),
        "drawn mark": float(drawn in ("mark", "lone mark")),
        "drawn line": float(drawn == "line"),
    }


def word_terms(evidence: MarkEvidence, *, best: bool) -> dict[str, float]:
    """Return the terms of the caption's words.

    Args:
        evidence: of the image.
        best: no other image that shares the words looks more like it.
    """
    whose = "best" if best else "other"
    arrows = bool(_ARROWS.search(evidence.words))
    # On plots "circles", "squares" and asterisks are symbols of the data; only arrows are marks.
    named = arrows if evidence.plot else bool(MARK_WORDS.search(evidence.words))
    return {f"named, {whose}": float(named), f"arrows, {whose}": float(arrows)}


def weighed(coefficients: Mapping[str, float], terms: Mapping[str, float]) -> float:
    """Return the log odds of terms; a term without a coefficient counts nothing."""
    return sum(coefficients.get(name, 0.0) * value for name, value in terms.items())


def all_terms(images: Sequence[MarkEvidence], coefficients: Mapping[str, float]) -> list[dict[str, float]]:
    """Return the terms of images that were seen together: those whose words share what names marks share the marks.

    These are the images of a panel, and those of panels whose subcaptions have the same sentence about one mark: of
    other panels than that of the image which looks most like it, it says nothing.

    Args:
        images: one figure's images.
        coefficients: decide which of the images with the same words looks most like being marked.
    """
    seen = [pixel_terms(image) for image in images]
    shared = [_shared_words(image.words) for image in images]
    best: dict[str, int] = {}
    for k, words in enumerate(shared):
        other = best.get(words)
        if other is None or weighed(coefficients, seen[k]) > weighed(coefficients, seen[other]):
            best[words] = k
    return [
        {**seen[k], **word_terms(image, best=best[shared[k]] == k)}
        if image.words and images[best[shared[k]]].words == image.words
        else seen[k]
        for k, image in enumerate(images)
    ]


def _shared_words(words: str) -> str:
    """Return the sentence that names one mark, where a single sentence does; else all words.

    A sentence about all panels stands in each subcaption: "MB moderator band (arrow)." The arrow is on one image.
    """
    naming = [sentence for sentence in _SENTENCES.split(words) if MARK_WORDS.search(sentence)]
    return naming[0] if len(naming) == 1 and _ONE.search(naming[0]) and not _SEVERAL.search(naming[0]) else words


def known_terms() -> tuple[str, ...]:
    """Return the names of all terms."""
    image = MarkEvidence(0.5, None, "none", False, "")
    return (*pixel_terms(image), *word_terms(image, best=True), *word_terms(image, best=False))


@lru_cache(maxsize=1)
def fitted_coefficients() -> Mapping[str, float]:
    """Return the package's coefficients by term.

    Raises:
        SystemicError: when they cannot be read, or one is missing.
    """
    return fitted_numbers("mark_decision.json", known_terms(), "coefficients")


def mark_probabilities(images: Sequence[MarkEvidence], coefficients: Mapping[str, float] | None = None) -> list[float]:
    """Return the probability that each image of a figure is marked; see `all_terms`."""
    chosen = fitted_coefficients() if coefficients is None else coefficients
    return [1 / (1 + math.exp(-weighed(chosen, terms))) for terms in all_terms(images, chosen)]


class FusedMarkClassifier:
    """Mark status by everything that is known, as a `protocols.MarkClassifier`."""

    def __init__(self, network: OnnxMarkNetwork | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network = network or OnnxMarkNetwork()

    def evidence(
        self, crops: Sequence[NDArray[np.uint8]], words: Sequence[str], drawn: Sequence[VectorEvidence] = ()
    ) -> list[MarkEvidence | None]:
        """Return the evidence of each picture; None where it is too small to see anything."""
        large = [min(crop.shape[:2], default=0) >= SMALLEST for crop in crops]
        seen = [crop for crop, ok in zip(crops, large, strict=True) if ok]
        # The strokes of a plot look like marks from near.
        plots = [is_plot(crop) for crop in seen]
        looks = iter(zip(self.network.looks(seen, [not plot for plot in plots]), plots, strict=True))
        shapes: Sequence[VectorEvidence] = drawn or ["none"] * len(crops)
        return [
            _evidence(*next(looks), shape, text) if ok else None
            for ok, text, shape in zip(large, words, shapes, strict=True)
        ]

    def __call__(
        self,
        crops: Sequence[NDArray[np.uint8]],
        words: Sequence[str],
        drawn: Sequence[VectorEvidence] = (),
        figures: Sequence[int] = (),
    ) -> list[tuple[bool | None, float]]:
        """Return (marked, score) per crop; None when the crop is too small to see a mark and no word names one."""
        known = self.evidence(crops, words, drawn)
        of_figure: dict[int, dict[int, MarkEvidence]] = {}
        for k, (image, figure) in enumerate(zip(known, figures or [0] * len(crops), strict=True)):
            if image is not None:
                of_figure.setdefault(figure, {})[k] = image
        scores = {
            k: score
            for images in of_figure.values()
            for k, score in zip(images, mark_probabilities(list(images.values())), strict=True)
        }
        return [
            (scores[k] >= 0.5, round(scores[k], 6)) if k in scores
            else (True, UNSEEN_NAMED) if MARK_WORDS.search(text) else (None, UNSEEN)
            for k, text in enumerate(words)
        ]  # fmt: skip
