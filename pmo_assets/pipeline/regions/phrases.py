"""Phrases that say what a mark shows: "white arrows: drusen", "subretinal fluid (*)", "the area outlined in yellow".

Add here: the forms in which a text ties a mark to a thing, and what is no mark. Keep out: the names of marks
(`mark_names`), where the thing's words begin and end (`targets`), and which mark on the picture is meant (`links`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import parsed_list
from pmo_assets.pipeline.captions.phrases import ARTICLES, is_adjectival
from pmo_assets.pipeline.captions.tokens import DASHES, OPENING, tokenized
from pmo_assets.pipeline.regions.cores import core
from pmo_assets.pipeline.regions.mark_groups import (
    COMPARED,
    MarkGroup,
    is_measured,
    is_of_data,
    is_significance,
    mark_groups,
)
from pmo_assets.pipeline.regions.mark_names import QUOTES, MarkName, identifiers, mark_names
from pmo_assets.pipeline.regions.targets import REACH, Range, Reading, after, before, items_of, reading, trimmed
from pmo_assets.pipeline.regions.vocabulary import (
    AT,
    AUXILIARIES,
    BY,
    COLOURS,
    COUNTED,
    EXTENT_WORDS,
    GROUP_ADVERBS,
    INDICATED,
    INDICATING,
    IRREGULAR,
    LEADS,
    LOOKING,
    NOUNS,
    PARTICLES,
    PICTURES,
    PREPOSITIONS,
    REFERENCES,
)
from pmo_assets.records.regions import PhrasePlace, RegionPhrase

_PLACE: Final = 8
"""Tokens of a place between a mark and its verb: "the arrow in the lower right image shows"."""

_CLAUSE_OPENERS: Final = frozenset(
    {";", ":", ",", ".", ")", "]", "(", "[", "and", "while", "whereas", "the", "a", "|", "•"}
)


@dataclass(frozen=True, slots=True)
class _Tie:
    """What ties a group to a thing.

    Attributes:
        targets: of each name.
        panels: that the words around the marks name.
        evidence: it shows that weak names are marks.
        is_legend: the mark stands before the thing, as its name in a legend.
    """

    targets: Sequence[Range]
    panels: tuple[str, ...] = ()
    evidence: bool = True
    is_legend: bool = False


def region_phrases(
    text: str, *, found_in: PhrasePlace = "subcaption", mention: int | None = None
) -> tuple[RegionPhrase, ...]:
    """Return the phrases of a text that name marks, in order; none is linked to a mark yet.

    A phrase without a target is one that names a mark and does not say what it shows. Legends of plots ("dashed line:
    median") and of significance ("* P < 0.05") are none. The time is near linear in the text, whatever it holds.

    Args:
        text: of a panel's subcaption or a mention.
        found_in: which of them it is.
        mention: position of the mention.
    """
    tokens = tokenized(text)
    names = mark_names(tokens)
    if not names:
        return ()
    read = reading(tokens, names)
    found: list[RegionPhrase] = []
    previous: tuple[MarkGroup, _Tie] | None = None
    for group in mark_groups(read):
        tie = _tie(read, group, previous)
        if tie is None:
            continue
        previous = group, tie
        for name, target in zip(group.names, tie.targets, strict=True):
            found.append(_phrase(read, group, name, target, tie.panels, found_in, mention))
    return tuple(found)


def _phrase(
    text: Reading, group: MarkGroup, name: MarkName, target: Range, panels: tuple[str, ...], found_in: PhrasePlace,
    mention: int | None,
) -> RegionPhrase:  # fmt: skip
    starts, ends = text.tokens.starts, text.tokens.ends
    mark = starts[name.first], ends[name.last]
    first, end = target
    shown = (starts[first], ends[end - 1]) if first < end else (mark[1], mark[1])
    last = mark[1]
    if group.bracket >= 0 and first < end and shown[1] <= starts[group.bracket]:
        last = ends[min(group.closing, len(ends) - 1)]
    return RegionPhrase(
        found_in, mention, min(mark[0], shown[0]), max(last, shown[1]), *mark, *shown, name.kind, name.colour,
        name.style, name.label, name.is_plural, name.panels or panels,
    )  # fmt: skip


def _tie(text: Reading, group: MarkGroup, previous: tuple[MarkGroup, _Tie] | None) -> _Tie | None:
    """What ties a group to a thing; None where it names no mark."""
    if is_of_data(text, group):
        return None
    start, stop = text.sentence(group.first)
    left, after_mark, was_verb = start, False, False
    if previous is not None and previous[0].end > start:
        earlier, its = previous
        was_verb = its.is_legend
        after_mark = not its.is_legend
        left = earlier.closing + 1 if earlier.bracket >= 0 and after_mark else earlier.end
        if group.bracket == earlier.bracket >= 0 and after_mark:
            left = earlier.end
    right = min(stop, group.closing) if group.bracket >= 0 else stop
    shares = _respectively(text, group, stop)
    tie = _forward(text, group, right, shares, was_verb)
    if tie is None and group.bracket >= 0:
        tie = _bracketed(text, group, left, stop, after_mark, shares)
        if (
            previous is not None
            and tie is not None
            and group.bracket == previous[0].bracket
            and len(set(tie.targets)) == 1
        ):
            own = tie.targets[0]
            if own[0] >= own[1] and len(set(previous[1].targets)) == 1:
                tie = replace(tie, targets=[previous[1].targets[0]] * len(group.names))
    if tie is not None and previous is not None and after_mark and _is_other_picture(text, left, tie):
        tie = replace(tie, targets=[previous[1].targets[-1]] * len(group.names))
    if tie is None and group.bracket < 0:
        tie = _backward(text, group, left, after_mark, shares)
    if tie is None:
        tie = _Tie([(0, 0)] * len(group.names), evidence=False)
    if not _is_mark(text, group, tie):
        return None
    return tie


def _is_other_picture(text: Reading, left: int, tie: _Tie) -> bool:
    """Say whether only another picture stands behind a mark: "seen in the photograph (arrow) and the scan (arrow)"."""
    target = tie.targets[0]
    if tie.is_legend or target[0] >= target[1]:
        return False
    return text.word(left) in {"and", ","} and text.word(target[1] - 1) in PICTURES


def _is_mark(text: Reading, group: MarkGroup, tie: _Tie) -> bool:
    """Say whether the words name a mark, by how surely they do and by what ties them to a thing."""
    name = group.names[-1]
    if name.strength == "strong":
        return not (name.kind == "asterisk" and tie.is_legend and is_significance(text, group))
    if not tie.evidence:
        return False
    if name.form == "sign":
        return not (tie.is_legend and is_significance(text, group))
    if _is_value(text, tie.targets[-1]) or _is_place_of_mark(text, group):
        return False
    described = name.colour is not None or name.style is not None
    if text.word(name.lead) == "each":
        return False
    if name.strength == "faint":
        is_said = tie.is_legend or _participle_before(text, group, text.sentence(group.first)[0]) is not None
        return is_said and described
    if tie.is_legend and not described:
        opener = text.word(group.first - 1)
        return name.lead < name.first or group.first == text.sentence(group.first)[0] or opener in _CLAUSE_OPENERS
    return True


def _is_value(text: Reading, target: Range) -> bool:
    """Say whether a line or shape stands for a value, which is a plot's: "L = 31 (red line)", "88 (black circle)"."""
    words = [text.word(index) for index in range(*target)]
    if not COUNTED.isdisjoint(words[:2]):
        return True
    return bool(words) and ("=" in words or not any(len(word) > 1 and word.isalpha() for word in words))


def _is_place_of_mark(text: Reading, group: MarkGroup) -> bool:
    """Say whether an inset in brackets only tells where another mark is: "(inset, white arrow)"."""
    is_inset = len(group.names) == 1 and text.word(group.names[0].last) in {"inset", "insets"}
    return is_inset and group.bracket >= 0 and any(group.end <= lead < group.closing for lead in text.leads)


def _respectively(text: Reading, group: MarkGroup, stop: int) -> int | None:
    """The token "respectively" that distributes things over the names of a group."""
    if len(group.names) < 2:
        return None
    for index in range(group.first, min(stop, group.end + REACH)):
        if text.word(index) in {"respectively", "resp"}:
            return index
    return None


def _shared(text: Reading, group: MarkGroup, target: Range, shares: int | None) -> list[Range]:
    """The target of each name: an item each where they are distributed, else the whole for all."""
    count = len(group.names)
    items = items_of(text, *target, count) if shares is not None and target[0] < target[1] else None
    return [_core(text, group, item) for item in items or [target] * count]


def _core(text: Reading, group: MarkGroup, target: Range) -> Range:
    """What a target is about; nothing where it only names the mark: "a line was drawn (grey line)"."""
    first, end = core(text, *target)
    noun = NOUNS.get(text.word(end - 1)) if first < end else None
    is_mark = noun is not None and noun.kind == group.names[-1].kind and end - first <= 2
    return (0, 0) if is_mark and (end - first == 1 or text.word(first) in ARTICLES) else (first, end)


def _forward(text: Reading, group: MarkGroup, right: int, shares: int | None, was_verb: bool) -> _Tie | None:
    """What follows the marks by a verb, a sign of a legend, or after another mark's verb."""
    position = _after_place(text, group, right)
    opener = text.word(group.first - 1)
    start = _object(text, position, right)
    if start is not None and not _is_placing(text, group):
        return _tied_after(text, group, start, right, shares)
    word = text.word(group.end) if group.end < right else ""
    name = group.names[-1]
    opens = group.first in (text.sentence(group.first)[0], group.bracket + 1) or opener in _CLAUSE_OPENERS
    if word in {":", "="} and group.end + 1 < right and (opens or word == "=" or name.strength == "strong"):
        return _tied_after(text, group, group.end + 1, right, shares, is_item=True)
    if (
        word in DASHES
        and opens
        and group.end + 1 < right
        and text.tokens.gap(group.end)
        and text.tokens.gap(group.end + 1)
    ):
        return _tied_after(text, group, group.end + 1, right, shares, is_item=True)
    if name.form == "sign":
        return _after_sign(text, group, right, shares) if opens else None
    if word == "with" and opens and (equals := _equals_behind(text, group.end, right)) is not None:
        return _tied_after(text, group, equals + 1, right, shares, is_item=True)
    if (
        word == ","
        and opens
        and group.bracket < 0
        and opener not in {"and", ",", "the", "a"}
        and _is_item(text, group, right)
    ):
        return _tied_after(text, group, group.end + 1, right, shares, is_item=True)
    if (
        word.isalpha()
        and name.strength == "strong"
        and name.lead == name.first
        and _is_bare_item(text, group, right, was_verb)
    ):
        return _tied_after(text, group, group.end, right, shares, is_item=True)
    if was_verb and word in {"the", "a", "an"} and opener in {"and", ",", "while", "whereas"}:
        return _tied_after(text, group, group.end, right, shares, is_item=True)
    return None


def _equals_behind(text: Reading, start: int, right: int) -> int | None:
    """The sign "=" behind what tells a mark from others: "outer circle with dots (area B) = stent"."""
    for index in range(start, min(right, start + _PLACE + 1)):
        if text.word(index) == "=":
            return index if index + 1 < right else None
        if text.word(index) in {",", ";", "."} or index in text.leads:
            break
    return None


def _is_placing(text: Reading, group: MarkGroup) -> bool:
    """Say whether marks only tell a place, so that a verb behind them is another thing's: "fluid at the arrow is"."""
    opener = text.word(group.first - 1)
    if opener == "between" and text.word(group.first - 2) in {"distance", "interval", "space"}:
        return False
    if opener == "to" and text.word(group.first - 2) == "corresponding":
        return True
    if group.bracket >= 0 or opener not in AT or (opener == "of" and group.names[-1].strength == "strong"):
        return False
    return group.first - 1 > text.sentence(group.first)[0] and text.word(group.first - 2) != ","


def _after_place(text: Reading, group: MarkGroup, right: int) -> int:
    """The token behind the marks and what says where they are: "the arrow in the scan", "arrows (B)", "inset image"."""
    position = group.end
    if text.word(position) in {"image", "images", "picture", "pictures", "panel", "panels"}:
        position += 1
    if position < right and text.word(position) in OPENING and text.tokens.partners[position] > position:
        closing = text.tokens.partners[position]
        if closing < right and closing - position <= _PLACE:
            position = closing + 1
    if text.word(position) in {"in", "on", "at", "of", "within", "from"}:
        for index in range(position + 1, min(right, position + _PLACE)):
            if text.word(index) in INDICATING and text.word(index) not in {"mark", "point", "label"}:
                return index
            if text.word(index) in {",", ";", "("} or index in text.leads:
                break
    return position


def _object(text: Reading, position: int, right: int) -> int | None:
    """The first token of the object of a verb that indicates; None without such a verb."""
    while position < right and (text.word(position) in GROUP_ADVERBS or text.word(position) == "which"):
        position += 1
    if position < right and text.word(position).endswith("ly"):
        position += 1
    is_be = text.word(position) in {"is", "are", "was", "were"}
    if is_be:
        position += 1
    word = text.word(position)
    if position >= right:
        return None
    if is_be and not word.endswith("ing"):
        if word in {"placed", "directed", "located", "positioned"} and text.word(position + 1) in AT | {
            "to",
            "towards",
        }:
            return position + 2
        return position if _is_named_by_be(text, position, right) else None
    if word not in INDICATING:
        return None
    position += 1
    if text.word(position) in BY - {"to", "at", "in"} or (word.endswith("ed") and text.word(position) in PREPOSITIONS):
        return None
    while position < right and (text.word(position) in PARTICLES or text.word(position) in {":", "="}):
        position += 1
    return position


def _is_named_by_be(text: Reading, position: int, right: int) -> bool:
    """Say whether "is" gives a mark's meaning: a noun follows, not its look, its place or a passive verb."""
    word = text.word(position)
    if not word[0].isalpha() or word in PREPOSITIONS | COLOURS.keys() | GROUP_ADVERBS or word.endswith(("ed", "ly")):
        return False
    return word not in INDICATED | IRREGULAR and not (
        is_adjectival(word) and text.word(position + 1) in {"", ",", ".", ";", "and"}
    )


def _tied_after(
    text: Reading, group: MarkGroup, start: int, right: int, shares: int | None, *, is_item: bool = False
) -> _Tie | None:
    if shares is not None and start < shares:
        target = trimmed(text, start, min(shares, right))
    else:
        target = after(text, start, right, is_item=is_item)
    if target[0] >= target[1]:
        return None
    end = parsed_list(text.tokens, target[0], target[1])[1]
    if group.bracket >= 0 and is_item and end == target[1] and end - target[0] <= 2:
        return None  # "(arrow: B)" is a panel
    return _Tie(_shared(text, group, target, shares), is_legend=True)


def _after_sign(text: Reading, group: MarkGroup, right: int, shares: int | None) -> _Tie | None:
    """The item of a legend directly behind a sign, or behind its comma: "* subretinal fluid; #, drusen"."""
    start = group.end
    if text.word(start) == ",":
        start += 1
    word = text.word(start)
    if start >= right or not word[0].isalpha() or word in COMPARED or start in text.leads:
        return None
    if group.bracket >= 0 and start > group.end:
        return None
    if text.word(start) in PREPOSITIONS | AUXILIARIES | {"and", "or"}:
        return None
    return _tied_after(text, group, start, right, shares, is_item=True)


def _is_item(text: Reading, group: MarkGroup, right: int) -> bool:
    """Say whether a short phrase without a verb follows a mark's comma: "Arrow, drusen."."""
    start = group.end + 1
    if start >= right or text.word(start) in PREPOSITIONS | AUXILIARIES | {"and", "or", "which"} or start in text.leads:
        return False
    end = after(text, start, right, is_item=True)[1]
    return not any(text.word(index) in AUXILIARIES or text.word(index) in INDICATED for index in range(start, end))


def _is_bare_item(text: Reading, group: MarkGroup, right: int, was_verb: bool) -> bool:
    """Say whether a legend has its items without any sign: "Arrow cystic duct, arrowhead bile duct"."""
    opens = group.first == text.sentence(group.first)[0] or (was_verb and text.word(group.first - 1) in {",", ";"})
    first, end = after(text, group.end, min(right, group.end + _PLACE + 1), is_item=True)
    is_closed = end >= right or text.word(end) in {",", ";", "."}
    return (
        opens
        and is_closed
        and 0 < end - first <= _PLACE
        and first == group.end
        and not any(
            text.word(index) in AUXILIARIES | INDICATED | INDICATING | PREPOSITIONS or text.word(index).endswith("ed")
            for index in range(first, end)
        )
    )


def _bracketed(
    text: Reading, group: MarkGroup, left: int, stop: int, after_mark: bool, shares: int | None
) -> _Tie | None:
    """What stands before marks in brackets: before the bracket, or in it ("(drusen, arrow; vessel, arrowhead)")."""
    opening, closing = group.bracket, group.closing
    start = opening + 1
    for index in range(group.first - 1, max(opening, group.first - REACH), -1):
        if text.word(index) == ";" or (index < left and index > opening):
            start = index + 1
            break
    panels = _panels_beside(text, group, start, closing)
    named = [index for index in range(start, group.first) if not _is_lead(text, index)]
    is_plural = group.names[-1].is_plural or len(group.names) > 1
    if named and _is_reference(text, named):
        named = []
    if named and not _is_short_name(text, start, group.first):
        own = before(text, _without_verb(text, group, start), start, is_plural=is_plural, after_mark=False)
        is_apposed = text.word(group.first - 1) == "," or _participle_before(text, group, start) is not None
        if is_apposed and own[0] < own[1]:
            return _Tie(_shared(text, group, own, shares), panels)
    following = text.word(group.end) if group.end < closing else ""
    bare = not named or text.word(group.first - 1) == ","
    evidence = bare and (
        following in {"", ",", ";", "in", ":", "."} or following in OPENING or following.endswith("ing")
    )
    described = group.names[-1].colour is not None or group.names[-1].style is not None
    if not described and text.word(group.first - 1) not in LEADS | {",", ";", ":", *OPENING, *QUOTES, ")"}:
        evidence = False  # "(N-S line)"
    evidence = evidence or (described and following in {"", ",", ";"})
    if named and not evidence and following not in {"", ",", ";"}:
        return _Tie([(0, 0)] * len(group.names), panels, evidence=False)
    if opening < left:
        # A second item of the same bracket: the thing before the bracket is shown by both.
        return _Tie([(0, 0)] * len(group.names), panels, evidence)
    target = before(text, opening, left, is_plural=is_plural or shares is not None, after_mark=after_mark)
    if text.word(closing + 1) == "and":
        target = _after_between(text, opening, left) or target
    if target[0] >= target[1] and not after_mark and closing + 1 < stop:
        object_start = _object(text, closing + 1, stop)
        target = after(text, closing + 1 if object_start is None else object_start, stop)
        return _Tie(_shared(text, group, target, shares), panels, evidence, is_legend=True)
    return _Tie(_shared(text, group, target, shares), panels, evidence)


def _after_between(text: Reading, end: int, left: int) -> Range | None:
    """The first of two things that a mark each shows: "fluid between the choroid (arrow) and sclera (star)"."""
    for index in range(end - 1, max(left, end - REACH // 4) - 1, -1):
        if text.word(index) == "between":
            return trimmed(text, index + 1, end)
        if text.word(index) in {",", ";", "and"} | AUXILIARIES:
            break
    return None


def _is_lead(text: Reading, index: int) -> bool:
    word = text.word(index)
    return word in LEADS or word in EXTENT_WORDS or word in COLOURS or not word[0].isalpha() or len(word) == 1


def _is_reference(text: Reading, named: Sequence[int]) -> bool:
    """Say whether the words before marks in brackets only refer to a figure or file: "(S7 Fig. in S1 File, arrows)"."""
    words = [text.word(index) for index in named]
    return any(word in REFERENCES for word in words) and all(
        word in REFERENCES or any(letter.isdigit() for letter in word) for word in words
    )


def _is_short_name(text: Reading, start: int, end: int) -> bool:
    """Say whether an abbreviation alone stands before a mark in brackets: "drusen-like deposits (DLD, arrow)"."""
    words = [text.tokens.texts[index] for index in range(start, end) if text.word(index)[0].isalpha()]
    return len(words) == 1 and sum(letter.isupper() for letter in words[0]) >= 2


def _panels_beside(text: Reading, group: MarkGroup, start: int, closing: int) -> tuple[str, ...]:
    """Panels beside marks in brackets: "(D, arrowheads)", "(arrow, B)"."""
    items, end = parsed_list(text.tokens, start, group.first)
    if (
        items
        and text.tokens.texts[end - 1] != "a"
        and all(text.word(index) in {",", ":"} for index in range(end, group.first))
    ):
        return identifiers(items)
    if text.word(group.end) in {",", ":"} and group.end + 1 < closing:
        position = group.end + 1
        if text.word(position) in {"panel", "panels"}:
            position += 1
        items, end = parsed_list(text.tokens, position, closing)
        if items and (end == closing or text.word(end) == ";"):
            return identifiers(items)
    return ()


def _participle_before(text: Reading, group: MarkGroup, left: int) -> int | None:
    """The participle that ties marks to a thing before it: "indicated by the arrows"; None without one."""
    index = group.first - 1
    if index < left or text.word(index) not in BY:
        return None
    index -= 1
    if text.word(index) in {"out", "also", "only"}:
        index -= 1
    if index < left or text.word(index) not in INDICATED:
        return None
    return None if text.word(group.first - 1) == "as" and text.word(index) in LOOKING else index


def _without_verb(text: Reading, group: MarkGroup, left: int) -> int:
    """The token behind the subject of a participle and its auxiliaries, or before the comma at the marks."""
    participle = _participle_before(text, group, left)
    if participle is None:
        return group.first - 1 if text.word(group.first - 1) == "," else group.first
    return _group_start(text, participle, left)


def _is_magnified(text: Reading, end: int) -> bool:
    """Say whether what stands before a token is a mark's part, larger: "magnified images of the boxes"."""
    return any(text.word(index).startswith(("magnif", "enlarg", "zoom")) for index in range(max(0, end - 4), end))


def _group_start(text: Reading, index: int, left: int) -> int:
    """The first token of a group of verbs that ends at a token: "can also be seen"."""
    while index > left and (
        text.word(index - 1) in AUXILIARIES
        or text.word(index - 1) in GROUP_ADVERBS | {"as", ",", "and"}
        or text.word(index - 1).endswith("ly")
    ):
        index -= 1
    return index


def _subject_after(text: Reading, start: int, right: int) -> Range:
    """The subject of a sentence that begins with a place: "In the red box, the layer is lost"."""
    first, end = after(text, start, right)
    verb = next((index for index in range(first, end) if text.word(index) in AUXILIARIES), end)
    return trimmed(text, first, verb)


def _backward(text: Reading, group: MarkGroup, left: int, after_mark: bool, shares: int | None) -> _Tie | None:
    """What stands before marks outside of brackets: "drusen, indicated by arrows", "fluid between the arrows"."""
    name = group.names[-1]
    is_plural = name.is_plural or len(group.names) > 1
    participle = _participle_before(text, group, left)
    if name.form == "participle":
        if name.last > name.first and name.colour is None:
            return _Tie([(0, 0)] * len(group.names))
        end = _group_start(text, group.first, left)
    elif participle is not None:
        end = _group_start(text, participle, left)
    elif (
        text.word(group.first - 1) == "to" and text.word(group.first - 2) == "corresponding" and group.first - 2 > left
    ):
        end = group.first - 2
    elif text.word(group.first - 1) in AT and group.first - 1 >= left:
        end = group.first - 1
        if end == text.sentence(group.first)[0] and text.word(group.end) == ",":
            return _Tie(_shared(text, group, _subject_after(text, group.end + 1, text.sentence(end)[1]), shares))
        if end == text.sentence(group.first)[0] and text.word(group.end) in {"is", "are"}:
            return _Tie(_shared(text, group, after(text, group.end + 1, text.sentence(end)[1]), shares))
        if text.word(end) == "of" or end == text.sentence(group.first)[0]:
            return _Tie([(0, 0)] * len(group.names), evidence=is_measured(text, group) or _is_magnified(text, end))
        if name.strength != "strong" and (
            (name.colour is None and name.style is None) or text.word(end) in {"of", "from"}
        ):
            return None
    elif (
        name.strength == "strong" and text.word(group.first - 1) == "," and text.word(group.end) in {"", ".", ";", ","}
    ):
        end = group.first - 1
    else:
        return None
    whole = is_plural or shares is not None
    target = before(text, end, left, is_plural=whole, after_mark=after_mark)
    return _Tie(_shared(text, group, target, shares))
