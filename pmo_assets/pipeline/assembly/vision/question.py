"""Question to a model about one figure: its undecided panels, its printed labels, the names of its caption.

Ids are the question's own ("P2", "L1", "I4"): short, and without a meaning that a model could read into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pmo_assets.pipeline.assembly.vision.figure_types import FigureType, figure_type, hints
from pmo_assets.pipeline.prompting.prompts import as_json
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box, area, as_box, covered_fraction
from pmo_assets.records.panels import Panel, PanelImage
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.subcaptions import CaptionSplit

BoxesShown = Literal["json", "drawn"]

COORDINATES: Final = 1000
"""Boxes go to the model, and come back, in 0 … 1000 across and down the picture (Qwen's convention, the paper's)."""

LABEL_OVERLAP: Final = 0.05
"""A printed label belongs to the question when so much of it lies in an undecided panel (paper's code)."""

MAX_QUESTION_CHARACTERS: Final = 60_000
"""Longer questions are not asked: a caption of 20,000 characters whose panels all share it."""

MAX_PANELS: Final = 60
"""Figures with more panels or images are not asked; an answer would not end."""


MAX_NAME_CHARACTERS: Final = 64
"""Figures with a longer name are not asked: it is no name."""


class FigureNotAsked(ArticleError):
    """The figure has more panels, images or words than a model is asked about."""


@dataclass(frozen=True, slots=True)
class AskedPanel:
    """A panel of the question.

    Attributes:
        id: "P1", …
        panel: as rules left it.
        is_final: it is shown but not asked about.
    """

    id: str
    panel: Panel
    is_final: bool

    @property
    def box(self) -> Box:
        """The panel with all that belongs to it, normalised to the figure."""
        return self.panel.content_box


@dataclass(frozen=True, slots=True)
class AskedLabel:
    """A label that was found printed in the figure.

    Attributes:
        id: "L1", …
        label: as it was detected and read.
        panel: id of the panel that it was given to; None when to none.
    """

    id: str
    label: PanelDetection
    panel: str | None

    @property
    def box(self) -> Box:
        """The label's, normalised."""
        return self.label.box


@dataclass(frozen=True, slots=True)
class AskedImage:
    """An image outside of the final panels.

    Attributes:
        id: "I1", …
        image: as it was detected.
        panel: id of the undecided panel that it was given to; None when to none.
    """

    id: str
    image: PanelImage
    panel: str | None

    @property
    def box(self) -> Box:
        """The image's, normalised."""
        return self.image.box


@dataclass(frozen=True, slots=True)
class FigureQuestion:
    """Question about a figure.

    Attributes:
        type: it chooses prompt and schema.
        caption: all of it.
        split: its subcaptions.
        panels: the figure's, final ones too.
        labels: printed labels outside of the final panels.
        images: images outside of the final panels.
    """

    type: FigureType
    caption: str
    split: CaptionSplit
    panels: tuple[AskedPanel, ...]
    labels: tuple[AskedLabel, ...]
    images: tuple[AskedImage, ...]

    @property
    def options(self) -> dict[str, str]:
        """The subcaptions by the panels' names, in the caption's order."""
        return {sub.identifier: sub.text for sub in self.split.subcaptions if sub.identifier is not None}

    @property
    def undecided_panels(self) -> tuple[AskedPanel, ...]:
        """The panels that an answer must decide."""
        return tuple(panel for panel in self.panels if not panel.is_final)


def figure_question(
    caption: str,
    split: CaptionSplit,
    panels: Sequence[Panel],
    identifiers: Sequence[PanelDetection],
    images: Sequence[PanelImage],
    threshold: float,
) -> FigureQuestion | None:
    """Return the question about a figure; None when nothing is undecided or its caption leaves no choice.

    Args:
        caption: the figure's.
        split: its subcaptions.
        panels: the figure's, assembled.
        identifiers: its printed ones, in the detector's order.
        images: its images, in the detector's order.
        threshold: confidence below which rules leave a panel undecided.

    Raises:
        FigureNotAsked: if it is too large for a model.
    """
    if not split.identifiers or not any(panel.is_undecided(threshold) for panel in panels):
        return None
    ordered = sorted(panels, key=lambda panel: panel.ordinal)
    asked = tuple(
        AskedPanel(f"P{number}", panel, not panel.is_undecided(threshold))
        for number, panel in enumerate(ordered, start=1)
    )
    labels, found = _labels(identifiers, asked), _images(images, asked)
    question = FigureQuestion(figure_type(split.identifiers), caption, split, asked, labels, found)
    if len(asked) > MAX_PANELS or len(found) > MAX_PANELS:
        raise FigureNotAsked(f"{len(asked)} panels and {len(found)} open images; at most {MAX_PANELS} each")
    if any(len(name) > MAX_NAME_CHARACTERS for name in split.identifiers):
        raise FigureNotAsked(f"a name of more than {MAX_NAME_CHARACTERS} characters")
    length = len(as_json(question_json(question, "json")))
    if length > MAX_QUESTION_CHARACTERS:
        raise FigureNotAsked(f"{length} characters of captions and boxes; at most {MAX_QUESTION_CHARACTERS} are asked")
    return question


def _labels(labels: Sequence[PanelDetection], panels: Sequence[AskedPanel]) -> tuple[AskedLabel, ...]:
    """Return the labels that may be an undecided panel's: given to no final one, or reaching into an undecided one."""
    holders = {item.id: asked for asked in panels for item in asked.panel.printed_identifiers}
    found: list[AskedLabel] = []
    for label in labels:
        holder = holders.get(label.detection_id)
        near = any(not asked.is_final and covered_fraction(label.box, asked.box) > LABEL_OVERLAP for asked in panels)
        if holder is None or not holder.is_final or near:
            found.append(AskedLabel(f"L{len(found) + 1}", label, holder.id if holder is not None else None))
    return tuple(found)


def _images(images: Sequence[PanelImage], panels: Sequence[AskedPanel]) -> tuple[AskedImage, ...]:
    holders = {item.id: asked for asked in panels for item in asked.panel.images}
    found: list[AskedImage] = []
    for image in images:
        holder = holders.get(image.id)
        if (holder is None or not holder.is_final) and area(image.box) > 0:
            found.append(AskedImage(f"I{len(found) + 1}", image, holder.id if holder is not None else None))
    return tuple(found)


def in_thousandths(box: Box) -> list[int]:
    """Return a normalised box as the model is given it: whole numbers 0 … 1000."""
    return [min(max(round(value * COORDINATES), 0), COORDINATES) for value in box]


def from_thousandths(values: Sequence[int]) -> Box:
    """Return a box of the model's, normalised."""
    return as_box(value / COORDINATES for value in values)


def question_json(question: FigureQuestion, boxes: BoxesShown) -> dict[str, Any]:
    """Return the question's words, as JSON: with its boxes, or without them where they are drawn on the picture."""

    def placed(item: AskedPanel | AskedLabel | AskedImage) -> dict[str, Any]:
        return {"bbox_2d": in_thousandths(item.box)} if boxes == "json" else {}

    panels = [
        {"panel_id": panel.id, **placed(panel), "is_final": panel.is_final}
        | ({"assigned_subcaption": panel.panel.identifier} if panel.is_final else {})
        for panel in question.panels
    ]
    labels = [
        {
            "label_id": label.id,
            **placed(label),
            "assigned_to": label.panel,
            "detected_text": label.label.text,
            "detection_confidence": round(label.label.text_score, 2),
        }
        for label in question.labels
    ]
    images = [
        {"image_id": image.id, **placed(image)} | ({"panel_id": image.panel} if question.type == "mixed" else {})
        for image in question.images
    ]
    options = question.options
    facts: dict[str, Any] = {"subcaption_options": options, "full_caption": question.caption}
    if said := hints(list(options)):
        facts["hints"] = said
    if question.type == "positional":
        return {**facts, "final_panels": [panel for panel in panels if panel["is_final"]], "images": images}
    facts |= {"panels": panels, "labels": labels}
    return facts if question.type == "alphanumeric" else {**facts, "images": images}
