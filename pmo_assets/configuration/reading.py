"""Settings of this installation: the place that each value came from, and its problems, before any run exists."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from pydantic_settings import DotEnvSettingsSource

from pmo_assets.configuration.paths import path_problem
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings

PREFIX: Final = "PMO_"

OTHER_NAMES: Final = ("PMO_CORPUS", "PMO_GALLERY_PANELS", "PMO_ARTICLES")
"""Variables with the prefix that are no settings: of tests and benchmarks, of `docker/compose.yaml`."""

GONE: Final[Mapping[str, str]] = {
    "PMO_NMS_IOU": "it is always the paper's 0.3",
    "PMO_MIN_CAPTION_CONFIDENCE": "choose rows by the column caption_confidence",
    "PMO_VLM_REASKS": "PMO_LLM_REASKS counts for both models",
    "PMO_REJECTED_WARN": "the check warns from a tenth, PMO_REJECTED_FAIL says when it fails",
}
"""Settings of earlier versions, each with the advice that replaces it."""

TEST_NAMES: Final = ("PMO_TEST_LABEL_STUDIO", "PMO_TEST_LLM_PYTHON", "PMO_TEST_SCREENSHOTS")
"""Variables of tests; any other name that begins with `PMO_TEST_` counts as one, unless it resembles a setting's."""

_OF_SERVICES: Final = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)\Z|_PORT(_\d+_(TCP|UDP)(_\w+)?)?\Z")
"""Endings of variables that Kubernetes sets in every container for a service that is called e.g. `pmo-webserver`."""

_ALIKE: Final = 0.8
"""Similarity (difflib) from which a name is taken for another one misspelt."""


class ConfigurationError(SystemicError):
    """Settings that cannot be used; the message names each variable, the place where it was set, and advice."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A variable that cannot be used.

    Attributes:
        variable: its name, e.g. `PMO_SPECIALTY`.
        origin: place where it is set: "environment", or the path of the `.env` file.
        text: problem and advice.
    """

    variable: str
    origin: str
    text: str

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.variable} ({self.origin}): {self.text}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings with their origins and problems.

    Attributes:
        settings: the options; the default stands in for a value that makes no sense.
        origins: places where options are set, by their names in `Settings`; an option that is not set has none.
        problems: of options, in their order, then of names that are no option.
    """

    settings: Settings
    origins: Mapping[str, str]
    problems: tuple[Problem, ...]


def configured_settings(*, made_later: Collection[str] = ()) -> Settings:
    """Return the settings of the environment and `.env`, checked.

    Args:
        made_later: options whose file or folder need not be there yet, because the command makes it.

    Raises:
        ConfigurationError: when a name is no setting, a value makes no sense, or a file is missing.
    """
    configuration = read_configuration(made_later=made_later)
    if configuration.problems:
        raise ConfigurationError("; ".join(map(str, configuration.problems)))
    return configuration.settings


def read_configuration(*, made_later: Collection[str] = ()) -> Configuration:
    """Return the settings of the environment and of `.env`, and all of their problems.

    Args:
        made_later: options whose file or folder need not be there yet.
    """
    places = _places()
    origins = {name: places[f"{PREFIX}{name.upper()}"] for name in Settings.model_fields if _variable(name) in places}
    settings, refused = _settings()
    problems = [
        Problem(_variable(name), origins.get(name, "default"), f"{text} (see `pmo settings`)")
        for name, text in refused.items()
    ]
    for name, origin in origins.items():
        if name not in refused and name not in made_later and (text := path_problem(settings, name)):
            problems.append(Problem(_variable(name), origin, text))
    problems += [Problem(name, places[name], text) for name in places if (text := name_problem(name))]
    return Configuration(settings, origins, tuple(problems))


def name_problem(name: str) -> str | None:
    """Return the problem of a variable's name that begins with `PMO_`, in a sentence; None if the name is known."""
    known = [_variable(option) for option in Settings.model_fields]
    name = name.upper()
    if name in (*known, *OTHER_NAMES, *TEST_NAMES) or _OF_SERVICES.search(name):
        return None
    if name in GONE:
        return f"there is no such setting any more ({GONE[name]}): unset it"
    alike = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
    if alike:
        return f"there is no such setting, did you mean {alike[0]}?"
    if name.startswith("PMO_TEST_"):
        return None
    return "there is no such setting: unset it; `pmo settings` lists those there are"


def _variable(option: str) -> str:
    return f"{PREFIX}{option.upper()}"


def _places() -> dict[str, str]:
    """Return where each variable with the prefix is set, by its name in capitals; one that is empty is not set.

    What Dagster read of `.env` for its own processes stands in their environment: an equal value is the file's.
    """
    file = Path(str(Settings.model_config["env_file"])).absolute()
    lines = {name.upper(): value for name, value in DotEnvSettingsSource(Settings).env_vars.items()}
    found = {name: str(file) for name, value in lines.items() if value and name.startswith(PREFIX)}
    for name, value in os.environ.items():
        upper = name.upper()
        if upper.startswith(PREFIX) and value and lines.get(upper) != value:
            found[upper] = "environment"
    return found


def _settings() -> tuple[Settings, dict[str, str]]:
    """Return the settings, with defaults in place of values that are refused, and why these are."""
    refused: dict[str, str] = {}
    while True:
        try:
            return Settings(**{name: Settings.model_fields[name].default for name in refused}), refused
        except ValidationError as error:
            new = dict(_refusals(error))
            if new.keys() <= refused.keys():  # the default is refused as well, beside what else is set
                return Settings.model_construct(), refused
            refused = new | refused


def _refusals(error: ValidationError) -> Iterator[tuple[str, str]]:
    for item in error.errors(include_url=False, include_input=False):
        yield str(item["loc"][0]), item["msg"].removeprefix("Value error, ")
