"""Clauses of a sentence that speaks of several panels or figures: "A shows … (Fig. 2A), whereas B shows … (Fig. 2B)".

Of such a sentence a panel's summary tells only what is of the panel, verbatim. A cut is made where both sides are
clauses in their own right: each names a figure or panel, has a verb and a subject of its own, and does not refer to the
other. Else the sentence stays whole: a clause out of its frame ("whether …", "respectively") would say something else.
Add here: where a sentence may be cut. Keep out: how a text names figures and panels (`articles.references`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.references import FigureReference, references
from pmo_assets.pipeline.context.panel_names import PanelNames

_JOINT: Final = re.compile(
    r"(?:;\s+(?:(?:and|but|while|whereas)\s+)?|,\s+(?:and|but|while|whereas)\s+|(?<=[)\]])\s+(?:and|but|while|whereas)\s+)"
)
"""What stands between two clauses, so that it belongs to neither."""

_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|do|can|could|will|would|may|might|shows?|showed|reveal(?:s|ed)?|indicated?s?"
    r"|demonstrate[sd]?|display(?:s|ed)?|exhibit(?:s|ed)?|illustrate[sd]?|depict(?:s|ed)?|present(?:s|ed)|represents?"
    r"|preserves?|contain(?:s|ed)|remain(?:s|ed)|appear(?:s|ed)|increase[sd]|decrease[sd]|reduced|induced|declined|improved"
    r"|became|rose|fell|led|found|occurred|observed|resulted|caused|differ(?:s|ed)?|correlate[sd]?|corresponds?)\b",
    re.IGNORECASE,
)
_WITHOUT_SUBJECT: Final = re.compile(
    rf"(?:(?:also|not|then|thus|therefore|only|even|still|again|both|so|nor|neither|vice\sversa)\b|{_VERB.pattern})",
    re.IGNORECASE,
)
_GOES_BACK: Final = re.compile(
    r"\b(?:it|its|they|them|their|this|these|those|such|he|she|his|her|latter|former|same|others?|another|opposite|reverse"
    r"|similar|similarly|likewise)\b",
    re.IGNORECASE,
)
# A sentence with one of these says something of its clauses together, or of one under the condition of the other; or it
# is two, printed without a blank between them.
_FRAME: Final = re.compile(
    r"\b(?:[Rr]espectively|[Ww]hether|[Ii]f|unless|because|[Ss]ince|[Aa]lthough|[Tt]hough|[Ww]hen|than|[Nn]either|[Ee]ither"
    r"|[Nn]ot\sonly|[Ww]e|that)\b|:\s|\.[A-Z]"
)
_OPENING: Final = 12
"""Characters before a reference that opens its clause ("As shown in …"); others close what they stand for."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of a sentence and the references in it."""

    start: int
    end: int
    references: tuple[FigureReference, ...]


def clauses_of_panel(sentence: str, identifier: str | None, names: PanelNames) -> list[tuple[int, int]]:
    """Return the [start, end) ranges of a sentence that speak of a panel; the whole sentence where it cannot be cut.

    Args:
        sentence: that speaks of the panel, or of its figure as a whole.
        identifier: of the panel; None for the only one of its figure, or one without a name.
        names: of the figure; without a key, no sentence is cut.
    """
    whole = [(0, len(sentence))]
    if names.key is None or _FRAME.search(sentence) or not _JOINT.search(sentence):
        return whole
    parts = _parts(sentence)
    if len(parts) < 2:
        return whole
    of_panel = [_names_panel(part.references, identifier, names) for part in parts]
    if all(of_panel) or not any(of_panel):
        return whole
    kept: list[tuple[int, int]] = []
    for n, part in enumerate(parts):
        if of_panel[n] and n and of_panel[n - 1]:
            kept[-1] = kept[-1][0], part.end
        elif of_panel[n]:
            kept.append((part.start, part.end))
    return kept


def _parts(sentence: str) -> list[_Part]:
    """The clauses of a sentence that stand in their own right, in order; none or one where it cannot be cut."""
    found = references(sentence)
    if len(found) < 2:
        return []
    parts: list[_Part] = []
    start, last = 0, len(sentence)
    for joint in [*_joints(sentence, found), None]:
        end = last if joint is None else joint.start()
        inside = tuple(item for item in found if start <= item.start < end)
        parts.append(_Part(start, end, inside))
        start = last if joint is None else joint.end()
    return _in_their_own_right(sentence, parts)


def _joints(sentence: str, found: Sequence[FigureReference]) -> Iterator[re.Match[str]]:
    """The joints outside of brackets and references."""
    depth = read = n = 0
    for joint in _JOINT.finditer(sentence):
        between = sentence[read : joint.start()]
        depth += sum(between.count(mark) for mark in "([") - sum(between.count(mark) for mark in ")]")
        read = joint.start()
        while n < len(found) and found[n].end <= joint.start():
            n += 1
        if depth == 0 and not (n < len(found) and found[n].start < joint.end()):
            yield joint


def _in_their_own_right(sentence: str, parts: Sequence[_Part]) -> list[_Part]:
    """Join parts that do not stand alone to the one before, and those without a reference to the one that closes them.

    Returns () where that is not sure: behind the last reference, or where a reference opens its clause.
    """
    opens = any(part.references and part.references[0].start - part.start <= _OPENING for part in parts)
    if not parts[-1].references or (opens and not all(part.references for part in parts)):
        return []
    joined: list[_Part] = []
    start: int | None = None  # of parts without a reference so far
    for part in parts:
        own = part if start is None else _Part(start, part.end, part.references)
        start = None if own.references else own.start
        if not own.references:
            continue
        if joined and not _stands_alone(sentence[own.start : own.end]):
            joined[-1] = _Part(joined[-1].start, own.end, (*joined[-1].references, *own.references))
        else:
            joined.append(own)
    return joined if _VERB.search(sentence[joined[0].start : joined[0].end]) else []


def _stands_alone(clause: str) -> bool:
    """Say whether a clause has a verb and a subject, and refers to no other."""
    return _VERB.search(clause) is not None and not (_WITHOUT_SUBJECT.match(clause) or _GOES_BACK.search(clause))


def _names_panel(found: Sequence[FigureReference], identifier: str | None, names: PanelNames) -> bool:
    """Say whether references name a panel or its figure as a whole; one without a figure is of the figure before."""
    for reference in found:
        if reference.key not in (None, names.key):
            continue
        if identifier is None or not reference.names or identifier in names.named(reference.names):
            return True
    return False
