"""A field of a class of options is an option of the command, whatever the field is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from pmo_assets.cli.declared_options import OptionOf, with_declared_options
from pmo_assets.training.options import Offered


@dataclass(frozen=True)
class Baking:
    minutes: Annotated[int, Offered("How long.", least=1, most=90)] = 30
    tins: Annotated[list[Path] | None, Offered("Into which.")] = None
    secret: float = 0.5


app = typer.Typer()


@app.command()
@with_declared_options
def bake(name: str, options: Baking) -> None:
    """Bake it."""
    print(name, options)


one = typer.Typer()


@one.command()
@with_declared_options
def wait(*, minutes: Annotated[int, OptionOf(Baking)]) -> None:
    """Wait for it."""
    print(minutes)


def test_a_class_of_options_is_given_as_an_instance() -> None:
    result = CliRunner().invoke(app, ["bread", "--minutes", "45", "--tins", "a", "--tins", "b"])
    assert result.output.strip() == f"bread {Baking(45, [Path('a'), Path('b')])}"
    assert CliRunner().invoke(app, ["bread"]).output.strip() == f"bread {Baking()}"


def test_ranges_and_help_are_those_that_are_declared() -> None:
    assert CliRunner().invoke(app, ["bread", "--minutes", "91"]).exit_code == 2
    assert CliRunner().invoke(app, ["bread", "--secret", "1"]).exit_code == 2
    said = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    assert "How long." in said
    assert "default: 30" in said
    assert "Bake it." in said


def test_one_option_of_a_class_is_given_by_itself() -> None:
    assert CliRunner().invoke(one, []).output.strip() == "30"
    assert CliRunner().invoke(one, ["--minutes", "0"]).exit_code == 2
