"""`pmo` as a person runs it: a real process in a folder of its own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CODE = "from pmo_assets.cli.main import main; main()"

Pmo = Callable[..., subprocess.CompletedProcess[str]]


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER", "COLUMNS"))}
    return {
        **kept,
        "PMO_DATA_ROOT": str(folder / "data"),
        "PMO_DAGSTER_HOME": str(folder / "dagster"),
        "PMO_WORKERS": "2",
    }


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", CODE, *map(str, arguments)]


def files_below(folder: Path) -> dict[str, str]:
    """Relative path -> SHA-256 of every file, without those that say who wrote when (`leases`)."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "leases" not in path.relative_to(folder).parts
    }
