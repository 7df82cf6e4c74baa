"""The four imaging types of the paper (Table 1)."""

from __future__ import annotations

from typing import Literal

ImageType = Literal["CFP", "OCT", "Retinal Imaging", "Other"]
IMAGE_TYPES: tuple[ImageType, ...] = ("CFP", "OCT", "Retinal Imaging", "Other")
"""In the paper's order, which is also the order of classes in networks and COCO files."""
