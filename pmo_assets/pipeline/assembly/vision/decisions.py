"""An answer that fits its question, as decisions: which panel, or which images, have which subcaption, on what grounds.

What is held against the question: ids, names, that everything undecided is answered once, nothing final, and that a new
label lies in its panel and is small. An answer that does not fit is sent back with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.pipeline.assembly.membership import ASSIGN_OVERLAP
from pmo_assets.pipeline.assembly.vision.answers import (
    AlphanumericAnswer,
    FigureAnswer,
    GivenLabel,
    ImageGroup,
    MixedAnswer,
    NewLabel,
    PanelAssignment,
    Place,
    PositionalAnswer,
)
from pmo_assets.pipeline.assembly.vision.question import (
    AskedImage,
    AskedPanel,
    FigureQuestion,
    from_thousandths,
)
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.records.geometry import Box, area, covered_fraction, union_box
from pmo_assets.records.identifiers import normalised_identifier

NEW_LABEL_OVERLAP: Final = 0.05
"""At least this fraction of a new label lies in its panel (paper's code)."""

NEW_LABEL_AREA: Final = 0.2
"""A new label has at most this fraction of its panel's area (paper's code): more is no label."""

NEW_LABEL_WORDS: Final = 3
"""A label has at most so many words (paper's prompt)."""

Grounds = Literal["print", "place", "none"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that the model says it sees.

    Attributes:
        what: "given label", "new label", or the kind of place: "column", "row", …
        text: the print, or the description of the place.
        box: normalised; None for a place.
        label: id of the given label; None for others.
    """

    what: str
    text: str
    box: Box | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One panel, or one group of images, with the subcaption that an answer gives it.

    Attributes:
        panel: id of the panel; None for images.
        images: ids of the images; empty for a panel.
        name: of the subcaption; None when none belongs to it.
        grounds: what shows it: print, place, or nothing for what is rejected.
        seen: what the model says it sees.
        confidence: as the model states it, 0..1.
    """

    panel: str | None
    images: frozenset[str]
    name: str | None
    grounds: Grounds
    seen: tuple[Seen, ...]
    confidence: float

    @property
    def statement(self) -> tuple[str | None, frozenset[str], str | None, Grounds]:
        """Subject, subcaption and grounds, which two answers must have in common to agree."""
        return (self.panel, self.images, self.name, self.grounds)

    @property
    def subjects(self) -> frozenset[str]:
        """Ids of the panel or the images that it is about."""
        return self.images if self.panel is None else frozenset({self.panel})


def fitting_decisions(question: FigureQuestion, answer: FigureAnswer) -> tuple[Decision, ...]:
    """Return the decisions of an answer.

    Raises:
        MisfittingAnswer: if it does not fit the question.
    """
    if isinstance(answer, AlphanumericAnswer):
        return _panel_decisions(question, answer.assignments, required=question.undecided_panels)
    if isinstance(answer, PositionalAnswer):
        return _image_decisions(question, answer, question.images, required=question.images)
    return _mixed_decisions(question, answer)


def _mixed_decisions(question: FigureQuestion, answer: MixedAnswer) -> tuple[Decision, ...]:
    panels = _panel_decisions(question, answer.assignments, required=())
    assigned = {decision.panel for decision in panels}
    free = [image for image in question.images if image.panel not in assigned]
    grouped = {panel.id for panel in question.undecided_panels} - assigned
    required = [image for image in free if image.panel in grouped]
    without_image = grouped - {image.panel for image in required}
    if without_image:
        raise MisfittingAnswer(f"{_listed(without_image)} is not answered and holds no image to group.")
    return (*panels, *_image_decisions(question, answer, free, required))


def _panel_decisions(
    question: FigureQuestion, assignments: Sequence[PanelAssignment], required: Sequence[AskedPanel]
) -> tuple[Decision, ...]:
    panels = {panel.id: panel for panel in question.panels}
    _complete([item.panel_id for item in assignments], panels, {panel.id for panel in required}, "panel")
    if final := [item.panel_id for item in assignments if panels[item.panel_id].is_final]:
        raise MisfittingAnswer(f"{_listed(final)} is final: leave it out.")
    return tuple(_panel_decision(question, panels[item.panel_id], item) for item in assignments)


def _panel_decision(question: FigureQuestion, panel: AskedPanel, item: PanelAssignment) -> Decision:
    if item.assigned_subcaption is None:
        if not item.reject_panel:
            raise MisfittingAnswer(f"{panel.id} has no subcaption: give one, or reject the panel.")
        return Decision(panel.id, frozenset(), None, "none", (), item.confidence)
    if item.reject_panel:
        raise MisfittingAnswer(f"{panel.id} is rejected and has a subcaption: one of both.")
    name = _option(question, item.assigned_subcaption)
    seen = tuple(_seen(question, panel, name, evidence) for evidence in item.evidence)
    if not seen:
        raise MisfittingAnswer(f"{panel.id} has no evidence for {name!r}.")
    grounds: Grounds = "print" if any(thing.box is not None for thing in seen) else "place"
    return Decision(panel.id, frozenset(), name, grounds, seen, item.confidence)


def _seen(question: FigureQuestion, panel: AskedPanel, name: str, evidence: GivenLabel | NewLabel | Place) -> Seen:
    if isinstance(evidence, Place):
        return _place(evidence)
    if isinstance(evidence, GivenLabel):
        label = next((label for label in question.labels if label.id == evidence.label_id), None)
        if label is None:
            raise MisfittingAnswer(f"there is no label {evidence.label_id}.")
        if label.panel not in (None, panel.id) and covered_fraction(label.box, panel.box) < NEW_LABEL_OVERLAP:
            raise MisfittingAnswer(f"the label {label.id} lies in {label.panel} and not in {panel.id}.")
        return Seen("given label", label.label.text or "", label.box, label.id)
    box = from_thousandths(evidence.bbox_2d)
    if not area(box) > 0:
        raise MisfittingAnswer(f"the new label of {panel.id} has no area.")
    if covered_fraction(box, panel.box) < NEW_LABEL_OVERLAP:
        raise MisfittingAnswer(f"the new label of {panel.id} does not lie in the panel.")
    if area(box) > NEW_LABEL_AREA * area(panel.box):
        raise MisfittingAnswer(f"the new label of {panel.id} is too large for a label.")
    text = " ".join(evidence.text.split())
    if not text or len(text.split()) > NEW_LABEL_WORDS:
        raise MisfittingAnswer(f"the new label of {panel.id} has more than {NEW_LABEL_WORDS} words, or none.")
    if other := _other_name(question, name, text):
        raise MisfittingAnswer(f"the new label of {panel.id} reads {text!r}, which is {other!r} and not {name!r}.")
    return Seen("new label", text, box)


def _other_name(question: FigureQuestion, name: str, text: str) -> str | None:
    """Return the option that a label's text names when it is another one than `name`; None when that is not sure."""
    key = normalised_identifier(text)
    named = [option for option in question.options if normalised_identifier(option) == key]
    return named[0] if len(named) == 1 and named[0] != name else None


def _place(evidence: Place) -> Seen:
    return Seen(evidence.positional_type, " ".join(evidence.short_description.split()))


def _image_decisions(
    question: FigureQuestion,
    answer: PositionalAnswer | MixedAnswer,
    allowed: Sequence[AskedImage],
    required: Sequence[AskedImage],
) -> tuple[Decision, ...]:
    images = {image.id: image for image in allowed}
    named = [place for group in answer.groups for place in group.assigned_images]
    _complete([*named, *answer.left_out], images, {image.id for image in required}, "image")
    names = [_option(question, group.assigned_subcaption) for group in answer.groups]
    if twice := {name for name in names if names.count(name) > 1}:
        raise MisfittingAnswer(f"{_listed(twice)} has two groups: one group holds all its images.")
    grouped = [_group_decision(question, images, group) for group in answer.groups]
    left = [Decision(None, frozenset({place}), None, "none", (), 0.0) for place in answer.left_out]
    return (*grouped, *left)


def _group_decision(question: FigureQuestion, images: dict[str, AskedImage], group: ImageGroup) -> Decision:
    name = _option(question, group.assigned_subcaption)
    if not group.evidence:
        raise MisfittingAnswer(f"the group of {name!r} has no evidence.")
    members = frozenset(group.assigned_images)
    box = union_box(images[place].box for place in members)
    others: list[AskedImage | AskedPanel] = [*question.images, *(panel for panel in question.panels if panel.is_final)]
    inside = {item.id for item in others if covered_fraction(item.box, box) >= ASSIGN_OVERLAP}
    if foreign := inside - members:
        raise MisfittingAnswer(f"the images of {name!r} enclose {_listed(foreign)}, which is not among them.")
    return Decision(None, members, name, "place", tuple(map(_place, group.evidence)), group.confidence)


def _option(question: FigureQuestion, name: str) -> str:
    """Return a name as the caption spells it."""
    if name in question.options:
        return name
    alike = [option for option in question.options if normalised_identifier(option) == normalised_identifier(name)]
    if len(alike) != 1:
        raise MisfittingAnswer(f"{name!r} is none of the options {_listed(question.options)}.")
    return alike[0]


def _complete(given: Sequence[str], known: Iterable[str], required: set[str], kind: str) -> None:
    """Check that every id is known and given once, and that none that is required is missing."""
    if unknown := set(given) - set(known):
        raise MisfittingAnswer(f"there is no {kind} {_listed(unknown)} to answer.")
    if twice := {item for item in given if given.count(item) > 1}:
        raise MisfittingAnswer(f"{_listed(twice)} is answered twice.")
    if missing := required - set(given):
        raise MisfittingAnswer(f"{_listed(missing)} is not answered.")


def _listed(items: Iterable[str]) -> str:
    return ", ".join(sorted(items))
