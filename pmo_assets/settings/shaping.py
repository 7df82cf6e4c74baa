"""Options that change an asset's result, with their values: for code versions, and for the memory of a data root.

Add here: rules on `affects` and `noted_by` of the options, digests of files that options name. Keep out: the options
themselves (`pmo_assets.settings`).
"""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from pmo_assets.pipeline.detection.networks.retinanet_config import config_files
from pmo_assets.settings import Settings


def affecting_settings(settings: Settings, asset: str | None = None) -> dict[str, Any]:
    """Return the options that `asset`'s code version holds, with their values as JSON; secrets are never among them.

    Of all assets if None.

    Files (weights, a checkpoint's configuration, a specialty's own TOML) count with their content, so that another file
    of the same name shows.
    """
    return _values(settings, asset, "affects")


def affected_assets(option: str) -> list[str]:
    """Return the assets whose code version holds an option."""
    extra = Settings.model_fields[option].json_schema_extra
    return [str(asset) for asset in extra["affects"]] if isinstance(extra, dict) else []  # type: ignore[union-attr]


def noted_settings(settings: Settings, asset: str | None = None) -> dict[str, Any]:
    """Return all options that change `asset`'s result, if only in some batches; see `affecting_settings`."""
    return _values(settings, asset, "affects", "noted_by")


def _values(settings: Settings, asset: str | None, *ways: str) -> dict[str, Any]:
    values = {}
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        assets = [item for way in ways for item in extra.get(way, ())]  # type: ignore[union-attr]
        if assets and (asset is None or asset in assets):
            values[name] = getattr(settings, name)
    specialty = Path(str(values.get("specialty", "")))
    if specialty.suffix == ".toml":
        values["specialty"] = specialty
    for name, value in values.items():
        if isinstance(value, Path) and value.expanduser().is_file():
            path = value.expanduser().absolute()
            beside = config_files(path) if name.endswith("_checkpoint") else ()
            values[name] = [_file_digest(file) for file in (path, *beside)]
    jsonable: dict[str, Any] = json.loads(json.dumps(values, sort_keys=True, default=str))
    return jsonable


def settings_digest(settings: Settings, asset: str) -> str:
    """Return a short hash of the options that change `asset`'s result; "" when there is none."""
    values = affecting_settings(settings, asset)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8] if values else ""


def _file_digest(path: Path) -> str:
    if not path.is_file():
        return "no file"  # the step says so; the code location loads all the same
    state = path.stat()
    return _content_digest(path, state.st_size, state.st_mtime_ns)


@functools.cache
def _content_digest(path: Path, size: int, changed: int) -> str:
    """Return the SHA-256 of a file; it is read again when its size or time of change are other ones."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
