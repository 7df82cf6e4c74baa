"""A caption split into subcaptions: the records that the grammar writes and assembly reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subcaption:
    """The part of a caption that concerns one panel.

    Attributes:
        identifier: as the caption names the panel, without brackets and dots ("A", "b", "left"); None when the
            figure has a single panel.
        text: general introduction, the panel's own text and closing sentences, in caption order.
        segments: [start, end) character ranges of the caption, in order; joining the ranges' text and repairing
            white space, leading punctuation and the first capital (`join_segments`) gives `text`.
    """

    identifier: str | None
    text: str
    segments: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CaptionSplit:
    """The answer for one caption.

    Attributes:
        subcaptions: one per panel in the caption's order; exactly one with identifier None for a single panel.
        confidence: 0..1, calibrated to mean "share of such answers that are right".
        reasons: for a lowered confidence, short phrases.
        method: of the answer: "grammar" or "language model".
        model: name of the language model that answered; None for the grammar.
        prompt_version: versions and hashes of its prompts; None for the grammar.
    """

    subcaptions: tuple[Subcaption, ...]
    confidence: float
    reasons: tuple[str, ...] = ()
    method: str = "grammar"
    model: str | None = None
    prompt_version: str | None = None

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The identifiers in order; empty for a single-panel caption."""
        return tuple(sub.identifier for sub in self.subcaptions if sub.identifier is not None)
