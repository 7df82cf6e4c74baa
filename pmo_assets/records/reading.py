"""Print that was read in pictures: the texts that a reader gives, and the protocol of a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text that a reader saw in a picture.

    Attributes:
        text: as read, with brackets and dots.
        confidence: 0..1, the engine's own; engines mean different things by it.
        box: normalised to the picture; None when the picture was taken as one line.
    """

    text: str
    confidence: float
    box: Box | None


class ReaderSource(Protocol):
    """Options that say which reader is used; worker processes get them and make the reader themselves."""

    def reader(self) -> TextReader | None:
        """Return the reader, made once per process; None for none."""
        ...


class TextReader(Protocol):
    """Reads print: an OCR engine behind one call, made once per process and used by one thread."""

    @property
    def name(self) -> str:
        """Engine, its version and its model, e.g. "rapidocr 3.10.0 PP-OCRv6"."""
        ...

    def load(self) -> object:
        """Load what it works with, so that it is not loaded at an article's expense.

        Raises:
            SystemicError: when the engine or one of its models is missing; the message says what to install.
        """
        ...

    def __call__(
        self, pictures: Sequence[NDArray[np.uint8]], *, one_line: bool = False, lengths: tuple[int, int] | None = None
    ) -> list[tuple[ReadText, ...]]:
        """Return the texts in each picture, best first.

        Args:
            pictures: (height, width, 3) uint8 RGB.
            one_line: each picture holds one line of print, upright and nothing else: the texts are readings of it that
                exclude each other, with their shares of confidence. Otherwise print is looked for anywhere in the
                picture, and every text has its box.
            lengths: print that is found anywhere and surely has fewer or more characters than these (least, most) need
                not be read, which is most of the work in pictures full of sentences or numbers; None reads all.

        Raises:
            SystemicError: when the engine cannot be loaded.
        """
        ...
