"""Words of a text that name marks: "thick white arrow", "arrows 1–3", "arrow in B", "outlined in white", "(*)".

Add here: how a mark's name is put together, and what only looks like one. Keep out: what the mark shows (`targets`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.pipeline.captions.identifier_lists import Item, is_identifier, parsed_list
from pmo_assets.pipeline.captions.noun_mentions import PANEL_NOUNS
from pmo_assets.pipeline.captions.phrases import is_adjectival
from pmo_assets.pipeline.captions.series import Series, expanded
from pmo_assets.pipeline.captions.tokens import CLOSING, DASHES, OPENING, Tokens
from pmo_assets.pipeline.regions.vocabulary import (
    AREAS,
    AUXILIARIES,
    COLOURS,
    CROSSES,
    DETERMINERS,
    DRAWN,
    FILLERS,
    FOLLOWERS_OF_NONE,
    HEADS,
    INDICATING,
    LINE_STYLES,
    NOUNS,
    PARTICIPLES,
    PREPOSITIONS,
    SIGN_NOUNS,
    SIGNS,
    STARS,
    STYLES,
    TELLING_STYLES,
    Noun,
    Strength,
)
from pmo_assets.records.regions import MarkColour, NamedMark

MOST_MODIFIERS: Final = 10
"""Tokens before a noun that can describe it: "the two long, dashed, light blue"."""

MOST_CONJUNCTS: Final = 6
"""Colours or styles that share a noun: "red, green and blue arrows"."""

LONGEST_LABEL: Final = 12
"""Tokens of a list of labels: "1, 2, 3, 4, 5 and 6"."""

QUOTES: Final = frozenset("\"'“”‘’«»")
"""Quotation marks, apostrophes included."""

_AND: Final = frozenset({"and", "or", "&", ",", "/"})
_STAR_NOUNS: Final = frozenset({"star", "stars"})
_SURE_SIGN: Final = re.compile(r"[(\[]\s?[*∗#†‡]{1,3}\s?[)\]]")
"""A sign alone in brackets: beside one, "(+)" is one, too."""
_ALL_SERIES: Final = (Series.UPPER, Series.LOWER, Series.NUMBER, Series.ROMAN)


@dataclass(frozen=True, slots=True)
class MarkName:
    """Tokens that name a mark.

    Attributes:
        first, last: tokens of the name, last included; without article and number.
        reach: token after what belongs to the name: its label, the panel that it is in.
        lead: first token with article and number.
        kind, colour, style, label, is_plural: as in `RegionPhrase`.
        panels: identifiers of the panels that the name says the mark is in.
        strength: how surely the words name a mark.
        form: a noun, a participle ("encircled") or a sign ("*").
        shares: the noun is that of a later name: "yellow" of "yellow and red arrows".
    """

    first: int
    last: int
    reach: int
    lead: int
    kind: NamedMark
    colour: MarkColour | None
    style: str | None
    label: str | None
    is_plural: bool
    panels: tuple[str, ...]
    strength: Strength
    form: Literal["noun", "participle", "sign"]
    shares: bool = False

    @property
    def stands_out(self) -> bool:
        """The words name a mark even within another mark's phrase, which therefore ends before them."""
        return self.strength == "strong" or self.form == "sign" or self.colour is not None or self.style is not None


def mark_names(tokens: Tokens) -> list[MarkName]:
    """Return the names of marks in order, disjoint, in time linear in the tokens.

    Weak and faint ones are candidates: whether they name marks is said by what stands round them.
    """
    found: list[MarkName] = []
    free = 0
    index, count = 0, len(tokens.texts)
    has_sure_sign = _SURE_SIGN.search(tokens.caption) is not None
    while index < count:
        text = tokens.texts[index]
        lowered = text.lower()
        names: list[MarkName] = []
        if lowered in NOUNS:
            names = _of_noun(tokens, index, free)
        elif lowered in PARTICIPLES:
            names = _of_participle(tokens, index)
        elif (text in SIGNS or lowered in CROSSES) and (last := _named_sign(tokens, index)) is not None:
            names = [_of_named_sign(tokens, index, last, free)]
        elif text in SIGNS:
            names = _of_sign(tokens, index, free, has_sure_sign)
        found.extend(names)
        index = names[-1].last + 1 if names else index + 1
        free = names[-1].last + 1 if names else free
    return found


