"""Regions of panels: marks that authors draw on images, phrases that name them, and what they point at.

Add here: records that pass between the steps of the group `regions`, and that the release and its pages read. Keep out:
how anything is found (`pipeline.regions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.records.geometry import Box, Point

MarkKind = Literal["arrow", "arrowhead", "circle", "box", "asterisk", "line", "other"]
"""Kind of a mark: an arrow with a shaft; an arrowhead or triangle; a circle, ellipse or free outline; a box; an
asterisk, star, plus or hash; a leader line, bracket, brace, calliper or traced line; any other."""

MARK_KINDS: Final[tuple[MarkKind, ...]] = ("arrow", "arrowhead", "circle", "box", "asterisk", "line", "other")

MarkColour = Literal[
    "white", "black", "grey", "red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "brown"
]
"""Colour of a mark as captions name it: the basic terms of English, with cyan, which editors offer."""

MARK_COLOURS: Final[tuple[MarkColour, ...]] = (
    "white", "black", "grey", "red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "brown",
)  # fmt: skip

MarkSource = Literal["vector", "text", "pixels", "person"]
"""Where a mark was seen: the PDF's drawing operators, its live text ("*"), the pixels; or a person decided it."""

MARK_SOURCES: Final[tuple[MarkSource, ...]] = ("vector", "text", "pixels", "person")


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark that an author drew on an image.

    Attributes:
        kind: of mark.
        colour: name of its colour; None where it has several.
        rgb: "#rrggbb" of its filling, or of its line where it has none.
        box: normalised [l, t, r, b] in the figure.
        tip: normalised (x, y) in the figure where an arrow or arrowhead points; None for other kinds, and where the
            direction is not seen.
        direction: degrees in which it points, 0 to the right, 90 upwards, by the figure's pixels; None without a tip.
        label: letters or numbers printed beside it; None without.
        source: where it was seen.
        score: 0..1.
        probability: 0..1, calibrated: share of such marks that are marks.
    """

    kind: MarkKind
    colour: MarkColour | None
    rgb: str
    box: Box
    tip: Point | None
    direction: float | None
    label: str | None
    source: MarkSource
    score: float
    probability: float


PhrasePlace = Literal["subcaption", "mention"]
"""Text in which a phrase stands."""

NamedMark = Literal["arrow", "arrowhead", "circle", "box", "asterisk", "line", "other", "any"]
"""Kind of mark that a phrase names; "any" where a word fits several ("marked", "pointer", a star that may be one)."""


@dataclass(frozen=True, slots=True)
class RegionPhrase:
    """Words that say what a mark shows: "white arrows: drusen".

    Attributes:
        found_in: the text: the panel's subcaption, or one of its mentions.
        mention: position among the panel's mentions; None for the subcaption.
        start, end: range of the phrase in that text, mark and target with what joins them.
        mark_start, mark_end: range of the words that name the mark ("white arrows").
        target_start, target_end: range of the words that name what it shows ("drusen"); equal where nothing does.
        kind: of mark that the words name.
        colour: that they name; None without.
        style: "dashed", "dotted", "solid", "filled", "open", "thick", "thin", "large", "small", "long", "short",
            "double", "curved", "straight"; None without.
        label: letter, number or sign that they name ("arrow 1", "arrow a", "#"); None without.
            A plain asterisk is no label.
        is_plural: they speak of several marks.
        panels: identifiers of the panels that they say the mark is in ("arrow in B"); empty where they name none.
        marks: positions of the marks among those of the panel's images, linked by kind, colour, label and number.
        undecided: why no mark is linked, or which of several is not known; None when the link is sure.
    """

    found_in: PhrasePlace
    mention: int | None
    start: int
    end: int
    mark_start: int
    mark_end: int
    target_start: int
    target_end: int
    kind: NamedMark
    colour: MarkColour | None
    style: str | None
    label: str | None
    is_plural: bool
    panels: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    undecided: str | None = None


RegionSource = Literal["marks", "model", "marks and model", "person"]
"""What a region's box comes from: marks, a vision-language model (near a mark), or both, joined to one; or a person
decided it."""

REGION_SOURCES: Final[tuple[RegionSource, ...]] = ("marks", "model", "marks and model", "person")


MODEL_CONFIDENCE: Final = 0.5
"""Confidence of a model's box at most: no model was measured, so that a mark with sure words beats it."""


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a panel with the words about it: Panel2Patch's image-bbox-text triplet.

    Attributes:
        box: normalised [l, t, r, b] in the figure.
        marks: positions of the marks that show it, among those of the panel's images; of a model's box the nearest.
        phrase: position of the phrase that tells of it, among the panel's; None without one.
        text: fragment of subcaption or mention, verbatim; None where no phrase and no model tells of it. Of the
            figure's caption, too, where a person decided it.
        description: what a vision-language model sees there; None when none was asked, or it said nothing that fits.
        source: of the box.
        confidence: 0..1: of the marks' probabilities and of the link to the phrase; of a model's box that of its mark,
            at most `MODEL_CONFIDENCE`.
    """

    box: Box
    marks: tuple[int, ...]
    phrase: int | None
    text: str | None
    description: str | None
    source: RegionSource
    confidence: float


@dataclass(frozen=True, slots=True)
class PanelRegions:
    """All that is known of a panel's marks.

    Attributes:
        marks: of its images.
        phrases: of its texts that name marks.
        regions: that both show.
    """

    marks: tuple[Mark, ...] = ()
    phrases: tuple[RegionPhrase, ...] = ()
    regions: tuple[Region, ...] = ()

    def __bool__(self) -> bool:
        """Say whether there is anything."""
        return bool(self.marks or self.phrases or self.regions)


def region_numbers(regions: Sequence[Region], first: int = 1) -> tuple[int, ...]:
    """Return the number of each region for people, from `first` on.

    What the same marks show in the same box has one number, whatever number of phrases names it.
    """
    known: dict[tuple[Box, tuple[int, ...]], int] = {}
    return tuple(known.setdefault((region.box, region.marks), first + len(known)) for region in regions)
