"""Stores in memory, for one article: what a notebook and `pmo article` give to steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pmo_assets.records.stores import Picture


@dataclass
class MemoryObjects:
    """`ObjectStore` in memory, for one article."""

    contents: dict[str, bytes] = field(default_factory=dict)

    def put(self, content: bytes, suffix: str, md5: str | None = None) -> str:
        """Store bytes under a running number."""
        key = f"{len(self.contents)}{suffix}"
        self.contents[key] = content
        return key

    def find(self, md5: str, suffix: str) -> str | None:
        """Return None: one article's files are each read once."""
        return None

    def size(self, key: str) -> int:
        """Return the number of bytes under a key."""
        return len(self.contents[key])

    def get(self, key: str) -> bytes:
        """Return the bytes under a key."""
        return self.contents[key]


@dataclass
class MemoryPixels:
    """`PixelStore` in memory, for one article."""

    pictures: dict[int, dict[str, Picture]] = field(default_factory=dict)

    def write(self, article_id: int, pictures: Sequence[Picture]) -> None:
        """Replace the article's pictures."""
        self.pictures[article_id] = {picture.key: picture for picture in pictures}

    def read(self, article_id: int) -> dict[str, Picture]:
        """Return the article's pictures by key."""
        return self.pictures.get(article_id, {})
