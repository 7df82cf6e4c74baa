"""The folder of a release, for all of its commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pmo_assets.cli.console import CommandError

if TYPE_CHECKING:
    from pmo_assets.storage.data_root import DataRoot

HUB_FOLDER = "release/hub"
"""The hub's folder below the data root."""


def release_folder(data_root: DataRoot) -> Path:
    """Return the hub's folder of a data root.

    Raises:
        CommandError: if it is not on this machine.
    """
    if not data_root.is_local:
        raise CommandError(
            f"the data root {data_root.uri('')} is not a local folder: copy {HUB_FOLDER} and name the copy"
        )
    return Path(data_root.uri(HUB_FOLDER))
