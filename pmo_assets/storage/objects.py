"""Files by content: PDFs, XML, package pictures."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot

_KEY: Final = re.compile(r"objects/([0-9a-f]{2})/\1[0-9a-f]{62}(?:\.[^/]*)?")
"""Key of an object."""


def content_digest(key: str) -> str:
    """Return the SHA-256 of an object's content, after which its key is named (`ContentStore`)."""
    return PurePosixPath(key).name.split(".")[0]


YOUNG: Final = 6 * 3600.0
"""Seconds; an object of this age is touched when it is used again: long before `pmo clean` looks at it, after a day."""

MD5_NOTES: Final = "objects/md5"
"""Folder of notes: a file named after an MD5 holds the key of the object with that content."""


def md5_note_key(md5: str, suffix: str) -> str:
    """Return where the key of an object with this MD5 is kept."""
    return f"{MD5_NOTES}/{md5[:2]}/{md5}{suffix}"


def object_key(sha256: str, suffix: str) -> str:
    """Return the key of an object by its content's digest."""
    return f"objects/{sha256[:2]}/{sha256}{suffix}"


def object_key_of_note(note: bytes) -> str | None:
    """Return the key that a note of an MD5 holds; None if it was damaged, and may say anything."""
    key = note.decode(errors="replace")
    return key if _KEY.fullmatch(key) else None


@dataclass(frozen=True)
class ContentStore:
    """`ObjectStore` below a data root: files named after the SHA-256 of their content."""

    data_root: DataRoot

    def put(self, content: bytes, suffix: str, md5: str | None = None) -> str:
        """Store bytes once and return their key; under `md5` `find` gives it back."""
        key = object_key(hashlib.sha256(content).hexdigest(), suffix)
        if not self._is_kept(key):
            self.data_root.write(key, content)
        if md5 is not None:
            # what a power failure leaves of it `find` tells from a key: no second wait for the disk
            self.data_root.write(md5_note_key(md5, suffix), key.encode(), durable=False)
        return key

    def find(self, md5: str, suffix: str) -> str | None:
        """Return the key of bytes that were put under an MD5; None if there are none, or they are gone."""
        name = md5_note_key(md5, suffix)
        if not self.data_root.exists(name):
            return None
        key = object_key_of_note(self.data_root.read(name))
        return key if key is not None and self._is_kept(key) else None

    def _is_kept(self, key: str) -> bool:
        """Say whether an object is there that may be used again; from then on it is as young as one just written.

        It may have lain there for days without a table that names it: to `pmo clean` it was a leftover until now.
        """
        try:
            return self.data_root.kept(key, YOUNG)
        except StorageError:  # it may not be touched (another user's, a read-only disk): for who only reads it is there
            return self.data_root.exists(key)

    def size(self, key: str) -> int:
        """Return the number of bytes under a key."""
        return self.data_root.size(key)

    def get(self, key: str) -> bytes:
        """Return the bytes under a key, checksum verified."""
        content = self.data_root.read(key)
        if hashlib.sha256(content).hexdigest() != content_digest(key):
            raise StorageError(
                f"{self.data_root.uri(key)} is damaged: delete it and materialise article_packages again for its batch"
            )
        return content
