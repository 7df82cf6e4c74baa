"""The index of words: which figures, and which of their panels, a word occurs in.

A list of occurrences (posting list) is bytes: for each figure, ascending, a varint of 2 × (step from the figure before)
+ (1 if a mask follows), and then perhaps the mask, a varint with bit i set when the word stands in the text of panel i.
Without a mask the word concerns the whole figure. `search.js` reads it. An index of pairs (`pairs`) has two words in a
row for a word: phrases are found by it.
"""

from __future__ import annotations

import heapq
import pickle
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import IO, Final

FOLDED_LETTERS: Final[Mapping[str, str]] = MappingProxyType(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ς": "σ"}
)
"""Letters that Unicode does not take apart. The page is given them: what people type is folded in the same way."""

MAX_WORD: Final = 32
"""Letters of a word that count: gene sequences and addresses are longer."""

MAX_PANELS: Final = 31
"""Panels of a figure that a mask tells apart: JavaScript's integers have so many bits."""

_WORD = re.compile(r"[^\W_]+")
_FOLDING = str.maketrans(dict(FOLDED_LETTERS))

SPILL_POSTINGS: Final = 2_000_000
"""Occurrences that are held in memory, some 100 MB with their words; more go to a temporary file."""

SHARD_BYTES: Final = 96_000
"""Bytes of words and occurrences in a file of the index, about."""


def folded(text: str) -> str:
    """Return text without case, accents and compatibility forms."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in decomposed if unicodedata.category(letter)[0] != "M")
    return bare.lower().translate(_FOLDING)


def words(text: str) -> list[str]:
    """Return the words of a text as they are looked up, in order: runs of letters and digits, folded."""
    if not text.isascii():
        text = folded(text)
        return [word[:MAX_WORD] for word in _WORD.findall(text)]
    return [word[:MAX_WORD] for word in _WORD.findall(text.lower())]


BREAK: Final = "\u2029"
"""Between two texts: no phrase goes over it."""


def pairs(text: str) -> list[str]:
    """Return each word of a text with the next one, a blank between them, in order."""
    found: list[str] = []
    for part in text.split(BREAK):
        row = words(part)
        found += map(" ".join, pairwise(row))
    return found


def _put_varint(into: bytearray, value: int) -> None:
    while value > 127:
        into.append(value & 127 | 128)
        value >>= 7
    into.append(value)


def _put_occurrence(into: bytearray, step: int, mask: int) -> None:
    _put_varint(into, step << 1 | (1 if mask else 0))
    if mask:
        _put_varint(into, mask)


@dataclass(slots=True)
class _Occurrences:
    """Occurrences of a word: the first figure apart, so that lists can be put one behind the other."""

    first: int
    mask: int
    last: int
    rest: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class WordShard:
    """A file of the index: words in the order of UTF-16 (JavaScript's), with their occurrences."""

    words: list[str]
    postings: list[bytes]


def _order(word: str) -> bytes:
    return word.encode("utf-16-be", "surrogatepass")


class WordIndex:
    """Collects the words of figures, in order; memory stays bounded, what is too much lies in temporary files."""

    def __init__(self, spill: int = SPILL_POSTINGS, cut: Callable[[str], Iterable[str]] = words) -> None:
        """Begin empty.

        Args:
            spill: occurrences that are held in memory.
            cut: takes a text apart: `words` or `pairs`.
        """
        self._cut = cut
        self._held: dict[str, _Occurrences] = {}
        self._count = 0
        self._spill = spill
        self._runs: list[IO[bytes]] = []

    def add(self, figure: int, texts: Iterable[str], panel_texts: Iterable[str]) -> None:
        """Note the words of a figure.

        Args:
            figure: its number, larger than the one before.
            texts: about the whole figure: title, caption, names.
            panel_texts: of each panel.
        """
        masks: dict[str, int] = {}
        number = -1
        for number, text in enumerate(panel_texts):
            for word in set(self._cut(text)):
                masks[word] = masks.get(word, 0) | 1 << number
        every = (1 << number + 1) - 1
        told = number < MAX_PANELS
        # A word of the title or of ids concerns all panels; one of the caption those that it is assigned to.
        found = dict.fromkeys((word for text in texts for word in self._cut(text)), 0)
        for word, mask in masks.items():
            found[word] = mask if told and mask != every else 0
        for word, mask in found.items():
            known = self._held.get(word)
            if known is None:
                self._held[word] = _Occurrences(figure, mask, figure)
            else:
                _put_occurrence(known.rest, figure - known.last, mask)
                known.last = figure
        self._count += len(found)
        if self._count >= self._spill:
            self._write_run()

    def _sorted(self) -> Iterator[tuple[bytes, str, _Occurrences]]:
        for word in sorted(self._held, key=_order):
            yield _order(word), word, self._held[word]

    def _write_run(self) -> None:
        run = tempfile.TemporaryFile()  # noqa: SIM115 (closed when it has been merged)
        for item in self._sorted():
            pickle.dump(item, run)
        run.seek(0)
        self._runs.append(run)
        self._held = {}
        self._count = 0

    def _merged(self) -> Iterator[tuple[str, bytes]]:
        sources = [*(_read_run(run) for run in self._runs), self._sorted()]
        merged = heapq.merge(*sources, key=lambda item: item[0])
        for word, group in groupby(merged, key=lambda item: item[1]):
            joined = bytearray()
            last = 0
            for _, _, part in group:  # runs in order: figures ascend
                _put_occurrence(joined, part.first - last, part.mask)
                joined += part.rest
                last = part.last
            yield word, bytes(joined)

    def shards(self, size: int = SHARD_BYTES) -> Iterator[WordShard]:
        """Yield all words in files of about `size` bytes; the index is empty afterwards."""
        shard = WordShard([], [])
        filled = 0
        for word, postings in self._merged():
            shard.words.append(word)
            shard.postings.append(postings)
            filled += len(word) + len(postings) + 8
            if filled >= size:
                yield shard
                shard, filled = WordShard([], []), 0
        if shard.words:
            yield shard
        for run in self._runs:
            run.close()
        self._runs, self._held, self._count = [], {}, 0


def _read_run(run: IO[bytes]) -> Iterator[tuple[bytes, str, _Occurrences]]:
    while True:
        try:
            yield pickle.load(run)
        except EOFError:
            return
