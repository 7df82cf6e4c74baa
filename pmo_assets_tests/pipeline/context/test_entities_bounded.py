"""Work on entities grows with the text and not faster: counted in calls, not in seconds."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.entities import entities_of
from pmo_assets_tests.calls import calls_of

UNITS = [
    "word ",
    "no ",
    "not seen ",
    "drusen not seen ",
    "no drusen, ",
    "drusen, ",
    ", which who ",
    "(",
    "(a) ",
    "1, ",
    "6 months ",
    "6 months after ",
    "left and right ",
    "right (",
    "retinal and ",
    "retinal, hemorrhage ",
    "age-related macular degeneration ",
    "geographic ",
    "OS OD ME ",
    "severe ",
    "? ",
    "differential diagnosis of ",
    "possible due to ",
    "no signs that indicate ",
    "choroidal nevus, the nevus ",
    "choroidal lesion, iris mass, nevus ",
    "right eye in the left, ",
    "to confirm that this was not ",
    "שבכ עין ",
    "\u202e\x00",
    "non-",
]


def calls_for(text: str) -> int:
    """Python and built-in calls that the entities of a text take."""
    return calls_of(lambda: entities_of(text, {}))


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_is_twice_the_work(unit: str) -> None:
    entities_of(unit, {})
    once, twice = calls_for(unit * 150), calls_for(unit * 300)
    assert twice < 2.3 * once


def test_a_paragraph_of_a_million_characters_ends() -> None:
    assert entities_of("a" * 10**6, {}) == ()
    text = "x" * 999_000 + " no subretinal fluid"
    (entity,) = entities_of(text, {})
    assert (entity.text, entity.negated) == ("subretinal fluid", True)


@pytest.mark.slow  # endless text
def test_a_hundred_thousand_triggers_negate_what_follows_the_last() -> None:
    entities = entities_of("no " * 10**5 + "drusen", {})
    assert [(entity.text, entity.negated) for entity in entities] == [("drusen", True)]
