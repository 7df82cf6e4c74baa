"""Features of frozen bodies, kept on disk: by the digest of a picture or text, and of the encoder that made them.

Each file is written whole and never changed, so that several processes may add to one folder. Features are kept as
float16, and used as they are kept, so that a run that computes them and one that finds them see the same numbers.
"""

from __future__ import annotations

import io
import uuid
import zipfile
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.system.aside import write_bytes

Half = NDArray[np.float16]

WRITTEN_TOGETHER: Final = 2048
"""Features of a file: a few megabytes."""


class FeatureCache:
    """Features of one body."""

    def __init__(self, folder: Path | None, digest: str) -> None:
        """Read what is there.

        Args:
            folder: of all features; None keeps them in memory only.
            digest: of the body and its preprocessing.
        """
        self._folder = None if folder is None else folder / digest
        self._known: dict[bytes, Half] = {}
        self._new: list[bytes] = []
        for file in sorted(self._folder.glob("*.npz")) if self._folder is not None and self._folder.is_dir() else ():
            try:
                with np.load(file, allow_pickle=False) as read:
                    keys, features = read["keys"], read["features"]
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                continue  # cut off by a power failure: what it held is made again
            self._known |= {bytes(key): feature for key, feature in zip(keys, features, strict=True)}

    def __len__(self) -> int:
        """Return how many features are known."""
        return len(self._known)

    def get(self, key: bytes) -> Half | None:
        """Return a feature; None if it is not known."""
        return self._known.get(key)

    def put(self, key: bytes, feature: NDArray[np.float32]) -> Half:
        """Keep a feature and return it as it is kept.

        Raises:
            OSError: if it cannot be written.
        """
        kept = self._known[key] = np.clip(feature, -65504, 65504).astype(np.float16)
        self._new.append(key)
        if len(self._new) >= WRITTEN_TOGETHER:
            self.flush()
        return kept

    def flush(self) -> None:
        """Write what is new.

        Raises:
            OSError: if it cannot be written.
        """
        if self._folder is not None and self._new:
            stream = io.BytesIO()
            keys = np.frombuffer(b"".join(self._new), dtype=np.uint8).reshape(len(self._new), -1)
            np.savez(stream, keys=keys, features=np.stack([self._known[key] for key in self._new]))
            write_bytes(self._folder / f"{uuid.uuid4().hex}.npz", stream.getvalue(), durable=False)
        self._new = []
