"""Check that a folder is a whole release as it goes to the hub: its sums, its card, the files that the card names."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.card import CARD_FILE
from pmo_assets.release.hub.citation import CITATION_FILE
from pmo_assets.release.hub.croissant import CROISSANT_FILE
from pmo_assets.release.hub.licence_list import LICENSE_FILE
from pmo_assets.release.hub.sums import SUMS_FILE, file_digest, files_of, read_sums, refuse_damaged

NEEDED = (CARD_FILE, LICENSE_FILE, CITATION_FILE, CROISSANT_FILE, SUMS_FILE)
"""Files that every release has beside its tables."""


MANIFEST_FILE = "manifest.json"
"""Name of a release's manifest (`release.versions.Manifest`), which has an entry `filled` in a filled folder."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of the folder.

    Attributes:
        name: below the folder, "/" between its parts; its name on the hub, too.
        path: its path.
        size: in bytes.
        sha256: of its bytes, hexadecimal.
    """

    name: str
    path: Path
    size: int
    sha256: str


@dataclass(frozen=True)
class CheckedFolder:
    """A folder that is a whole release.

    Attributes:
        folder: its path.
        version: of the release.
        files: all of them, by name.
    """

    folder: Path
    version: str
    files: Mapping[str, LocalFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def read_manifest_file(folder: Path) -> dict[str, Any]:
    """Return a folder's `manifest.json` as it stands there; empty if there is none, or it is none."""
    try:
        content = json.loads((folder / MANIFEST_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def is_filled_folder(folder: Path) -> bool:
    """Say whether a folder holds what its release withholds (`release.filling`), so that it must not be published."""
    return "filled" in read_manifest_file(folder)


def checked_folder(folder: Path, tell: Callable[[str, int, int], None] = lambda *_: None) -> CheckedFolder:
    """Return a folder's files after checking that they are those of a whole release.

    Args:
        folder: of the release.
        tell: is told what is done, how many files of how many.

    Raises:
        StorageError: if a file is missing, changed or not listed, the card is not one that the hub takes, or what
            the release withholds was restored.
    """
    if is_filled_folder(folder):
        raise StorageError(
            f"{folder} holds what the release withholds (pmo release fill-null): it may not be published"
        )
    refuse_damaged(folder, tell)
    paths, digests = files_of(folder), read_sums(folder)
    if missing := [name for name in NEEDED if name not in paths]:
        raise StorageError(f"{folder} is not the folder of a release: it has no {', '.join(missing)}")
    if wrong := card_faults((folder / CARD_FILE).read_text(encoding="utf-8"), paths):
        raise StorageError(f"{folder / CARD_FILE} is not a card that the hub takes: {'; '.join(wrong[:5])}")
    files = {
        name: LocalFile(name, path, path.stat().st_size, digests.get(name) or file_digest(path))
        for name, path in paths.items()
    }
    return CheckedFolder(folder, _version(folder / CITATION_FILE), files)


def _version(citation: Path) -> str:
    try:
        version = yaml.safe_load(citation.read_text(encoding="utf-8"))["version"]
    except (yaml.YAMLError, TypeError, KeyError, ValueError) as error:
        raise StorageError(f"{citation} states no version: make the release again") from error
    return str(version)


def card_faults(card: str, names: Iterable[str]) -> list[str]:
    """Return in words what of a card the hub, or whoever loads the dataset, would not take; nothing if all is well.

    Args:
        card: its text.
        names: the files beside it, by their path below the folder.
    """
    start, separator, rest = card.partition("---\n")
    if start or not separator or "\n---\n" not in rest:
        return ["it does not begin with a YAML head between lines of ---"]
    try:
        head = yaml.safe_load(rest.partition("\n---\n")[0])
    except yaml.YAMLError as error:
        return [f"its head is no YAML ({' '.join(str(error).split())[:200]})"]
    if not isinstance(head, dict):
        return ["its head is no mapping"]
    files = set(names)
    return [*_licence_faults(head, files), *_config_faults(head, files)]


def _licence_faults(head: Mapping[str, Any], files: set[str]) -> list[str]:
    if not head.get("license"):
        return ["it names no license"]
    if head["license"] != "other":
        return []
    faults = [
        f"license is other, and there is no {name}" for name in ("license_name", "license_link") if not head.get(name)
    ]
    link = str(head.get("license_link") or "")
    if link and "://" not in link and link not in files:
        faults.append(f"license_link names {link}, which is not there")
    return faults


def _config_faults(head: Mapping[str, Any], files: set[str]) -> list[str]:
    faults: list[str] = []
    named: set[str] = set()
    configs = head.get("configs") or []
    for config in configs:
        for item in config.get("data_files") or []:
            found = set(fnmatch.filter(files, item["path"]))
            named |= found
            if not found:
                faults.append(f"config {config.get('config_name')} names {item['path']}, and there is no such file")
    if sum(bool(config.get("default")) for config in configs) != 1:
        faults.append("not exactly one config is the default")
    for name in sorted(name for name in files if name.startswith("data/") and name not in named):
        faults.append(f"no config names {name}")
    infos = {info.get("config_name") for info in head.get("dataset_info") or []}
    if infos != {config.get("config_name") for config in configs}:
        faults.append("configs and dataset_info do not name the same")
    return faults
