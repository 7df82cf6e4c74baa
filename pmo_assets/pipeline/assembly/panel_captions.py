"""Which subcaption belongs to which panel.

A subcaption goes to a panel, in this order, because

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
from dataclasses import replace

from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.assembly.positions import panels_by_position
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import column_order, covered_fraction, reading_order, union_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.panels import CaptionedPanel
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

JOINED_OVERLAP = 0.1
"""Nested panels are not joined when more than this fraction of another panel would lie in the joined box."""


def panel_identifiers(detections: Sequence[PanelDetection], owners: Sequence[int | None]) -> dict[int, PanelDetection]:
    """Return for each panel index the best-scored identifier with a text among those it owns."""
    best: dict[int, PanelDetection] = {}
    for detection, owner in zip(detections, owners, strict=True):
        if owner is not None and detection.text and (owner not in best or detection.score > best[owner].score):
            best[owner] = detection
    return best


def captioned_panels(detections: Sequence[PanelDetection], split: CaptionSplit) -> tuple[CaptionedPanel, ...]:
    """Assign printed identifiers and subcaptions to panels.

    Args:
        detections: panels and identifiers of one figure.
        split: its caption's split.

    Returns:
        One entry per panel detection (nested ones joined), in reading order.
    """
    panels = [item for item in detections if item.kind == "panel"]
    identifiers = [item for item in detections if item.kind == "identifier"]
    boxes = [panel.box for panel in panels]
    owners = assigned_to_panels([item.box for item in identifiers], boxes)
    read = panel_identifiers(identifiers, owners)
    found = []
    for place, panel in enumerate(panels):
        printed = tuple(number for number, owner in enumerate(owners) if owner == place)
        found.append(
            CaptionedPanel(
                members=(place,),
                member_boxes=(panel.box,),
                box=panel.box,
                content_box=union_box([panel.box, *(identifiers[number].box for number in printed)]),
                score=panel.score,
                identifier=read[place].text if place in read else None,
                subcaption=None,
                method=None,
                reason="",
                printed=printed,
            )
        )
    captioned = _with_subcaptions(_without_nesting(found, split), split)
    return tuple(captioned[i] for i in reading_order([panel.box for panel in captioned]))


def _without_nesting(panels: list[CaptionedPanel], split: CaptionSplit) -> list[CaptionedPanel]:
    """Join panels printed "a1", "a2" into "a" when that is what the caption names (annotation guide: top level only).

    They stay apart where the joined box would reach into another panel.
    """
    named = {normalised_identifier(identifier): identifier for identifier in split.identifiers}
    groups: dict[str, list[int]] = {}
    for index, panel in enumerate(panels):
        key = normalised_identifier(panel.identifier)
        nested = re.fullmatch(r"([a-z])\d+", key)
        if nested and key not in named and nested[1] in named:
            groups.setdefault(nested[1], []).append(index)
    joined: dict[int, CaptionedPanel] = {}
    absorbed: set[int] = set()
    for key, places in groups.items():
        members = [panels[i] for i in places]
        box = union_box(panel.box for panel in members)
        others = [panel for i, panel in enumerate(panels) if i not in places]
        if any(covered_fraction(other.box, box) > JOINED_OVERLAP for other in others):
            continue
        joined[places[0]] = replace(
            members[0],
            members=tuple(number for panel in members for number in panel.members),
            member_boxes=tuple(box for panel in members for box in panel.member_boxes),
            box=box,
            content_box=union_box(panel.content_box for panel in members),
            score=min(panel.score for panel in members),
            identifier=named[key],
            printed=tuple(sorted(number for panel in members for number in panel.printed)),
        )
        absorbed.update(places[1:])
    return [joined.get(i, panel) for i, panel in enumerate(panels) if i not in absorbed]


def _with_subcaptions(panels: list[CaptionedPanel], split: CaptionSplit) -> list[CaptionedPanel]:
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


def _assigned(panel: CaptionedPanel, subcaption: Subcaption, method: str, reason: str) -> CaptionedPanel:
    identifier = subcaption.identifier if subcaption.identifier is not None else panel.identifier
    return replace(panel, identifier=identifier, subcaption=subcaption, method=method, reason=reason)


def _by_identifier(
    panels: Sequence[CaptionedPanel], by_identifier: dict[str, Subcaption]
) -> tuple[dict[int, CaptionedPanel], list[int]]:
    """Return the panels decided by their printed identifier, and the indices of those that are not."""
    decided: dict[int, CaptionedPanel] = {}
    still_open: list[int] = []
    printed = [normalised_identifier(panel.identifier) for panel in panels]
    for index, panel in enumerate(panels):
        key = printed[index]
        if key and key in by_identifier and printed.count(key) == 1:
            decided[index] = _assigned(
                panel, by_identifier[key], "identifier", f"“{panel.identifier}” is printed in the panel"
            )
        elif key and key not in by_identifier:
            reason = f"“{panel.identifier}” is printed in the panel, but the caption does not name it"
            decided[index] = replace(panel, reason=reason)
        else:
            still_open.append(index)
    return decided, still_open


def _by_place(
    panels: Sequence[CaptionedPanel],
    open_panels: list[int],
    left: Sequence[Subcaption],
    decided: dict[int, CaptionedPanel],
    subcaptions: Sequence[Subcaption],
) -> dict[int, CaptionedPanel]:
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
    panels: Sequence[CaptionedPanel], decided: dict[int, CaptionedPanel], subcaptions: Sequence[Subcaption]
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
