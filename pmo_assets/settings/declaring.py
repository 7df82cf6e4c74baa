"""Declaring an option of the settings: its default, a sentence, and the assets whose result it changes."""

from __future__ import annotations

from typing import Any

from pydantic import Field


def option(
    default: Any, description: str, affects: tuple[str, ...] = (), noted_by: tuple[str, ...] = (), **limits: Any
) -> Any:
    """Return the field of an option; see `pmo_assets.settings` for `affects` and `noted_by`."""
    assets: dict[str, Any] = {"affects": list(affects), "noted_by": list(noted_by)}
    return Field(default, description=description, json_schema_extra=assets, **limits)
