"""Decisions of people in place of the machine's: field by field, and only on the figure that they saw.

A panel that people decided is compared with the machine's by its box, never by its number: after a re-run the machine
may count differently. Fields that people did not decide stay the machine's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from rapidfuzz.distance import Levenshtein

from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.assembly.unassigned_images import all_images, with_all_images
from pmo_assets.pipeline.captions.alignment import aligned
from pmo_assets.pipeline.figures.fingerprint import difference
from pmo_assets.records.figure import LocatedFigure
from pmo_assets.records.geometry import (
    UNIT_BOX,
    Box,
    area,
    clip,
    denormalise,
    iou,
    matched_boxes,
    normalise,
    union_box,
)
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import (
    AUTOMATIC,
    BY_PERSON,
    GROUND_TRUTH,
    Evidence,
    Panel,
    PanelAnnotation,
    PanelImage,
    PanelMember,
    PrintedIdentifier,
)
from pmo_assets.records.reviews import FULL, Decided, DecidedFigure, DecidedPanel, DecidedRegions, Fingerprint, Review
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets.tables.rows import record_of

SAME_PLACE: Final = 0.9
"""IoU of annotated and found figure from which an annotation without a fingerprint is one of this figure."""

SAME_BOX: Final = 0.5
"""IoU from which a panel or image of people is the machine's (as everywhere where boxes are compared)."""

SAME_CAPTION: Final = 0.8
"""1 - edit distance / length from which a caption is the one that people read: XML and PDF differ in some signs."""

FIRST_ADDED: Final = 1000
"""Ordinals of panels that the machine did not find begin here: panels that it finds in a re-run have lower ones."""

METHODS: Final = {"full": "annotated", "resolve": "resolved"}
"""Word in brackets behind the published word for who assigned a subcaption, by purpose."""

_WORDS: Final = {"full": GROUND_TRUTH, "resolve": BY_PERSON}


@dataclass
class ReviewedFigure:
    """A figure's panels after review.

    Attributes:
        panels: as people decided them, and as they were where people did not.
        notes: decisions that were not applied, with the reason.
        tally: counts of decisions that were applied.
    """

    panels: list[Panel]
    notes: list[str] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)


def overlap_on_page(decided: Decided, figure: LocatedFigure) -> float:
    """Return the best IoU of an annotated figure with a found one on a common page, 0..1."""
    return max(
        (iou(a.bbox, b.bbox) for a in decided.figure_locations for b in figure.locations if a.page == b.page),
        default=0.0,
    )


def figure_of(decided: Decided, figures: Sequence[LocatedFigure]) -> LocatedFigure | None:
    """Return the found figure that people decided about; None when there is none.

    By the name of its graphic, else the one that lies where it lay (IoU 0.5): names made of places in the PDF may
    belong to another figure after a re-run.
    """
    named = [figure for figure in figures if figure.image_cluster_id == decided.image_cluster_id]
    if named and (named[0].matched or overlap_on_page(decided, named[0]) >= SAME_BOX):
        return named[0]
    best = max(figures, key=lambda figure: overlap_on_page(decided, figure), default=None)
    return best if best is not None and overlap_on_page(decided, best) >= SAME_BOX else None


def changed(decided: Decided, figure: LocatedFigure, present: Fingerprint | None) -> str | None:
    """Return how a figure differs from the one that people saw; None when it is the same.

    Args:
        decided: the figure as people saw it.
        figure: the figure as it was found now.
        present: its fingerprint; None when its picture cannot be had.
    """
    review = decided.review or FULL
    if review.fingerprint is not None:
        if present is None:
            return "the figure has no picture"
        how = difference(review.fingerprint, present)
        return how and f"the figure changed under the annotation: {how}"
    overlap = overlap_on_page(decided, figure)
    if overlap < SAME_PLACE or len(decided.figure_locations) != len(figure.locations):
        return f"the figure lies elsewhere than the annotated one (IoU {overlap:.2f})"
    return None


Decision = TypeVar("Decision", DecidedFigure, DecidedRegions)
"""What people decided about a figure: what it holds, or the marks and regions of its panels."""


