"""The series of identifiers that a caption uses for its panels, elected among those that its mentions allow."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.mention import Form, Mention
from pmo_assets.pipeline.captions.places import are_opposed, axis_of, same_place
from pmo_assets.pipeline.captions.series import Rank, Series, expanded, identifier_at

MAX_PANELS: Final = 64
"""Panels of a caption at most: a printed figure has no more, and the output stays linear in the caption's length."""


@dataclass(frozen=True, slots=True)
class PanelMention:
    """A mention whose items are read in the elected series: `identifiers` in series order, ranges expanded."""

    mention: Mention
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdentifierSeries:
    """The panels a caption names.

    Attributes:
        series: kind of the identifiers.
        identifiers: all identifiers in series order (positions in order of appearance).
        mentions: the mentions that name them, in caption order.
        restarts: number of times that the heads of the series begin again; above zero for nested or repeated lists.
        missing: identifiers skipped inside the series.
        rivals: number of other series that would have been possible.
    """

    series: Series
    identifiers: tuple[str, ...]
    mentions: tuple[PanelMention, ...]
    restarts: int
    missing: tuple[str, ...]
    rivals: int


_LEAST_KEY: Final = 3
"""Entries of the shortest list that is told from panels by the order of its letters."""
_BRIEF_KEY: Final = 4
"""Tokens from one letter of a list that explains to the next: "C: cornea, D: duct"."""
_LONGEST_GAP: Final = 2
"""From one letter of a list of panels to the next, where the authors left one out."""

_Read = tuple[Mention, dict[str, Rank]]
"""A mention and the ranks of its identifiers in the series that is tried."""


def elected_series(found: Sequence[Mention]) -> IdentifierSeries | None:
    """The series of identifiers that the caption uses for its panels, or None for a single-panel caption.

    Candidates are ranked by the fewest restarts (a nested list begins again under every panel), then by the earliest
    first mention, then by size. Steps and words of place count only where no letters or numerals form a series.

    Words in the figure are no evidence: they name structures and curves as often as panels.
    """
    candidates: list[tuple[tuple[float, ...], IdentifierSeries]] = []
    letters = [mention for mention in found if not mention.positional]
    for order, series in enumerate((Series.UPPER, Series.LOWER, Series.ROMAN, Series.UPPER_ROMAN)):
        candidate = _lettered(series, letters)
        if candidate is not None:
            size = len(set(candidate.identifiers))
            key = (candidate.restarts, candidate.mentions[0].mention.start, -size, order)
            candidates.append((key, candidate))
    if not candidates:
        placed = _placed([mention for mention in found if mention.positional])
        return _stepped(letters) or placed or _number_headed(letters)
    placed = _placed([mention for mention in found if mention.positional])
    if placed is not None and all(_within_one(item, placed) for _, item in candidates):
        return replace(placed, rivals=len(candidates))
    candidates.sort(key=lambda pair: pair[0])
    elected = candidates[0][1]
    if not any(naming.mention.opens for naming in elected.mentions):
        # "(A) Means; different letters (a and b) differ. (B) Medians"
        start = elected.mentions[0].mention.start
        headed = (item for _, item in candidates if len(_opening(item)) > 1 and item.mentions[0].mention.start < start)
        elected = next(headed, elected)
    return replace(elected, rivals=len(candidates) - 1)


def _opening(series: IdentifierSeries) -> set[str]:
    """Return the identifiers that open a sentence or clause."""
    return {identifier for naming in series.mentions if naming.mention.opens for identifier in naming.identifiers}


def _within_one(series: IdentifierSeries, placed: IdentifierSeries) -> bool:
    """Say whether a series lists parts in the text of one place: "(Top) Components: (i) X and (ii) Y. (Bottom) Z"."""
    heads = [naming.mention.first for naming in placed.mentions if naming.mention.begins]
    if len(heads) < len(placed.mentions) or any(naming.mention.begins for naming in series.mentions):
        return False
    first, last = (bisect(heads, series.mentions[at].mention.first) for at in (0, -1))
    return 0 < first == last


def numbered_series(found: Sequence[Mention]) -> IdentifierSeries | None:
    """The series 1, 2, 3 … that the caption uses, be it for panels or for findings; None without one."""
    return _lettered(Series.NUMBER, [mention for mention in found if not mention.positional])


