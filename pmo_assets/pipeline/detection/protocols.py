"""Protocols of detectors: the seam where trained models take the place of, or stand beside, the structural ones.

Every detector takes a batch so that a model can fill a device; the structural ones loop. Scores below the threshold
and overlapping boxes may be returned: `detect.py` applies the score threshold and non-maximum suppression to whatever
comes back, so all detectors are treated alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection

VectorEvidence = Literal["none", "line", "mark", "lone mark"]
"""Evidence of the PDF's vector shapes over a picture: none; a line that may point at something; a mark; a mark among
so few shapes and texts that it is one on a picture of paper, too."""

DetectorSource = Literal["structure", "network", "both"]
"""Values of `PMO_DETECTORS`: what finds panels, images and marks."""

WITHOUT_NETWORKS: Final[tuple[DetectorSource, ...]] = ("structure",)
"""Those that need no weights."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class NetworkBoxes:
    """Detections of one figure per group, best first: normalised boxes (k, 4), scores (k,), class scores (k, n)."""

    boxes: dict[str, Floats]
    scores: dict[str, Floats]
    class_scores: dict[str, Floats]


class BoxNetwork(Protocol):
    """A trained network as it is fused with structure: boxes of panels, identifiers ("label") and images."""

    def __call__(self, views: Sequence[FigureView]) -> list[NetworkBoxes]:
        """Return the boxes per figure, same order; groups that the network does not know are empty."""
        ...


class PanelDetector(Protocol):
    """Finds panels and panel identifiers."""

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        """Return one list per figure, same order; boxes normalised to the figure."""
        ...


class ImageDetector(Protocol):
    """Finds images (single acquisitions and plots) in figures whose panels are known."""

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return one list per figure, same order; boxes normalised to the figure.

        A detector that does not classify leaves `image_type` None and `type_scores` empty; `detect_images` fills them.
        """
        ...


class MarkClassifier(Protocol):
    """Says whether marks (arrows, boxes, circles …) point at regions of an image."""

    def __call__(
        self,
        crops: Sequence[NDArray[np.uint8]],
        words: Sequence[str],
        drawn: Sequence[VectorEvidence] = (),
        figures: Sequence[int] = (),
    ) -> list[tuple[bool | None, float]]:
        """Return (marked, score that it is marked) per crop.

        Args:
            crops: (height, width, 3) uint8 RGB pictures.
            words: the caption's words about each crop; "" when unknown. Same length as `crops`.
            drawn: evidence of the vector shapes over each crop (`structure.vector_marks`); empty when unknown for all.
            figures: the number of the figure that each crop is of: words are shared by images of one figure, and what
                other figures show is no evidence. Empty when all are of one.
        """
        ...


class TypeNetwork(Protocol):
    """Tells the modality of pictures."""

    def __call__(self, crops: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
        """Return shares (modalities,) that sum to 1, order of `records.modalities.MODALITIES`, per crop.

        Args:
            crops: (height, width, 3) uint8 RGB pictures.
        """
        ...
