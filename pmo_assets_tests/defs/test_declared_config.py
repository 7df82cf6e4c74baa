"""A field of a class of options is a field of Dagster's configuration, whatever the field is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import dagster as dg
import pytest
from pydantic import ValidationError

from pmo_assets.defs.assets.models import ModelConfig
from pmo_assets.defs.declared_config import config_with_options, options_from
from pmo_assets.training import options
from pmo_assets.training.options import Offered, options_of


@dataclass(frozen=True)
class Bread:
    minutes: Annotated[int, Offered("How long.", least=1, most=90)] = 30
    tins: Annotated[list[Path] | None, Offered("Into which.")] = None
    flour: Annotated[Path | None, Offered("From where.")] = None


@dataclass(frozen=True)
class Cake:
    minutes: Annotated[int, Offered("How long.", least=1)] = 60
    flour: Annotated[Path | None, Offered("Where from.")] = None
    secret: float = 0.5


class Kitchen(dg.Config):
    warm: bool = True


Baking: Any = config_with_options(Kitchen, {Bread: "bread", Cake: "cake"})


def test_options_of_one_name_are_one_field_unless_their_defaults_differ() -> None:
    assert set(Baking.model_fields) == {"warm", "bread_minutes", "cake_minutes", "tins", "flour"}
    assert Baking.model_fields["bread_minutes"].description == "How long."


def test_what_is_left_open_is_left_open() -> None:
    assert options_from(Bread, Baking(), "bread") == Bread()
    assert options_from(Cake, Baking(), "cake") == Cake()


def test_what_is_set_arrives_as_declared() -> None:
    config = Baking(bread_minutes=45, tins=["a", "b"], flour="mill")
    assert options_from(Bread, config, "bread") == Bread(45, [Path("a"), Path("b")], Path("mill"))
    assert options_from(Cake, config, "cake") == Cake(60, Path("mill"))
    with pytest.raises(ValidationError):
        Baking(bread_minutes=91)


def test_every_option_of_training_can_be_configured() -> None:
    fields, usual = set(ModelConfig.model_fields), ModelConfig.model_validate({})
    for kind, subject in (
        (options.FigureCounts, ""),
        (options.FigureSources, ""),
        (options.NetworkChoice, ""),
        (options.AnnotatedSources, ""),
        (options.TrainingOptions, "detector"),
        (options.MarkOptions, "mark"),
    ):
        assert {option.name for option in options_of(kind)} <= fields | {
            name.removeprefix(f"{subject}_") for name in fields
        }
        assert options_from(kind, usual, subject) == kind()
