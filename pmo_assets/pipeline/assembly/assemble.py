"""Which identifier, images and subcaption belong to which panel (paper, Methods, "Panel assembly").

Images and identifiers go to the panel with which they have IoU >= 0.3 or in which they lie to 70 %. A subcaption goes
to a panel, in this order, because

1. both are single,
2. the panel's printed identifier is the subcaption's,
3. all of the caption's identifiers are positional and the panels stand accordingly,
4. as many panels as subcaptions are left and the order of reading is unambiguous or confirmed by read identifiers,
5. the caption names no panel: each panel gets the whole caption (annotation guide).

Whatever remains has no subcaption, and a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pmo_assets.pipeline.assembly.positions import panels_by_position
from pmo_assets.records.detections import ImageDetection, PanelDetection
from pmo_assets.records.geometry import Box, area, covered_fraction, height, iou, union_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

ASSIGN_IOU = 0.3
"""An image or identifier belongs to a panel from this IoU on (paper, Methods)."""

ASSIGN_OVERLAP = 0.7
"""… or when this fraction of it lies in the panel (paper, Methods)."""


JOINED_OVERLAP = 0.1
"""Nested panels are not joined when more than this fraction of another panel would lie in the joined box."""


@dataclass(frozen=True, slots=True)
class AssembledPanel:
    """A panel with what was assigned to it.

    Attributes:
        panel: index of the panel detection.
        box: the panel as detected, normalised [l, t, r, b].
        content_box: union of the panel and everything assigned to it.
        score: detection score, 0..1.
        name: the panel's identifier; None for a single panel or when undecided.
        subcaption: None when it cannot be decided.
        method: "single panel", "identifier", "position", "reading order", "whole caption", or None.
        reason: why this subcaption, or why none.
        identifiers: indices of identifier detections.
        images: indices of image detections.
    """

    panel: int
    box: Box
    content_box: Box
    score: float
    name: str | None
    subcaption: Subcaption | None
    method: str | None
    reason: str
    identifiers: tuple[int, ...]
    images: tuple[int, ...]


def belongs(box: Box, panel: Box) -> float:
    """Return how strongly a box belongs to a panel: 0 below the paper's thresholds, else overlap plus IoU."""
    overlap, shared = covered_fraction(box, panel), iou(box, panel)
    return overlap + shared if overlap >= ASSIGN_OVERLAP or shared >= ASSIGN_IOU else 0.0


def assigned_to_panels(boxes: Sequence[Box], panels: Sequence[Box]) -> list[int | None]:
    """Return for each box the index of the panel it belongs to; the smaller panel wins a tie; None for no panel."""
    owners: list[int | None] = []
    for box in boxes:
        strengths = [(belongs(box, panel), -area(panel), -index) for index, panel in enumerate(panels)]
        best = max(strengths, default=(0.0, 0.0, 0))
        owners.append(-int(best[2]) if best[0] > 0 else None)
    return owners


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """Return indices row by row, left to right; boxes whose vertical extents overlap by half form a row."""
    rows: list[list[int]] = []
    for index in sorted(range(len(boxes)), key=lambda i: (boxes[i][1], boxes[i][0])):
        box = boxes[index]
        for row in rows:
            first = boxes[row[0]]
            common = min(box[3], first[3]) - max(box[1], first[1])
            if common >= 0.5 * min(height(box), height(first)):
                row.append(index)
                break
        else:
            rows.append([index])
    return [index for row in rows for index in sorted(row, key=lambda i: boxes[i][0])]


def column_order(boxes: Sequence[Box]) -> list[int]:
    """Return indices column by column, top to bottom: `reading_order` of the transposed boxes."""
    return reading_order([(box[1], box[0], box[3], box[2]) for box in boxes])


def panel_identifiers(detections: Sequence[PanelDetection], owners: Sequence[int | None]) -> dict[int, PanelDetection]:
    """Return for each panel index the best-scored identifier with a text among those it owns."""
    best: dict[int, PanelDetection] = {}
    for detection, owner in zip(detections, owners, strict=True):
        if owner is not None and detection.text and (owner not in best or detection.score > best[owner].score):
            best[owner] = detection
    return best


