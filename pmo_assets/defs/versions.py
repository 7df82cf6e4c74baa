"""Code versions: a hash of the source that makes an asset, so that changed code shows as stale in the UI."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

_PACKAGE = Path(__file__).parent
_ALWAYS = ("tables", "records")


@functools.cache
def source_version(*places: str) -> str:
    """Return a short hash over the package's source files in `places`.

    Args:
        places: files or folders below the package, e.g. `pipeline/figures`; data files (TOML, ONNX) count as well.

    Raises:
        FileNotFoundError: if a place does not exist, so that a renamed module cannot silently drop out.
    """
    digest = hashlib.sha256()
    for place in (*_ALWAYS, *places):
        path = _PACKAGE / place
        if not path.exists():
            raise FileNotFoundError(f"{path} is named as the source of an asset but does not exist")
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if file.suffix != ".pyc":
                digest.update(file.relative_to(_PACKAGE).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
