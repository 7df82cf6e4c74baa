"""Detections in a figure, which assembly reads, and the view of the figure that detectors look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.modalities import Modality


@dataclass(frozen=True, slots=True)
class FigureView:
    """View of one figure for detectors.

    Attributes:
        pixels: (height, width, 3) uint8, RGB.
        bitmaps: placed by the PDF; empty when unknown.
        texts: live text inside the figure; empty when unknown.
        caption_identifiers: identifiers that the caption names ("A", "b", "left"), in order; empty when none.
        alternative_identifiers: where it names none, series of names that print may confirm ("1", "2"; "Control", …).
        words: names that are words, read in the picture; they count as live text does, but make no picture live.
        shapes: vector shapes that the PDF draws over bitmaps; empty when unknown.
        caption_known: false of a bare picture: nobody says which panels it has. A caption that names none says that it
            has one; without a caption a picture is split by what is to be seen.
    """

    pixels: NDArray[np.uint8]
    bitmaps: tuple[EmbeddedBitmap, ...] = ()
    texts: tuple[EmbeddedText, ...] = ()
    caption_identifiers: tuple[str, ...] = ()
    alternative_identifiers: tuple[tuple[str, ...], ...] = ()
    words: tuple[EmbeddedText, ...] = ()
    shapes: tuple[EmbeddedShape, ...] = ()
    caption_known: bool = True

    @property
    def is_live(self) -> bool:
        """True if the PDF tells the places of bitmaps or texts of the figure; else it is a flat picture."""
        return bool(self.bitmaps or self.texts)


@dataclass(frozen=True, slots=True)
class PanelDetection:
    """A panel, or the place where a panel identifier is printed.

    Attributes:
        kind: "panel" or "identifier".
        box: normalised [l, t, r, b] in the figure.
        score: 0..1.
        source: where the box came from: of panels "gutter", "identifier" (a panel cut around an identifier),
            "figure" (the whole figure is one panel), "network"; of identifiers "text", "glyph", "network",
            or "grid" (where the rows and columns of the others say that it is).
        text: the identifier as read, without brackets and dots; None for panels and for unread identifiers.
        text_score: 0..1, how far the print itself says `text`: a name that only fits the place has little of it; 0 for
            panels and for unread identifiers.
        probability: 0..1, calibrated: share of such detections that overlap a true box of their kind by 0.5; 0 before
            `detect_panels` has said.
        detection_id: its name in the table; "" before it has one.
    """

    kind: Literal["panel", "identifier"]
    box: Box
    score: float
    source: str
    text: str | None = None
    text_score: float = 0.0
    probability: float = 0.0
    detection_id: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ImageDetection:
    """An image (one bitmap acquisition or plot) in the figure.

    Attributes:
        box: normalised [l, t, r, b] in the figure.
        score: 0..1, that there is an image.
        source: "bitmap", "gutter", "figure", "network", or "grid" (the place that a regular grid of images left free).
        seen_types: share per type, by a network that found the image; empty when none did.
        image_type: the most likely type; None when it cannot be decided.
        type_score: 0..1 score of `image_type` (of the best candidate when None).
        type_scores: score per type, summing to 1.
        type_reason: reason for the type, or why it could not be decided.
        modality: of the picture, as far as a network says; None without one, or without a type.
        modality_score: 0..1, its share.
        marked: true if a mark points at a region; None when it cannot be decided.
        mark_score: 0..1 that the image is marked.
        probability: 0..1, calibrated: share of such detections that overlap a true image by 0.5; 0 before
            `detect_images` has said.
    """

    box: Box
    score: float
    source: str
    image_type: ImageType | None
    type_score: float
    type_scores: Mapping[str, float] = field(default_factory=dict)
    type_reason: str = ""
    marked: bool | None = None
    mark_score: float = 0.0
    seen_types: Mapping[str, float] = field(default_factory=dict)
    probability: float = 0.0
    modality: Modality | None = None
    modality_score: float = 0.0