def _of_noun(tokens: Tokens, index: int, free: int) -> list[MarkName]:
    """The names that end with the noun at a token: one for each of the colours or styles that share it."""
    texts, count = tokens.texts, len(tokens.texts)
    noun, last = NOUNS[texts[index].lower()], index
    after = index + 1
    if noun.kind == "arrow" and not noun.is_plural:
        head = after + 1 if after < count and texts[after] in DASHES else after
        if head < count and texts[head].lower() in HEADS:
            noun, last = Noun("arrowhead", HEADS[texts[head].lower()], "strong"), head
    head_of = _head_before(tokens, index, free) if noun.kind == "arrow" and last == index else None
    if head_of is not None:
        noun = Noun("arrowhead", HEADS[texts[head_of].lower()], "strong")
    after = last + 1
    if after < count and noun.kind == "asterisk" and not noun.is_plural and _is_sign_noun(tokens, after):
        noun = Noun("asterisk", texts[after].lower().endswith("s"), noun.strength)
        last = after
        after += 1
    if _is_other_thing(tokens, index, after, noun):
        return []
    label, after = _label(tokens, after, noun.is_plural)
    panels, reach = _panels(tokens, after)
    colour, styles, first = _modifiers(tokens, index, free)
    first = first if head_of is None else head_of
    if colour is None:
        colour, reach = _colour_after(tokens, after, reach)
    strength: Strength = "strong" if noun.strength == "weak" and LINE_STYLES & set(styles) else noun.strength
    own = MarkName(
        first, max(last, after - 1), reach, _lead(tokens, first, free), noun.kind, colour, _style(styles), label,
        noun.is_plural, panels, strength, "noun",
    )  # fmt: skip
    return [*_sharing(tokens, own, free), own]


def _head_before(tokens: Tokens, index: int, free: int) -> int | None:
    """The token "head" of "head of the white arrow" or "head arrow"; None where none stands before that arrow."""
    position = index - 1
    if position >= free and tokens.texts[position].lower() == "head" and tokens.texts[position - 1][:1] not in DASHES:
        return position
    while position > free and tokens.texts[position].lower() in COLOURS.keys() | DETERMINERS:
        position -= 1
    is_head = position - 1 >= free and tokens.texts[position].lower() == "of"
    return position - 1 if is_head and tokens.texts[position - 1].lower() in HEADS else None


def _is_other_thing(tokens: Tokens, index: int, after: int, noun: Noun) -> bool:
    """Say whether a noun is part of another thing's name: "box plot", "star-shaped", "in-line", "circle of Willis"."""
    texts, count = tokens.texts, len(tokens.texts)
    hyphen = after < count and texts[after] in DASHES and not tokens.gap(after)
    following = after + 1 if hyphen else after
    word = texts[following].lower() if following < count else ""
    if word in FOLLOWERS_OF_NONE:
        return True
    if noun.strength == "strong":
        return False
    joined = following < count and not tokens.gap(following)
    if hyphen and joined and word.isalpha() and len(word) > 1:
        return True  # "cross-section"
    if index and texts[index - 1] in DASHES and not tokens.gap(index) and not tokens.gap(index - 1):
        before = texts[index - 2].lower() if index > 1 else ""
        if before not in COLOURS and before not in STYLES:
            return True  # "in-line", "chi-square"
    if word == "of" and following + 1 < count and texts[following + 1].lower() == "willis":
        return True
    return texts[index].lower() in _STAR_NOUNS and index > 0 and texts[index - 1].lower() == "macular"


