"""The mark classifier behind its protocol, through ONNX Runtime: does a mark point at a region of a picture?

Belongs here: running the network on pictures, and what its answer becomes together with the caption's words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.mark_input import mark_input
from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session, shipped_weights
from pmo_assets.pipeline.detection.structure.marks import MARK_WORDS, is_plot

MARKS_FILE = "mark_classifier.onnx"
"""File of the shipped weights in `pmo_assets/weights`."""

PACKAGE_DATA = ("weights/mark_classifier.onnx",)
"""Files of the package that this module reads."""

MARKS_OUTPUTS = ("probability",)
"""Output of the mark classifier: probability (n,) that each picture is marked."""

CROP_BYTES = 4 * 2**20
"""Memory to reckon with for one more picture in a batch; see `onnx_detectors.FIGURE_BYTES`."""


class OnnxMarkClassifier:
    """Mark status by the network and the caption's words, as a `protocols.MarkClassifier`."""

    def __init__(
        self,
        path: Path | None = None,
        provider: Provider = "cpu",
        *,
        batch_size: int | None = None,
        threads: int = 1,
    ) -> None:
        """Use a file of weights (None: the shipped ones); see `FigureNetwork`."""
        self.path, self.provider, self.threads = path, provider, threads
        self.batches = MemoryBatches(lambda: batch_size or batch_size_for(provider, CROP_BYTES, 16), provider)

    def load(self) -> Any:
        """Return the session, made at the first call; see `onnx_session` for what may go wrong."""
        return onnx_session(self.path or shipped_weights(MARKS_FILE), MARKS_OUTPUTS, self.provider, self.threads)

    def probabilities(self, crops: Sequence[NDArray[np.uint8]]) -> list[float]:
        """Return the network's probability that each picture is marked."""
        if not crops:
            return []
        return self.batches(crops, partial(self._run, self.load()))

    def _run(self, session: Any, crops: Sequence[NDArray[np.uint8]]) -> list[float]:
        pixels = np.stack([mark_input(crop) for crop in crops])
        return [float(v) for v in session.run(list(MARKS_OUTPUTS), {"pixels": pixels})[0]]

    def __call__(self, crops: Sequence[NDArray[np.uint8]], words: Sequence[str]) -> list[tuple[bool | None, float]]:
        """Return (marked, score) per crop; None when the crop is too small to see a mark and no word names one."""
        large = [min(crop.shape[:2], default=0) >= 12 for crop in crops]
        seen = iter(self.probabilities([crop for crop, ok in zip(crops, large, strict=True) if ok]))
        result: list[tuple[bool | None, float]] = []
        for crop, ok, text in zip(crops, large, words, strict=True):
            if not ok:
                result.append((True, 0.8) if MARK_WORDS.search(text) else (None, 0.3))
                continue
            score = with_words(next(seen), text, plot=is_plot(crop))
            result.append((score >= 0.5, round(score, 6)))
        return result


NAMED, ARROW, PLOT, PLAIN = 1.0, 1.5, -0.5, -0.25
"""Log odds that are added to the network's: when the caption names marks, when it names arrows (both count), when the
picture is a plot, always. Accuracy on the annotated images is the same within 1 % for all values near these."""


def with_words(probability: float, words: str, *, plot: bool) -> float:
    """Return the probability that a picture is marked.

    Args:
        probability: the network's.
        words: what the caption says about the picture; "" when unknown.
        plot: whether most of the picture is paper.
    """
    odds = math.log(max(probability, 1e-6) / max(1 - probability, 1e-6)) + PLAIN + PLOT * plot
    odds += NAMED * bool(MARK_WORDS.search(words)) + ARROW * bool(re.search(r"\barrow", words, re.IGNORECASE))
    return 1 / (1 + math.exp(-odds))
