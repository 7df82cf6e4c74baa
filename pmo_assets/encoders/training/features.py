"""Features of frozen bodies, kept on disk: by the digest of a picture or text, and of the encoder that made them.

Each file is written whole and never changed, so that several processes may add to one folder. It is mapped and not
read: of what is on disk only the keys are in memory. Features are kept as float16, and used as they are kept, so that a
run that computes them and one that finds them see the same numbers.
"""

from __future__ import annotations

import io
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.system.aside import write_bytes

Half = NDArray[np.float16]

KEY_BYTES: Final = 24
"""Of every key."""

FILE_BYTES: Final = 32 << 20
"""Of features that are written together."""

_MOST_OPEN: Final = 128
"""Files that are mapped at once: each needs one of the process's file descriptors."""


class FeatureCache:
    """Features of one body, all of one shape."""

    def __init__(self, folder: Path | None, digest: str) -> None:
        """Look up what is there.

        Args:
            folder: of all features; None keeps them in memory only.
            digest: of the body and its preprocessing.
        """
        self._folder = None if folder is None else folder / digest
        self._files: list[Path] = []
        self._places: dict[bytes, int] = {}  # file and row in one number: a tuple is twice as large
        self._open: OrderedDict[int, NDArray[Any]] = OrderedDict()
        self._new: dict[bytes, Half] = {}
        for file in sorted(self._folder.glob("*.npy")) if self._folder is not None and self._folder.is_dir() else ():
            self._add_file(file)

    def __len__(self) -> int:
        """Return how many features are known."""
        return len(self._places.keys() | self._new.keys())

    def get(self, key: bytes) -> Half | None:
        """Return a feature; None if it is not known."""
        if key in self._new:
            return self._new[key]
        place = self._places.get(key)
        if place is None:
            return None
        number, row = divmod(place, 1 << 32)
        return np.asarray(self._rows(number)["feature"][row])

    def put(self, key: bytes, feature: NDArray[np.float32]) -> Half:
        """Keep a feature and return it as it is kept.

        Raises:
            OSError: if it cannot be written.
        """
        kept = self._new[key] = np.clip(feature, -65504, 65504).astype(np.float16)
        if self._folder is not None and len(self._new) * kept.nbytes >= FILE_BYTES:
            self.flush()
        return kept

    def flush(self) -> None:
        """Write what is new.

        Raises:
            OSError: if it cannot be written.
        """
        if self._folder is None or not self._new:
            return
        shape = next(iter(self._new.values())).shape
        rows = np.empty(len(self._new), dtype=[("key", f"V{KEY_BYTES}"), ("feature", "<f2", shape)])
        rows["key"] = np.frombuffer(b"".join(self._new), dtype=f"V{KEY_BYTES}")
        rows["feature"] = list(self._new.values())
        stream = io.BytesIO()
        np.save(stream, rows, allow_pickle=False)
        path = self._folder / f"{uuid.uuid4().hex}.npy"
        write_bytes(path, stream.getvalue(), durable=False)
        self._add_file(path)
        self._new = {}

    def _add_file(self, file: Path) -> None:
        number = len(self._files)
        self._files.append(file)
        try:
            keys = self._rows(number)["key"].tobytes()
        except (OSError, ValueError, EOFError, IndexError):
            return  # cut off by a power failure, or not ours: what it held is made again
        for row in range(len(keys) // KEY_BYTES):
            self._places[keys[row * KEY_BYTES : (row + 1) * KEY_BYTES]] = (number << 32) + row

    def _rows(self, number: int) -> NDArray[Any]:
        if number not in self._open:
            self._open[number] = np.load(self._files[number], mmap_mode="r", allow_pickle=False)
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(number)
        return self._open[number]