def _modifiers(tokens: Tokens, index: int, free: int) -> tuple[MarkColour | None, list[str], int]:
    """Colour, styles and first token of what describes the noun at a token."""
    colour: MarkColour | None = None
    styles: list[str] = []
    first = position = index
    while position > max(free, index - MOST_MODIFIERS):
        word = tokens.texts[position - 1].lower()
        if word in COLOURS:
            colour = COLOURS[word] if colour is None else colour
        elif word in STYLES:
            styles.insert(0, STYLES[word])
        elif word == ",":
            if tokens.texts[position].lower() not in STYLES or tokens.texts[position - 2].lower() not in STYLES:
                break
        elif word not in FILLERS and word not in DASHES:
            # "black opposing arrowheads": any adjective behind a colour or style
            before = tokens.texts[position - 2].lower() if position - 1 > free else ""
            if not (before in COLOURS or before in STYLES) or not (is_adjectival(word) or word.endswith("ing")):
                break
        position -= 1
        if word not in DASHES and word != ",":
            first = position
    return colour, styles, first


def _sharing(tokens: Tokens, own: MarkName, free: int) -> list[MarkName]:
    """Names that share the noun of one: "yellow" and "long" of "yellow and red arrows", "long and short arrows"."""
    if own.colour is None and own.style is None:
        return []
    found: list[MarkName] = []
    position = own.first
    while len(found) < MOST_CONJUNCTS:
        end = position
        while end - 1 > free and tokens.texts[end - 1].lower() in _AND and position - end < 2:
            end -= 1
        if end == position:
            break
        colour, styles, first = _modifiers(tokens, end, free)
        if first == end or not (colour if own.colour else styles):
            break
        found.insert(0, MarkName(
            first, end - 1, own.reach, _lead(tokens, first, free), own.kind, colour or own.colour,
            _style(styles) or (own.style if colour else None), None, own.is_plural, own.panels, own.strength, "noun",
            shares=True,
        ))  # fmt: skip
        position = first
    return found


def _style(styles: Sequence[str]) -> str | None:
    telling = [style for style in styles if style in TELLING_STYLES]
    return next(iter([*telling, *styles]), None)


def _lead(tokens: Tokens, first: int, free: int) -> int:
    """First token with the determiner and number before a name."""
    position = first
    while position > free and first - position < 3:
        word = tokens.texts[position - 1].lower()
        if word not in DETERMINERS and not (word.isdigit() and len(word) == 1 and tokens.gap(position)):
            break
        position -= 1
    return position


def _label(tokens: Tokens, after: int, is_plural: bool) -> tuple[str | None, int]:
    """Label behind a noun and the token after it: "arrow 1", "arrow-b", "arrows 1, 2, and 3", "arrow #2"."""
    texts, count = tokens.texts, len(tokens.texts)
    start = after
    if (
        start < count
        and (texts[start] in DASHES or texts[start] == "#")
        and not (texts[start] in DASHES and tokens.gap(start))
    ):
        start += 1
        if start < count and tokens.gap(start):
            return None, after
    if start >= count or not is_identifier(texts[start]) or (start == after and not tokens.gap(start)):
        return None, after
    items, end = parsed_list(tokens, start, min(count, start + LONGEST_LABEL))
    if not items:
        return None, after
    if not is_plural and len(items) > 1:
        items, end = items[:1], start + 1
    if end == start + 1 and end < count and texts[start] in {"a", "A", "I", "i"}:
        following = texts[end]
        if following[0].isalpha() and following.lower() not in INDICATING | {"and", "or", "in"}:
            return None, after  # "while the arrowhead a defect"
    if (
        texts[start].isdigit()
        and end < count
        and texts[end].lower() in {"mm", "cm", "μm", "µm", "um", "years", "weeks"}
    ):
        return None, after
    return tokens.caption[tokens.starts[start] : tokens.ends[end - 1]], end


