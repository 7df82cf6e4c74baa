"""Recipes: everything that decides what a run teaches, as TOML; those of the papers come with the package.

A recipe says in `[unknown]` what its source leaves open, and in comments where each number is from. Loads no PyTorch.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pmo_assets.encoders.examples.texts import kinds_of
from pmo_assets.encoders.examples.units import ExamplesError
from pmo_assets.encoders.networks.choice import EncoderChoice
from pmo_assets.records.pairs import PAIR_LEVELS, PairLevel
from pmo_assets.records.stores import SystemicError

PACKAGE_DATA = ("encoders/training/recipes",)
"""Files of the package that this module reads."""


class RecipeError(SystemicError):
    """A recipe is not there, or says what cannot be done; the message says where."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataPart(_Part):
    """What is trained on.

    Attributes:
        texts: of each level that is trained, texts by weight ("subcaption + summary" = 1.0).
        min_confidence: units with a smaller one are left out.
        shares: of each place (release or folder of tar shards, in the order in which they are given) among the examples
            of a level; those that have none of it leave theirs to the others. Empty: `balance` says.
        balance: a place with n units of a level gets a share as n to this power (Conneau et al. 2020, XLM-R, section
            3.1, for languages). 1: every unit is seen as often; 0: every place.
        views: pictures of a unit that are kept as features where the picture encoder's body is frozen: the whole one,
            and random crops.
        crop: smallest share of the area of a random crop, whose sides are 3:4 to 4:3; 1 for none.
    """

    texts: Mapping[PairLevel, Mapping[str, float]] = Field(min_length=1)
    min_confidence: float = Field(default=0.0, ge=0, le=1)
    shares: tuple[Annotated[float, Field(gt=0)], ...] = ()
    balance: float = Field(default=1.0, ge=0, le=1)
    views: int = Field(default=1, ge=1, le=64)
    crop: float = Field(default=0.9, gt=0, le=1)


class LossPart(_Part):
    """Weights of the terms (`losses.LossWeights`) and the temperature that training starts from."""

    figure: float = Field(default=1.0, ge=0)
    panel: float = Field(default=1.0, ge=0)
    region: float = Field(default=1.0, ge=0)
    video: float = Field(default=1.0, ge=0)
    figure_panel: float = Field(default=0.0, ge=0)
    panel_region: float = Field(default=0.0, ge=0)
    roi: float = Field(default=0.0, ge=0)
    consistency: float = Field(default=0.0, ge=0)
    temperature: float = Field(default=0.07, gt=0.01, lt=1)


class SchedulePart(_Part):
    """Which level a step trains.

    Attributes:
        kind: `alternating` goes through `cycle`, a level a step; `mixed` draws from all levels in each step.
        cycle: levels in their order.
        shares: of a mixed step; the same for all levels if empty.
        children: parts of a unit that its step takes along for the losses between levels, at most.
    """

    kind: Literal["alternating", "mixed"] = "alternating"
    cycle: tuple[PairLevel, ...] = Field(min_length=1)
    shares: Mapping[PairLevel, float] = {}
    children: int = Field(default=4, ge=1, le=64)


class OptimiserPart(_Part):
    """AdamW with a linear warm-up and a cosine down to nothing.

    Attributes:
        epochs: times that the units of the levels are seen; `steps` counts where it is given.
        batch_size: examples that are each other's negatives, over all processes.
        accumulate: batches whose gradients make one step.
        clip: largest norm of the gradients; 0 for none.
        heads_first: share of the steps in which projections and temperature learn alone, where bodies are trained, too;
            after it the rate starts anew. Bodies are not led astray by projections that know nothing yet (Kumar et al.
            2022, "Fine-Tuning can Distort Pretrained Features and Underperform Out-of-Distribution").
        tuned_share: what is measured and kept are weights between those at the end of `heads_first` (0) and those that
            training has reached (1; Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").
    """

    learning_rate: float = Field(gt=0)
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = Field(default=1e-6, gt=0)
    weight_decay: float = Field(default=0.2, ge=0)
    warm_up: int = Field(default=0, ge=0)
    epochs: float = Field(default=0.0, ge=0)
    steps: int = Field(default=0, ge=0)
    batch_size: int = Field(ge=2)
    accumulate: int = Field(default=1, ge=1)
    clip: float = Field(default=1.0, ge=0)
    heads_first: float = Field(default=0.0, ge=0, lt=1)
    tuned_share: float = Field(default=1.0, gt=0, le=1)
    precision: Literal["float32", "bfloat16"] = "float32"


