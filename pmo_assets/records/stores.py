"""Protocols of storage as the steps need it, which `pmo_assets.storage.data_root` implements, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class SystemicError(Exception):
    """Something that is not one article's fault (storage, model, configuration): fails the partition at once."""


class StorageError(SystemicError):
    """Storage cannot be read or written; the message says which path and what to do."""


class ObjectStore(Protocol):
    """Files by content: PDFs, XML, package pictures."""

    def put(self, content: bytes, suffix: str, md5: str | None = None) -> str:
        """Store bytes and return their key; storing the same bytes twice stores them once.

        Args:
            content: the bytes.
            suffix: of the key, e.g. `.pdf`.
            md5: name under which `find` gives the key back: what their source calls them before they are fetched.

        Raises:
            StorageError: if they cannot be written.
        """
        ...

    def find(self, md5: str, suffix: str) -> str | None:
        """Return the key of bytes that were put under an MD5; None if there are none.

        Raises:
            StorageError: if the store cannot be read.
        """
        ...

    def size(self, key: str) -> int:
        """Return the number of bytes under a key that `find` gave.

        Raises:
            StorageError: if they are missing.
        """
        ...

    def get(self, key: str) -> bytes:
        """Return the bytes under a key.

        Raises:
            StorageError: if they are missing, damaged or cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a pixel store.

    Attributes:
        key: unique in its article (pdf_figure_id, panel_id).
        width: pixels.
        height: pixels.
        png: as PNG.
        compact: the same pixels in fewer bytes (`pictures.compact_bytes`); None where nobody asks.
    """

    key: str
    width: int
    height: int
    png: bytes
    compact: bytes | None = None


class PixelStore(Protocol):
    """Pictures of one batch, apart from the facts: one file per article, so that workers write side by side."""

    def write(self, article_id: int, pictures: Sequence[Picture]) -> None:
        """Replace the article's pictures.

        Raises:
            StorageError: if they cannot be written.
        """
        ...

    def read(self, article_id: int) -> dict[str, Picture]:
        """Return the article's pictures by key; empty when it has none.

        Raises:
            StorageError: if the file is damaged or cannot be read.
        """
        ...
