"""Dagster configuration made from classes of options, so that those of `training.options` are declared once.

Dagster's configuration knows no paths and no null: a path is a string, and what may be left open is "" or an empty list
here and None in the options.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
from pydantic import Field, create_model

from pmo_assets.training.options import Option, options_of

T = TypeVar("T")
Base = TypeVar("Base", bound=dg.Config)

_AS_TEXT: dict[Any, tuple[Any, Any]] = {Path | None: (str, ""), list[Path] | None: (list[str], [])}
"""Type and default in the configuration of options that can be left open."""


def config_with_options(base: type[Base], classes: Mapping[type, str]) -> type[Base]:
    """Return a configuration with the fields of `base` and every option that the classes offer.

    An option that several classes offer is one field, unless their defaults differ: then it is a field for each, named
    after the class's subject (`detector_steps`).

    Args:
        base: fields that are no options of training.
        classes: classes of options, with the subject of each.
    """
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **_fields(classes))  # type: ignore[call-overload,no-any-return]


def options_from(kind: type[T], config: dg.Config, subject: str = "") -> T:
    """Return the options of a class as a configuration sets them."""
    given = {}
    for option in options_of(kind):
        own = f"{subject}_{option.name}"
        value = getattr(config, own if own in type(config).model_fields else option.name)
        given[option.name] = _as_declared(option, value)
    return kind(**given)


def _fields(classes: Mapping[type, str]) -> dict[str, tuple[Any, Any]]:
    by_name: dict[str, list[tuple[str, Option]]] = defaultdict(list)
    for kind, subject in classes.items():
        for option in options_of(kind):
            by_name[option.name].append((subject, option))
    result = {}
    for name, offers in by_name.items():
        same = all(option.default == offers[0][1].default for _, option in offers)
        for subject, option in offers[:1] if same else offers:
            result[name if same else f"{subject}_{name}"] = _field(option)
    return result


def _field(option: Option) -> tuple[Any, Any]:
    kind, default = _AS_TEXT.get(option.type, (option.type, option.default))
    return kind, Field(default, description=option.offered.help, ge=option.offered.least, le=option.offered.most)


def _as_declared(option: Option, value: Any) -> Any:
    if option.type not in _AS_TEXT:
        return value
    if isinstance(value, list):
        return [Path(item) for item in value] or None
    return Path(value) if value else None
