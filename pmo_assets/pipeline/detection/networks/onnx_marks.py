"""The mark network through ONNX Runtime: probability of marks in a picture as a whole, and at a second look.

The second look costs as much as the first; it is taken where the picture is large enough to show more, and where the
first look has not decided already. A picture that looks marked is shown again without spots of light, if it has any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.mark_input import mark_input, second_look
from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session
from pmo_assets.pipeline.detection.networks.spots_of_light import without_spots

MARKS_FILE = "mark_classifier.onnx"
"""File of the shipped weights in `pmo_assets/weights`."""

PACKAGE_DATA = ("weights/mark_classifier.onnx",)
"""Files of the package that this module reads."""

MARKS_OUTPUTS = ("probability", "votes")
"""Outputs of the mark classifier: probability (n,) that each picture is marked, and logits (n, 14, 14) that its places
hold part of a mark."""

CROP_BYTES = 4 * 2**20
"""Memory to reckon with for one more picture in a batch; see `onnx_detectors.FIGURE_BYTES`."""

DECIDED = 0.98
"""Probability at the first look from which a second one would change nothing."""

SUSPECTED = 0.25
"""Probability from which a picture is shown again without spots of light."""

Look = tuple[float, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class MarkLooks:
    """Probabilities that a picture is marked, as a whole and at its most suspicious places; None: not looked again."""

    first: float
    second: float | None

    @property
    def larger(self) -> float:
        """The larger of both."""
        return self.first if self.second is None else max(self.first, self.second)


class OnnxMarkNetwork:
    """The mark network; pictures need 12 pixels on each side for anything to be seen in them."""

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
        """Return the session, made at the first call; see `onnx_session` for its errors."""
        return onnx_session(self.path or shipped_weights(MARKS_FILE), MARKS_OUTPUTS, self.provider, self.threads)

    def looks(self, crops: Sequence[NDArray[np.uint8]], closely: Sequence[bool] = ()) -> list[MarkLooks]:
        """Return the result of both looks at each (height, width, 3) uint8 RGB picture.

        Args:
            crops: the pictures.
            closely: per picture, whether it may be looked at twice; empty for all.
        """
        if not crops:
            return []
        session = self.load()
        seen = self._seen(session, crops, closely)
        suspected = [k for k, looks in enumerate(seen) if looks.larger >= SUSPECTED]
        clean = {k: picture for k in suspected if (picture := without_spots(crops[k])) is not crops[k]}
        again = self._seen(session, list(clean.values()), [closely[k] for k in clean] if closely else ())
        for k, looks in zip(clean, again, strict=True):
            # Hiding a spot takes evidence away; where more seems to be there, it is the place that was filled.
            seen[k] = min(seen[k], looks, key=lambda both: both.larger)
        return seen

    def _seen(self, session: Any, crops: Sequence[NDArray[np.uint8]], closely: Sequence[bool]) -> list[MarkLooks]:
        """Return the result of both looks at pictures as they are."""
        if not crops:
            return []
        first: list[Look] = self.batches(crops, partial(_looked, session, mark_input))
        again: dict[int, NDArray[np.uint8]] = {}
        for k, (crop, (probability, votes)) in enumerate(zip(crops, first, strict=True)):
            if probability < DECIDED and (not closely or closely[k]):
                square = second_look(crop, votes)
                if square is not None:
                    again[k] = square
        seen: list[Look] = self.batches(list(again.values()), partial(_looked, session, np.asarray)) if again else []
        second = {k: probability for k, (probability, _) in zip(again, seen, strict=True)}
        return [MarkLooks(probability, second.get(k)) for k, (probability, _) in enumerate(first)]


def _looked(session: Any, shown: Any, crops: Sequence[NDArray[np.uint8]]) -> list[Look]:
    """Return probability and votes of pictures, each made a square by `shown`."""
    pixels = np.stack([shown(crop) for crop in crops])
    probabilities, votes = session.run(list(MARKS_OUTPUTS), {"pixels": pixels})
    return [(float(probability), vote) for probability, vote in zip(probabilities, votes, strict=True)]
