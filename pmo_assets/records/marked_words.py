"""Words of a panel's texts, cut where something rests on them, for people to read.

A panel's texts are its subcaption, then its mentions. Add here: what all views of evidence do alike. Keep out: looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

SUBCAPTION: Final = "subcaption"
"""Name of a panel's first text."""

TRANSCRIPT: Final = "transcript"
"""Name of the only text of a picture of a lecture."""

MARKED: Final = "evidence"
"""Kind of the parts that an answer rests on."""


@dataclass(frozen=True)
class ShownEvidence:
    """What answers rest on, to show.

    Attributes:
        texts: the texts that hold words of it: name, and parts with their kind, `MARKED` or "".
        others: what is no words of these texts: kind and what it says.
    """

    texts: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    others: Sequence[str]


def marked_parts(text: str, spans: Sequence[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """Return a text cut where spans begin and end: parts in their order, each with the kind of its span, "" for none.

    Args:
        text: to cut.
        spans: start, end and kind; where several overlap the last counts. Ends beyond the text are cut to it.
    """
    size = len(text)
    held = [(max(0, min(start, size)), max(0, min(end, size)), kind) for start, end, kind in spans]
    edges = sorted({0, size, *(edge for start, end, _ in held for edge in (start, end))})
    parts: list[tuple[str, str]] = []
    for first, last in pairwise(edges):
        kind = next((kind for start, end, kind in reversed(held) if start <= first and last <= end), "")
        parts.append((text[first:last], kind))
    return parts


def text_place(mention: int | None) -> int:
    """Return the place of a text among a panel's: 0 for the subcaption (None), then its mentions."""
    return 0 if mention is None else mention + 1


def text_name(place: int, first: str = SUBCAPTION) -> str:
    """Return what people read over a text: what the first one is, "sentence 1" and so on."""
    return first if place == 0 else f"sentence {place}"


def shown_evidence(
    evidence: Sequence[Mapping[str, Any]], texts: Sequence[str], first: str = SUBCAPTION
) -> ShownEvidence:
    """Return what answers rest on: words in their texts, then the rest.

    Args:
        evidence: cells of a row of `instructions`.
        texts: of the panel.
        first: name of the first of them.
    """
    spans: dict[int, list[tuple[int, int, str]]] = {}
    others: list[str] = []
    for piece in evidence:
        place = text_place(piece["mention"])
        start, end = piece["start"], piece["end"]
        if start is None or end is None or place >= len(texts):
            others.append(f"{piece['kind']}: {piece['text']}")
        else:
            spans.setdefault(place, []).append((start, end, MARKED))
    shown = [(text_name(n, first), marked_parts(texts[n], own)) for n, own in sorted(spans.items())]
    return ShownEvidence(shown, others)