def _panels(tokens: Tokens, after: int) -> tuple[tuple[str, ...], int]:
    """Panels that a name says the mark is in, and the token after them: "in B", "(B)", "in panels C and D"."""
    texts, count = tokens.texts, len(tokens.texts)
    position = after
    if position < count and tokens.partners[position] > position:
        items, end = parsed_list(tokens, position + 1, tokens.partners[position])
        is_panel = bool(items) and end == tokens.partners[position] and not texts[position + 1].isdigit()
        return (identifiers(items), end + 1) if is_panel else ((), after)
    if position >= count or texts[position].lower() not in {"in", "on"}:
        return (), after
    position += 1
    while position < count and texts[position].lower() in PANEL_NOUNS | {"the", "."} and position - after < 5:
        position += 1
    if position >= count:
        return (), after
    bracket = texts[position] in OPENING and tokens.partners[position] > position
    start = position + 1 if bracket else position
    limit = tokens.partners[position] if bracket else min(count, start + LONGEST_LABEL)
    items, end = parsed_list(tokens, start, limit)
    if not items or (bracket and end != limit):
        return (), after
    if bracket and end + 2 < count and texts[end + 1].lower() == "and" and tokens.partners[end + 2] > end + 2:
        others, closing = parsed_list(tokens, end + 3, tokens.partners[end + 2])
        if others and closing == tokens.partners[end + 2]:
            items, end = [*items, *others], closing  # "in (C) and (D)"
    if not bracket and end < count and end == start + 1 and texts[start] in {"a", "A"} and texts[end][0].isalpha():
        return (), after  # "in a patient"
    return identifiers(items), end + 1 if bracket else end


def _is_alone(tokens: Tokens, index: int) -> bool:
    """Say whether a token is all that stands in a bracket."""
    return 0 < index < len(tokens.texts) - 1 and tokens.partners[index - 1] == index + 1


