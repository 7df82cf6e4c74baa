"""Tables of the group `panels`: what belongs to which panel, and the rows that the pipeline makes of its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import dataframely as dy

from pmo_assets.records.geometry import as_box, union_box
from pmo_assets.records.panels import AUTOMATIC, CaptionedPanel, Evidence, PanelImage, PrintedIdentifier
from pmo_assets.records.step_output import Row
from pmo_assets.records.subcaptions import Subcaption
from pmo_assets.tables.columns import SEGMENTS, FigureKey, box_column

_READ_IDENTIFIER = {
    "id": dy.String(), "box": dy.List(dy.Float64()), "score": dy.Float64(), "text": dy.String(nullable=True)
}  # fmt: skip
_FOUND_IMAGE = {
    "id": dy.String(), "box": dy.List(dy.Float64()), "score": dy.Float64(), "image_type": dy.String(nullable=True),
    "type_score": dy.Float64(), "modality": dy.String(nullable=True), "modality_score": dy.Float64(),
    "marked": dy.Bool(nullable=True), "mark_score": dy.Float64(),
}  # fmt: skip

IDENTIFIER_FIELDS = {**_READ_IDENTIFIER, "is_gt": dy.Bool()}
"""Of an identifier printed in a panel: detection, normalised box, score, text, whether people decided it."""

IMAGE_FIELDS = {**_FOUND_IMAGE, "is_gt": dy.Bool()}
"""Of an image in a panel: detection, normalised box, type, modality, mark status, scores, whether people decided it."""

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
    """Panels with subcaption, identifiers and images; each image of a figure stands in one of its rows, once."""

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
    """Panels as people decided them, where they did, and as the machine assembled them everywhere else."""

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


class Panels(ReviewedPanels):
    """Panels ready for the dataset; their pixels lie in the pixel store `panels`."""

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


def panel_caption_row(
    panel: CaptionedPanel, identifier_rows: Sequence[Mapping[str, Any]], caption_confidence: float
) -> Row:
    """Return the row of `panel_captions` of a panel, but for the figure's key.

    Args:
        panel: the panel, made of at least one detection.
        identifier_rows: rows of `panel_detections` of the figure's identifiers, by position.
        caption_confidence: of the caption's split, 0..1.
    """
    return {"ordinal": panel.members[0], **_panel_row(panel, identifier_rows, caption_confidence)}


def _panel_row(panel: CaptionedPanel, identifier_rows: Sequence[Mapping[str, Any]], caption_confidence: float) -> Row:
    subcaption = panel.subcaption
    return {
        "members": [
            {"ordinal": ordinal, "box": list(box)}
            for ordinal, box in zip(panel.members, panel.member_boxes, strict=True)
        ],
        "box": list(panel.box),
        "content_box": list(panel.content_box),
        "score": panel.score,
        "identifier": panel.identifier,
        "subcaption": subcaption.text if subcaption else None,
        "segments": [list(segment) for segment in subcaption.segments] if subcaption else None,
        "caption_confidence": caption_confidence if subcaption else None,
        "method": panel.method,
        "assembly": AUTOMATIC if subcaption else None,
        "confidence": panel.confidence,
        "runner_up": panel.runner_up,
        "runner_up_confidence": panel.runner_up_confidence,
        "evidence": [{**asdict(item), "box": None if item.box is None else list(item.box)} for item in panel.evidence],
        "reason": panel.reason,
        "printed_identifiers": [
            {"id": row["detection_id"], "box": list(row["box"]), "score": row["score"], "text": row["text"]}
            for row in (identifier_rows[place] for place in panel.printed)
        ],
    }


def panel_image(row: Mapping[str, Any]) -> Row:
    """Return what a row of `panel_assembly` holds of an image, a row of `image_detections`."""
    facts = ("score", "image_type", "type_score", "modality", "modality_score", "marked", "mark_score")
    return {"id": row["detection_id"], "box": list(row["box"]), **{name: row[name] for name in facts}}


REMAINING: Final = "remaining"
"""`method` of a panel made of images that got the one subcaption that no other panel has."""

REMAINING_CONFIDENCE: Final = 0.3
"""That it is its: nothing but the count speaks for it. Too rare in annotated articles to be measured."""


def image_panel_row(
    ordinal: int, image_rows: Sequence[Mapping[str, Any]], remaining: Subcaption | None, caption_confidence: float
) -> Row:
    """Return the row of a panel that images make which no other panel covers, but for the figure's key.

    Args:
        ordinal: behind those of the figure's panel detections.
        image_rows: rows of `image_detections`, at least one.
        remaining: the subcaption that it gets; None for none.
        caption_confidence: of the caption's split, 0..1.
    """
    images = [panel_image(row) for row in image_rows]
    box = union_box(as_box(image["box"]) for image in images)
    reason = "no panel covers this image" if len(images) == 1 else "no panel covers these images"
    evidence = (
        [] if remaining is None else [Evidence("count", REMAINING, None, remaining.identifier, REMAINING_CONFIDENCE)]
    )
    panel = CaptionedPanel(
        members=(),
        member_boxes=(),
        box=box,
        content_box=box,
        score=min(image["score"] for image in images),
        identifier=remaining.identifier if remaining else None,
        subcaption=remaining,
        method=REMAINING if remaining else None,
        reason=f"{reason}, and one subcaption is left" if remaining else reason,
        printed=(),
        confidence=REMAINING_CONFIDENCE if remaining else 0.0,
        evidence=tuple(evidence),
    )
    row = _panel_row(panel, (), caption_confidence)
    return {"ordinal": ordinal, **row, "images": images, "unassigned_images": [], "made_of_image": True}


def panel_images(cells: Sequence[Row]) -> tuple[PanelImage, ...]:
    """Return the images in a panel (`IMAGE_FIELDS`) as records."""
    return tuple(PanelImage(**{**image, "box": as_box(image["box"])}) for image in cells)


def printed_identifiers(cells: Sequence[Row]) -> tuple[PrintedIdentifier, ...]:
    """Return the identifiers printed in a panel (`IDENTIFIER_FIELDS`) as records."""
    return tuple(PrintedIdentifier(**{**item, "box": as_box(item["box"])}) for item in cells)
