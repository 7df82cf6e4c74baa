"""Options of training: what is offered, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pmo_assets.training.options import FIRST, MarkOptions, Offered, Option, TrainingOptions, options_of


@dataclass(frozen=True)
class Plain:
    one: Annotated[int, Offered("The first.", least=1)] = 1
    hidden: int = 2
    three: Annotated[float, Offered("The third.", most=4)] = 3.0


@dataclass(frozen=True)
class Derived(Plain):
    one: int = 5
    before: Annotated[int, Offered("Before all.", after=FIRST)] = 0
    behind: Annotated[int, Offered("Behind the third.", after="three")] = 6
    last: Annotated[int, Offered("At the end.")] = 7


def test_what_is_marked_is_offered_as_it_is_declared() -> None:
    assert options_of(Plain) == [
        Option("one", int, 1, Offered("The first.", least=1)),
        Option("three", float, 3.0, Offered("The third.", most=4)),
    ]


def test_a_derived_class_hides_and_places_options() -> None:
    assert [option.name for option in options_of(Derived)] == ["before", "three", "behind", "last"]


def test_defaults_lie_in_the_range_that_is_declared() -> None:
    for kind in (TrainingOptions, MarkOptions):
        for option in options_of(kind):
            least, most = option.offered.least, option.offered.most
            assert least is None or least <= option.default
            assert most is None or option.default <= most
