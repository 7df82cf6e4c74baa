"""Typer's options made from classes of options, so that those of `training.options` are declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin

import typer

from pmo_assets.training.options import Option, options_of


@dataclass(frozen=True, slots=True)
class OptionOf:
    """Marks a parameter that is one option of a class: `threads: Annotated[int, OptionOf(RunOptions)]`."""

    kind: type


def with_declared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that Typer sees with the options that its parameters stand for.

    A parameter whose type is a class of options stands for all that the class offers, and is given an instance; one
    that is marked `OptionOf` stands for the option of its name. All others stay.
    """
    parameters: list[inspect.Parameter] = []
    classes: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        annotation = parameter.annotation
        one = _marked(annotation)
        if one is not None:
            parameters.append(_as_parameter(next(o for o in options_of(one.kind) if o.name == parameter.name)))
        elif isinstance(annotation, type) and is_dataclass(annotation):
            offered = options_of(annotation)
            classes[parameter.name] = annotation, [option.name for option in offered]
            parameters += map(_as_parameter, offered)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, (kind, names) in classes.items():
            given[name] = kind(**{field: given.pop(field) for field in names})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def given_options(context: typer.Context, options: Any) -> dict[str, Any]:
    """Return those options of an instance that stand on the command line, also those that say what the defaults are."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    return {item.name: getattr(options, item.name) for item in fields(options) if item.name in given}


def _marked(annotation: Any) -> OptionOf | None:
    if get_origin(annotation) is not Annotated:
        return None
    return next((part for part in get_args(annotation) if isinstance(part, OptionOf)), None)


def _as_parameter(option: Option) -> inspect.Parameter:
    said = typer.Option(help=option.offered.help, min=option.offered.least, max=option.offered.most)
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=Annotated[option.type, said]
    )
