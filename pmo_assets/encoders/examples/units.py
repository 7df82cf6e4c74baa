"""What is trained on: a figure, panel, region or lecture's picture with all its texts, and where it is seen."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import PIL.Image

from pmo_assets.records.faults import raise_fault
from pmo_assets.records.geometry import Box, crop_box
from pmo_assets.records.pairs import PairLevel, TextKind
from pmo_assets.records.stores import SystemicError

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)


class ExamplesError(SystemicError):
    """There is nothing to train on, or what is there cannot be used; the message says what to do."""


class BrokenPicture(Exception):
    """A picture cannot be decoded."""


class Picture(Protocol):
    """A picture file somewhere in a release or a tar."""

    def read(self) -> bytes:
        """Return its bytes (PNG or WebP)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A figure, panel, region or picture of a lecture with its texts.

    Attributes:
        level: figure, panel, region or video.
        name: its `figure_id`, `panel_id` or `region_id`; of a lecture's picture `pair_id`.
        source: the article or lecture (`records.pairs.source_name`); what is split by.
        figure_id: the figure; None for a lecture.
        panel_id: the panel; None for a figure or lecture.
        looks: what all units share that look the same: their duplicate group, or the name.
        picture: the file that shows it.
        box: where in it, as fractions; `WHOLE` but for regions.
        texts: of each kind, (pair_id, text) in the order of the release.
        confidence: that the texts are of this unit; None for figures and lectures.
        place: the number of the release or folder that it was read from, in the order in which they were given.
    """

    level: PairLevel
    name: str
    source: str
    figure_id: str | None
    panel_id: str | None
    looks: str
    picture: Picture
    box: Box
    texts: Mapping[TextKind, Sequence[tuple[str, str]]]
    confidence: float | None
    place: int = 0

    @property
    def parent(self) -> str | None:
        """The name of what it is a part of: a panel's figure, a region's panel."""
        return {"panel": self.figure_id, "region": self.panel_id}.get(self.level)


def decoded(content: bytes, box: Box = WHOLE) -> PIL.Image.Image:
    """Return a picture, or a box of it, RGB.

    Raises:
        BrokenPicture: if it cannot be decoded, or is larger than Pillow lets it be.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            picture = PIL.Image.open(io.BytesIO(content)).convert("RGB")
    except Exception as error:  # whatever the bytes happen to look like
        raise_fault(error)
        raise BrokenPicture(" ".join(str(error).split()) or type(error).__name__) from error
    return picture if box == WHOLE else picture.crop(crop_box(box, *picture.size))


def shown(unit: Unit, *, whole: bool = False) -> PIL.Image.Image:
    """Return what a unit's texts are of, RGB; with `whole` the picture in which it lies.

    Raises:
        ExamplesError: naming the unit, if the picture is broken.
    """
    try:
        return decoded(unit.picture.read(), WHOLE if whole else unit.box)
    except BrokenPicture as error:
        raise ExamplesError(
            f"the picture of {unit.level} {unit.name} (of {unit.source}) is broken: {error}; "
            "pmo_assets.load(…, verify=True) says which file, or leave it out"
        ) from error


def picture_digest(content: bytes, box: Box = WHOLE) -> bytes:
    """Return 16 bytes that stand for a picture file and a box in it."""
    return hashlib.sha256(content + repr(tuple(box)).encode()).digest()[:16]
