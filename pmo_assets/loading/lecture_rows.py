"""Rows of lecture videos as records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pmo_assets.loading.shown import in_notebook
from pmo_assets.loading.typed_rows import _Row, _shortly, decoded_picture
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType


@dataclass(frozen=True, kw_only=True, repr=False)
class VideoPair(_Row):
    """A picture of a lecture video with what is said while it is shown: a row of the config `videos`.

    `boxes` are (left, top, right, bottom) as fractions of the picture, one per retinal image; `start`, `end` and
    `keyframe` are seconds of the video. No pair is withheld.
    """

    CONFIG: ClassVar[str] = "videos"

    pair_id: str
    level: Literal["video"]
    text: str
    words_from: str
    corrected_words: int
    slide_text: tuple[str, ...]
    boxes: tuple[Box, ...]
    image_types: tuple[ImageType, ...]
    modalities: tuple[str | None, ...]
    video_id: int
    video: str
    start: float
    end: float
    keyframe: float
    picture_width: int
    picture_height: int
    perceptual_hash: str
    picture_group: str | None

    def __repr__(self) -> str:
        return f"<VideoPair {self.video} at {self.start:.0f} s{_shortly(self.text)}>"

    def picture(self) -> bytes | None:
        """Return the picture as a file (PNG)."""
        return self._source.picture_of(self.CONFIG, self._row)

    def image(self) -> PIL.Image.Image:
        """Return the picture, RGB.

        Raises:
            ReleaseError: if it is damaged.
        """
        return decoded_picture(self, self.picture())

    def pixels(self) -> NDArray[np.uint8]:
        """Return the picture as (height, width, 3) uint8 RGB.

        Raises:
            ReleaseError: if it is damaged.
        """
        return np.asarray(self.image())

    def _repr_html_(self) -> str:
        return in_notebook(repr(self), self.picture(), self.text, self.license, self.attribution, None)
