"""A figure's panels on their way to the dataset: with their subcaption, then with their images as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.modalities import Modality
from pmo_assets.records.subcaptions import Subcaption

AUTOMATIC: Final = "Automatic Caption Assignment"
"""The published word (`assembly`) for a subcaption that was assigned by identifiers, places and order."""

BY_MODEL: Final = "LLM Assignment"
"""… by two answers of a vision model that agree."""

ADJUDICATED: Final = "LLM Assignment (adjudication)"
"""… by a vision model that was shown its two answers, which differed."""

BY_PERSON: Final = "Manual Assignment"
"""… by a person who decided an undecided case."""

GROUND_TRUTH: Final = "Ground Truth"
"""… by people who annotated the whole figure."""


def is_undecided(subcaption: str | None, assembly: str | None, confidence: float, least: float) -> bool:
    """Say whether a panel is undecided: a vision model or people may decide it, and it stays out of the dataset.

    It is when it has no subcaption, or one that rules are not sure of. What a model or people decided is decided: their
    confidence is of another kind.

    Args:
        subcaption: of the panel.
        assembly: who assigned it (`AUTOMATIC` …).
        confidence: 0..1 that it is this panel's.
        least: confidence from which rules are sure (`PMO_MIN_ASSEMBLY_CONFIDENCE`).
    """
    if subcaption is None or not subcaption.strip():
        return True
    return assembly in (None, AUTOMATIC) and confidence < least


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that speaks for, or against, a panel's subcaption.

    Attributes:
        kind: "identifier" (print in the figure), "position" (a word of place), "order", "count", or who says so where a
            vision model or a person does.
        source: where it comes from: "text" (live text), "glyph", "network", the name of a text reader, "row by row", …
        text: what was read or said; None where nothing was.
        identifier: the identifier that it speaks for; None when it speaks for none.
        confidence: 0..1.
        box: where, normalised to the figure; None when nowhere.
    """

    kind: str
    source: str
    text: str | None
    identifier: str | None
    confidence: float
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class CaptionedPanel:
    """A panel with its printed identifiers and its subcaption.

    Attributes:
        members: the panel detections that it is made of, by their number among the figure's panels: one, or several
            that were printed "a1", "a2" where the caption names "a".
        member_boxes: their boxes, normalised [l, t, r, b].
        box: union of the members.
        content_box: union of `box` and the identifiers.
        score: least detection score of the members, 0..1.
        identifier: the panel's identifier; None for a single panel or when undecided.
        subcaption: None when it cannot be decided.
        method: "single panel", "identifier", "position", "reading order", "whole caption", or None.
        reason: why this subcaption, or why none.
        printed: identifiers printed in the panel, by their number among the figure's identifiers.
        confidence: 0..1, calibrated: share of such panels whose subcaption is theirs; of the best candidate when
            undecided.
        evidence: what speaks for the subcaption, strongest first.
        runner_up: the identifier that is second best; None when there is none.
        runner_up_confidence: 0..1 of that one.
    """

    members: tuple[int, ...]
    member_boxes: tuple[Box, ...]
    box: Box
    content_box: Box
    score: float
    identifier: str | None
    subcaption: Subcaption | None
    method: str | None
    reason: str
    printed: tuple[int, ...]
    confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    runner_up: str | None = None
    runner_up_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class PanelContent:
    """What images belong to a panel.

    Attributes:
        content_box: union of the panel, its identifiers and its images, normalised [l, t, r, b].
        images: by their number among the figure's images.
    """

    content_box: Box
    images: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PrintedIdentifier:
    """An identifier printed in a panel: detection, normalised box, score 0..1, text as read (None when unread).

    `is_gt` when people decided it.
    """

    id: str
    box: Box
    score: float
    text: str | None
    is_gt: bool = False


@dataclass(frozen=True, slots=True)
class PanelImage:
    """An image in a panel: detection, normalised box, and what `ImageDetection` says of it; `is_gt` as above."""

    id: str
    box: Box
    score: float
    image_type: ImageType | None
    type_score: float
    marked: bool | None
    mark_score: float
    modality: Modality | None = None
    modality_score: float = 0.0
    is_gt: bool = False


@dataclass(frozen=True, slots=True)
class PanelAnnotation:
    """What people decided of a panel's figure: why they looked, which fields, who, when (ISO 8601)."""

    purpose: str
    decided: tuple[str, ...]
    annotator: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel ready for the dataset.

    Attributes:
        panel_id: unique over all articles.
        article_id: number of the article.
        image_cluster_id: its figure.
        identifier: None for a single panel or when undecided.
        subcaption: None when it cannot be decided.
        segments: [start, end) character ranges of the caption; None without a subcaption.
        caption_confidence: of the caption's split, 0..1; None without a subcaption.
        method: how the subcaption was assigned; None when it was not.
        assembly: the published word for who assigned it (`AUTOMATIC` …); None when nobody did.
        confidence: 0..1 that the subcaption is this panel's.
        box: as detected, normalised [l, t, r, b].
        content_box: with all that was assigned to it.
        score: of the panel detection, 0..1.
        printed_identifiers: identifiers printed in it.
        images: images in it.
        ordinal: position in its figure.
        width, height: pixels of its picture.
        sha256: of its picture's pixels: RGB, 8 bits, row by row.
        perceptual_hash: of its picture, hexadecimal.
        annotations: what people decided of its figure.
    """

    panel_id: str
    article_id: int
    image_cluster_id: str
    identifier: str | None
    subcaption: str | None
    segments: tuple[tuple[int, int], ...] | None
    caption_confidence: float | None
    method: str | None
    assembly: str | None
    confidence: float
    box: Box
    content_box: Box
    score: float
    printed_identifiers: tuple[PrintedIdentifier, ...]
    images: tuple[PanelImage, ...]
    ordinal: int
    width: int
    height: int
    sha256: str
    perceptual_hash: str
    annotations: tuple[PanelAnnotation, ...] = ()
