"""Batches that people took out again: registered by mistake, and now neither processed nor released.

A manifest never changes and keeps its place in the sequence; a mark (`removed/<batch>.json`) says that it does not
count. Taking the mark away brings the batch back with its tables, as long as `pmo clean` has not deleted them; then
they are made anew. Its articles keep their numbers all the time. What belongs here: the marks. What does not: what a
release loses by it.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.data_root import DataRoot

_FOLDER: Final = "removed"


def _key(batch: str, unit: Unit) -> str:
    return f"{unit.folder}{_FOLDER}/{batch}.json"


def removed_batches(data_root: DataRoot, unit: Unit = ARTICLE) -> frozenset[str]:
    """Return the keys of the batches that were removed."""
    return frozenset(name.removesuffix(".json") for name in data_root.keys(f"{unit.folder}{_FOLDER}", ".json"))


def removed_before(data_root: DataRoot, before: float, unit: Unit = ARTICLE) -> frozenset[str]:
    """Return the keys of the batches that were removed before a time (seconds since 1970)."""
    marks = data_root.files(f"{unit.folder}{_FOLDER}")
    return frozenset(PurePosixPath(file.key).stem for file in marks if file.written < before)


def remove_batch(data_root: DataRoot, batch: str, unit: Unit = ARTICLE) -> None:
    """Let a batch count no more; its files stay."""
    data_root.write(_key(batch, unit), b"{}\n")


def restore_batch(data_root: DataRoot, batch: str, unit: Unit = ARTICLE) -> None:
    """Let a removed batch count again."""
    data_root.delete(_key(batch, unit))
