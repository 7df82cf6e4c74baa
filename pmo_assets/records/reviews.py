"""Decisions of people about a figure, which review reads, and the words for decided fields and verdicts.

Boxes are normalised to the figure, [left, top, right, bottom].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol

from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box, Point
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.regions import MarkColour, MarkKind

Purpose = Literal["full", "resolve", "audit"]
"""Why people looked: to annotate a whole article, to decide an undecided case, to judge what the machine assigned."""

DecidedField = Literal["figure", "caption", "panels", "identifiers", "subcaptions", "images", "marks", "regions"]
"""Fields that an answer can decide; those that it does not decide stay the machine's."""

ALL_FIELDS: Final[tuple[DecidedField, ...]] = ("figure", "caption", "panels", "identifiers", "subcaptions", "images")
"""Fields decided by a full annotation that names none. Marks and regions are decided apart (`DecidedRegions`)."""

Verdict = Literal["right", "wrong", "not evaluable"]
"""Verdict of an audit on a panel's subcaption (paper, Results: 88 %, 6 %, 6 %)."""

VERDICTS: Final[tuple[Verdict, ...]] = ("right", "wrong", "not evaluable")

InstructionVerdict = Literal["right", "wrong", "unclear"]
"""Verdict of an audit on an instruction; unclear: picture and words do not tell, or nobody understands the question."""

INSTRUCTION_VERDICTS: Final[tuple[InstructionVerdict, ...]] = ("right", "wrong", "unclear")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Look of a figure when people saw it.

    Attributes:
        sha256: of the rendering's pixels and size.
        look: 16 x 16 mean grey levels of 0..15, row by row, as hexadecimal digits.
        width: pixels of the rendering.
        height: pixels of the rendering.
    """

    sha256: str
    look: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Review:
    """Review of a figure: decided fields, annotator, time and purpose.

    Attributes:
        purpose: of the review.
        decided: fields.
        interface: in which people answered; None for a review that is put together of several answers.
        annotator: name or digest of the person; None when unknown.
        at: when, ISO 8601; None when unknown.
        fingerprint: of the figure that was shown; None when no figure was.
    """

    purpose: Purpose
    decided: tuple[DecidedField, ...]
    interface: str | None = None
    annotator: str | None = None
    at: str | None = None
    fingerprint: Fingerprint | None = None


FULL: Final = Review("full", ALL_FIELDS)
"""An annotation that says nothing of its making."""


@dataclass(frozen=True, slots=True)
class DecidedImage:
    """An image as people see it; type and mark status are None where they left them open."""

    box: Box
    type: ImageType | None
    marked: bool | None


@dataclass(frozen=True, slots=True)
class DecidedPanel:
    """A panel as people see it: as in the annotation guide, with the subcaption's ranges of the caption if known."""

    identifier: str | None
    identifier_box: Box | None
    box: Box
    subcaption: str | None
    images: tuple[DecidedImage, ...]
    segments: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class DecidedFigure:
    """A figure as people see it; `review` says what of it they decided."""

    label: str | None
    image_cluster_id: str | None
    figure_locations: tuple[PageBox, ...]
    caption: str | None
    panels: tuple[DecidedPanel, ...]
    review: Review | None = None


@dataclass(frozen=True, slots=True)
class DecidedMark:
    """A mark as people see it.

    Attributes:
        kind: of mark.
        colour: None where it has several.
        box: normalised to the figure.
        tip: normalised (x, y) in the figure where an arrow or arrowhead points; None for other kinds.
        label: letters or numbers printed beside it; None without.
    """

    kind: MarkKind
    colour: MarkColour | None
    box: Box
    tip: Point | None
    label: str | None


@dataclass(frozen=True, slots=True)
class DecidedRegion:
    """A region as people see it: box in the figure, words of the article or None, positions of the marks that show
    it among the panel's decided ones."""

    box: Box
    text: str | None
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DecidedPanelRegions:
    """All marks and regions of a panel as people see them; identifier and box are the panel's as they saw it."""

    identifier: str | None
    box: Box
    marks: tuple[DecidedMark, ...]
    regions: tuple[DecidedRegion, ...]


@dataclass(frozen=True, slots=True)
class DecidedRegions:
    """The marks and regions of a figure's panels as people see them; panels that are not here stay the machine's."""

    label: str | None
    image_cluster_id: str | None
    figure_locations: tuple[PageBox, ...]
    panels: tuple[DecidedPanelRegions, ...]
    review: Review | None = None


@dataclass(frozen=True, slots=True)
class JudgedInstruction:
    """A person's verdict on an instruction about a panel of a figure; the reason is in their words, None without."""

    label: str | None
    image_cluster_id: str | None
    figure_locations: tuple[PageBox, ...]
    instruction_id: str
    verdict: InstructionVerdict
    reason: str | None
    review: Review | None = None


class Decided(Protocol):
    """What tells which figure people spoke of: `DecidedFigure`, `DecidedRegions` and `JudgedInstruction`."""

    @property
    def label(self) -> str | None:
        """Label as people read it."""

    @property
    def image_cluster_id(self) -> str | None:
        """Name of the figure; None for one that only people found."""

    @property
    def figure_locations(self) -> tuple[PageBox, ...]:
        """Places on the pages where people saw it."""

    @property
    def review(self) -> Review | None:
        """Who decided it, when, and how the figure looked; None for an annotation that says nothing of its making."""
