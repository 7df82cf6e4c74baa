"""Words of place as a caption names panels by them."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.places import are_opposed, parsed_places
from pmo_assets.pipeline.captions.tokens import tokenized


@pytest.mark.parametrize(
    ("text", "places", "with_noun"),
    [
        ("left", ["left"], False),
        ("Upper right panel", ["upper right"], True),
        ("top-left", ["top left"], False),
        ("Top and bottom rows", ["top", "bottom row"], True),
        ("first row", ["first row"], True),
        ("first patient", [], False),
        ("left to right", [], False),
        ("above", [], False),
    ],
)
def test_places_are_named_by_their_words(text: str, places: list[str], with_noun: bool) -> None:
    tokens = tokenized(text)
    items, _, noun = parsed_places(tokens, 0, len(tokens.texts))
    assert ([place for place, _ in items], noun) == (places, with_noun)


@pytest.mark.parametrize(
    ("places", "opposed"),
    [
        (["left", "right"], True),
        (["top row", "lower row"], True),
        (["first row", "second row"], True),
        (["left"], False),
        (["left", "top"], False),
        (["middle", "left"], False),
    ],
)
def test_one_axis_needs_two_words(places: list[str], opposed: bool) -> None:
    assert are_opposed(places) == opposed
