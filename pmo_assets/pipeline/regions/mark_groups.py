"""Groups of marks' names that share what they show, and whether they name marks at all or a plot's symbols.

Add here: which names stand together, and what else a sign or a line may be. Keep out: single names (`mark_names`), and
what they show (`phrases`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.captions.tokens import DASHES, OPENING
from pmo_assets.pipeline.regions.mark_names import QUOTES, MarkName
from pmo_assets.pipeline.regions.targets import REACH, Range, Reading
from pmo_assets.pipeline.regions.vocabulary import (
    AUXILIARIES,
    AVERAGES,
    AXES,
    COHORTS,
    DATA_WORDS,
    INDICATING,
    MEASURED_IN,
    SIGNIFICANCE,
)

_JOINERS: Final = frozenset({"and", "or", ",", "/", "&", "the", "a", "an", "by"})
_RELATIONS: Final = frozenset("<>=≤≥:")
_PLACE: Final = 8
"""Words between two names, of a place and a conjunction."""
_COHORT_REACH: Final = 3
"""Words between a bracket and the cohort before it: "patients with schizophrenia (triangles)"."""
COMPARED: Final = frozenset(
    {"p", "n", "t", "compared", "versus", "vs", "significant", "significantly", "statistically"}
)
"""Words behind a sign that make it one of significance, not a mark."""


@dataclass(frozen=True, slots=True)
class MarkGroup:
    """Names of marks that share what they show: "white and red arrows".

    Attributes:
        names: in order.
        first: their first token, with article and quotation mark.
        end: token after the last, with label and panel.
        bracket: the opening bracket round them, -1 without one.
        closing: the bracket's end; the number of tokens without one.
    """

    names: Sequence[MarkName]
    first: int
    end: int
    bracket: int
    closing: int


def mark_groups(text: Reading) -> list[MarkGroup]:
    """Return the names that stand together, in order."""
    found: list[list[MarkName]] = []
    for name in text.names:
        last = found[-1][-1] if found else None
        is_near = last is not None and name.lead - last.last <= 4
        if last is not None and ((is_near and _is_joined(text, last, name)) or _is_joined_by_places(text, last, name)):
            found[-1].append(name)
        else:
            found.append([name])
    return [_group(text, names) for names in found]


def _is_joined(text: Reading, last: MarkName, name: MarkName) -> bool:
    if last.shares:
        return True
    if text.tokens.texts[last.last + 1 : last.last + 2] == [";"]:
        return False
    between = [text.word(index) for index in range(max(last.last + 1, last.reach), name.lead)]
    return bool(between) and all(word in _JOINERS for word in between) and between != [","]


def _is_joined_by_places(text: Reading, last: MarkName, name: MarkName) -> bool:
    """Say whether two names stand side by side, each with its place: "the arrow in the scan and the line in B"."""
    between = [text.word(index) for index in range(last.last + 1, name.lead)]
    is_place = 2 < len(between) <= _PLACE and between[0] in {"in", "on"} and between[-1] in {"and", "or"}
    return is_place and all(word.isalnum() and word not in INDICATING | AUXILIARIES for word in between)


def _group(text: Reading, names: list[MarkName]) -> MarkGroup:
    first, end = names[0].lead, names[-1].reach
    while first > 0 and text.word(first - 1) in QUOTES and end < len(text.tokens.texts) and text.word(end) in QUOTES:
        first, end = first - 1, end + 1
    bracket = text.enclosing[names[0].first]
    closing = text.tokens.partners[bracket] if bracket >= 0 else len(text.tokens.texts)
    if bracket >= 0 and (closing < end or closing - bracket > 2 * REACH):
        bracket, closing = -1, len(text.tokens.texts)
    if bracket < 0 and first > 0 and text.word(first - 1) in OPENING:
        bracket, closing = first - 1, end  # a bracket that is never closed
    return MarkGroup(names, first, end, bracket, closing)


def _clause(text: Reading, group: MarkGroup) -> Range:
    """Return the tokens that a group stands among: the sentence; in brackets its clause, up to ":" or ";"."""
    start, stop = text.sentence(group.first)
    first, end = max(start, group.first - REACH), min(stop, group.end + REACH)
    if group.bracket >= 0:
        first = next(
            (index + 1 for index in range(group.first - 1, first - 1, -1) if text.word(index) in {";", ":"}), first
        )
        end = next((index for index in range(group.end, end) if text.word(index) == ";"), end)
    return first, end


def is_of_data(text: Reading, group: MarkGroup) -> bool:
    """Say whether shapes and lines are those of a plot: their clause speaks of curves, means, significance."""
    name = group.names[-1]
    if name.kind in {"arrow", "arrowhead"} and (name.strength == "strong" or name.form == "sign"):
        return False
    first, end = _clause(text, group)
    words = DATA_WORDS if name.kind == "asterisk" or group.bracket >= 0 else DATA_WORDS | SIGNIFICANCE
    if name.form != "noun" or (name.strength == "strong" and name.kind == "asterisk"):
        return False
    if _is_of_cohort(text, group):
        return True
    words = words - AVERAGES if is_measured(text, group) else words
    return any(text.word(index) in words or _is_plot_axis(text, index) for index in range(first, end))


def _is_of_cohort(text: Reading, group: MarkGroup) -> bool:
    """Say whether a bracket of shapes or lines stands behind those whose data they are: "controls (circles)"."""
    for index in range(group.bracket - 1, max(group.bracket - 1 - _COHORT_REACH, -1), -1):
        word = text.word(index)
        if not word[0].isalnum():
            return False
        if word in COHORTS:
            return True
    return False


def is_measured(text: Reading, group: MarkGroup) -> bool:
    """Say whether a value is measured in a mark with a colour: "the mean grey value of the blue boxes"."""
    name = group.names[-1]
    is_definite = name.colour is not None and name.lead < name.first and text.word(name.lead) == "the"
    return is_definite and group.bracket < 0 and text.word(group.first - 1) in MEASURED_IN


def _is_plot_axis(text: Reading, index: int) -> bool:
    if text.word(index) != "axis":
        return False
    return text.word(index - 1) in AXES or (text.word(index - 1) in DASHES and text.word(index - 2) in AXES)


def is_significance(text: Reading, group: MarkGroup) -> bool:
    """Say whether a legend tells what significance a sign stands for."""
    if text.word(group.end) in COMPARED:
        return True
    stop = min(text.sentence(group.first)[1], group.end + 24)
    stop = stop if group.closing == group.end else min(stop, group.closing)
    for index in range(group.end, stop):
        word = text.word(index)
        if word in SIGNIFICANCE:
            return True
        if word == "p" and (
            text.word(index + 1) in _RELATIONS or text.word(index + 1) in {"value", "values", "-", "is"}
        ):
            return True
        if word == ";":
            return False
    return False