def identifiers(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the identifiers of a list with its ranges written out."""
    for series in _ALL_SERIES:
        ranks = expanded(series, items)
        if ranks is not None:
            return tuple(ranks)
    return tuple(dict.fromkeys(end for item in items for end in item if end))


def _colour_after(tokens: Tokens, after: int, reach: int) -> tuple[MarkColour | None, int]:
    """Colour behind a noun: "arrow in white", "arrows (white)"; and the token after it."""
    texts, count = tokens.texts, len(tokens.texts)
    if after + 1 < count and texts[after].lower() == "in" and texts[after + 1].lower() in COLOURS:
        return COLOURS[texts[after + 1].lower()], max(reach, after + 2)
    if after + 2 < count and tokens.partners[after] == after + 2 and texts[after + 1].lower() in COLOURS:
        return COLOURS[texts[after + 1].lower()], max(reach, after + 3)
    return None, reach


def _of_participle(tokens: Tokens, index: int) -> list[MarkName]:
    """The name that a participle gives: "outlined in white", "(encircled)", "boxed area"."""
    texts, count = tokens.texts, len(tokens.texts)
    word = texts[index].lower()
    kind = PARTICIPLES[word]
    colour: MarkColour | None = None
    last = index
    after = index + 1
    if after + 1 < count and texts[after].lower() in {"in", "with"}:
        position = after + 1
        while (
            position < count
            and position - after < 4
            and texts[position].lower() in FILLERS | {"a", "the"} | LINE_STYLES
        ):
            position += 1
        if position < count and texts[position].lower() in COLOURS and texts[after].lower() == "in":
            following = position + 1
            if following >= count or not texts[following][0].isalpha() or texts[following].lower() not in NOUNS:
                colour, last = COLOURS[texts[position].lower()], position
    bracketed = index > 0 and texts[index - 1] in {*OPENING, ","} and after < count and texts[after] in CLOSING
    styled = index > 0 and texts[index - 1].lower() in COLOURS
    area = after < count and texts[after].lower() in AREAS
    if colour is None and not (word in DRAWN and (bracketed or area)):
        return []
    first = index
    if colour is None and styled:
        colour, first = COLOURS[texts[index - 1].lower()], index - 1
    if area and colour is None:
        last = after
    panels, reach = _panels(tokens, last + 1)
    return [MarkName(first, last, reach, first, kind, colour, None, None, False, panels, "strong", "participle")]


def _named_sign(tokens: Tokens, index: int) -> int | None:
    """The last token of a name that says of a sign that it is one: "“+” marks", "x’s", "# symbol"; None of others."""
    texts, count = tokens.texts, len(tokens.texts)
    last = index + 1
    if index and texts[index - 1] in QUOTES and last < count and texts[last] in QUOTES:
        last += 1
    elif texts[index].lower() in CROSSES and texts[last : last + 1] and texts[last] in QUOTES:
        is_plural = texts[last + 1 : last + 2] == ["s"] and not tokens.gap(last) and not tokens.gap(last + 1)
        return last + 1 if is_plural else None
    if last >= count or not (tokens.gap(last) or last > index + 1) or not _is_sign_noun(tokens, last):
        return None
    if texts[index].lower() in CROSSES and texts[last].lower() in {"sign", "signs"}:
        return None  # the name of a finding
    is_cross = texts[index].lower() in CROSSES or texts[index] == "+"
    return None if is_cross and last == index + 1 and index and not tokens.gap(index) else last


def _is_sign_noun(tokens: Tokens, index: int) -> bool:
    """Say whether a token is the noun of a sign's name; "marks" is a verb where an object follows."""
    word = tokens.texts[index].lower()
    if word != "marks":
        return word in SIGN_NOUNS
    following = tokens.texts[index + 1].lower() if index + 1 < len(tokens.texts) else "."
    return not following[0].isalnum() or following in AUXILIARIES | INDICATING | PREPOSITIONS


def _of_named_sign(tokens: Tokens, index: int, last: int, free: int) -> MarkName:
    """The name of a sign with the noun that says that it is one, with the quotation mark before it."""
    start = index - (index > free and tokens.texts[index - 1] in QUOTES)
    colour, styles, first = _modifiers(tokens, start, free)
    panels, reach = _panels(tokens, last + 1)
    sign = tokens.texts[index]
    kind = SIGNS.get(sign, "asterisk")
    label = None if kind != "asterisk" or sign in STARS else sign
    noun = tokens.texts[last].lower()
    strength: Strength = "strong" if noun in SIGN_NOUNS else "weak"  # "fragile X’s"
    return MarkName(
        first, last, reach, _lead(tokens, first, free), kind, colour, _style(styles), label, noun.endswith("s"), panels,
        strength, "noun",
    )  # fmt: skip


def _of_sign(tokens: Tokens, index: int, free: int, has_sure_sign: bool) -> list[MarkName]:
    """The name that a printed sign gives, as a candidate; none where it counts, multiplies or relates."""
    texts, count = tokens.texts, len(tokens.texts)
    last = index
    while last + 1 < count and texts[last + 1] in SIGNS and not tokens.gap(last + 1) and last - index < 8:
        last += 1
    kind = SIGNS[texts[index]]
    glued_before = index > 0 and not tokens.gap(index) and texts[index - 1][0].isalnum()
    if texts[index] == "+" and not (has_sure_sign and _is_alone(tokens, index)):
        return []  # "(+)" is a result, too
    glued_number = last + 1 < count and not tokens.gap(last + 1) and texts[last + 1][0].isdigit()
    if glued_before or glued_number:
        return []
    colour, styles, first = _modifiers(tokens, index, free)
    sign = tokens.caption[tokens.starts[index] : tokens.ends[last]]
    label = None if kind != "asterisk" or (sign in STARS and len(sign) == 1) else sign
    panels, reach = _panels(tokens, last + 1)
    return [
        MarkName(
            first,
            last,
            reach,
            _lead(tokens, first, free),
            kind,
            colour,
            _style(styles),
            label,
            False,
            panels,
            "weak",
            "sign",
        )
    ]
