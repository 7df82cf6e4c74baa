"""Boxes in a panel's picture, as a release gives them: fractions of the picture, of boxes normalised to the figure."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets.records.geometry import UNIT_BOX, as_box, box_in_picture, clip, contains


def box_of_panel(box: Sequence[float], panel: Sequence[float], width: int, height: int) -> list[float] | None:
    """Return a box as fractions of its panel's picture; None where it reaches outside by more than a pixel.

    Args:
        box: normalised to the figure.
        panel: what the panel's picture shows, normalised to the figure.
        width: of the figure's picture, in pixels.
        height: of the figure's picture, in pixels.
    """
    pixel = max(1 / width, 1 / height)
    if not contains(as_box(panel), as_box(box), pixel):
        return None
    left, top, right, bottom = clip(box_in_picture(as_box(box), as_box(panel), width, height), UNIT_BOX)
    return [round(edge, 6) for edge in (left, top, right, bottom)] if left < right and top < bottom else None