def assemble(
    detections: Sequence[PanelDetection], images: Sequence[ImageDetection], split: CaptionSplit
) -> tuple[AssembledPanel, ...]:
    """Assign identifiers, images and subcaptions to panels.

    Args:
        detections: panels and identifiers of one figure.
        images: images of the figure.
        split: its caption's split.

    Returns:
        One entry per panel detection (nested ones joined), in reading order.
    """
    panel_indices = [i for i, d in enumerate(detections) if d.kind == "panel"]
    identifier_indices = [i for i, d in enumerate(detections) if d.kind == "identifier"]
    boxes = [detections[i].box for i in panel_indices]
    identifier_owners = assigned_to_panels([detections[i].box for i in identifier_indices], boxes)
    image_owners = assigned_to_panels([image.box for image in images], boxes)
    read = panel_identifiers([detections[i] for i in identifier_indices], identifier_owners)
    assembled = []
    for place, index in enumerate(panel_indices):
        own_identifiers = tuple(
            i for i, owner in zip(identifier_indices, identifier_owners, strict=True) if owner == place
        )
        own_images = tuple(i for i, owner in enumerate(image_owners) if owner == place)
        parts = [boxes[place], *(detections[i].box for i in own_identifiers), *(images[i].box for i in own_images)]
        assembled.append(
            AssembledPanel(
                panel=index,
                box=boxes[place],
                content_box=union_box(parts),
                score=detections[index].score,
                name=read[place].text if place in read else None,
                subcaption=None,
                method=None,
                reason="",
                identifiers=own_identifiers,
                images=own_images,
            )
        )
    named = _with_subcaptions(_without_nesting(assembled, split), split)
    return tuple(named[i] for i in reading_order([panel.box for panel in named]))


def _without_nesting(panels: list[AssembledPanel], split: CaptionSplit) -> list[AssembledPanel]:
    """Join panels printed "a1", "a2" into "a" when that is what the caption names (annotation guide: top level only).

    They stay apart where the joined box would reach into another panel.
    """
    named = {normalised_identifier(name): name for name in split.identifiers}
    groups: dict[str, list[int]] = {}
    for index, panel in enumerate(panels):
        key = normalised_identifier(panel.name)
        nested = re.fullmatch(r"([a-z])\d+", key)
        if nested and key not in named and nested[1] in named:
            groups.setdefault(nested[1], []).append(index)
    joined: dict[int, AssembledPanel] = {}
    absorbed: set[int] = set()
    for key, members in groups.items():
        box = union_box(panels[i].box for i in members)
        others = [panel for i, panel in enumerate(panels) if i not in members]
        if any(covered_fraction(other.box, box) > JOINED_OVERLAP for other in others):
            continue
        joined[members[0]] = replace(
            panels[members[0]],
            box=box,
            content_box=union_box(panels[i].content_box for i in members),
            score=min(panels[i].score for i in members),
            name=named[key],
            identifiers=tuple(sorted(i for member in members for i in panels[member].identifiers)),
            images=tuple(sorted(i for member in members for i in panels[member].images)),
        )
        absorbed.update(members[1:])
    return [joined.get(i, panel) for i, panel in enumerate(panels) if i not in absorbed]


def _with_subcaptions(panels: list[AssembledPanel], split: CaptionSplit) -> list[AssembledPanel]:
    subcaptions = split.subcaptions
    if not panels or not subcaptions:
        return [replace(panel, reason="the figure has no caption") for panel in panels]
    if not split.identifiers:
        whole = subcaptions[0]
        if not whole.text:
            return [replace(panel, reason="the caption has no text") for panel in panels]
        if len(panels) == 1:
            return [_assigned(panels[0], whole, "single panel", "one panel and a caption that names none")]
        return [_assigned(panel, whole, "whole caption", "the caption names no panel") for panel in panels]
    by_identifier = {normalised_identifier(sub.identifier): sub for sub in subcaptions}
    result, open_panels = _by_identifier(panels, by_identifier)
    used = {normalised_identifier(p.subcaption.identifier) for p in result.values() if p.subcaption is not None}
    left = [sub for key, sub in by_identifier.items() if key not in used]
    if open_panels:
        result |= _by_place(panels, open_panels, left, result, subcaptions)
    return [result[i] for i in range(len(panels))]


