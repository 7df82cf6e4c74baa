"""Served files of a release: those that the release itself lists, and nothing else that lies there.

A file that was put into the folder by hand, or that a later version of the software leaves there, is nobody's business
until a release names it: in `SHA256SUMS` of the hub's folder, in `files.txt` of the gallery, or here. A folder in which
withheld pictures were restored is private, whatever it lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.sums import SUMS_FILE, sums_of
from pmo_assets.release.keys import ANNOTATION_KEY, GALLERY_FOLDER, HUB, RELEASE_KEY, REPORT_KEY, RETRACTIONS_KEY
from pmo_assets.storage.data_root import DataRoot, FileFacts
from pmo_assets.viewing.gallery.writing import FILES

_ALONE: Final = frozenset({RELEASE_KEY, ANNOTATION_KEY, REPORT_KEY, RETRACTIONS_KEY})
"""Files of a release beside its folders."""

_LISTS: Final = {HUB: SUMS_FILE, GALLERY_FOLDER: FILES}
"""The file of a folder that names its files."""


class ListedFiles:
    """Tells which files of the release below a data root are served; a list is read again when its file has changed."""

    def __init__(self, root: DataRoot) -> None:
        self._root = root
        self._read: dict[str, tuple[FileFacts, frozenset[str]]] = {}

    def has(self, key: str) -> bool:
        """Say whether a key (`serving.addresses.served_key`) is served; one that is not of a release always is.

        Raises:
            StorageError: if the storage cannot be read.
        """
        if not key.startswith("release/") or key in _ALONE:
            return True
        for folder, name in _LISTS.items():
            if key.startswith(f"{folder}/"):
                inside = key.removeprefix(f"{folder}/")
                return inside in self._names(folder, name)
        return False

    def _names(self, folder: str, name: str) -> frozenset[str]:
        key = f"{folder}/{name}"
        facts = self._root.facts(key)
        if facts is None:
            return frozenset()
        known = self._read.get(folder)
        if known is None or known[0] != facts:
            known = self._read[folder] = (facts, _READERS[folder](self._root, key))
        return known[1]


def _hub_names(root: DataRoot, key: str) -> frozenset[str]:
    manifest = f"{HUB}/manifest.json"
    if root.exists(manifest) and _is_filled(root.read(manifest)):
        return frozenset()
    try:
        return frozenset(sums_of(root.read(key).decode(errors="replace"), key)) | {SUMS_FILE}
    except StorageError:  # half a list, or none of ours: nothing of it is believed
        return frozenset()


def _is_filled(manifest: bytes) -> bool:
    try:
        stated: Any = json.loads(manifest)
    except ValueError:
        return True
    return not isinstance(stated, dict) or "filled" in stated


def _gallery_names(root: DataRoot, key: str) -> frozenset[str]:
    return frozenset(root.read(key).decode(errors="replace").splitlines())


_READERS: Final[dict[str, Callable[[DataRoot, str], frozenset[str]]]] = {
    HUB: _hub_names,
    GALLERY_FOLDER: _gallery_names,
}
