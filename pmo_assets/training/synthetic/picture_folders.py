"""Folders of pictures: the modality that a folder's name tells, and a reader of pictures.

The pools of synthetic figures and the examples of the image type network are read by them.
"""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np

from pmo_assets.records.modalities import TYPE_OF_MODALITY, Modality
from pmo_assets.samples.drawing import Pixels

FOLDERS: dict[str, Modality] = {
    "cfp": "fundus photograph", "video frame": "fundus photograph", "chase db1 mini": "fundus photograph",
    "idrid mini": "fundus photograph", "rop ridge mini": "fundus photograph",
    "uwf": "ultra-widefield", "mosaic": "montage", "montage": "montage",
    "fa": "fluorescein angiography", "fa arterial": "fluorescein angiography", "fa venous": "fluorescein angiography",
    "fa disease": "fluorescein angiography", "non ffa": "red-free", "red free": "red-free",
    "icga": "indocyanine green angiography", "icga spectralis30": "indocyanine green angiography",
    "faf": "autofluorescence", "ir slo": "infrared", "oct": "OCT", "as oct": "OCT", "octdl sample": "OCT",
    "octa enface": "OCT angiography", "octa synthetic": "OCT angiography",
    "octa faz zenodo5075194": "OCT angiography", "oct enface": "en-face OCT",
    "ao": "adaptive optics", "ao frame": "adaptive optics", "ao oct": "adaptive optics", "ao icg": "adaptive optics",
    "ct mr": "CT or MR", "vessel mask": "mask", "photo": "photograph",
}  # fmt: skip
"""Names of folders, in lower case with spaces, and what their pictures were made with; besides, every modality's name
is one. Data sets that show one modality have it by their own name."""

SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp")
"""Files that are read as pictures."""

POOL_SIDE = 512
"""Pictures are kept at no more than this many pixels on the long side."""


def plain_name(name: str) -> str:
    """Return the name of a folder as it is compared: lower case, spaces for "_" and "-"."""
    return re.sub(r"[_-]+", " ", name).strip().casefold()


_MODALITY_NAMES: dict[str, Modality] = {plain_name(modality): modality for modality in TYPE_OF_MODALITY}


def folder_modality(name: str) -> Modality | None:
    """Return the modality of the pictures in a folder of this name; None when the name does not tell it."""
    plain = plain_name(name)
    return FOLDERS.get(plain) or _MODALITY_NAMES.get(plain)


def no_larger(pixels: Pixels, side: int = POOL_SIDE) -> Pixels:
    """Return a picture with no more than `side` pixels on the long side, and one at least on the short one."""
    tall, wide = pixels.shape[:2]
    scale = side / max(tall, wide)
    if scale >= 1:
        return np.ascontiguousarray(pixels)
    size = (max(1, round(wide * scale)), max(1, round(tall * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def read_picture(path: Path) -> Pixels | None:
    """Return a file as (height, width, 3) uint8 RGB, `no_larger`; None when it is no picture that can be read."""
    if path.suffix.lower() not in SUFFIXES:
        return None
    try:
        pixels = cv2.imread(str(path))
    except cv2.error:  # more pixels than OpenCV reads
        return None
    return no_larger(np.asarray(pixels[:, :, ::-1], dtype=np.uint8)) if pixels is not None else None
