"""The place of the Dagster instance's home: with the data root that it belongs to, unless it is set."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from platformdirs import user_state_path

from pmo_assets.settings import Settings

HOME_NAME: Final = ".dagster"
"""Folder of the home below a local data root; names with a dot are no data: never listed, published or uploaded."""

_OLD_NAMES: Final = (".dagster", "dagster")
"""Names of homes that older versions made beside the data root: in the working directory, in the demo's folder."""

_OLD_ROOT: Final = "data"
"""Name of the data root beside such a home."""


@dataclass(frozen=True, slots=True)
class HomePlace:
    """Path of the home, and the reason for it in words."""

    path: Path
    why: str


def home_place(settings: Settings) -> HomePlace:
    """Return where the home of the Dagster instance is; nothing is made.

    `DAGSTER_HOME` wins over PMO_DAGSTER_HOME, that over the place that belongs to the data root: `.dagster` below a
    folder, a folder named after the root in the user's state folder for `s3://`, where SQLite cannot lie. A home that
    an older version made beside a folder `data` goes on to be used as long as there is none below.
    """
    for variable, place in (
        ("DAGSTER_HOME", os.environ.get("DAGSTER_HOME")),
        ("PMO_DAGSTER_HOME", settings.dagster_home),
    ):
        if place:
            return HomePlace(Path(place).expanduser().absolute(), f"set by {variable}")
    if settings.data_root.startswith("s3://"):
        return HomePlace(_state_folder(settings), "belongs to the data root")
    root = Path(settings.data_root).expanduser().absolute()
    own = root / HOME_NAME
    if not own.exists() and root.name == _OLD_ROOT:
        for old in (root.parent / name for name in _OLD_NAMES):
            if _is_home(old):
                return HomePlace(old, f"made beside the data root by an older version; moved to {own} it is used there")
    return HomePlace(own, "belongs to the data root")


def is_read_only(folder: Path) -> bool:
    """Say whether nothing can be written into a folder, or it cannot be made: its disk is mounted for reading only."""
    place = folder
    while not os.path.exists(place) and place != place.parent:
        place = place.parent
    return not os.access(place, os.W_OK)


def home_left_behind(home: Path) -> Path | None:
    """Return the home that an older version made in the working directory, if it is another one; for all data roots."""
    old = Path(HOME_NAME).absolute()
    return old if old != home and _is_home(old) else None


def _is_home(folder: Path) -> bool:
    return (folder / "history" / "runs.db").is_file()


def _state_folder(settings: Settings) -> Path:
    place = settings.data_root.removeprefix("s3://").strip("/")
    digest = hashlib.sha256(f"{settings.s3_endpoint or ''} {place}".encode()).hexdigest()[:8]
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", place)[:80]
    return user_state_path("pmo-assets", appauthor=False) / f"{readable}-{digest}"
