"""Pictures with texts or labels, whatever data set they come from."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError

Pixels = NDArray[np.uint8]

MOST_PICTURE_BYTES: Final = 200 * 2**20
MOST_PIXELS: Final = 150_000_000
"""More than any of these data sets has in a picture."""


class DataMissing(EmbeddingsError):
    """A data set is not where it was looked for; the message says where it is to be had."""


@dataclass(frozen=True)
class Example:
    """A picture of a data set.

    Attributes:
        id: of the picture in its data set.
        pixels: reads the picture, (height, width, 3) uint8 RGB.
        texts: that belong to it; empty for a classification.
        label: number of its class; None for retrieval.
        group: what it shares with pictures that have the same text, or are of the same patient; for the bootstrap.
    """

    id: str
    pixels: Callable[[], Pixels]
    texts: tuple[str, ...] = ()
    label: int | None = None
    group: str = ""


@dataclass(frozen=True)
class DataSet:
    """A part of a data set.

    Attributes:
        name: of the data set, and of the part.
        examples: in the order of the data set's own list.
        classes: names by number; empty for retrieval.
        left_out: what was not usable, in words.
    """

    name: str
    examples: tuple[Example, ...]
    classes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a part without examples.

        Raises:
            DataMissing: if there is none.
        """
        if not self.examples:
            raise DataMissing(f"{self.name} has no usable example ({'; '.join(self.left_out) or 'none is listed'})")


def read_picture(path: Path) -> Pixels:
    """Return a picture's pixels, (height, width, 3) uint8 RGB.

    Raises:
        EmbeddingsError: if it is too large, or no picture.
        OSError: if it is not there.
    """
    if path.stat().st_size > MOST_PICTURE_BYTES:
        raise EmbeddingsError(f"{path} has more than {MOST_PICTURE_BYTES:,} bytes")
    try:
        with PIL.Image.open(io.BytesIO(path.read_bytes())) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise EmbeddingsError(
                    f"{path} has {picture.width} x {picture.height} pixels, more than {MOST_PIXELS:,}"
                )
            return np.asarray(picture.convert("RGB"), dtype=np.uint8)
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError) as error:
        if isinstance(error, EmbeddingsError):
            raise
        raise EmbeddingsError(f"{path} is no picture that can be read: {error}") from error


def picture_below(root: Path, name: str) -> Path | None:
    """Return the file of a name that a list gives; None if it is not there, or leads out of the folder."""
    path = root / name
    if not path.is_file():
        return None
    return path if os.path.realpath(path).startswith(os.path.realpath(root) + os.sep) else None


def csv_rows(path: Path, columns: tuple[str, ...]) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a CSV file, which may be compressed (`.gz`).

    Raises:
        EmbeddingsError: if it lacks a column, or is no CSV in UTF-8.
    """
    try:
        with _text(path) as stream:
            reader = csv.DictReader(stream)
            missing = set(columns) - set(reader.fieldnames or ())
            if missing:
                raise EmbeddingsError(f"{path} has no column {', '.join(sorted(missing))}")
            for row in reader:
                yield {name: row[name] or "" for name in columns}
    except (csv.Error, UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise EmbeddingsError(f"{path} is no CSV file in UTF-8: {error}") from error


def _text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")
