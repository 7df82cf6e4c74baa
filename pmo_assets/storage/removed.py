"""Batches and articles that people took out again: registered by mistake, and no longer released.

A manifest never changes and keeps its place in the sequence; a mark (`removed/<batch>.json`) says that it does not
count. Taking the mark away brings the batch back with its tables, as long as `pmo clean` has not deleted them; then
they are made anew. Its articles keep their numbers all the time. An article that is taken out alone
(`taken_out/<number>.json`) stays in the tables of its batch, and no release takes it. What belongs here: the
marks. What does not: what a release loses by it.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.data_root import DataRoot

_FOLDER: Final = "removed"
_ARTICLES: Final = "taken_out"


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


def articles_taken_out(data_root: DataRoot) -> frozenset[int]:
    """Return the numbers of the articles that no release takes, because people took them out."""
    return frozenset(int(name.removesuffix(".json")) for name in data_root.keys(_ARTICLES, ".json"))


def take_article_out(data_root: DataRoot, article_id: int) -> None:
    """Let no release take an article, whichever batches hold it; its files and rows stay."""
    data_root.write(f"{_ARTICLES}/{article_id}.json", b"{}\n")


def bring_article_back(data_root: DataRoot, article_id: int) -> None:
    """Let releases take an article again."""
    data_root.delete(f"{_ARTICLES}/{article_id}.json")
