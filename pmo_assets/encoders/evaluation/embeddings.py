"""Embeddings as they come from outside: NumPy arrays of any real type, checked, and handed on as unit rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS: Final = 4096
"""Rows that are looked at at once: 16 MB of 512 numbers."""

_SHOWN: Final = 5

_MOST_CLASSES: Final = 10_000


class EmbeddingsError(ValueError):
    """Embeddings, or what belongs to them, cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of pictures or texts, a row for each.

    Attributes:
        values: (n, d) of any real type, n and d at least 1; may lie in a file (memory map). Every row is finite and not
            zero.
        name: what errors call them.
    """

    values: NDArray[Any]
    name: str = "embeddings"

    def __post_init__(self) -> None:
        """Check shape, type and every row.

        Raises:
            EmbeddingsError: naming the first rows that are zero or not finite (counted from 0).
        """
        kind = self.values.dtype
        if kind.kind not in "fiu":
            raise EmbeddingsError(f"{self.name} holds {kind}, not real numbers")
        if self.values.ndim != 2:
            raise EmbeddingsError(f"{self.name} has the shape {self.values.shape}, not (rows, dimensions)")
        if 0 in self.values.shape:
            raise EmbeddingsError(f"{self.name} is empty: its shape is {self.values.shape}")
        for reason, bad in (("not finite (NaN or infinite)", _not_finite), ("zero: it has no direction", _zero)):
            rows = [start + int(row) for start, block in self._blocks() for row in np.flatnonzero(bad(block))]
            if rows:
                more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
                names = ", ".join(map(str, rows[:_SHOWN]))
                raise EmbeddingsError(f"row{'s' * (len(rows) > 1)} {names}{more} of {self.name}: {reason}")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    @property
    def dimensions(self) -> int:
        """Return the length of a row."""
        return int(self.values.shape[1])

    def _blocks(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        for start in range(0, len(self), BLOCK_ROWS):
            yield start, _doubles(self.values[start : start + BLOCK_ROWS])

    def unit_rows(self, rows: slice | NDArray[np.intp] = slice(None)) -> NDArray[np.float64]:
        """Return rows divided by their length: (b, d), float64.

        A row is divided by its largest number first, so that no square overflows or vanishes. Equal rows give equal
        results, whatever stands beside them.
        """
        block = _doubles(self.values[rows])
        block /= np.abs(block).max(axis=1, keepdims=True)
        block /= np.sqrt(np.square(block).sum(axis=1, keepdims=True))
        return block


def _doubles(block: NDArray[Any]) -> NDArray[np.float64]:
    return np.array(block, dtype=np.float64, order="C")  # a copy, native byte order


def _not_finite(block: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(~np.isfinite(block).all(axis=1))


def _zero(block: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(~block.any(axis=1))


def read_embeddings(path: Path) -> Embeddings:
    """Return the embeddings of a `.npy` file, which stays where it is (memory map) if its rows lie together.

    Raises:
        EmbeddingsError: if the file is no such array, holds Python objects, or has rows that cannot be used.
        OSError: if it cannot be read.
    """
    values = _read_array(path)
    if values.ndim == 2 and not values.flags.c_contiguous:
        values = np.ascontiguousarray(values)  # Fortran order: a row lies all over the file
    return Embeddings(values, path.name)


def read_ids(path: Path, rows: int) -> NDArray[np.intp]:
    """Return the ids of a `.npy` file (integers or strings, one a row), numbered from 0 in their order.

    Raises:
        EmbeddingsError: if the file is no such array, or has another number of rows.
        OSError: if it cannot be read.
    """
    values = _read_array(path)
    if values.ndim != 1 or len(values) != rows:
        raise EmbeddingsError(f"{path.name} has the shape {values.shape}, but {rows} rows belong to it: ({rows},)")
    if values.dtype.kind not in "iubUS":
        raise EmbeddingsError(f"{path.name} holds {values.dtype}: ids are integers or strings")
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def read_labels(path: Path, rows: int, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the number of each row's class.

    Args:
        path: `.npy` of (rows,) or (rows, 1): names of classes, or their numbers from 0.
        rows: how many there must be.
        names: of the classes.

    Raises:
        EmbeddingsError: if the file is no such array, or has a label that is no class.
        OSError: if it cannot be read.
    """
    values = _read_array(path)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1 or len(values) != rows:
        raise EmbeddingsError(f"{path.name} has the shape {values.shape}, but {rows} rows belong to it: ({rows},)")
    if values.dtype.kind in "iu":
        labels = np.asarray(values, dtype=np.int64)
        known = (labels >= 0) & (labels < len(names))
    elif values.dtype.kind == "U":
        numbers = {name: number for number, name in enumerate(names)}
        labels = np.array([numbers.get(str(value), -1) for value in values])
        known = labels >= 0
    else:
        raise EmbeddingsError(f"{path.name} holds {values.dtype}: labels are names of classes, or their numbers")
    if not known.all():
        wrong = values[int(np.flatnonzero(~known)[0])]
        raise EmbeddingsError(f"{path.name} has the label {str(wrong)!r}, which is none of {', '.join(names)}")
    return labels.astype(np.intp)


def label_names(path: Path) -> tuple[str, ...]:
    """Return the classes that a `.npy` file of labels names, in order: names, or numbers from 0 to the highest.

    Raises:
        EmbeddingsError: if the file is no array of labels.
        OSError: if it cannot be read.
    """
    values = _read_array(path)
    if values.dtype.kind in "iu" and values.size and values.min() >= 0 and values.max() < _MOST_CLASSES:
        return tuple(map(str, range(int(values.max()) + 1)))
    if values.dtype.kind == "U" and values.size:
        return tuple(map(str, np.unique(values)))
    raise EmbeddingsError(f"{path.name} holds no labels: names of classes, or numbers from 0")


def _read_array(path: Path) -> NDArray[Any]:
    if path.is_dir():
        raise EmbeddingsError(f"{path} is a folder, not a .npy file")
    try:
        read = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError) as error:
        reason = "holds Python objects" if "bject" in str(error) or "pickled" in str(error) else "is no whole .npy file"
        raise EmbeddingsError(f"{path.name} {reason}: save a plain array of numbers by numpy.save") from error
    if not isinstance(read, np.ndarray):
        read.close()
        raise EmbeddingsError(f"{path.name} is an archive of arrays (.npz): save one array by numpy.save")
    return read