class RunPart(_Part):
    """How a run is watched.

    Attributes:
        seed: of the order of examples, crops and dropout.
        weights_seed: of the random weights that training starts from; None: `seed`. Runs with one `weights_seed` and
            several seeds start alike, so that the mean of their weights is an encoder (`networks.averaging`).
        evaluate_every: steps between evaluations; 0: once an epoch.
        patience: evaluations without a better one after which it stops; 0: never.
        validation_units: of a level that are looked among, at most.
    """

    seed: int = 0
    weights_seed: int | None = None
    evaluate_every: int = Field(default=0, ge=0)
    patience: int = Field(default=0, ge=0)
    validation_units: int = Field(default=2000, ge=2)


class Recipe(_Part):
    """A recipe.

    Attributes:
        title: for people.
        source: where it comes from.
        unknown: what the source does not say, by the name of the number here, and what stands in its place.
    """

    title: str
    source: str
    unknown: Mapping[str, str] = {}
    encoder: EncoderChoice = EncoderChoice()
    data: DataPart
    loss: LossPart = LossPart()
    schedule: SchedulePart
    optimiser: OptimiserPart
    run: RunPart = RunPart()

    @property
    def levels(self) -> tuple[PairLevel, ...]:
        """Levels that are trained, from the figure down, lectures last."""
        return tuple(level for level in PAIR_LEVELS if level in self.schedule.cycle)

    @property
    def read_levels(self) -> tuple[PairLevel, ...]:
        """Levels that are read: those that are trained, and what stands beside them in losses and texts."""
        wanted = {*self.levels, *self.data.texts}
        named = {kind for texts in self.data.texts.values() for name in texts for kind in kinds_of(name)}
        wanted |= {"figure"} if "caption" in named else set()
        wanted |= {"panel"} if "subcaption" in named else set()
        return tuple(level for level in PAIR_LEVELS if level in wanted)

    @model_validator(mode="after")
    def _fits(self) -> Recipe:
        without = [level for level in self.schedule.cycle if level not in self.data.texts]
        if without:
            raise ValueError(f"level {without[0]} is trained, but data.texts has no texts for it")
        try:
            for texts in self.data.texts.values():
                for name, weight in texts.items():
                    kinds_of(name)
                    if weight < 0:
                        raise ValueError(f"the weight of {name!r} is negative")
        except ExamplesError as error:
            raise ValueError(str(error)) from error
        if not self.optimiser.epochs and not self.optimiser.steps:
            raise ValueError("optimiser has neither epochs nor steps")
        if self.optimiser.tuned_share < 1 and not self.optimiser.heads_first:
            raise ValueError("optimiser.tuned_share below 1 needs optimiser.heads_first: weights to lie between")
        if self.data.shares and self.data.balance != 1:
            raise ValueError("data.shares and data.balance both say how often places are seen: give one")
        if (self.loss.roi or self.loss.consistency) and self.encoder.resize != "squash":
            raise ValueError('regions are pooled from whole pictures: encoder.resize must be "squash"')
        return self


def shipped_recipes() -> tuple[str, ...]:
    """Return the names of the recipes that come with the package."""
    folder = resources.files("pmo_assets") / "encoders" / "training" / "recipes"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def recipe_text(name: str) -> str:
    """Return the TOML of a recipe, by its name in the package or the path of a file.

    Raises:
        RecipeError: if there is none.
    """
    try:
        if name in shipped_recipes():
            folder = resources.files("pmo_assets") / "encoders" / "training" / "recipes"
            return (folder / f"{name}.toml").read_text("utf-8")
        if Path(name).is_file():
            return Path(name).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise RecipeError(f"recipe {name} is no text: {error}") from error
    raise RecipeError(f"there is no recipe {name!r}: {', '.join(shipped_recipes())}, or the path of a TOML file")


def read_recipe(name: str, changes: Mapping[str, Any] | None = None) -> Recipe:
    """Return a recipe, with some numbers changed.

    Args:
        name: in the package, or the path of a TOML file.
        changes: values by their place, e.g. {"optimiser.steps": 100}.

    Raises:
        RecipeError: if there is none, or it is damaged; says where.
    """
    try:
        read = tomllib.loads(recipe_text(name))
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe {name} is no TOML: {error}") from error
    for place, value in (changes or {}).items():
        part = read
        *above, last = place.split(".")
        for key in above:
            part = part.setdefault(key, {})
        part[last] = value
    try:
        return Recipe.model_validate(read)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RecipeError(f"recipe {name}: {where + ': ' if where else ''}{first['msg']}") from error
