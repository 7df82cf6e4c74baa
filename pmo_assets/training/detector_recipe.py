"""Recipes by which detectors are trained: files of options, each with the source of its value.

A recipe is one TOML file of `training/detector_recipes`, or anywhere else: a table per option of training, with `value`
and `source` ("paper", "code", "library" or "own"), and `[network]`, the configuration of the network. Add here: how a
recipe is read. Keep out: numbers, which stand in the files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import Any, Final, get_args

from pmo_assets.training.architectures.recipes import ARCHITECTURES, Architecture
from pmo_assets.training.options import Schedule, TrainingOptions

SOURCES: Final = ("paper", "code", "library", "own")
"""Where the value of an option can be from."""

_BESIDE_TRAINING: Final = frozenset({"figures", "architecture", "initial", "epochs", "score_threshold", "nms_iou"})
_OF_TRAINING: Final = frozenset(item.name for item in fields(TrainingOptions)) - {"steps"}


@dataclass(frozen=True, slots=True)
class DetectorRecipe:
    """A way to train a detector.

    Attributes:
        name: of the file.
        text: description for people.
        architecture: of the network.
        network: configuration of its class in transformers; empty for the architecture's own.
        initial: name of the weights that it starts from, for people: nothing is downloaded; None for random ones.
        figures: number of figures that an epoch has.
        epochs: passes through the figures.
        values: options of training that the recipe sets, by name.
        table: the file's tables by option: value, source, what the sources say beside it, notes.
    """

    name: str
    text: str
    architecture: Architecture
    network: Mapping[str, Any]
    initial: str | None
    figures: int
    epochs: int
    values: Mapping[str, Any]
    table: Mapping[str, Mapping[str, Any]]

    def steps(self, figures: int) -> int:
        """Return the steps of all epochs through so many figures."""
        return self.epochs * ceil(figures / int(self.values["batch_size"]))

    def options(self, figures: int, chosen: Mapping[str, Any] | None = None) -> TrainingOptions:
        """Return the options of a run.

        Args:
            figures: number of training figures that there are.
            chosen: options that a person gave, by name: they go before the recipe.
        """
        return TrainingOptions(**{"steps": self.steps(figures), **self.values, **(chosen or {})})


def recipe_names() -> tuple[str, ...]:
    """Return the names of the package's recipes."""
    folder = files("pmo_assets").joinpath("training", "detector_recipes")
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def detector_recipe(name: str) -> DetectorRecipe:
    """Return a recipe by its name in the package, or by the path of a file.

    Raises:
        ValueError: when there is none, or the file is none.
    """
    if name in recipe_names():
        text = files("pmo_assets").joinpath("training", "detector_recipes", f"{name}.toml").read_text("utf-8")
    elif name.endswith(".toml") and Path(name).is_file():
        text = Path(name).read_text("utf-8")
    else:
        raise ValueError(f"no recipe {name}: there are {', '.join(recipe_names())}, or give the path of a TOML file")
    try:
        return _recipe(Path(name).stem if name.endswith(".toml") else name, tomllib.loads(text))
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{name} is no recipe of a detector: {error}") from error


def _recipe(name: str, content: Mapping[str, Any]) -> DetectorRecipe:
    table = {key: entry for key, entry in content.items() if isinstance(entry, dict) and key != "network"}
    known = {key: entry["value"] for key, entry in table.items() if "value" in entry}
    unknown = sorted(set(known) - _OF_TRAINING - _BESIDE_TRAINING)
    if unknown:
        raise ValueError(f"{name}: there are no options {', '.join(unknown)}")
    for key in known:
        if table[key].get("source") not in SOURCES:
            raise ValueError(f"{name}: {key} needs a source, one of {', '.join(SOURCES)}")
    if known.get("schedule", "plateau") not in get_args(Schedule):
        raise ValueError(f"{name}: the schedule is one of {', '.join(get_args(Schedule))}")
    if known["architecture"] not in ARCHITECTURES:
        raise ValueError(f"{name}: the architecture is one of {', '.join(ARCHITECTURES)}")
    values = {key: value for key, value in known.items() if key in _OF_TRAINING}
    return DetectorRecipe(
        name, str(content["text"]), known["architecture"], content.get("network", {}),
        known.get("initial"), int(known["figures"]), int(known["epochs"]), values, table,
    )  # fmt: skip
