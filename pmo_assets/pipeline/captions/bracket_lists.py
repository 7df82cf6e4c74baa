"""Lists of panels with their text inside brackets: "Photographs (A, right eye; B, left eye) and OCT (C) of a girl"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.captions.election import PanelMention
from pmo_assets.pipeline.captions.phrases import item_start, lead_end
from pmo_assets.pipeline.captions.pieces import PieceList
from pmo_assets.pipeline.captions.tails import add_tailed, after_separator
from pmo_assets.pipeline.captions.tokens import OPENING, Tokens

_LINKS: Final = frozenset({",", ";", "and", "or", "&"})


def bracket_lists(tokens: Tokens, heads: Sequence[PanelMention], stop: int) -> list[tuple[list[PanelMention], int]]:
    """The heads and the closing token of each bracket; [] unless every head stands in one that ends before `stop`."""
    found: list[tuple[list[PanelMention], int]] = []
    for naming in heads:
        mention = naming.mention
        if found and mention.last < found[-1][1]:
            found[-1][0].append(naming)
        elif tokens.texts[mention.first] in OPENING and mention.last < tokens.partners[mention.first] < stop:
            found.append(([naming], tokens.partners[mention.first]))
        else:
            return []
    return found if any(len(group) > 1 for group, _ in found) else []


def add_bracket_lists(
    pieces: PieceList,
    span: tuple[int, int],
    tails: Sequence[PanelMention],
    lists: Sequence[tuple[list[PanelMention], int]],
) -> None:
    """Add the pieces of a sentence in characters [start, end) whose heads all stand in brackets.

    The brackets and the texts before them belong to their panels, the text behind the last one to all. `tails` are the
    identifiers before the first bracket.
    """
    tokens = pieces.tokens
    position = span[0]
    if tails:
        position = tails[-1].mention.end
        add_tailed(pieces, span[0], position, tails)
    everyone = pieces.union([*tails, *(head for group, _ in lists for head in group)])
    position = after_separator(tokens, position, span[1])
    starts = [bisect_left(tokens.starts, position), *(closing + 1 for _, closing in lists[:-1])]
    leads = [(start, group[0].mention.first) for start, (group, _) in zip(starts, lists, strict=True)]
    others = [(item_start(tokens, *lead), lead[1]) for lead in leads[1:]]
    shared = lead_end(tokens, *leads[0], others)
    if shared is not None and not tails:
        # "Photographs at | presentation (A: OD; B: OS) and after surgery (C: OD; D: OS)"
        pieces.add(tokens.starts[leads[0][0]], tokens.starts[shared], everyone)
        leads[0] = shared, leads[0][1]
    for (start, stop), (group, closing) in zip(leads, lists, strict=True):
        identifiers = pieces.union(group)
        begin = item_start(tokens, start, stop)
        pieces.add(tokens.starts[begin], tokens.starts[stop] + 1, identifiers)
        for index, naming in enumerate(group):
            until = group[index + 1].mention.first if index + 1 < len(group) else closing
            first = naming.mention.last + 1
            while until - 1 > first and tokens.texts[until - 1].lower() in _LINKS:
                until -= 1
            if first < until:
                pieces.add(tokens.starts[first], tokens.ends[until - 1], naming.identifiers)
        pieces.add(tokens.starts[closing], tokens.ends[closing], identifiers)
    pieces.add(tokens.ends[lists[-1][1]], span[1], everyone)
