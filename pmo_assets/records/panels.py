"""A figure's panels on their way to the dataset: with their subcaption, then with their images as well."""

from __future__ import annotations

from dataclasses import dataclass

from pmo_assets.records.geometry import Box
from pmo_assets.records.subcaptions import Subcaption


@dataclass(frozen=True, slots=True)
class CaptionedPanel:
    """A panel with its printed identifiers and its subcaption.

    Attributes:
        members: the panel detections that it is made of, by their number among the figure's panels: one, or several
            that were printed "a1", "a2" where the caption names "a".
        member_boxes: their boxes, normalised [l, t, r, b].
        box: union of the members.
        content_box: union of `box` and the identifiers.
        score: least detection score of the members, 0..1.
        identifier: the panel's identifier; None for a single panel or when undecided.
        subcaption: None when it cannot be decided.
        method: "single panel", "identifier", "position", "reading order", "whole caption", or None.
        reason: why this subcaption, or why none.
        printed: identifiers printed in the panel, by their number among the figure's identifiers.
    """

    members: tuple[int, ...]
    member_boxes: tuple[Box, ...]
    box: Box
    content_box: Box
    score: float
    identifier: str | None
    subcaption: Subcaption | None
    method: str | None
    reason: str
    printed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PanelContent:
    """What images belong to a panel.

    Attributes:
        content_box: union of the panel, its identifiers and its images, normalised [l, t, r, b].
        images: by their number among the figure's images.
    """

    content_box: Box
    images: tuple[int, ...]
