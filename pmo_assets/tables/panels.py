"""Tables of the group `panels`: what belongs to which panel, and the rows that the pipeline makes of its records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import dataframely as dy

from pmo_assets.records.geometry import as_box
from pmo_assets.records.panels import Panel, PanelImage, PrintedIdentifier
from pmo_assets.records.step_output import Row, figure_key, rows_by_figure
from pmo_assets.tables.columns import SEGMENTS, FigureKey, box_column
from pmo_assets.tables.rows import record_of, row_of

_READ_IDENTIFIER = {
    "id": dy.String(), "box": dy.List(dy.Float64()), "score": dy.Float64(), "text": dy.String(nullable=True)
}  # fmt: skip
_FOUND_IMAGE = {
    "id": dy.String(), "box": dy.List(dy.Float64()), "score": dy.Float64(), "image_type": dy.String(nullable=True),
    "type_score": dy.Float64(), "modality": dy.String(nullable=True), "modality_score": dy.Float64(),
    "marked": dy.Bool(nullable=True), "mark_score": dy.Float64(),
}  # fmt: skip

IDENTIFIER_FIELDS = {**_READ_IDENTIFIER, "is_gt": dy.Bool()}
"""Fields of an identifier printed in a panel: detection, normalised box, score, text, true if people decided it."""

IMAGE_FIELDS = {**_FOUND_IMAGE, "is_gt": dy.Bool()}
"""Fields of an image in a panel: detection, normalised box, type, modality, mark status, scores, decided by people."""

_PRINTED = dy.List(
    dy.Struct(_READ_IDENTIFIER),
    description="Identifiers printed in the panel: detection, normalised box, score, text",
)


def _images_column(description: str) -> dy.List:
    return dy.List(dy.Struct(_FOUND_IMAGE), description=description)


_EVIDENCE = dy.List(
    dy.Struct(
        {
            "kind": dy.String(),
            "source": dy.String(),
            "text": dy.String(nullable=True),
            "identifier": dy.String(nullable=True),
            "confidence": dy.Float64(),
            "box": dy.List(dy.Float64(), nullable=True),
        }
    ),
    description="What speaks for the subcaption, strongest first: kind, source, text, identifier, confidence 0..1, box",
)


class PanelCaptions(FigureKey):
    """Which subcaption each panel has: decided once, before images are looked for."""

    ordinal = dy.Int64(
        primary_key=True,
        min=0,
        description="Position of its (first) panel detection among the figure's panels; behind them all for a panel "
        "that a vision model made of images",
    )
    members = dy.List(
        dy.Struct({"ordinal": dy.Int64(), "box": dy.List(dy.Float64())}),
        description="Panel detections that it is made of: position and normalised box; several where parts were "
        "joined, none where a vision model made it of images outside of all panels",
    )
    box = box_column("Panel as detected, normalised to the figure")
    content_box = box_column("Panel with all that was assigned to it so far, normalised to the figure")
    score = dy.Float64(min=0, max=1, description="Score of the panel detection")
    identifier = dy.String(nullable=True, description="Panel identifier; null for a single panel or when undecided")
    subcaption = dy.String(nullable=True, description="Subcaption; null when it cannot be decided")
    segments = dy.List(dy.List(dy.Int64()), nullable=True, description=SEGMENTS)
    caption_confidence = dy.Float64(nullable=True, min=0, max=1, description="Confidence of the caption's split")
    method = dy.String(nullable=True, description="How the subcaption was assigned; null when it was not")
    assembly = dy.String(nullable=True, description="Who assigned it, in the published words; null when nobody did")
    confidence = dy.Float64(
        min=0,
        max=1,
        description="That the subcaption is this panel's, calibrated; of the best candidate when undecided; for a "
        "vision model only how far its answers agree",
    )
    runner_up = dy.String(nullable=True, description="The identifier that is second best; null when there is none")
    runner_up_confidence = dy.Float64(min=0, max=1, description="Confidence of the second best")
    evidence = _EVIDENCE
    reason = dy.String(description="Why this subcaption, or why none")
    printed_identifiers = _PRINTED


class PanelAssembly(PanelCaptions):
    """Panels with subcaption, identifiers and images; each image of a figure stands in one of its rows, once.

    A revision of `panel_captions`, whole: a vision model may change any column and replace panels.
    """

    members = dy.List(
        dy.Struct({"ordinal": dy.Int64(), "box": dy.List(dy.Float64())}),
        description="Panel detections that it is made of: position and normalised box; none where images made it",
    )
    images = _images_column("Images in the panel: detection, normalised box, type and mark status with scores")
    unassigned_images = _images_column(
        "Images that no panel covers, listed with the nearest one; not in its content box"
    )
    made_of_image = dy.Bool(description="No panel was detected here: images that none covers make this one")
    wanted = dy.Bool(description="Its figure goes on: it holds an image of a wanted type, or of an undecided one")


class ReviewedPanels(PanelAssembly):
    """Panels as people decided them, where they did, and as the machine assembled them everywhere else.

    A revision of `panel_assembly`, whole: people may change any column, add panels and remove them.
    """

    printed_identifiers = dy.List(
        dy.Struct(IDENTIFIER_FIELDS),
        description="Identifiers printed in the panel: detection, normalised box, score, text, whether people decided "
        "it",
    )
    images = dy.List(
        dy.Struct(IMAGE_FIELDS),
        description="Images in the panel: detection, normalised box, type and mark status with scores, whether people "
        "decided it",
    )
    annotations = dy.List(
        dy.Struct(
            {
                "purpose": dy.String(),
                "decided": dy.List(dy.String()),
                "annotator": dy.String(nullable=True),
                "at": dy.String(nullable=True),
            }
        ),
        description="What people decided of the figure: why they looked, which fields, who, when; empty for nothing",
    )


class Panels(FigureKey):
    """Pictures of the panels whose figure goes on; pixels in the store `panels`, all else in `reviewed_panels`."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Of the panel's row in `reviewed_panels`")
    panel_id = dy.String(unique=True, description="Stable and unique over all articles")
    width = dy.Int64(min=1, description="Pixels of the panel picture")
    height = dy.Int64(min=1, description="Pixels of the panel picture")
    sha256 = dy.String(description="Of the panel picture's pixels: RGB, 8 bits, row by row")
    perceptual_hash = dy.String(description="Of the panel picture, hexadecimal; near for pictures that look alike")


