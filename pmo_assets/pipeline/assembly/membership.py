"""Which panel an image or a printed identifier belongs to (paper, Methods, "Panel assembly")."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets.records.geometry import Box, area, covered_fraction, iou

ASSIGN_IOU = 0.3
"""An image or identifier belongs to a panel from this IoU on (paper, Methods)."""

ASSIGN_OVERLAP = 0.7
"""… or when this fraction of it lies in the panel (paper, Methods)."""


def belongs(box: Box, panel: Box) -> float:
    """Return the strength of a box's bond to a panel: 0 below the paper's thresholds, else overlap plus IoU."""
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
