"""The settings that a data root was made with: it remembers them, and nothing below it is made with others.

A shell without a variable is no wish to make everything again. The options that change results (`affects` and
`noted_by` in `pmo_assets.settings`) stand in `settings/<number>.json` below the data root, each number created exactly
once; the highest counts. What makes results compares them first (`check_settings`) and stops where they differ and
something was made with them: then a person says whether everything is to be made again (`renew_settings`) or the
remembered ones count (`with_remembered`).

Does not belong here: what is stale (`pmo_assets.defs.staleness`), and where settings come from (`reading`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from pmo_assets import __version__
from pmo_assets.configuration.reading import PREFIX, ConfigurationError
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import affected_assets, noted_settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables

FOLDER: Final = "settings"
"""Folder of the remembered settings below the data root."""

SCHEMA: Final = 1
"""Version of the file's format; a file with another number was written by another version of this package."""

_DECISIONS: Final = "annotations"
"""The option that adds people's decisions: the first time that it is given asks for nothing to be made otherwise."""

_OF_DECISIONS: Final = (_DECISIONS, "apply_annotations")
"""That option, and the one that says what becomes of them: without decisions it says nothing."""

_MADE_WITH_MOST: Final = (
    "article_packages", "pdf_figures", "subcaptions", "panel_detections", "image_detections", "panel_assembly",
    "dataset_rows",
)  # fmt: skip
"""Assets that together were made with every option that changes a batch."""

_OF_RELEASE: Final = frozenset({"pubmed_ophtha", "panel_duplicates", "dataset_report"})
_RELEASE: Final = "release/pubmed_ophtha.parquet"

_FIRST: Final = 1


@dataclass(frozen=True)
class Remembered:
    """The settings of a data root.

    Attributes:
        number: of the settings in their sequence, from 1; each change takes the next.
        shaping: options that change results, as `noted_settings` gives them (files by digest).
        values: of those of them that are not the default, the values as they were set; paths as text.
        is_kept: true if they stand in the data root, false if they were read off its tables.
    """

    number: int
    shaping: Mapping[str, Any]
    values: Mapping[str, Any]
    is_kept: bool = True


class OtherSettings(ConfigurationError):
    """Settings that are not those of the data root; the message says which, and the two ways on."""


