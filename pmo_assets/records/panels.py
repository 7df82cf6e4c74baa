"""A figure's panels on their way to the dataset: one record, which rules, a vision model and people change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.modalities import Modality

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
        source: its origin: "text" (live text), "glyph", "network", the name of a text reader, "row by row", …
        text: as read or said; None where nothing was.
        identifier: the identifier that it speaks for; None when it speaks for none.
        confidence: 0..1.
        box: its place, normalised to the figure; None when nowhere.
    """

    kind: str
    source: str
    text: str | None
    identifier: str | None
    confidence: float
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class PanelMember:
    """A panel detection that a panel is made of: position among the figure's panel detections, normalised box."""

    ordinal: int
    box: Box


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
    """Annotation of a panel's figure by people: purpose, decided fields, annotator, time (ISO 8601)."""

    purpose: str
    decided: tuple[str, ...]
    annotator: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of a figure on its way to the dataset: what each step so far says of it.

    The fields are columns of `panel_captions`, `panel_assembly` and `reviewed_panels` (`tables.panels`), which add the
    figure's key. A step changes a panel by `dataclasses.replace`. Boxes are normalised to the figure, [l, t, r, b].

    Attributes:
        ordinal: position of its (first) panel detection in its figure; behind them all for a panel made of images.
        members: the panel detections that it is made of: one, or several that were printed "a1", "a2" where the
            caption names "a"; none where images make it.
        box: union of the members.
        content_box: union of `box` and all that was assigned to it so far.
        score: least detection score of the members, 0..1.
        identifier: the panel's identifier; None for a single panel or when undecided.
        subcaption: None when it cannot be decided.
        segments: [start, end) character ranges of the caption; None without a subcaption.
        caption_confidence: of the caption's split, 0..1; None without a subcaption.
        method: "single panel", "identifier", "position", "reading order", "whole caption", …; None when not assigned.
        assembly: the published word for who assigned it (`AUTOMATIC` …); None when nobody did.
        confidence: 0..1, calibrated: share of such panels whose subcaption is theirs; of the best candidate when
            undecided.
        runner_up: the identifier that is second best; None when there is none.
        runner_up_confidence: 0..1 of that one.
        evidence: for the subcaption, strongest first.
        reason: for this subcaption, or for none.
        printed_identifiers: identifiers printed in it.
        images: images in it.
        unassigned_images: images that no panel covers, listed with it because it is the nearest.
        made_of_image: no panel was detected here: images that none covers make this one.
        wanted: its figure goes on.
        annotations: people's decisions about its figure.
    """

    ordinal: int
    members: tuple[PanelMember, ...]
    box: Box
    content_box: Box
    score: float
    identifier: str | None = None
    subcaption: str | None = None
    segments: tuple[tuple[int, int], ...] | None = None
    caption_confidence: float | None = None
    method: str | None = None
    assembly: str | None = None
    confidence: float = 0.0
    runner_up: str | None = None
    runner_up_confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    printed_identifiers: tuple[PrintedIdentifier, ...] = ()
    images: tuple[PanelImage, ...] = ()
    unassigned_images: tuple[PanelImage, ...] = ()
    made_of_image: bool = False
    wanted: bool = False
    annotations: tuple[PanelAnnotation, ...] = ()

    def is_undecided(self, least: float) -> bool:
        """Say whether it is undecided (`is_undecided`), where rules are sure from a confidence of `least` on."""
        return is_undecided(self.subcaption, self.assembly, self.confidence, least)


@dataclass(frozen=True, slots=True)
class PanelPicture:
    """The picture of a panel that goes on.

    Attributes:
        panel_id: unique over all articles.
        article_id, image_cluster_id, ordinal: of the panel: article, figure, position in it.
        width, height: pixels.
        sha256: of the pixels: RGB, 8 bits, row by row.
        perceptual_hash: hexadecimal; near for pictures that look alike.
    """

    panel_id: str
    article_id: int
    image_cluster_id: str
    ordinal: int
    width: int
    height: int
    sha256: str
    perceptual_hash: str
