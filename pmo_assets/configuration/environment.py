"""Settings as environment variables, for a process that works elsewhere: a step or run on another machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from pmo_assets.settings import Settings


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables that give another process these settings, without any that are secret.

    It holds options that were set, and of the defaults only those that follow from the machine.
    """
    values = {name: getattr(settings, name) for name in sorted({*settings.model_fields_set, "data_root", "workers"})}
    return {
        f"PMO_{name.upper()}": _as_variable(name, value)
        for name, value in values.items()
        if value is not None and not isinstance(value, SecretStr)
    }


def _as_variable(name: str, value: Any) -> str:
    """Return a value as Settings reads it; paths absolute, because other processes work in other folders."""
    if isinstance(value, dict | bool):
        return json.dumps(value)
    text = str(value)
    is_path = {
        "data_root": "://" not in text,
        "specialty": text.endswith(".toml"),
        "annotations": "://" not in text,
        "biomedica": Path(text).expanduser().exists(),  # else it is the name of a dataset
    }.get(name, isinstance(value, Path))
    return str(Path(text).expanduser().absolute()) if is_path else text
