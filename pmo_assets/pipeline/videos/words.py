"""Spoken words with their times, and those that belong to an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

AROUND: Final = 3.0
"""δ_t: seconds before and after an episode whose words belong to it, too (OphIn-Engine, section 3.1)."""


@dataclass(frozen=True, slots=True)
class Word:
    """A spoken word.

    Attributes:
        text: with the punctuation that follows it.
        start: seconds.
        end: seconds.
        probability: 0..1, how sure the recogniser is; 1 for captions.
        original: as it was heard, when it was corrected; None otherwise.
    """

    text: str
    start: float
    end: float
    probability: float
    original: str | None = None


def words_within(words: Sequence[Word], start: float, end: float, around: float = AROUND) -> list[Word]:
    """Return the words whose middle lies within a stretch of time, or within `around` seconds of it."""
    return [word for word in words if start - around <= (word.start + word.end) / 2 <= end + around]


def joined(words: Sequence[Word]) -> str:
    """Return words as a text."""
    return " ".join(word.text.strip() for word in words)
