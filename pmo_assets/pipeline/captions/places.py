"""Words of place that name panels: "left", "top row", "upper right panel", "second column".

The words have their home in `records.identifiers`; here are those that a caption adds to them. `assembly.positions`
reads an identifier that is already known to be a place, and takes more words (see there). Right and left eyes, upper
and lower lids are told apart by the words' neighbours (`identifier_mentions`), not by the words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import JOINERS, LONGEST_LIST, THROUGH, Item, after_joiners
from pmo_assets.pipeline.captions.tokens import DASHES, Tokens, words
from pmo_assets.records.identifiers import HORIZONTAL_PLACES, MIDDLE_PLACES, VERTICAL_PLACES

_ACROSS: Final = frozenset({*HORIZONTAL_PLACES, "leftmost", "rightmost"})
_BESIDE: Final = frozenset({"above", "below"})
_DOWN: Final = frozenset({*VERTICAL_PLACES, *_BESIDE, "topmost", "bottommost"})
PLACES: Final = _ACROSS | (_DOWN - _BESIDE) | MIDDLE_PLACES
PLACE_NOUNS: Final = words(
    "panel panels image images row rows column columns half side part section picture plot graph figure photo "
    "photograph subfigure inset"
)
# What is left and right, upper and lower in a patient, not in the figure.
_BODY: Final = words("eye eyes lid lids eyelid eyelids fundus fundi macula optic orbit hemisphere")
# Places only before "row" and "column".
ORDINALS: Final = words("first second third fourth fifth sixth 1st 2nd 3rd 4th last")
_WAY: Final = 4
"""Tokens before a place within which "from" says that it is the beginning of a way: "from the proximal (right) end"."""
# Directions of the body that a place explains.
_SYNONYMS: Final = {
    "cranial": ("upper", "top"), "superior": ("upper", "top"), "caudal": ("lower", "bottom"),
    "inferior": ("lower", "bottom"),
}  # fmt: skip
_FAR: Final = frozenset({"far", "extreme"})
_SAME: Final = {
    "upper": "top", "topmost": "top", "lower": "bottom", "bottommost": "bottom", "leftmost": "left",
    "rightmost": "right", "center": "middle", "centre": "middle", "central": "middle",
}  # fmt: skip
_KEPT_PLACE_NOUNS: Final = frozenset({"row", "column", "rows", "columns"})
_PLACE_JOINERS: Final = JOINERS - THROUGH  # "left to right" is a direction


def place_in_brackets(tokens: Tokens, opening: int, closing: int) -> list[Item]:
    """Return "above" or "below" if it stands alone in brackets; in running text the words point at text."""
    word = tokens.texts[opening + 1].lower()
    return [(word, "")] if closing == opening + 2 and word in _BESIDE else []


def within_picture(tokens: Tokens, opening: int) -> bool:
    """Say whether a bracket with a place tells where in one picture: "from the nasal (right) …", "cranial (upper)"."""
    place = tokens.texts[opening + 1].lower()
    before = [text.lower() for text in tokens.texts[max(0, opening - _WAY) : opening]]
    return "from" in before or (bool(before) and place in _SYNONYMS.get(before[-1], ()))


def parsed_places(tokens: Tokens, index: int, limit: int) -> tuple[list[Item], int, bool]:
    """Like `parsed_list` for words of place; the flag says that a noun of place ("panel", "row") was there."""
    texts = tokens.texts
    items: list[Item] = []
    end = position = index
    noun = False
    while position < limit and position - index < LONGEST_LIST:
        place: list[str] = []
        if position + 1 < limit and texts[position].lower() in ORDINALS:
            if texts[position + 1].lower() not in _KEPT_PLACE_NOUNS:
                break
            place.append(texts[position].lower())
            position += 1
        if position + 1 < limit and texts[position].lower() in _FAR and texts[position + 1].lower() in PLACES:
            place.append("far")
            position += 1
        while position < limit and texts[position].lower() in PLACES and len(place) < 2:
            place.append(texts[position].lower())
            position += 1
            if position + 1 < limit and texts[position] in DASHES and texts[position + 1].lower() in PLACES:
                position += 1
        position = _after_hand(tokens, position, limit) if place else position
        if not place or (position < limit and texts[position].lower() in _BODY):
            break
        if position + 1 < limit and texts[position].lower() in THROUGH and texts[position + 1].lower() in PLACES:
            break  # "Top row, left to right": a direction
        if position < limit and texts[position].lower() in PLACE_NOUNS:
            noun = True
            if texts[position].lower() in _KEPT_PLACE_NOUNS:
                place.append(texts[position].lower().rstrip("s"))
            position = _after_whole(tokens, position + 1, limit)
        items.append((" ".join(place), ""))
        end = position
        joined = after_joiners(tokens, position, limit, _PLACE_JOINERS)
        if joined == position:
            break
        position = joined
    return items, end, noun


def _after_whole(tokens: Tokens, index: int, limit: int) -> int:
    """Index after "of the figure" behind "upper half", or `index`."""
    following = [text.lower() for text in tokens.texts[index : min(limit, index + 3)]]
    if following[:2] == ["of", "figure"]:
        return index + 2
    return index + 3 if following == ["of", "the", "figure"] else index


def _after_hand(tokens: Tokens, index: int, limit: int) -> int:
    """Index after the rest of "left-hand" or "left hand", or `index`."""
    at = index + 1 if index < limit and tokens.texts[index] in DASHES else index
    return at + 1 if at + 1 < limit and tokens.texts[at].lower() == "hand" else index


def same_place(identifier: str) -> str:
    """Return a place with one word for those that mean the same: "upper left" and "top left"."""
    return " ".join(_SAME.get(word, word) for word in identifier.split())


def axis_of(identifier: str) -> str | None:
    """Return the axis of a place: "across" ("left", "second column") or "down" ("top row"); None for a corner.

    "" for a middle without "row" or "column", which may be either.
    """
    named = set(identifier.split())
    if "column" in named or "row" in named:
        return "across" if "column" in named else "down"
    across, down = bool(named & _ACROSS), bool(named & _DOWN)
    if across == down:
        return None if across else ""
    return "across" if across else "down"


def are_opposed(identifiers: Iterable[str]) -> bool:
    """Say whether words of place hold two of one axis: a single "(left)" stays text."""
    named = {word for identifier in identifiers for word in identifier.split()}
    return any(len(named & axis) >= 2 for axis in (ORDINALS, _ACROSS, _DOWN))
