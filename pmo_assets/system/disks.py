"""Free room of a disk, in words, for messages about a full one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""System errors of a disk that is full, and of a quota that is used up."""

ROOMY: Final = 50_000_000
"""Bytes; a disk with so many free is hardly the one that was full, also after what was half written has gone."""


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """The disk that a place lies on.

    Attributes:
        mount: folder at which the disk begins.
        free: bytes that this user may still write.
        has_names: true if it takes further files: the number of entries of a file system is limited, too.
    """

    mount: Path
    free: int
    has_names: bool = True

    def __str__(self) -> str:
        """Say it."""
        left = f"{self.free / 1e6:,.1f} MB" if self.free < 1e9 else f"{self.free / 1e9:,.1f} GB"
        return f"the disk at {self.mount} has {left} free" + ("" if self.has_names else " and takes no further files")


def disk_room(place: Path) -> DiskRoom | None:
    """Return the free room of the disk on which a file lies, or would lie; None if the system cannot tell."""
    here = Path(os.path.abspath(place.expanduser()))
    while not os.path.exists(here) and here != here.parent:
        here = here.parent
    try:
        facts = os.statvfs(here)
        device = os.stat(here).st_dev
        mount = here
        while mount != mount.parent and os.stat(mount.parent).st_dev == device:
            mount = mount.parent
    except (OSError, AttributeError):  # Windows has no statvfs
        return None
    return DiskRoom(mount, facts.f_bavail * facts.f_frsize, facts.f_files == 0 or facts.f_favail > 0)


def fullest(places: Iterable[Path]) -> DiskRoom | None:
    """Return the disk, of those that some places lie on, that has the least room; None if all have plenty."""
    rooms = [room for room in map(disk_room, dict.fromkeys(places)) if room is not None]
    rooms = [room for room in rooms if room.free < ROOMY or not room.has_names]
    return min(rooms, key=lambda room: (room.has_names, room.free), default=None)
