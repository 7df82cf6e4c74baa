"""What a model is asked about one figure: its undecided panels, what is printed in it, what the caption offers.

Ids are the question's own ("P2", "L1", "I4"): short, and without a meaning that a model could read into them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pmo_assets.pipeline.assembly.vision.figure_types import FigureType, figure_type, hints
from pmo_assets.pipeline.prompting.prompts import as_json
from pmo_assets.records.geometry import Box, area, as_box, covered_fraction
from pmo_assets.records.panels import is_undecided
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
        ordinal: of its row.
        box: with all that belongs to it, normalised to the figure.
        is_final: it is shown but not asked about.
        name: its subcaption's identifier where it is final.
    """

    id: str
    ordinal: int
    box: Box
    is_final: bool
    name: str | None


@dataclass(frozen=True, slots=True)
class AskedLabel:
    """A label that was found printed in the figure.

    Attributes:
        id: "L1", …
        detection: its detection_id.
        box: normalised.
        panel: id of the panel that it was given to; None when to none.
        text: as it was read; None when it could not be.
        confidence: that it reads so, 0..1.
    """

    id: str
    detection: str
    box: Box
    panel: str | None
    text: str | None
    confidence: float


@dataclass(frozen=True, slots=True)
class AskedImage:
    """An image outside of the final panels.

    Attributes:
        id: "I1", …
        detection: its detection_id.
        box: normalised.
        panel: id of the undecided panel that it was given to; None when to none.
    """

    id: str
    detection: str
    box: Box
    panel: str | None


@dataclass(frozen=True, slots=True)
class FigureQuestion:
    """What is asked about a figure.

    Attributes:
        type: which prompt and schema.
        options: the subcaptions by the panels' names, in the caption's order.
        caption: all of it.
        panels: the figure's, final ones too.
        labels: printed labels outside of the final panels.
        images: images outside of the final panels.
    """

    type: FigureType
    options: Mapping[str, str]
    caption: str
    panels: tuple[AskedPanel, ...]
    labels: tuple[AskedLabel, ...]
    images: tuple[AskedImage, ...]

    @property
    def undecided_panels(self) -> tuple[AskedPanel, ...]:
        """The panels that an answer must decide."""
        return tuple(panel for panel in self.panels if not panel.is_final)


def is_asked(row: Mapping[str, Any], threshold: float) -> bool:
    """Say whether a row of `panel_assembly` is put to the model: it is undecided (`records.panels.is_undecided`)."""
    return is_undecided(row["subcaption"], row["assembly"], row["confidence"], threshold)


def figure_question(
    caption: str,
    split: CaptionSplit,
    panel_rows: Sequence[Mapping[str, Any]],
    identifier_rows: Sequence[Mapping[str, Any]],
    image_rows: Sequence[Mapping[str, Any]],
    threshold: float,
) -> FigureQuestion | None:
    """Return what is asked about a figure; None when nothing is undecided or its caption leaves no choice.

    Args:
        caption: the figure's.
        split: its subcaptions.
        panel_rows: rows of `panel_assembly` of the figure.
        identifier_rows: rows of `panel_detections` of its printed identifiers.
        image_rows: its rows of `image_detections`.
        threshold: confidence below which rules leave a panel undecided.

    Raises:
        FigureNotAsked: if it is beyond what a model is asked.
    """
    options = {sub.identifier: sub.text for sub in split.subcaptions if sub.identifier is not None}
    if not options or not any(is_asked(row, threshold) for row in panel_rows):
        return None
    rows = sorted(panel_rows, key=lambda row: row["ordinal"])
    panels = tuple(_panel(f"P{number}", row, threshold) for number, row in enumerate(rows, start=1))
    pairs = list(zip(panels, rows, strict=True))
    holders = {item["id"]: panel for panel, row in pairs for item in row["images"]}
    printed = {item["id"]: panel for panel, row in pairs for item in row["printed_identifiers"]}
    question = FigureQuestion(
        figure_type(list(options)),
        options,
        caption,
        panels,
        _labels(identifier_rows, printed, panels),
        _images(image_rows, holders),
    )
    if len(panels) > MAX_PANELS or len(question.images) > MAX_PANELS:
        raise FigureNotAsked(f"{len(panels)} panels and {len(question.images)} open images; at most {MAX_PANELS} each")
    if any(len(name) > MAX_NAME_CHARACTERS for name in options):
        raise FigureNotAsked(f"a name of more than {MAX_NAME_CHARACTERS} characters")
    length = len(as_json(question_json(question, "json")))
    if length > MAX_QUESTION_CHARACTERS:
        raise FigureNotAsked(f"{length} characters of captions and boxes; at most {MAX_QUESTION_CHARACTERS} are asked")
    return question


def _panel(name: str, row: Mapping[str, Any], threshold: float) -> AskedPanel:
    is_final = not is_asked(row, threshold)
    return AskedPanel(
        name, row["ordinal"], as_box(row["content_box"]), is_final, row["identifier"] if is_final else None
    )


def _labels(
    rows: Sequence[Mapping[str, Any]], printed: Mapping[str, AskedPanel], panels: Sequence[AskedPanel]
) -> tuple[AskedLabel, ...]:
    """Return the labels that may be an undecided panel's: given to no final one, or reaching into an undecided one."""
    found: list[AskedLabel] = []
    for row in sorted(rows, key=lambda row: row["ordinal"]):
        box, holder = as_box(row["box"]), printed.get(row["detection_id"])
        near = any(not panel.is_final and covered_fraction(box, panel.box) > LABEL_OVERLAP for panel in panels)
        if holder is None or not holder.is_final or near:
            panel = holder.id if holder is not None else None
            found.append(
                AskedLabel(f"L{len(found) + 1}", row["detection_id"], box, panel, row["text"], row["text_score"])
            )
    return tuple(found)


def _images(rows: Sequence[Mapping[str, Any]], holders: Mapping[str, AskedPanel]) -> tuple[AskedImage, ...]:
    found: list[AskedImage] = []
    for row in sorted(rows, key=lambda row: row["ordinal"]):
        holder, box = holders.get(row["detection_id"]), as_box(row["box"])
        if (holder is None or not holder.is_final) and area(box) > 0:
            panel = holder.id if holder is not None else None
            found.append(AskedImage(f"I{len(found) + 1}", row["detection_id"], box, panel))
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
        | ({"assigned_subcaption": panel.name} if panel.is_final else {})
        for panel in question.panels
    ]
    labels = [
        {
            "label_id": label.id,
            **placed(label),
            "assigned_to": label.panel,
            "detected_text": label.text,
            "detection_confidence": round(label.confidence, 2),
        }
        for label in question.labels
    ]
    images = [
        {"image_id": image.id, **placed(image)} | ({"panel_id": image.panel} if question.type == "mixed" else {})
        for image in question.images
    ]
    facts: dict[str, Any] = {"subcaption_options": dict(question.options), "full_caption": question.caption}
    if said := hints(list(question.options)):
        facts["hints"] = said
    if question.type == "positional":
        return {**facts, "final_panels": [panel for panel in panels if panel["is_final"]], "images": images}
    facts |= {"panels": panels, "labels": labels}
    return facts if question.type == "alphanumeric" else {**facts, "images": images}