def _number_headed(found: Sequence[Mention]) -> IdentifierSeries | None:
    """The series 1, 2, 3 … where each number opens a sentence: in running text numbers list findings or parts."""
    numbered = numbered_series([mention for mention in found if mention.begins])
    return numbered if numbered is not None and not numbered.missing else None


def _lettered(series: Series, found: Sequence[Mention]) -> IdentifierSeries | None:
    """The mentions of a series of letters or numerals; None where they form no run from its beginning."""
    read: list[_Read] = []
    for mention in found:
        ranks = expanded(series, mention.items)
        if ranks is not None:
            read.append((mention, ranks))
    read = _without_lone_parts(read)
    if not read:
        return None
    printed = [pair for pair in read if pair[0].form is not Form.BARE]
    run = _run(series, printed)
    if run is not None:
        longer = _longer_bare_run(series, read, run[0]) if len(printed) < len(read) else None
        read, run = longer or (printed, run)
    else:
        read = _bare_chain(read)
        run = _run(series, read)
        if run is None:
            return None
    if series is Series.ROMAN and not any(mention.opens and (0, -1) in ranks.values() for mention, ranks in read):
        return None  # "because of (i) ungradable photographs or (ii) missing data"
    if _are_marks(series, read, *run) or _abbreviate(read, run[0]):
        return None
    read = _without_parts(read, run[0])
    read = _without_glossary(read, (_run(series, read) or run)[0])
    run = _run(series, read)
    if run is None:
        return None
    identifiers, missing = run
    kept = _named(read, identifiers)
    if not kept:
        return None
    return IdentifierSeries(series, tuple(identifiers), tuple(kept), _restarts(kept, identifiers), tuple(missing), 0)


def _are_marks(series: Series, read: Sequence[_Read], identifiers: Sequence[str], missing: Sequence[str]) -> bool:
    """Say whether letters mark what one picture shows: none stands before its text, and they are no sequence.

    "Three impacted molars (g), … is missing (b), … radiolucency (c)" begins behind A, leaps and goes back.
    """
    if identifier_at(series, 0) not in missing or any(mention.opens for mention, _ in read):
        return False
    order = list(dict.fromkeys(rank[0] for _, ranks in read for rank in ranks.values()))
    return order != sorted(order) and max(order) >= len(identifiers)


def _abbreviate(read: Sequence[_Read], identifiers: Sequence[str]) -> bool:
    """Say whether all letters of a series abbreviate the words behind them: "B: bladder, C: cecum"."""
    naming = [mention for mention, ranks in read if not ranks.keys().isdisjoint(identifiers)]
    return all(mention.abbreviates for mention in naming)


def _named(read: Sequence[_Read], identifiers: Sequence[str]) -> list[PanelMention]:
    """The mentions that name identifiers of a series, and only these."""
    allowed = set(identifiers)
    kept: list[PanelMention] = []
    for mention, ranks in read:
        named = ranks.keys() & allowed
        if not named:
            named = {part[0] for part, rank in ranks.items() if rank[1] >= 0 and part[0] in allowed}
            if not named:
                continue
            # a part of a panel, "(a1)": its text belongs to panel a and keeps the name of the part
            mention = replace(mention, cuts=())
        elif len(named) < len(ranks):
            continue
        kept.append(PanelMention(mention, tuple(identifier for identifier in identifiers if identifier in named)))
    return kept


def _longer_bare_run(
    series: Series, read: Sequence[_Read], identifiers: Sequence[str]
) -> tuple[list[_Read], tuple[list[str], list[str]]] | None:
    """The longer series of heads without brackets that brackets take up: "a, b Rods (a) and cones (b). c Fit"."""
    chain = _bare_chain(read)
    run = _run(series, chain)
    if run is None or not set(identifiers) <= set(run[0]):
        return None
    if len(identifiers) == len(run[0]) and any(len(ranks) < 2 for mention, ranks in chain if mention.form is Form.BARE):
        return None  # "A" is mostly an article, "a–d" is none
    kept = [pair for pair in read if pair[0].form is not Form.BARE or pair in chain]
    return kept, run


def _without_lone_parts(read: list[_Read]) -> list[_Read]:
    """The mentions without abbreviations that look like a part of a panel: "cancer (Ca)", "complement (C3)" beside C.

    A panel that has a name of its own has several parts, or a first one with a number.
    """
    named = {rank for _, ranks in read for rank in ranks.values()}
    parts: dict[int, set[int]] = {}
    for place, part in named:
        if part >= 0:
            parts.setdefault(place, set()).add(part)

    def is_lone(ranks: dict[str, Rank]) -> bool:
        if len(ranks) > 1:
            return False
        ((text, (place, part)),) = ranks.items()
        alone = part >= 0 and (place, -1) in named and len(parts[place]) == 1
        return alone and not (part == 0 and text[-1].isdigit())

    return [pair for pair in read if not is_lone(pair[1])]


