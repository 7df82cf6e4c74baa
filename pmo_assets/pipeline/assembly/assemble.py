"""Which images belong to which panel (paper, Methods, "Panel assembly")."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.records.geometry import Box, union_box
from pmo_assets.records.panels import PanelContent


def panel_contents(
    members: Sequence[Sequence[tuple[int, Box]]], content_boxes: Sequence[Box], images: Sequence[Box]
) -> tuple[PanelContent, ...]:
    """Return what images each panel of a figure holds, same order.

    Args:
        members: per panel the panel detections that it is made of, number among the figure's panels and box.
        content_boxes: per panel the box of what was assigned to it so far.
        images: boxes of the figure's images. All boxes are normalised to the figure.
    """
    # In the order of detection: of two that hold an image equally well the first one gets it.
    detections = sorted((number, place, box) for place, parts in enumerate(members) for number, box in parts)
    owners = assigned_to_panels(images, [box for _, _, box in detections])
    places = [None if owner is None else detections[owner][1] for owner in owners]
    contents = []
    for place, box in enumerate(content_boxes):
        own = tuple(number for number, owner in enumerate(places) if owner == place)
        contents.append(PanelContent(union_box([box, *(images[number] for number in own)]), own))
    return tuple(contents)
