"""The options as they are listed: for documents, commands and messages.

Add here: facts of all options at once. Keep out: the options themselves (`pmo_assets.settings`), and what they change
(`shaping.py`).
"""

from __future__ import annotations

from pydantic import SecretStr

from pmo_assets.settings import Settings


def secret_options() -> list[str]:
    """Return the names of the options that hold keys, which are never shown."""
    return [
        name for name, field in Settings.model_fields.items() if SecretStr in getattr(field.annotation, "__args__", ())
    ]


def settings_table() -> list[tuple[str, str, str]]:
    """Return (environment variable, default, description) of each option, for `docs/settings.md` and `pmo settings`."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = "number of cores" if name == "workers" else str(field.default)
        rows.append((f"PMO_{name.upper()}", default, field.description or ""))
    return rows
