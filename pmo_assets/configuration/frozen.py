"""The settings of a code location, frozen when it loads: its runs take these, whatever `.env` holds meanwhile.

Runs are processes that the code location starts; they inherit its environment. Dagster reads `.env` again in each of
them, so that what was frozen stands in one variable of its own, from which they restore the others. A reload of the
code location is a new process without it, and reads `.env`.
"""

from __future__ import annotations

import json
import os
from typing import Final

from pydantic import SecretStr

from pmo_assets.configuration.environment import environment
from pmo_assets.configuration.reading import PREFIX, configured_settings
from pmo_assets.settings import Settings

FROZEN: Final = "FROZEN_PMO_SETTINGS"
"""Variable that holds the frozen variables, as JSON; for the processes that inherit it, in nobody's files."""


def frozen_settings() -> Settings:
    """Return the settings of the code location, or of the run that it started.

    Raises:
        ConfigurationError: when a setting, or what it names, cannot be used.
    """
    kept = os.environ.get(FROZEN)
    if kept is None:
        settings = configured_settings()
        os.environ[FROZEN] = json.dumps(_variables(settings))
        return settings
    variables: dict[str, str] = json.loads(kept)
    for name in [name for name in os.environ if name.upper() in map(_variable, Settings.model_fields)]:
        del os.environ[name]
    os.environ.update(variables)
    return Settings(_env_file=None)  # type: ignore[call-arg]


def _variable(option: str) -> str:
    return f"{PREFIX}{option.upper()}"


def _variables(settings: Settings) -> dict[str, str]:
    secrets = {
        _variable(name): value.get_secret_value()
        for name in settings.model_fields_set
        if isinstance(value := getattr(settings, name), SecretStr)
    }
    return {**environment(settings), **secrets}
