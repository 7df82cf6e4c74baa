"""Pictures without people: faces, and printed names, dates and numbers of patients, are black in what is exported.

What tells who somebody is is found by the face detector and the reader of print that lecture videos are masked with
(`pipeline.videos`). Add here: what of a picture must not leave. Keep out: the rows, and which pictures of a release
are masked (`masking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import compact_bytes, decoded_bytes
from pmo_assets.pipeline.assembly.reading.text_readers import text_reader
from pmo_assets.pipeline.videos.faces import LEAST_SCORE, face_boxes, load_faces
from pmo_assets.pipeline.videos.names import is_identifying
from pmo_assets.records.geometry import UNIT_BOX, Box, clip, covered_fraction, crop_box, height
from pmo_assets.records.modalities import TYPE_OF_MODALITY
from pmo_assets.records.reading import TextReader
from pmo_assets.records.stores import SystemicError

Identifying = Literal["face", "print"]
"""What tells who somebody is: a face; a line of print with a name, a date or a number of a patient."""

SURE_FACE: Final = 0.85
"""Score of a face from which one counts in a picture whose modality shows nobody from outside: round and orange fundus
photographs reach 0.79 (`benchmarks/score_masking.py`); elsewhere `LEAST_SCORE` counts, whatever else it covers."""

_INNER: Final = frozenset(
    modality
    for modality, kind in TYPE_OF_MODALITY.items()
    if kind != "Other" or modality in ("ultrasound", "histology", "microscopy", "topography", "radiograph")
)
"""Modalities of which no picture shows a person from outside."""

MARGIN: Final = 0.3
"""Added around a line of print, as a share of its height: ends of letters."""

MOST_MASKED: Final = 0.25
"""Share of a picture that is masked from which on it shows a person, and no instruction about it leaves."""

MOST_OF_BOX: Final = 0.2
"""Share of a box that an answer speaks of, masked, from which on the answer cannot be seen any more."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A part of a picture that is black, normalised to it, and what it showed."""

    box: Box
    what: Identifying


@dataclass(frozen=True)
class CleanPicture:
    """A picture as it may leave.

    Attributes:
        content: the picture file; the same bytes as before where nothing is masked.
        masked: parts that are black.
        share: of its pixels that they cover.
    """

    content: bytes
    masked: tuple[Masked, ...] = ()
    share: float = 0.0

    def shows(self, boxes: Sequence[Box]) -> bool:
        """Say whether an instruction about it may leave: it is no person's picture, and what is spoken of is seen."""
        if self.share >= MOST_MASKED:
            return False
        return all(covered_fraction(box, item.box) <= MOST_OF_BOX for box in boxes for item in self.masked)


@dataclass(frozen=True)
class Masker:
    """The two networks, from `load_masker`."""

    reader: TextReader

    def clean(self, content: bytes, modality: str | None = None) -> CleanPicture:
        """Return a picture file without people: faces and lines of print that tell who somebody is are black.

        Args:
            content: the picture file.
            modality: of the picture, as the release says; None where it is not known.

        Raises:
            PictureUnreadable: if it is no picture.
            SystemicError: when a network fails.
        """
        pixels = decoded_bytes(content)
        found = self.parts(pixels, modality)
        if not found:
            return CleanPicture(content)
        tall, wide = pixels.shape[:2]
        return CleanPicture(compact_bytes(blackened(pixels, found)), found, covered_share(found, wide, tall))

    def parts(self, pixels: NDArray[np.uint8], modality: str | None = None) -> tuple[Masked, ...]:
        """Return the parts of a picture that tell who somebody is.

        Args:
            pixels: (height, width, 3) uint8 RGB.
            modality: of the picture, as the release says; None where it is not known.

        Raises:
            SystemicError: when a network fails.
        """
        return identifying_parts(
            pixels, self.reader, least_face=SURE_FACE if shows_no_people(modality) else LEAST_SCORE
        )


def _black(parts: Sequence[Masked], width: int, height: int) -> NDArray[np.bool_]:
    black = np.zeros((height, width), dtype=np.bool_)
    for item in parts:
        left, top, right, bottom = crop_box(item.box, width, height)
        black[top:bottom, left:right] = True
    return black


def blackened(pixels: NDArray[np.uint8], parts: Sequence[Masked]) -> NDArray[np.uint8]:
    """Return a picture, (height, width, 3) uint8 RGB, with parts of it black."""
    black = _black(parts, pixels.shape[1], pixels.shape[0])
    return np.where(black[:, :, None], 0, pixels).astype(np.uint8)


def covered_share(parts: Sequence[Masked], width: int, height: int) -> float:
    """Return the share of a picture's pixels that parts of it cover."""
    return float(_black(parts, width, height).mean())


def load_masker() -> Masker:
    """Load the face detector and the reader of print.

    Raises:
        SystemicError: when one is missing; then nothing is exported.
    """
    reader = text_reader("rapidocr")
    if reader is None:
        raise SystemicError("printed names cannot be masked without a reader of print")
    reader.load()
    load_faces()
    return Masker(reader)


def shows_no_people(modality: str | None) -> bool:
    """Say whether pictures of a modality show nobody from outside, so that nothing in them is likely to be a face."""
    return modality in _INNER


def identifying_parts(
    pixels: NDArray[np.uint8], reader: TextReader, *, least_face: float = LEAST_SCORE
) -> tuple[Masked, ...]:
    """Return the parts of a picture that tell who somebody is, faces first.

    A line whose place is not known makes the whole picture such a part.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        reader: of print.
        least_face: score below which a face is none.
    """
    faces = [Masked(box, "face") for box in face_boxes(pixels, least_face)]
    lines = [text for text in reader([pixels])[0] if is_identifying(text.text)]
    return (*faces, *(Masked(_widened(text.box or UNIT_BOX), "print") for text in lines))


def _widened(box: Box) -> Box:
    margin = MARGIN * height(box)
    return clip((box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin), UNIT_BOX)
