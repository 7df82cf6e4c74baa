"""Sentences of what is said while a picture is shown, with their times, and whether each may be relied on.

A sentence counts as said of the picture only if all of it is said while the picture is shown, and as heard only if
every word of it is: one misheard "no" turns it into its contrary. Keep out: what a sentence means
(`pipeline.instructions.spoken_cases`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.videos.words import Word, joined

TRUSTED: Final = 0.5
"""Least probability of each word of a sentence that counts as heard (`benchmarks/score_video_instructions.py`)."""


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """A sentence of a transcript.

    Attributes:
        text: `transcript[first:last]`.
        first, last: range in the transcript.
        start, end: seconds of its first and last word.
        is_within: it begins and ends while the picture is shown.
        probability: of its least sure word; 0 where a word was put right by the dictionary, which is a guess.
    """

    text: str
    first: int
    last: int
    start: float
    end: float
    is_within: bool
    probability: float

    @property
    def is_heard(self) -> bool:
        """Every word of it may be relied on."""
        return self.probability >= TRUSTED


def spoken_sentences(words: Sequence[Word], start: float, end: float) -> list[SpokenSentence]:
    """Return the sentences of words in their order; offsets are those in `words.joined(words)`.

    Args:
        words: that are said around a picture.
        start: seconds at which it appears.
        end: seconds at which it goes.
    """
    text = joined(words)
    places: list[tuple[int, int]] = []
    at = 0
    for word in words:
        size = len(word.text.strip())
        places.append((at, at + size))
        at += size + 1
    found = []
    for first, last in sentence_spans(text):
        own = [word for word, (begin, until) in zip(words, places, strict=True) if begin < last and until > first]
        if not own:
            continue
        middles = [(word.start + word.end) / 2 for word in own]
        is_within = start <= middles[0] and middles[-1] <= end
        certainty = min(_certainty(word) for word in own)
        found.append(SpokenSentence(text[first:last], first, last, own[0].start, own[-1].end, is_within, certainty))
    return found


def _certainty(word: Word) -> float:
    """Probability of a word; 0 of one that was put right, unless its parts were only joined ("sub retinal")."""
    if word.original is not None and word.original.replace(" ", "").casefold() != word.text.casefold():
        return 0.0
    return word.probability
