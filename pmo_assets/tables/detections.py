"""Tables of the group `detections`, and the records that the pipeline makes of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy

from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES
from pmo_assets.records.panels import PanelImage
from pmo_assets.tables.columns import FigureKey, box_column
from pmo_assets.tables.rows import record_of

KINDS = ("panel", "identifier")
"""Kinds of detections in a figure besides images, in the order in which detectors give them."""


_PROBABILITY = "Calibrated: share of such detections that overlap a true box of their kind by 0.5"


class PanelDetections(FigureKey):
    """Panels and panel identifiers found in each figure."""

    detection_id = dy.String(primary_key=True, description="Unique in the figure")
    kind = dy.Enum(KINDS, description="What the box holds")
    ordinal = dy.Int64(min=0, description="Position in reading order among the figure's detections of its kind")
    box = box_column("Normalised to the figure")
    score = dy.Float64(min=0, max=1, description="Detection score; of different sources not comparable")
    probability = dy.Float64(min=0, max=1, description=_PROBABILITY)
    source = dy.String(
        description="Where the box came from: gutter, identifier, figure, network; of identifiers text, glyph, "
        "network, grid"
    )
    text = dy.String(nullable=True, description="The identifier as read; null for panels and unread identifiers")
    text_score = dy.Float64(
        min=0, max=1, description="How far the print itself says that text; 0 for panels and unread identifiers"
    )


class ImageDetections(FigureKey):
    """Images in each figure with imaging type and mark status."""

    detection_id = dy.String(primary_key=True, description="Unique in the figure")
    ordinal = dy.Int64(min=0, description="Position among the figure's images")
    box = box_column("Normalised to the figure")
    score = dy.Float64(min=0, max=1, description="That there is an image; of different sources not comparable")
    probability = dy.Float64(min=0, max=1, description=_PROBABILITY)
    source = dy.String(description="Where the box came from: bitmap, gutter, figure, network, grid")
    image_type = dy.Enum(IMAGE_TYPES, nullable=True, description="Imaging type; null when undecided")
    type_score = dy.Float64(min=0, max=1, description="Score of the type")
    type_reason = dy.String(description="Why the type is what it is, or why it is undecided")
    modality = dy.Enum(
        MODALITIES, nullable=True, description="What the image was made with, finer than its type; null when not known"
    )
    modality_score = dy.Float64(min=0, max=1, description="Share of the modality")
    marked = dy.Bool(nullable=True, description="A mark points at a region; null when undecided")
    mark_score = dy.Float64(min=0, max=1, description="That the image is marked")


SCHEMAS: dict[str, type[dy.Schema]] = {"panel_detections": PanelDetections, "image_detections": ImageDetections}
"""The schema of each asset of the group that is a table."""


def in_detection_order(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a figure's detections as the detector gave them: panels, then identifiers, by position; or images so."""
    return sorted(rows, key=lambda row: (KINDS.index(row["kind"]) if "kind" in row else 0, row["ordinal"]))


def found_panels(rows: Sequence[Mapping[str, Any]]) -> tuple[PanelDetection, ...]:
    """Return the records of a figure's rows of `panel_detections`, in the detector's order."""
    return tuple(record_of(PanelDetection, row) for row in in_detection_order(rows))


def found_images(rows: Sequence[Mapping[str, Any]]) -> tuple[PanelImage, ...]:
    """Return a figure's rows of `image_detections` as the images of panels, in the detector's order."""
    return tuple(record_of(PanelImage, {**row, "id": row["detection_id"]}) for row in in_detection_order(rows))
