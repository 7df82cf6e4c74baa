"""Selection and groups of a release, computed once: stored with the identity of what they were computed of.

The first asset of a release computes and stores them; the next ones read them, as long as nothing is other than it was:
code and options, manifests, tables, what PubMed Central says, the releases before. Whatever was stated of an article's
rights since changes that identity, so that a stored selection never outlives it: then both are computed anew. A file is
believed only with the content that was written: it decides on rights and splits.

Does not belong here: how they are computed (`selection`, `panel_duplicates`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.records.stores import StorageError
from pmo_assets.release.facts import SplitFacts
from pmo_assets.release.panel_duplicates import PanelGroups, find_panel_duplicates
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.versions import read_manifest, released_versions
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.candidates import CANDIDATES_KEY
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_metadata, read_parquet
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.removed import articles_taken_out
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import ArticleSplits, PanelDuplicates
from pmo_assets.tables.schemas import checked

SELECTION_KEY: Final = "selection/selection.json"
_DUPLICATES_KEY: Final = "selection/duplicates.parquet"
_SPLITS_KEY: Final = "selection/splits.parquet"

_IDENTITY: Final = "pmo/identity"
"""Key of the Parquet metadata that says what the groups were computed of …"""

_COUNTS: Final = "pmo/counts"
"""… what was counted of them …"""

_CONTENT: Final = "pmo/content"
"""… and the digest of the table without metadata."""


@dataclass(frozen=True)
class _Stored:
    identity: str
    content: str
    selection: Selection


@dataclass(frozen=True)
class _Counts:
    facts: SplitFacts
    panels: int


@functools.cache
def _json(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def selection_once(
    tables: Tables, trusted: Collection[str], *, code: str, say: Callable[[str], None], keep: bool = True
) -> Selection:
    """Return the selection of `select_articles`: the stored one where it fits, else computed anew.

    Args:
        tables: the tables below the data root.
        trusted: see `select_articles`.
        code: version of the code that selects.
        say: told whether the selection is read or computed.
        keep: store a computed selection; False for who only looks.

    Raises:
        StorageError: as `select_articles`, or if it cannot be stored.
    """
    identity = _identity(code, sorted(trusted), _inputs_of_selection(tables))
    stored = _stored_selection(tables.data_root)
    if stored is not None and stored.identity == identity:
        say(f"selection: read from {SELECTION_KEY}, computed of the same tables and statements")
        return stored.selection
    why = "none that can be read is stored" if stored is None else "the stored one is of other tables or statements"
    say(f"selection: computed anew, {why}")
    selection = select_articles(tables, trusted)
    if keep:
        stored = _Stored(identity, _selection_digest(selection), selection)
        tables.data_root.write(SELECTION_KEY, _json(_Stored).dump_json(stored))
    return selection


def groups_once(
    tables: Tables,
    selection: Selection,
    options: ReleaseOptions,
    split_options: SplitOptions,
    *,
    code: str,
    say: Callable[[str], None],
) -> PanelGroups:
    """Return the groups of `find_panel_duplicates`: the stored ones where they fit, else computed anew and stored.

    Args:
        tables: the tables below the data root.
        selection: articles that the release takes.
        options: see `find_panel_duplicates`.
        split_options: see `find_panel_duplicates`.
        code: version of the code that finds them.
        say: told whether groups are read or computed.

    Raises:
        StorageError: as `find_panel_duplicates`, or if they cannot be stored.
    """
    root = tables.data_root
    selected = _selection_digest(selection)
    before = [_digest(read_manifest(root, version).as_bytes()) for version in released_versions(root)]
    rows = _tables_identity(tables, "dataset_rows")
    identity = _identity(code, selected, rows, before, asdict(options), asdict(split_options))
    stored = _stored_groups(root, identity, split_options)
    if stored is not None:
        say(f"panels that look the same: read from {_DUPLICATES_KEY}, found in the same rows")
        return stored
    say("panels that look the same: computed anew, none of these rows, options and splits are stored")
    groups = find_panel_duplicates(tables, selection, options, split_options)
    counts = _json(_Counts).dump_json(_Counts(groups.facts, groups.panels)).decode()
    said = {_IDENTITY: identity, _COUNTS: counts}
    for key, table in ((_DUPLICATES_KEY, groups.duplicates), (_SPLITS_KEY, groups.splits)):
        root.write(key, parquet_bytes(table, metadata={**said, _CONTENT: _digest(parquet_bytes(table))}))
    return groups


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _selection_digest(selection: Selection) -> str:
    return _digest(_json(Selection).dump_json(selection))


def _identity(*parts: Any) -> str:
    return _digest(json.dumps(parts, sort_keys=True).encode())


def _inputs_of_selection(tables: Tables) -> list[Any]:
    """Return identities of everything that `select_articles` reads; they differ if any of it has changed.

    Objects (XML, PDFs) are named by their content in the tables.
    """
    root = tables.data_root
    batches = BatchRegistry(root).batches()  # writes the manifests of what was registered and killed before it had one
    candidates = _digest(root.read(CANDIDATES_KEY)) if root.exists(CANDIDATES_KEY) else None
    made = [_tables_identity(tables, asset) for asset in ("article_packages", "articles", "dataset_rows")]
    manifests = [(file.name, file.size) for file in root.folder_facts("manifests", ".parquet")]  # written once
    return [batches, manifests, candidates, made, sorted(articles_taken_out(root))]


def _tables_identity(tables: Tables, asset: str) -> list[Any]:
    """Return the identities of an asset's tables: their sizes, and what their provenance states.

    When a file was written counts only where it states nothing (an older version's table): the same rows have the same
    identity, whenever they were made.
    """
    said = {batch: made.identity for batch, made in tables.provenances(asset).items() if made is not None}
    files = tables.data_root.folder_facts(f"tables/{asset}", ".parquet")
    return [
        (file.name, file.size, said.get(PurePosixPath(file.name).stem) or file.changed.isoformat()) for file in files
    ]


def _stored_selection(root: DataRoot) -> _Stored | None:
    """Return the stored selection; None if there is none that can be read."""
    stored: _Stored | None = None
    if root.exists(SELECTION_KEY):
        with contextlib.suppress(ValidationError):
            stored = _json(_Stored).validate_json(root.read(SELECTION_KEY))
    return stored if stored is not None and stored.content == _selection_digest(stored.selection) else None


def _stored_groups(root: DataRoot, identity: str, split_options: SplitOptions) -> PanelGroups | None:
    """Return the stored groups of this identity; None if they are others, or damaged."""
    keys = (_DUPLICATES_KEY, _SPLITS_KEY)
    if not all(map(root.exists, keys)):
        return None
    said = read_metadata(root, {key: key for key in keys})
    if any(said[key].get(_IDENTITY) != identity for key in keys):
        return None
    try:
        duplicates = checked(PanelDuplicates, read_parquet(root, _DUPLICATES_KEY))
        splits = checked(ArticleSplits, read_parquet(root, _SPLITS_KEY))
    except StorageError:
        return None
    if any(
        said[key].get(_CONTENT) != _digest(parquet_bytes(table))
        for key, table in zip(keys, (duplicates, splits), strict=True)
    ):
        return None
    counts: _Counts = _json(_Counts).validate_json(said[_DUPLICATES_KEY][_COUNTS])
    return PanelGroups(duplicates, splits, counts.facts, split_options, counts.panels)
