"""Results that depend on the package's code alone, kept for the next process: reading all of the code takes seconds.

Every `pmo` command, run and code server asks for the same code versions. They lie in the user's cache folder
(`XDG_CACHE_HOME`, `~/.cache`), under a digest of all files of the package: other code finds nothing there, whatever the
files' times say, and an installation that nobody may write into has them, too. The folder can be deleted at any time.

Measured on one core, without and with the cache: the code location loads in 4.9 and 2.8 s, the graph is there for
`pmo batches list` after 4.7 and 1.3 s. A library of caches (joblib, diskcache) would still need the digest, which is
most of this module.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from platformdirs import user_cache_path

from pmo_assets.pipeline.prompting.prompts import prompts_folder
from pmo_assets.system.aside import write_text

_FORMAT: Final = 1
"""Version of the cache's format: nothing that was kept under another number is found."""

_INSTALLATIONS: Final = 20
"""Number of states of the code for which results are kept, the newest."""


def of_this_code(key: str, worked_out: Callable[[], Any]) -> Any:
    """Return a result that depends on the package's code alone: from the cache, or worked out now and kept there.

    Args:
        key: name of the result.
        worked_out: returns it as JSON can hold it; its errors are raised, and nothing is kept.
    """
    digest, seen = _package_state()
    folder = user_cache_path("pmo-assets", appauthor=False) / "code" / digest
    place = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    try:
        kept = json.loads(place.read_bytes())
        if kept["key"] == key:
            return kept["value"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not kept, or written by something else
    value = worked_out()
    if _seen() == seen:  # else it may follow from other code than the digest is of
        with contextlib.suppress(OSError):  # a folder that nobody may write into: worked out every time
            _keep(place, {"key": key, "value": value})
    return value


def _keep(place: Path, content: Any) -> None:
    if not place.parent.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        _forget_old_ones(place.parent.parent)
    write_text(place, json.dumps(content), durable=False)


def _forget_old_ones(folder: Path) -> None:
    found = sorted(folder.iterdir(), key=lambda item: item.stat().st_mtime)
    for item in found[:-_INSTALLATIONS]:
        shutil.rmtree(item, ignore_errors=True)


Seen = tuple[tuple[str, int, int], ...]


@functools.cache
def _package_state() -> tuple[str, Seen]:
    """Return a digest of the package's files, this format and Python's version; and the files' times and sizes."""
    seen = _seen()
    digest = hashlib.sha256(f"{_FORMAT} {sys.version_info[:2]}".encode())  # syntax is written otherwise by another one
    for root, file in _files():
        digest.update(file.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32], seen


def _seen() -> Seen:
    states = ((file, file.stat()) for _, file in _files())
    return tuple((str(file), state.st_mtime_ns, state.st_size) for file, state in states)


def _files() -> Iterator[tuple[Path, Path]]:
    """Yield the files of the package and its prompts, each after the folder that its name is relative to."""
    package = Path(str(resources.files("pmo_assets")))
    for root in dict.fromkeys((package, prompts_folder())):
        for folder, names, files in os.walk(root):
            names[:] = sorted(name for name in names if name != "__pycache__")
            yield from ((root, Path(folder, name)) for name in sorted(files) if not name.endswith(".pyc"))
