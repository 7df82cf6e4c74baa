"""Modalities: what a picture was made with, finer than the paper's four image types.

A network that tells ultra-widefield from fundus photographs and endoscopy from both has to be asked for them; the
dataset's type of a picture is that of its modality.
"""

from __future__ import annotations

from typing import Literal

from pmo_assets.records.image_types import IMAGE_TYPES, ImageType

Modality = Literal[
    "fundus photograph",
    "ultra-widefield",
    "montage",
    "fluorescein angiography",
    "indocyanine green angiography",
    "autofluorescence",
    "red-free",
    "infrared",
    "OCT angiography",
    "en-face OCT",
    "thickness map",
    "adaptive optics",
    "OCT",
    "external eye",
    "slit lamp",
    "ultrasound",
    "radiograph",
    "CT or MR",
    "histology",
    "microscopy",
    "endoscopy",
    "skin",
    "topography",
    "mask",
    "plot",
    "diagram",
    "text",
    "photograph",
]

TYPE_OF_MODALITY: dict[Modality, ImageType] = {
    "fundus photograph": "CFP",
    "ultra-widefield": "Retinal Imaging",
    "montage": "Retinal Imaging",
    "fluorescein angiography": "Retinal Imaging",
    "indocyanine green angiography": "Retinal Imaging",
    "autofluorescence": "Retinal Imaging",
    "red-free": "Retinal Imaging",
    "infrared": "Retinal Imaging",
    "OCT angiography": "Retinal Imaging",
    "en-face OCT": "Retinal Imaging",
    "thickness map": "Retinal Imaging",
    "adaptive optics": "Retinal Imaging",
    "OCT": "OCT",
    "external eye": "Other",
    "slit lamp": "Other",
    "ultrasound": "Other",
    "radiograph": "Other",
    "CT or MR": "Other",
    "histology": "Other",
    "microscopy": "Other",
    "endoscopy": "Other",
    "skin": "Other",
    "topography": "Other",
    "mask": "Other",
    "plot": "Other",
    "diagram": "Other",
    "text": "Other",
    "photograph": "Other",
}
"""The paper's types (Table 1; annotation guide): CFP are narrow-angle colour photographs, so that ultra-widefield
pictures and montages of several photographs are Retinal Imaging; OCT are B-scans, of the anterior segment as well."""

MODALITIES: tuple[Modality, ...] = tuple(TYPE_OF_MODALITY)
"""In the order of the network's outputs."""


def modalities_of(image_type: ImageType) -> tuple[Modality, ...]:
    """Return the modalities whose pictures are of a type."""
    return tuple(modality for modality, kind in TYPE_OF_MODALITY.items() if kind == image_type)


TYPE_MATRIX: tuple[tuple[bool, ...], ...] = tuple(
    tuple(TYPE_OF_MODALITY[modality] == image_type for modality in MODALITIES) for image_type in IMAGE_TYPES
)
"""Per type (order of `IMAGE_TYPES`) which modalities (order of `MODALITIES`) are of it."""
