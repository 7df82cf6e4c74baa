"""The hub's folder when its shards are filled: which files it has, and that they say what it is.

A filled folder is for whoever filled it. Its card says so, its `manifest.json` has the entry `filled`, and checksums
and sizes are those of its files.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pmo_assets import __version__
from pmo_assets.records.stores import StorageError
from pmo_assets.release.filling.shards import FORMS, Form, form_of
from pmo_assets.release.hub.card import CARD_FILE
from pmo_assets.release.hub.checking import MANIFEST_FILE, is_filled_folder, read_manifest_file
from pmo_assets.release.hub.croissant import CROISSANT_FILE
from pmo_assets.release.hub.sums import SUMS_FILE, file_digest, files_of, sums_text
from pmo_assets.storage.parquet import WrittenFile

NOTICE: Final = (
    "Pictures and texts that the articles' licences do not let anyone pass on were restored in this copy from the "
    "articles themselves. It is for whoever restored it: do not pass it on, and do not publish it."
)
"""Notice that stands in a filled folder."""


def files_of_folder(folder: Path) -> list[tuple[Path, Form]]:
    """Return the shards of a hub's folder that have nulls where something is withheld, panels first.

    Raises:
        StorageError: if it is no such folder, or a shard is not what its place says.
    """
    found = []
    for form in FORMS:
        for path in sorted((folder / "data" / form.table).glob("*.parquet")):
            own = form_of(path)
            if own.table != form.table:
                raise StorageError(f"{path} is no shard of {form.table}")
            found.append((path, own))
    if not found:
        raise StorageError(
            f"{folder} is no folder of a release: it has no shards in data/panels and data/figures; give the folder "
            "hub, a shard, or pubmed_ophtha.parquet"
        )
    return found


def refuse_foreign_folder(target: Path) -> None:
    """Refuse a folder that is no filled one, so that nothing of another kind is replaced.

    Raises:
        StorageError: if it is another one.
    """
    if not target.is_dir() or (any(target.iterdir()) and not is_filled_folder(target)):
        raise StorageError(f"{target} is there and no filled release: give another --out, or remove it")


def renew_descriptions(
    source: Path,
    staging: Path,
    written: Mapping[str, WrittenFile],
    *,
    restored: int,
    left: int,
    left_texts: Mapping[str, int],
) -> None:
    """Put the files that are not filled beside those that are; card, manifest, Croissant and checksums say what is.

    Args:
        source: the folder that was filled.
        staging: where the filled shards are, and the others go.
        written: the filled shards by their path below it.
        restored: rows that were filled.
        left: rows that still have nulls.
        left_texts: restored rows in which a text stays null, by its column.

    Raises:
        StorageError: if a file cannot be read or written.
    """
    try:
        for name, path in files_of(source).items():
            if name not in written and name != SUMS_FILE:
                place = staging / name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
        _mark_card(staging / CARD_FILE)
        _mark_manifest(staging / MANIFEST_FILE, written, restored=restored, left=left, left_texts=left_texts)
        _mark_croissant(staging / CROISSANT_FILE, written)
        known = {name: file.sha256 for name, file in written.items()}
        sums = {name: known.get(name) or file_digest(path) for name, path in files_of(staging).items()}
        (staging / SUMS_FILE).write_text(sums_text(sums), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{staging} cannot be written: {error}") from error


def _mark_card(path: Path) -> None:
    """Let the card begin with the notice, behind the head that the hub reads."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if NOTICE in text:
        return
    head = re.match(r"---\n.*?\n---\n\n?", text, re.DOTALL)
    end = head.end() if head else 0
    path.write_text(f"{text[:end]}> **Not for redistribution.** {NOTICE}\n\n{text[end:]}", encoding="utf-8")


def _mark_manifest(
    path: Path, written: Mapping[str, WrittenFile], *, restored: int, left: int, left_texts: Mapping[str, int]
) -> None:
    manifest = read_manifest_file(path.parent)
    before = manifest.get("filled")
    before = before if isinstance(before, dict) else {}
    restored += before.get("restored", 0)
    earlier = before.get("left_texts")
    texts = Counter(left_texts) + Counter(earlier if isinstance(earlier, dict) else {})
    files = manifest.get("files")
    for entry in files if isinstance(files, list) else []:
        file = written.get(str(entry.get("path", "")).removeprefix("hub/")) if isinstance(entry, dict) else None
        if file is not None:
            entry.update(sha256=file.sha256, size=file.size)
    manifest["filled"] = {"by": f"pmo-assets {__version__}", "restored": restored, "left": left, "notice": NOTICE}
    if texts:
        manifest["filled"]["left_texts"] = dict(sorted(texts.items()))
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _mark_croissant(path: Path, written: Mapping[str, WrittenFile]) -> None:
    """Renew sizes and checksums of the files that Croissant lists, if it is there."""
    if not path.exists():
        return
    try:
        content = json.loads(path.read_bytes())
        entries = content["distribution"]
        for entry in entries:
            file = written.get(entry.get("contentUrl", ""))
            if file is not None:
                entry.update(sha256=file.sha256, contentSize=f"{file.size} B")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise StorageError(f"{path} cannot be read as Croissant: {error}") from error
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
