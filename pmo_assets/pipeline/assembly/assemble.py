"""A figure's images put on its panels (paper, Methods, "Panel assembly"): every image stands with one panel, once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.assembly.unassigned_images import placed_unassigned_images
from pmo_assets.pipeline.assembly.wanted import figure_is_wanted
from pmo_assets.records.geometry import union_box
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.panels import AUTOMATIC, Evidence, Panel, PanelImage
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

REMAINING: Final = "remaining"
"""`method` of a panel made of images that got the one subcaption that no other panel has."""

REMAINING_CONFIDENCE: Final = 0.3
"""Confidence of such an assignment: only the count speaks for it. Too rare in annotated articles to be measured."""


def assembled_panels(
    panels: Sequence[Panel], images: Sequence[PanelImage], split: CaptionSplit, wanted_types: Collection[ImageType]
) -> list[Panel]:
    """Return a figure's panels with all its images: in the panel of each, in one that it makes, or with the nearest.

    Args:
        panels: with what they were given of the caption.
        images: the figure's, as detected.
        split: its caption's split; a subcaption that no panel has may be that of images without a panel.
        wanted_types: image types of which a figure that goes on holds one.
    """
    placed = with_images(panels, images)
    owned = {image.id for panel in placed for image in panel.images}
    left = _subcaptions_left(panels, split)
    unassigned = placed_unassigned_images(
        [number for number, image in enumerate(images) if image.id not in owned],
        [image.box for image in images],
        [panel.content_box for panel in placed],
        joined=len(left) == 1,
    )
    wanted = figure_is_wanted((image.image_type for image in images), wanted_types)
    result = [
        replace(panel, unassigned_images=tuple(images[i] for i in unassigned.listed.get(place, ())), wanted=wanted)
        for place, panel in enumerate(placed)
    ]
    undecided = any(panel.subcaption is None for panel in panels)
    remaining = left[0] if len(left) == 1 and len(unassigned.panels) == 1 and not undecided else None
    first = 1 + max((member.ordinal for panel in panels for member in panel.members), default=-1)
    for ordinal, group in enumerate(unassigned.panels, start=first):
        made = _made_of_images(ordinal, [images[i] for i in group])
        made = made if remaining is None else _with_remaining(made, remaining, split.confidence)
        result.append(replace(made, wanted=wanted))
    return result


def with_images(panels: Sequence[Panel], images: Sequence[PanelImage]) -> list[Panel]:
    """Return a figure's panels with the images that belong to each, same order; content boxes reach around them."""
    # In the order of detection: of two that hold an image equally well the first one gets it.
    detections = sorted((part.ordinal, place, part.box) for place, panel in enumerate(panels) for part in panel.members)
    owners = assigned_to_panels([image.box for image in images], [box for _, _, box in detections])
    places = [None if owner is None else detections[owner][1] for owner in owners]
    result = []
    for place, panel in enumerate(panels):
        own = tuple(image for image, owner in zip(images, places, strict=True) if owner == place)
        content_box = union_box([panel.content_box, *(image.box for image in own)])
        result.append(replace(panel, content_box=content_box, images=own))
    return result


def _subcaptions_left(panels: Sequence[Panel], split: CaptionSplit) -> list[Subcaption]:
    """Return the subcaptions with a text that no panel has."""
    if not split.identifiers and panels:
        return []  # each panel has the whole caption
    used = {normalised_identifier(panel.identifier) for panel in panels if panel.subcaption is not None}
    return [sub for sub in split.subcaptions if sub.text and normalised_identifier(sub.identifier) not in used]


def _made_of_images(ordinal: int, images: Sequence[PanelImage]) -> Panel:
    """Return the panel that images make which no other panel covers."""
    box = union_box(image.box for image in images)
    return Panel(
        ordinal=ordinal,
        members=(),
        box=box,
        content_box=box,
        score=min(image.score for image in images),
        reason="no panel covers this image" if len(images) == 1 else "no panel covers these images",
        images=tuple(images),
        made_of_image=True,
    )


def _with_remaining(panel: Panel, remaining: Subcaption, caption_confidence: float) -> Panel:
    """Return a panel made of images with the one subcaption that is left."""
    return replace(
        panel,
        identifier=remaining.identifier,
        subcaption=remaining.text,
        segments=remaining.segments,
        caption_confidence=caption_confidence,
        method=REMAINING,
        assembly=AUTOMATIC,
        confidence=REMAINING_CONFIDENCE,
        evidence=(Evidence("count", REMAINING, None, remaining.identifier, REMAINING_CONFIDENCE),),
        reason=f"{panel.reason}, and one subcaption is left",
    )
