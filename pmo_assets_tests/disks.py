"""Disks that are read-only or full: real ones, mounted for one process in a namespace of its own."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
SMALL = 'mount -t tmpfs -o size="$0" tmpfs "$1" && shift && exec "$@"'


@functools.cache
def _missing() -> str | None:
    if shutil.which("unshare") is None:
        return "unshare (util-linux) is not installed"
    made = subprocess.run(["unshare", "-rm", "true"], capture_output=True, text=True, check=False)
    return f"this machine gives no namespaces: {made.stderr.strip()}" if made.returncode else None


def skip_without_mounts() -> None:
    """Skip the test where disks cannot be mounted, and say why."""
    if (reason := _missing()) is not None:
        pytest.skip(reason)


def on_read_only(folder: Path, command: list[str]) -> list[str]:
    """Return a command that finds a folder on a read-only disk; root cannot write there either."""
    return ["unshare", "-rm", "sh", "-c", READ_ONLY, str(folder), *command]


def on_small_disk(folder: Path, size: str, command: list[str]) -> list[str]:
    """Return a command that finds an empty disk of a size (`300k`) at a folder."""
    return ["unshare", "-rm", "sh", "-c", SMALL, size, str(folder), *command]
