"""Panels of a picture without a caption: those that the network sees, and what clear gutters part besides.

Where nobody says how many panels there are, the network's count: the disjoint ones whose scores and share of the figure
add up to most. Their edges stay as the network sees them: whether the paper around a plot belongs to its panel depends
on the figures that it learnt from. Parts between gutters are panels where the network sees none, and stand for all of
them where it is sure of none. A box that is hardly more than print beside a panel is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.detection.fusion.disjoint import disjoint_choice
from pmo_assets.pipeline.detection.networks.onnx_detectors import as_box, network_panels
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.pipeline.detection.structure.bare_parts import bare_parts
from pmo_assets.pipeline.detection.structure.gutters import Canvas
from pmo_assets.pipeline.detection.structure.panels import BARE, UNSEPARATED, figure_panel
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box, area, covered_fraction

SEEN: Final = 0.25
"""Score from which a panel of the network is considered."""

SURE: Final = 0.4
"""Score that the network's best panel has at least; with less its panels give way to what gutters part."""

TOUCHING: Final = 0.3
"""Part of the smaller of two panels up to which both may be chosen."""

COST: Final = 0.45
"""Price of a chosen panel, in score: weaker ones are chosen only for the part of the figure that they cover."""

COVERAGE: Final = 0.6
"""Reward, in score, when the chosen panels cover the whole figure."""

FREE: Final = 0.2
"""Part of a gutters' part up to which panels may cover it for it to be one that the network missed."""

OF_USUAL: Final = 0.25
"""Part of the median panel's area that such a part has at least."""

PRINT: Final = 0.5
"""Part of a box from which printed identifiers make it one of print."""


def bare_panels(canvas: Canvas, boxes: NetworkBoxes) -> list[PanelDetection]:
    """Return the panels of a picture that has no caption; at least one.

    Args:
        canvas: of the picture (`structure_canvas`).
        boxes: the network's.
    """
    labels = [as_box(box) for box in boxes.boxes["label"]]
    found = [p for p in network_panels(boxes) if p.kind == "panel" and p.score >= SEEN]
    found = [p for p in found if _print_in(p.box, labels) < PRINT]
    parts = bare_parts(canvas)
    if max((p.score for p in found), default=0.0) < SURE:
        if len(parts) >= 2:
            return [PanelDetection("panel", box, BARE, "gutter") for box in parts]
        return found[:1] or [figure_panel(UNSEPARATED)]
    values = [p.score - COST + COVERAGE * area(p.box) for p in found]
    panels = [found[k] for k in disjoint_choice([p.box for p in found], values, TOUCHING, len(found))]
    return [*panels, *_missed(parts, panels)]


def _print_in(box: Box, labels: Sequence[Box]) -> float:
    return max((covered_fraction(box, label) for label in labels), default=0.0)


def _missed(parts: Sequence[Box], panels: Sequence[PanelDetection]) -> list[PanelDetection]:
    """Return the parts between gutters where the network sees nothing, although they are as large as its panels."""
    usual = sorted(area(p.box) for p in panels)[len(panels) // 2]
    return [
        PanelDetection("panel", part, BARE, "gutter")
        for part in parts
        if area(part) >= OF_USUAL * usual and sum(covered_fraction(part, p.box) for p in panels) <= FREE
    ]
