"""Answers of a model about a figure: one response model for each type of figure, after the paper's code.

The docstrings and field names are part of the JSON schema that the model's output is held to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from pmo_assets.pipeline.assembly.vision.figure_types import FigureType
from pmo_assets.pipeline.assembly.vision.question import COORDINATES, MAX_NAME_CHARACTERS, MAX_PANELS

_Id = Annotated[str, Field(max_length=8)]
_Name = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]
_Confidence = Annotated[float, Field(ge=0, le=1)]
_Coordinate = Annotated[int, Field(ge=0, le=COORDINATES)]
_MOST_EVIDENCE: Final = 4


class GivenLabel(BaseModel):
    """One of the labels that the question lists."""

    model_config = ConfigDict(extra="forbid")

    label_id: _Id


class NewLabel(BaseModel):
    """A label that is printed in the picture and that the question does not list."""

    model_config = ConfigDict(extra="forbid")

    bbox_2d: Annotated[list[_Coordinate], Field(min_length=4, max_length=4)]
    text: Annotated[str, Field(min_length=1, max_length=40)]


class Place(BaseModel):
    """Where the panel stands."""

    model_config = ConfigDict(extra="forbid")

    positional_type: Literal["column", "row", "position in image", "other"]
    short_description: Annotated[str, Field(max_length=160)]


def _kind_of_evidence(value: object) -> str:
    """Say which of the three an evidence is meant to be, so that a model is told what is wrong with that one."""
    if isinstance(value, BaseModel):
        return type(value).__name__
    keys = value if isinstance(value, dict) else {}
    return "GivenLabel" if "label_id" in keys else "NewLabel" if "bbox_2d" in keys else "Place"


Evidence = Annotated[
    Annotated[GivenLabel, Tag("GivenLabel")] | Annotated[NewLabel, Tag("NewLabel")] | Annotated[Place, Tag("Place")],
    Discriminator(_kind_of_evidence),
]


class PanelAssignment(BaseModel):
    """Which subcaption an open panel has, and what shows it."""

    model_config = ConfigDict(extra="forbid")

    panel_id: _Id
    assigned_subcaption: _Name | None
    evidence: Annotated[list[Evidence], Field(max_length=_MOST_EVIDENCE)]
    confidence: _Confidence
    reject_panel: bool


class ImageGroup(BaseModel):
    """The images that together make the panel of a subcaption."""

    model_config = ConfigDict(extra="forbid")

    assigned_images: Annotated[list[_Id], Field(min_length=1, max_length=MAX_PANELS)]
    assigned_subcaption: _Name
    evidence: Annotated[list[Place], Field(max_length=_MOST_EVIDENCE)]
    confidence: _Confidence


class AlphanumericAnswer(BaseModel):
    """Every open panel, once."""

    model_config = ConfigDict(extra="forbid")

    assignments: Annotated[list[PanelAssignment], Field(max_length=MAX_PANELS)]


class PositionalAnswer(BaseModel):
    """Every image, once: in a group, or left out."""

    model_config = ConfigDict(extra="forbid")

    groups: Annotated[list[ImageGroup], Field(max_length=MAX_PANELS)]
    left_out: Annotated[list[_Id], Field(max_length=MAX_PANELS)]


class MixedAnswer(BaseModel):
    """Every open panel, once: assigned, or with all its images in groups or left out."""

    model_config = ConfigDict(extra="forbid")

    assignments: Annotated[list[PanelAssignment], Field(max_length=MAX_PANELS)]
    groups: Annotated[list[ImageGroup], Field(max_length=MAX_PANELS)]
    left_out: Annotated[list[_Id], Field(max_length=MAX_PANELS)]


FigureAnswer = AlphanumericAnswer | PositionalAnswer | MixedAnswer

ANSWERS: Final[Mapping[FigureType, type[FigureAnswer]]] = {
    "alphanumeric": AlphanumericAnswer,
    "positional": PositionalAnswer,
    "mixed": MixedAnswer,
}
"""Response model of each type of figure."""
