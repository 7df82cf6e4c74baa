"""Pieces of a caption and the panels they concern, as the parser collects them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pmo_assets.pipeline.captions.identifiers import LabelledMention
from pmo_assets.pipeline.captions.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters [start, end) of the caption and the labels of the panels they concern; no labels means all panels."""

    start: int
    end: int
    labels: tuple[str, ...]


@dataclass(slots=True)
class PieceList:
    """The pieces found so far, what the parser was not sure about, and ranges to leave out of all pieces.

    Attributes:
        order: position of each label in the series.
    """

    tokens: Tokens
    order: dict[str, int]
    pieces: list[Piece] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    cuts: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int, labels: tuple[str, ...]) -> None:
        """Append characters [start, end) without surrounding white space; nothing when nothing is left."""
        start, end = self.trimmed(start, end)
        if start < end:
            self.pieces.append(Piece(start, end, labels))

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """[start, end) without white space at its ends."""
        caption = self.tokens.caption
        while start < end and caption[start].isspace():
            start += 1
        while end > start and caption[end - 1].isspace():
            end -= 1
        return start, end

    def relabel(self, index: int, labels: tuple[str, ...]) -> None:
        """Give the piece at `index` to other panels."""
        piece = self.pieces[index]
        self.pieces[index] = Piece(piece.start, piece.end, labels)

    def ordered(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Labels once each, in series order."""
        return tuple(sorted(set(labels), key=self.order.__getitem__))

    def union(self, labelled: Iterable[LabelledMention]) -> tuple[str, ...]:
        """Labels of several mentions, in series order."""
        return self.ordered(label for item in labelled for label in item.labels)

    def finished(self) -> tuple[Piece, ...]:
        """Pieces in caption order, without overlap and without the cuts collected on the way."""
        pieces: list[Piece] = []
        reached = 0
        for piece in sorted(self.pieces, key=lambda piece: (piece.start, piece.end)):
            # nothing is read twice; only captions that follow no rule give overlapping pieces
            start, reached = max(piece.start, reached), max(piece.end, reached)
            if start < piece.end:
                pieces.append(piece if start == piece.start else Piece(start, piece.end, piece.labels))
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
                    finished.append(Piece(start, cuts[index][0], piece.labels))
                start = max(start, cuts[index][1])
                index += 1
            if start < piece.end:
                finished.append(Piece(start, piece.end, piece.labels))
        return tuple(finished)