def _without_parts(read: list[_Read], identifiers: Sequence[str]) -> list[_Read]:
    """The mentions without letters that stand for what a picture shows, at the end of the series.

    "Wild type (A) and mutant (B); between cornea (C) and iris (I)": an initial beside other initials, or beside heads
    of another form, abbreviates. "(A): Variants (A–F and S). (B): Blots": a list in a panel's own text that names the
    panel and others without heads lists something else. "(A) Cells. N, nucleus; C, cytoplasm. (B) Rods": a glossary.
    """
    heads = {part for mention, ranks in read if mention.begins for part in ranks if part in identifiers}
    bracketed = {part for mention, ranks in read if mention.form is Form.BRACKETS for part in ranks}
    others = any(mention.initial and set(identifiers).isdisjoint(ranks) for mention, ranks in read)
    delimited = bool(heads) and bracketed.isdisjoint(heads)
    opening = {part for mention, ranks in read if mention.begins and mention.form is Form.BRACKETS for part in ranks}
    enclosed = len(opening.intersection(identifiers)) > 1 and heads <= bracketed
    several = sum(mention.begins for mention, _ in read) > 1  # no list under one head "(A–J)" for all
    started = False
    suspects: list[_Read] = []
    for mention, ranks in read:
        started = started or mention.begins
        listed = started and several and not mention.opens and len(ranks) > 1 and not heads.isdisjoint(ranks)
        explains = enclosed and mention.form is Form.DELIMITED and not mention.begins
        abbreviates = mention.initial and (others or delimited)
        if explains or abbreviates or (listed and not heads.issuperset(ranks)):
            suspects.append((mention, ranks))
    if not suspects:
        return read
    kept = [pair for pair in read if pair not in suspects]
    sure = {part for _, ranks in kept for part in ranks}
    unsure = {part for _, ranks in suspects for part in ranks} - sure
    until = next((at for at, part in enumerate(identifiers) if part in unsure), len(identifiers))
    return kept if 2 <= until < len(identifiers) and heads.isdisjoint(identifiers[until:]) else read


def _without_glossary(read: list[_Read], identifiers: Sequence[str]) -> list[_Read]:
    """The mentions without "C, cornea" and "D, dioptres" behind panels that all have names in brackets."""
    bracketed: set[str] = set()
    delimited: set[str] = set()
    for mention, ranks in read:
        if mention.form in {Form.BRACKETS, Form.HALF}:
            bracketed.update(ranks)
        elif mention.form is Form.DELIMITED:
            delimited.update(ranks)
    if not delimited:
        return read
    unequal = [pair for pair in read if not pair[0].equated]
    if bracketed or len({part for _, ranks in unequal for part in ranks}) > 1:
        read = unequal  # "rods (a) and cones (b); c = cilium; d = disc"
    if not bracketed:
        return _without_keys(read)
    if not _explains(read, bracketed) and (identifiers[0] in delimited or not bracketed.issuperset(identifiers)):
        return read
    return [pair for pair in read if pair[0].form is not Form.DELIMITED]


def _explains(read: Sequence[_Read], bracketed: set[str]) -> bool:
    """Say whether what has a delimiter explains letters behind panels A, B … in brackets: "D, disc; F, fovea".

    It would go on with the next letter, or begin with A and be in order, if it named panels; a list of single words
    that names A, B and C again and then D explains, too.
    """
    last_bracket = max(at for at, pair in enumerate(read) if pair[0].form in {Form.BRACKETS, Form.HALF})
    places = sorted({rank[0] for _, ranks in read for part, rank in ranks.items() if part in bracketed})
    keys = [pair for pair in read if pair[0].form is Form.DELIMITED]
    if len(places) < 2 or places != list(range(len(places))) or len(keys) < 2:
        return False
    if read.index(keys[0]) < last_bracket or any(len(ranks) > 1 for _, ranks in keys):
        return False
    ranks = [min(ranks.values())[0] for _, ranks in keys]
    in_order = ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    brief = all(right.first - left.last <= _BRIEF_KEY for (left, _), (right, _) in pairwise(keys))
    again = brief and ranks[0] == 0 and len(ranks) > len(places)
    return not in_order or again or ranks[0] not in {0, len(places)}