SCHEMAS: dict[str, type[dy.Schema]] = {
    "panel_captions": PanelCaptions,
    "panel_assembly": PanelAssembly,
    "reviewed_panels": ReviewedPanels,
    "panels": Panels,
}
"""The schema of each asset of the group that is a table."""


_FINDINGS: Final = {name: {"__all__": {"is_gt"}} for name in ("printed_identifiers", "images", "unassigned_images")}
_LEFT_OUT: Final[Mapping[type[dy.Schema], Mapping[str, Any]]] = {
    PanelCaptions: _FINDINGS | dict.fromkeys(set(ReviewedPanels.columns()) - set(PanelCaptions.columns()), True),
    PanelAssembly: {**_FINDINGS, "annotations": True},
    ReviewedPanels: {"unassigned_images": _FINDINGS["unassigned_images"]},
}
"""Fields of a panel's record that a table has not, as pydantic's `exclude`; `is_gt` says that people decided it."""


def rows_of_panels(schema: type[PanelCaptions], figure: Mapping[str, Any], panels: Iterable[Panel]) -> list[Row]:
    """Return a figure's panels as rows of a table.

    Args:
        schema: of the table: `PanelCaptions`, `PanelAssembly` or `ReviewedPanels`.
        figure: any row with the figure's key.
        panels: its panels.
    """
    key = figure_key(figure)
    return [{**key, **row_of(panel, _LEFT_OUT[schema])} for panel in panels]


def panels_by_figure(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Panel]]:
    """Return the records of an article's rows of any of these tables by image_cluster_id, in their order."""
    return {cluster: [record_of(Panel, row) for row in own] for cluster, own in rows_by_figure(rows).items()}


def panel_images(cells: Sequence[Row]) -> tuple[PanelImage, ...]:
    """Return the images in a panel (`IMAGE_FIELDS`) as records."""
    return tuple(PanelImage(**{**image, "box": as_box(image["box"])}) for image in cells)


def printed_identifiers(cells: Sequence[Row]) -> tuple[PrintedIdentifier, ...]:
    """Return the identifiers printed in a panel (`IDENTIFIER_FIELDS`) as records."""
    return tuple(PrintedIdentifier(**{**item, "box": as_box(item["box"])}) for item in cells)
