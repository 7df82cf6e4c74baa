"""Pieces of a caption and the panels they concern, as the parser collects them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from pmo_assets.pipeline.captions.election import PanelMention
from pmo_assets.pipeline.captions.tokens import Tokens

Doubt = Literal[
    "identifier in running text",
    "identifier within its text",
    "several identifiers after their text in one sentence",
    "text between identifiers without a separator",
    "text after the last identifier of a sentence",
    "a sentence without identifier between labelled ones",
    "list inside a sentence",
    "list inside brackets",
    "several panels in one sentence",
    "end shared by several panels",
    "panels distributed by 'respectively'",
    "identifiers named again",
    "identifiers before and after their text",
    "identifiers within a section",
    "several panels named inside another's text",
    "sentences after the last panel's first",
    "closing sentences may concern one panel or all",
]
"""A doubt of the parser, worded as among the reasons of a split (`confidence` has a factor for each)."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters [start, end) of the caption and the panels they concern, by identifier; none means all panels."""

    start: int
    end: int
    identifiers: tuple[str, ...]


@dataclass(slots=True)
class PieceList:
    """The pieces found so far, the parser's doubts, and ranges to leave out of all pieces.

    Attributes:
        order: position of each identifier in the series.
        doubts: doubts of the parser.
        cuts: [start, end) of the caption, left out of all pieces.
    """

    tokens: Tokens
    order: dict[str, int]
    pieces: list[Piece] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    cuts: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int, identifiers: tuple[str, ...]) -> None:
        """Append characters [start, end) without surrounding white space; nothing when nothing is left."""
        start, end = self.trimmed(start, end)
        if start < end:
            self.pieces.append(Piece(start, end, identifiers))

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """[start, end) without white space at its ends."""
        caption = self.tokens.caption
        while start < end and caption[start].isspace():
            start += 1
        while end > start and caption[end - 1].isspace():
            end -= 1
        return start, end

    def reassign(self, index: int, identifiers: tuple[str, ...]) -> None:
        """Give the piece at `index` to other panels."""
        piece = self.pieces[index]
        self.pieces[index] = Piece(piece.start, piece.end, identifiers)

    def ordered(self, identifiers: Iterable[str]) -> tuple[str, ...]:
        """Labels once each, in series order."""
        return tuple(sorted(set(identifiers), key=self.order.__getitem__))

    def union(self, mentions: Iterable[PanelMention]) -> tuple[str, ...]:
        """Labels of several mentions, in series order."""
        return self.ordered(identifier for item in mentions for identifier in item.identifiers)

    def finished(self) -> tuple[Piece, ...]:
        """Pieces in caption order, without overlap and without the cuts collected on the way."""
        pieces: list[Piece] = []
        reached = 0
        for piece in sorted(self.pieces, key=lambda piece: (piece.start, piece.end)):
            # nothing is read twice; only captions that follow no rule give overlapping pieces
            start, reached = max(piece.start, reached), max(piece.end, reached)
            if start < piece.end:
                pieces.append(piece if start == piece.start else Piece(start, piece.end, piece.identifiers))
        if not self.cuts:
            return tuple(pieces)
        finished: list[Piece] = []
        cuts = sorted(self.cuts)
        position = 0
        for piece in pieces:
            while position < len(cuts) and cuts[position][1] <= piece.start:
                position += 1
            start = piece.start
            index = position
            while index < len(cuts) and cuts[index][0] < piece.end:
                if cuts[index][0] > start:
                    finished.append(Piece(start, cuts[index][0], piece.identifiers))
                start = max(start, cuts[index][1])
                index += 1
            if start < piece.end:
                finished.append(Piece(start, piece.end, piece.identifiers))
        return tuple(finished)