def _without_keys(read: list[_Read]) -> list[_Read]:
    """The mentions without lists that explain letters: "C, cornea; A, anterior chamber; B, ciliary body; L, lens".

    Their letters are no series: one goes back, or leaves out more than one.
    """
    lists: list[list[_Read]] = []
    for pair in read:
        goes_on = lists and pair[0].form is lists[-1][-1][0].form is Form.DELIMITED and not pair[0].begins
        if goes_on:
            lists[-1].append(pair)
        else:
            lists.append([pair])
    return [pair for group in lists if not _is_key(group) for pair in group]


def _is_key(group: Sequence[_Read]) -> bool:
    if len(group) < _LEAST_KEY or any(len(ranks) > 1 for _, ranks in group):
        return False
    ranks = [min(ranks.values())[0] for _, ranks in group]
    return any(right < left or right - left > _LONGEST_GAP for left, right in pairwise(ranks))


def _bare_chain(read: Sequence[_Read]) -> list[_Read]:
    """The mentions that continue each other (A, B, C ...) among those without any delimiter.

    "A" and "a" are mostly articles: the first identifier is the last candidate before the second one.
    """
    openers = [pair for pair in read if pair[0].form in {Form.BARE, Form.DELIMITED, Form.HALF} or pair[0].opens]
    chain: list[_Read] = []
    expected = 0
    last = (-1, -1)
    first: _Read | None = None
    for pair in openers:
        low = min(rank[0] for rank in pair[1].values())
        high = max(rank[0] for rank in pair[1].values())
        if (
            low == 0
            and min(pair[1].values())[1] <= 0
            and (not chain or (len(chain) == 1 and expected == 1 and high == 0))
        ):
            if first is None or pair[0].opens or not first[0].opens:
                first = pair
                chain = [pair]
                expected = high + 1
                last = max(pair[1].values())
        elif (
            chain and _goes_on(chain[0], pair) and (low == expected or min(pair[1].values()) == (last[0], last[1] + 1))
        ):
            chain.append(pair)
            expected = high + 1
            last = max(pair[1].values())
    if len(chain) < 2:
        return []
    after = chain[-1][0].first
    for pair in read:  # "D Infrared. E OCT; the box is magnified in the inset (F) Drusen"
        mention, ranks = pair
        if mention.form is Form.BRACKETS and mention.first > after and set(ranks.values()) == {(expected, -1)}:
            chain.append(pair)
            expected += 1
    return chain


def _goes_on(first: _Read, pair: _Read) -> bool:
    """Say whether a mention can go on a chain: it opens a clause, or small letters begin without marks."""
    mention = pair[0]
    small = all(identifier.islower() for identifier in (*first[1], *pair[1]))
    return mention.opens or (small and first[0].begins and first[0].form is mention.form is Form.BARE)


def _run(series: Series, read: Sequence[_Read]) -> tuple[list[str], list[str]] | None:
    """The identifiers of the unbroken run A, B, C ... and those skipped in it; None when there is no run of two."""
    ranked: dict[str, Rank] = {}
    first_at: dict[int, int] = {}  # the first and the last mention that names a place of the series
    last_at: dict[int, int] = {}
    for index, (_, ranks) in enumerate(read):
        ranked.update(ranks)
        for place, _ in ranks.values():
            first_at.setdefault(place, index)
            last_at[place] = index
    at_place: dict[int, list[tuple[int, str]]] = {}
    for identifier, (place, part) in ranked.items():
        at_place.setdefault(place, []).append((part, identifier))
    opening = {place for mention, ranks in read if mention.opens for place, _ in ranks.values()}
    passed_over = _passed_over(read)
    identifiers: list[str] = []
    missing: list[str] = []
    place = 0
    while place <= max(at_place, default=-1):
        group = sorted(at_place.get(place, ()))
        plain = [identifier for part, identifier in group if part < 0]
        parts = [identifier for part, identifier in group if part >= 0]
        complete = bool(parts) and group[0][0] == 0 and (len(parts) > 1 or place > 0)
        if plain:
            identifiers.extend(plain[:1])
        elif complete:
            identifiers.extend(parts)
        elif (
            not missing
            and _stands(at_place.get(place + 1, ()))
            and (identifiers or place + 2 in at_place)
            and (
                not place or place + 1 in opening or not opening.issuperset(range(place))
            )  # "A. Epithelium (D) over stroma (C)"
            and first_at.get(place - 1, -1) <= last_at[place + 1]  # "cornea (C), iris (I) and angle (A)"
        ):
            if place not in passed_over:
                missing.append(identifier_at(series, place))
                identifiers.append(identifier_at(series, place))
        else:
            break
        place += 1
    if len(identifiers) - len(missing) < 2 or len(identifiers) > MAX_PANELS:
        return None
    allowed = set(identifiers)
    naming = [mention for mention, ranks in read if not allowed.isdisjoint(ranks)]
    numerals = series in {Series.ROMAN, Series.UPPER_ROMAN}
    alone = len(naming) < 2 and naming[0].form in {Form.NOUN, Form.PARTIAL}
    if len(naming) < 2 and (numerals or (alone and not (naming[0].form is Form.NOUN and naming[0].begins))):
        return None  # "stages (I-III)", "(HPF, A-C)", but "Panels A and B show ..."
    if all(mention.form is Form.NOUN for mention in naming) and not any(mention.opens for mention in naming):
        return None
    return identifiers, missing