def decisions_of(
    annotated: Sequence[Mapping[str, Any]], figures: Sequence[LocatedFigure], kind: type[Decision]
) -> tuple[dict[str, list[Decision]], list[str]]:
    """Return people's decisions by image_cluster_id, and notes on those that apply to no figure, with the reason.

    Decisions of undecided cases come first, so that a full annotation of the same figure has the last word.
    Answers of an audit decide nothing.

    Args:
        annotated: `figures` of a row of `annotations`, or its `regions`.
        figures: the article's.
        kind: of decision, which the cells hold.
    """
    wanted: dict[str, list[Decision]] = {}
    notes: list[str] = []
    taken: set[tuple[str, str]] = set()
    for content in sorted(annotated, key=lambda item: (item["review"] or {}).get("purpose", "full") == "full"):
        title = content["label"] or content["image_cluster_id"] or "a figure without a label"
        try:
            decided = record_of(kind, content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            notes.append(f"{title}: {'.'.join(map(str, first['loc']))}: {first['msg']}")
            continue
        purpose = (decided.review or FULL).purpose
        if purpose == "audit":
            continue
        figure = figure_of(decided, figures)
        if figure is None:
            notes.append(f"{title}: no such figure was found")
        elif (figure.image_cluster_id, purpose) in taken:
            notes.append(f"{title}: another annotation is about the same figure")
        else:
            taken.add((figure.image_cluster_id, purpose))
            wanted.setdefault(figure.image_cluster_id, []).append(decided)
    return wanted, notes


def moved_to(decided: Decided, figure: LocatedFigure) -> Callable[[Box], Box]:
    """Return the function that normalises an annotated box to the found figure: empty if no part of it lies there.

    Annotated boxes refer to the annotated figure, which may be some points larger or smaller.
    """
    seen, present = decided.figure_locations[0].bbox, figure.locations[0].bbox

    def moved(box: Box) -> Box:
        return clip(box if seen == present else normalise(denormalise(box, seen), present), UNIT_BOX)

    return moved


def _moved(decided: DecidedFigure, figure: LocatedFigure) -> DecidedFigure:
    """Return the annotated figure with its boxes normalised to the found one, without those that have no part in it."""
    moved = moved_to(decided, figure)
    panels = []
    for panel in decided.panels:
        images = [replace(image, box=moved(image.box)) for image in panel.images]
        panels.append(
            replace(
                panel,
                box=moved(panel.box),
                identifier_box=moved(panel.identifier_box) if panel.identifier_box else None,
                images=tuple(image for image in images if area(image.box) > 0),
            )
        )
    return replace(decided, panels=tuple(panel for panel in panels if area(panel.box) > 0))


@dataclass(frozen=True)
class _Case:
    """A figure that is reviewed: its caption, what people decided (in its frame), the caption's split."""

    caption: str
    decided: DecidedFigure
    review: Review
    split: CaptionSplit
    same_caption: bool

    def decides(self, name: str) -> bool:
        if name == "subcaptions" and not self.same_caption:
            return False
        return name in self.review.decided


def _similar(a: str, b: str) -> float:
    return float(Levenshtein.normalized_similarity(" ".join(a.split()), " ".join(b.split())))


def _segments(case: _Case, panel: DecidedPanel) -> tuple[tuple[int, int], ...]:
    """Return where in the present caption a subcaption comes from: as people marked it, or as its words say."""
    caption, given = case.caption, panel.segments
    if given is not None and case.decided.caption == caption and all(0 <= a < b <= len(caption) for a, b in given):
        return tuple(sorted(given))
    return aligned(caption, panel.subcaption or "").segments


def _said(case: _Case, panel: Panel, identifier: str | None) -> Panel:
    """Return a panel whose words people decided: its identifier, and who says so before all other evidence."""
    person = Evidence("person", case.review.annotator or "unknown", None, identifier, 1.0)
    return replace(panel, identifier=identifier, evidence=(person, *panel.evidence))


def _nothing_assigned(case: _Case, panel: Panel, identifier: str | None, reason: str) -> Panel:
    return replace(
        _said(case, panel, identifier),
        subcaption=None,
        segments=None,
        caption_confidence=None,
        method=None,
        assembly=None,
        confidence=0.0,
        runner_up=None,
        runner_up_confidence=0.0,
        reason=reason,
    )


def _assigned(case: _Case, panel: Panel, identifier: str | None, reason: str) -> Panel:
    """Return a panel whose subcaption, which it has, is people's from now on."""
    return replace(
        _said(case, panel, identifier),
        method=METHODS[case.review.purpose],
        assembly=_WORDS[case.review.purpose],
        confidence=1.0,
        runner_up=None,
        runner_up_confidence=0.0,
        reason=reason,
    )


def _with_words(case: _Case, panel: Panel, own: DecidedPanel) -> Panel:
    """Return a panel with identifier and subcaption as people decided them; those they left to the machine remain."""
    name = own.identifier
    if case.decides("subcaptions") and (own.subcaption is not None or case.review.purpose == "full"):
        if not own.subcaption:
            return _nothing_assigned(case, panel, name, "the annotation gives no subcaption")
        given = replace(panel, subcaption=own.subcaption, segments=_segments(case, own), caption_confidence=1.0)
        return _assigned(case, given, name, "a person assigned the subcaption")
    if not case.decides("identifiers"):
        return panel
    key = normalised_identifier(name)
    same = key == normalised_identifier(panel.identifier)
    if same and name is None:
        return panel
    if same and panel.subcaption is not None:
        if panel.assembly != AUTOMATIC:
            return replace(panel, identifier=name)
        return _assigned(case, panel, name, f"a person read “{name}” in the panel, too")
    why = f"a person read “{name}” in the panel"
    for sub in case.split.subcaptions:
        if sub.identifier is not None and normalised_identifier(sub.identifier) == key:
            given = replace(panel, subcaption=sub.text, segments=sub.segments, caption_confidence=case.split.confidence)
            return _assigned(case, given, name, why)
    return _nothing_assigned(case, panel, name, f"{why}, but the caption does not name it" if name else "no identifier")


def _images(panel: DecidedPanel, machine: Sequence[PanelImage], ordinal: int) -> tuple[PanelImage, ...]:
    """Return people's images of a panel, under the names of the machine's that they are."""
    same = matched_boxes([image.box for image in panel.images], [image.box for image in machine], SAME_BOX)
    result = []
    for number, image in enumerate(panel.images):
        seen = machine[same[number]] if number in same else None
        made = PanelImage(
            id=seen.id if seen is not None else f"h{ordinal}-{number}",
            box=image.box,
            score=1.0,
            image_type=image.type,
            type_score=1.0 if image.type is not None else 0.0,
            marked=image.marked,
            mark_score=1.0 if image.marked else 0.0,
            is_gt=True,
        )
        # A modality goes with the type that it is of: where people say another one, nobody has said which.
        if seen is not None and seen.image_type == image.type:
            made = replace(made, modality=seen.modality, modality_score=seen.modality_score)
        result.append(made)
    return tuple(result)


def _printed(panel: DecidedPanel, machine: Sequence[PrintedIdentifier], ordinal: int) -> tuple[PrintedIdentifier, ...]:
    if panel.identifier_box is None:
        return ()
    same = matched_boxes([panel.identifier_box], [item.box for item in machine], SAME_BOX)
    name = machine[same[0]].id if same else f"h{ordinal}"
    return (PrintedIdentifier(name, panel.identifier_box, 1.0, panel.identifier, is_gt=True),)


def _with_panels(case: _Case, panels: Sequence[Panel]) -> list[tuple[Panel, DecidedPanel | None]]:
    """Return the panels as people drew them, each with what they decided of it."""
    boxes = [own.box for own in case.decided.panels]
    same = matched_boxes(boxes, [panel.content_box for panel in panels], SAME_BOX)
    identifiers = [item for panel in panels for item in panel.printed_identifiers]
    images = all_images(panels)
    of_identifier = assigned_to_panels([item.box for item in identifiers], boxes)
    of_image = assigned_to_panels([item.box for item in images], boxes)
    drawn = []
    first = max([FIRST_ADDED, *(panel.ordinal + 1 for panel in panels)])
    for number, box in enumerate(boxes):
        panel = panels[same[number]] if number in same else _blank(first + number, box)
        drawn.append(
            replace(
                panel,
                box=box,
                members=(PanelMember(panel.ordinal, box),),
                printed_identifiers=tuple(
                    item for item, owner in zip(identifiers, of_identifier, strict=True) if owner == number
                ),
                images=tuple(item for item, owner in zip(images, of_image, strict=True) if owner == number),
                made_of_image=False,
            )
        )
    return list(zip(with_all_images(panels, drawn), case.decided.panels, strict=True))


def _blank(ordinal: int, box: Box) -> Panel:
    """Return a panel that the machine did not find."""
    reason = "a person drew this panel, nobody said which subcaption it has"
    return Panel(ordinal=ordinal, members=(), box=box, content_box=box, score=1.0, reason=reason)


def _decided_panel(case: _Case, panel: Panel, own: DecidedPanel, machine: Sequence[Panel]) -> Panel:
    if case.decides("identifiers"):
        printed = [item for other in machine for item in other.printed_identifiers]
        panel = replace(panel, printed_identifiers=_printed(own, printed, panel.ordinal))
    if case.decides("images"):
        panel = replace(panel, images=_images(own, all_images(machine), panel.ordinal))
    panel = _with_words(case, panel, own)
    parts = [*(item.box for item in panel.printed_identifiers), *(image.box for image in panel.images)]
    return replace(panel, content_box=union_box([panel.box, *parts]))


def review_figure(
    figure: LocatedFigure, panels: Sequence[Panel], decided: DecidedFigure, split: CaptionSplit
) -> ReviewedFigure:
    """Return a figure's panels with people's decisions in place of the machine's.

    Args:
        figure: the figure.
        panels: its panels as the machine assembled them, or as people decided them before.
        decided: people's decisions about this very figure.
        split: its caption's split.
    """
    review = decided.review or FULL
    caption = decided.caption
    same = not caption or not figure.caption or _similar(caption, figure.caption) >= SAME_CAPTION
    case = _Case(figure.caption, _moved(decided, figure), review, split, same)
    result = ReviewedFigure([])
    if not same and "subcaptions" in review.decided:
        result.notes.append("the caption is another one than people read: their subcaptions are not taken")
    if case.decides("panels"):
        chosen = _with_panels(case, panels)
        kept = {panel.ordinal for panel, _ in chosen}
        result.tally["panels removed"] = sum(panel.ordinal not in kept for panel in panels)
        result.tally["panels added"] = sum(panel.ordinal >= FIRST_ADDED for panel, _ in chosen)
    else:
        found = matched_boxes(
            [panel.content_box for panel in panels], [own.box for own in case.decided.panels], SAME_BOX
        )
        chosen = [
            (panel, case.decided.panels[found[number]] if number in found else None)
            for number, panel in enumerate(panels)
        ]
        for number, own in enumerate(case.decided.panels):
            if number not in found.values() and own.subcaption is not None:
                result.notes.append(f"no panel is where panel “{own.identifier or number + 1}” was")
    fields = tuple(name for name in review.decided if name not in ("figure", "caption"))
    entry = PanelAnnotation(review.purpose, fields, review.annotator, review.at)
    for panel, said in chosen:
        made = panel if said is None else _decided_panel(case, panel, said, panels)
        result.tally["panels decided"] += said is not None
        result.panels.append(replace(made, annotations=(*panel.annotations, entry)))
    if case.decides("images"):
        result.panels = _without_decided_unassigned(result.panels)
    result.tally["figures decided"] = 1
    return result


def _without_decided_unassigned(panels: Sequence[Panel]) -> list[Panel]:
    """Return panels without unassigned images that people put into one: each image stands with one panel, once."""
    taken = {image.id for panel in panels for image in panel.images}
    return [
        replace(panel, unassigned_images=tuple(image for image in panel.unassigned_images if image.id not in taken))
        for panel in panels
    ]
