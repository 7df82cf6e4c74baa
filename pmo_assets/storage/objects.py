"""Files by content: PDFs, XML, package pictures."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath

from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot


def content_digest(key: str) -> str:
    """Return the SHA-256 of an object's content, after which its key is named (`ContentStore`)."""
    return PurePosixPath(key).name.split(".")[0]


@dataclass(frozen=True)
class ContentStore:
    """`ObjectStore` below a data root: files named after the SHA-256 of their content."""

    data_root: DataRoot

    def put(self, content: bytes, suffix: str) -> str:
        """Store bytes once and return their key."""
        digest = hashlib.sha256(content).hexdigest()
        key = f"objects/{digest[:2]}/{digest}{suffix}"
        if not self.data_root.exists(key):
            self.data_root.write(key, content)
        return key

    def get(self, key: str) -> bytes:
        """Return the bytes under a key, checksum verified."""
        content = self.data_root.read(key)
        if hashlib.sha256(content).hexdigest() != content_digest(key):
            raise StorageError(
                f"{self.data_root.uri(key)} is damaged: delete it and materialise article_packages again for its batch"
            )
        return content