def _stands(group: Sequence[tuple[int, str]]) -> bool:
    """Say whether names at one place of a series are a panel's: its letter, or parts from the first one on."""
    parts = sorted(part for part, _ in group)
    return bool(parts) and (parts[0] < 0 or (parts[0] == 0 and len(parts) > 1))  # "[Fe]" is no part of F


def _passed_over(read: Sequence[_Read]) -> set[int]:
    """Return the places between those of one list that it leaves out: D of "(A to C and E)"."""
    return {
        place
        for _, ranks in read
        for (left, _), (right, _) in pairwise(sorted(ranks.values()))
        for place in range(left + 1, right)
    }


def _restarts(kept: Sequence[PanelMention], identifiers: Sequence[str]) -> int:
    """Return the number of times that the heads go back to an earlier identifier."""
    position = {identifier: index for index, identifier in enumerate(identifiers)}
    restarts, previous = 0, -1
    for naming in kept:
        if not naming.mention.opens:
            continue
        restarts += position[naming.identifiers[0]] < previous
        previous = position[naming.identifiers[-1]]
    return restarts


def _stepped(found: Sequence[Mention]) -> IdentifierSeries | None:
    """ "Step 1: ... Step 2: ..." at sentence starts."""
    chain: list[PanelMention] = []
    noun = ""
    for mention in found:
        step = mention.items[0][0]
        if " " not in step:
            continue
        word, number = step.split(" ")
        if int(number) == len(chain) + 1 and (not chain or word.lower() == noun):
            noun = word.lower()
            chain.append(PanelMention(mention, (step,)))
    if not 2 <= len(chain) <= MAX_PANELS:
        return None
    return IdentifierSeries(Series.STEP, tuple(item.identifiers[0] for item in chain), tuple(chain), 0, (), 0)


def one_axis(found: Sequence[Mention]) -> Sequence[Mention]:
    """The mentions of rows or of columns, whichever come first, where a caption names both; all others' mentions."""
    axes: list[str] = []
    for mention in found:
        axis = axis_of(mention.items[0][0])
        if axis is None:
            return found
        axes.append(axis or (axes[-1] if axes else ""))  # a middle lies where the place before it does
    return [mention for mention, axis in zip(found, axes, strict=True) if axis in {axes[0], ""}]


def _placed(found: Sequence[Mention]) -> IdentifierSeries | None:
    """Words of place; at least two on one axis, so that a single "(left)" stays text.

    In a grid whose rows and columns are both named, those named first are the panels: panels do not overlap, and only
    the highest level is one (annotation guide). What is said of the others concerns all panels.
    """
    kept: list[PanelMention] = []
    identifiers: list[str] = []
    first: dict[str, str] = {}  # "upper" and "top" are one panel, by the word that comes first
    for mention in one_axis(found):
        places = tuple(dict.fromkeys(first.setdefault(same_place(place), place) for place, _ in mention.items))
        kept.append(PanelMention(mention, places))
        identifiers.extend(place for place in places if place not in identifiers)
    if not are_opposed(identifiers) or not 2 <= len(identifiers) <= MAX_PANELS:
        return None
    return IdentifierSeries(Series.POSITION, tuple(identifiers), tuple(kept), 0, (), 0)