def _assigned(panel: AssembledPanel, subcaption: Subcaption, method: str, reason: str) -> AssembledPanel:
    name = subcaption.identifier if subcaption.identifier is not None else panel.name
    return replace(panel, name=name, subcaption=subcaption, method=method, reason=reason)


def _by_identifier(
    panels: Sequence[AssembledPanel], by_identifier: dict[str, Subcaption]
) -> tuple[dict[int, AssembledPanel], list[int]]:
    """Return the panels decided by their printed identifier, and the indices of those that are not."""
    decided: dict[int, AssembledPanel] = {}
    still_open: list[int] = []
    printed = [normalised_identifier(panel.name) for panel in panels]
    for index, panel in enumerate(panels):
        key = printed[index]
        if key and key in by_identifier and printed.count(key) == 1:
            decided[index] = _assigned(
                panel, by_identifier[key], "identifier", f"“{panel.name}” is printed in the panel"
            )
        elif key and key not in by_identifier:
            reason = f"“{panel.name}” is printed in the panel, but the caption does not name it"
            decided[index] = replace(panel, reason=reason)
        else:
            still_open.append(index)
    return decided, still_open


def _by_place(
    panels: Sequence[AssembledPanel],
    open_panels: list[int],
    left: Sequence[Subcaption],
    decided: dict[int, AssembledPanel],
    subcaptions: Sequence[Subcaption],
) -> dict[int, AssembledPanel]:
    """Decide the panels without a usable identifier by position or reading order, or say why that is impossible."""
    boxes = [panels[i].box for i in open_panels]
    positions = panels_by_position([sub.identifier or "" for sub in left], boxes)
    if positions is not None:
        return {
            open_panels[panel]: _assigned(
                panels[open_panels[panel]], left[sub], "position", f"the panel stands at “{left[sub].identifier}”"
            )
            for panel, sub in positions.items()
        }
    reason = ""
    if len(open_panels) != len(left):
        reason = f"{len(open_panels)} panels without a readable identifier, {len(left)} subcaptions left"
    else:
        order = _order_of(panels, decided, subcaptions)
        if order is None:
            reason = "the identifiers that could be read contradict every reading order"
        else:
            sequence = [i for i in order if i in open_panels]
            return {
                panel: _assigned(panels[panel], sub, "reading order", "as many panels as subcaptions, in order")
                for panel, sub in zip(sequence, left, strict=True)
            }
    return {index: replace(panels[index], reason=reason) for index in open_panels}


def _order_of(
    panels: Sequence[AssembledPanel], decided: dict[int, AssembledPanel], subcaptions: Sequence[Subcaption]
) -> list[int] | None:
    """Return the order of panels in which the decided ones follow the caption: by rows, else by columns; else None."""
    rank = {normalised_identifier(sub.identifier): place for place, sub in enumerate(subcaptions)}
    boxes = [panel.box for panel in panels]
    for order in (reading_order(boxes), column_order(boxes)):
        expected = list(range(len(subcaptions)))
        known = [
            (place, rank[normalised_identifier(item.subcaption.identifier)])
            for place, index in enumerate(order)
            if (item := decided.get(index)) is not None and item.subcaption is not None
        ]
        if len(order) == len(expected) and all(place == wanted for place, wanted in known):
            return order
        ranks = [wanted for _, wanted in known]
        if len(order) != len(expected) and ranks == sorted(ranks):
            return order
    return None


def _closeness(box: Box, panel: AssembledPanel) -> float:
    return iou(box, panel.box) + covered_fraction(box, panel.box)


def words_of_panels(detections: Sequence[PanelDetection], split: CaptionSplit, caption: str) -> dict[int, str]:
    """Return the words that describe each panel: its subcaption, else the whole caption.

    The key is the panel's place among the detections of kind "panel", as image detectors count them.
    """
    assembled = assemble(detections, (), split)
    words = {}
    for place, detection in enumerate(d for d in detections if d.kind == "panel"):
        # A nested panel has no entry of its own: the one that it was joined to covers it.
        own = max(assembled, key=partial(_closeness, detection.box))
        words[place] = own.subcaption.text if own.subcaption is not None else caption
    return words
