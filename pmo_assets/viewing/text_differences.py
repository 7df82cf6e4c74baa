"""Two texts laid side by side: which words they share, and where in a caption a subcaption comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

MAX_WORDS = 2_000
"""Words of a text that are compared; the longest captions in PMC have about 1,000."""

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text: [start, end) characters, and whether the other text has it."""

    start: int
    end: int
    shared: bool


def _words(text: str) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for match in _WORD.finditer(text):
        if len(found) == MAX_WORDS:
            break
        found.append((match[0].lower(), match.start(), match.end()))
    return found


def _blocks(a: list[tuple[str, int, int]], b: list[tuple[str, int, int]]) -> list[tuple[int, int, int]]:
    matcher = SequenceMatcher(None, [word for word, _, _ in a], [word for word, _, _ in b], autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]


def _stretches(words: list[tuple[str, int, int]], shared: set[int]) -> tuple[Stretch, ...]:
    stretches: list[Stretch] = []
    for index, (_, start, end) in enumerate(words):
        known = index in shared
        if stretches and stretches[-1].shared == known:
            stretches[-1] = Stretch(stretches[-1].start, end, known)
        else:
            stretches.append(Stretch(start, end, known))
    return tuple(stretches)


def text_difference(a: str, b: str) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Return the stretches of both texts, in order: words that the other one has there, and words that it lacks.

    Case and white space do not count.
    """
    left, right = _words(a), _words(b)
    blocks = _blocks(left, right)
    return (
        _stretches(left, {i + k for i, _, size in blocks for k in range(size)}),
        _stretches(right, {j + k for _, j, size in blocks for k in range(size)}),
    )


def caption_segments(caption: str, subcaption: str | None) -> list[tuple[int, int]]:
    """Return the [start, end) ranges of a caption that make up a subcaption, as far as it has its words in order."""
    words = _words(caption)
    taken: set[int] = set()
    for start, _, size in _blocks(words, _words(subcaption or "")):
        taken |= set(range(start, start + size))
    return [(s.start, s.end) for s in _stretches(words, taken) if s.shared]