def remembered_settings(data_root: DataRoot) -> Remembered | None:
    """Return the settings that a data root remembers; None for a new one, or one of an older version.

    Raises:
        ConfigurationError: if what stands there cannot be understood: then nothing may be made.
        StorageError: if it cannot be read.
    """
    names = [name for name in data_root.keys(FOLDER, ".json") if name.removesuffix(".json").isdigit()]
    if not names:
        return None
    key = f"{FOLDER}/{names[-1]}"
    try:
        read = json.loads(data_root.read(key))
        if read["schema"] != SCHEMA:
            raise ValueError(f"its schema is {read['schema']}, known is {SCHEMA}")
        return Remembered(int(read["number"]), dict(read["shaping"]), dict(read["values"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{data_root.uri(key)} cannot be understood ({error}): install the version of pmo-assets that wrote it, or "
            "restore the file from a backup"
        ) from error


def settings_of_tables(data_root: DataRoot) -> dict[str, Any] | None:
    """Return the options that the tables of the latest finished batch were made with; None if they do not say it."""
    tables = Tables(data_root)
    finished = tables.batches("dataset_rows")
    if not finished:
        return None
    shaping: dict[str, Any] = {}
    for asset in _MADE_WITH_MOST:
        made = tables.provenances(asset, finished[-1:]).get(finished[-1])
        if made is None:
            return None
        shaping.update(made.settings)
    return shaping


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the options that both know and that differ, with (remembered, present) value, by name.

    An option that only one of them knows is of another version of this package, which counts with the code.
    """
    found = {name: (before[name], now[name]) for name in sorted(before) if name in now and before[name] != now[name]}
    if before.get(_DECISIONS) is None:
        found = {name: values for name, values in found.items() if name not in _OF_DECISIONS}
    return found


def check_settings(data_root: DataRoot, settings: Settings) -> Remembered:
    """Return the data root's settings after making sure that these are the same; the first ones are remembered.

    Raises:
        OtherSettings: if they differ.
        ConfigurationError: if the remembered ones cannot be understood.
        StorageError: if they cannot be read or written.
    """
    kept, now = remembered_settings(data_root), noted_settings(settings)
    if kept is None:
        of_tables = settings_of_tables(data_root)
        if of_tables and (other := differences(of_tables, now)):
            raise OtherSettings(_words(data_root, other))
        return _remember(data_root, settings, _FIRST)
    if other := differences(kept.shaping, now):
        if any(_is_made_with(data_root, name) for name in other):
            raise OtherSettings(_words(data_root, other))
        return _remember(data_root, settings, kept.number + 1)  # nothing was made with them: a first try that failed
    if set(now) - set(kept.shaping) or any(kept.shaping.get(name) != now.get(name) for name in _OF_DECISIONS):
        return _remember(data_root, settings, kept.number + 1)  # options of a newer version, or people's decisions
    return kept


def _is_made_with(data_root: DataRoot, option: str) -> bool:
    """Say whether a table or a release was made with an option, whatever its value was."""
    assets = ["reviewed_panels"] if option in _OF_DECISIONS else affected_assets(option)
    released = data_root.exists(_RELEASE)
    return any(Tables(data_root).batches(asset) or (released and asset in _OF_RELEASE) for asset in assets)


def renew_settings(data_root: DataRoot, settings: Settings) -> Remembered:
    """Let a data root remember these settings from now on: tables made with others are stale."""
    kept = remembered_settings(data_root)
    if kept is not None and kept.shaping == noted_settings(settings):
        return kept
    return _remember(data_root, settings, kept.number + 1 if kept is not None else _FIRST)


def with_remembered(data_root: DataRoot, settings: Settings) -> Settings:
    """Return the settings with the data root's own in place of those that differ.

    Raises:
        ConfigurationError: if a file that was named is not there any more, or is another one.
    """
    kept = remembered_settings(data_root)
    if kept is None:
        of_tables = settings_of_tables(data_root) or {}
        kept = Remembered(0, of_tables, of_tables, is_kept=False)
    other = differences(kept.shaping, noted_settings(settings))
    values = {name: _typed(name, kept.values.get(name, Settings.model_fields[name].default)) for name in other}
    adopted = settings.model_copy(update=values)
    if left := differences(kept.shaping, noted_settings(adopted)):
        names = ", ".join(f"{PREFIX}{name.upper()} ({kept.values.get(name, 'the default')})" for name in left)
        raise ConfigurationError(
            f"what {names} named is not what it was when the data root was made: restore the file, or make everything "
            "again with --with-new-settings"
        )
    return adopted


def _typed(name: str, value: Any) -> Any:
    try:
        return TypeAdapter[Any](Settings.model_fields[name].annotation or Any).validate_python(value)
    except ValidationError as error:
        raise ConfigurationError(f"the data root's {PREFIX}{name.upper()} ({value!r}) is none that is known") from error


def _remember(data_root: DataRoot, settings: Settings, number: int) -> Remembered:
    shaping = noted_settings(settings)
    values = {
        name: str(value) if isinstance(value, Path) else value
        for name in shaping
        if (value := getattr(settings, name)) != Settings.model_fields[name].default
    }
    content = {"schema": SCHEMA, "number": number, "software": __version__, "shaping": shaping, "values": values}
    text = json.dumps(content, indent=1, sort_keys=True, default=str, ensure_ascii=False) + "\n"
    if data_root.create(f"{FOLDER}/{number:04d}.json", text.encode()):
        return Remembered(number, shaping, values)
    return check_settings(data_root, settings)  # another command was first: its settings count


def _words(data_root: DataRoot, other: Mapping[str, tuple[Any, Any]]) -> str:
    changed = "; ".join(
        f"{PREFIX}{name.upper()} is {_shown(now)}, was {_shown(was)}" for name, (was, now) in other.items()
    )
    return (
        f"{data_root.uri('').rstrip('/')} was made with other settings: {changed}. Nothing was changed. Either go on "
        "with those (`pmo run --with-stored-settings`, or set them), or make everything again and a new version of the "
        "release (`pmo run --with-new-settings`, in the UI the job renew)"
    )


def _shown(value: Any) -> str:
    if isinstance(value, list):  # digests of files
        return " ".join(str(item)[:8] for item in value)
    return "not set" if value is None else str(value)
