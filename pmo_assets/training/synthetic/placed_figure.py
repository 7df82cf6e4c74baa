"""A figure with the boxes of everything in it: the form of synthetic and annotated figures."""

from __future__ import annotations

from dataclasses import dataclass

from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Pixels


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An image of a figure: box, type, and whether a mark points at a region of it (None: not known).

    `box` is in pixels while the figure is composed and normalised in a `SyntheticFigure`.
    """

    box: tuple[float, float, float, float]
    image_type: ImageType
    marked: bool | None


@dataclass(frozen=True, slots=True)
class PlacedPanel:
    """A panel: its box, the identifier as printed without brackets (None: none printed) and the identifier's box."""

    box: tuple[float, float, float, float]
    identifier: str | None
    identifier_box: tuple[float, float, float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticFigure:
    """A figure: (height, width, 3) uint8 RGB pixels, panels and images with boxes normalised to the figure."""

    pixels: Pixels
    panels: tuple[PlacedPanel, ...]
    images: tuple[PlacedImage, ...]
