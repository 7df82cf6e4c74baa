"""Alignment of a text with its caption: character ranges of a subcaption that a language model wrote.

A model repeats the caption's words in the caption's order and leaves out what concerns other panels. The alignment is
the best-scoring way to do that: a path through the caption's tokens that rewards each repeated word and charges every
jump, so that a repeated phrase is taken where it stands in one piece. `difflib` and rapidfuzz's edit operations have
no such charge and scatter common words ("the", "of") over the caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from pmo_assets.pipeline.captions.tokens import DASHES, Tokens, tokenized

# Score of a path through the caption: what a matched token earns, less what a jump and a left out word cost. A jump
# pays from the first word behind it, so that a caption's parts are followed, but not for a sign of punctuation.
_WORD: Final = 1.0
"""Score of a repeated word; the unit."""
_SIMILAR_WORD: Final = 0.6
"""Score of another form of a word: no more than a jump costs, so that none is made for it alone."""
_PUNCTUATION: Final = 0.05
"""Score of a repeated sign of punctuation: never worth a jump."""
_JUMP: Final = 0.6
"""Cost of leaving out any number of the caption's tokens."""
_FOREIGN_WORD: Final = 0.5
"""Cost of a word of the text that is matched with nothing."""

_SIMILAR: Final = 80.0
"""rapidfuzz ratio from which two words are forms of one: "reveals" and "revealed"."""
_SHORTEST_SIMILAR: Final = 4
"""Characters of words that are compared by that ratio: it says nothing about shorter ones."""
_SIMILAR_FORMS: Final = 3
"""Forms in the caption that a word is compared with, the most similar ones."""
_SEPARATORS: Final = ".,;:!?"
_FOLDED: Final = {**dict.fromkeys(DASHES, "-"), **dict.fromkeys("“”„″«»", '"'), **dict.fromkeys("‘’′`", "'"), "×": "x"}


@dataclass(frozen=True, slots=True)
class Alignment:
    """A text's origin in its caption.

    Attributes:
        segments: [start, end) ranges of the caption, ascending, apart from each other.
        words: number of words of the text.
        foreign: the text's words that the caption does not have at their place, in order.
    """

    segments: tuple[tuple[int, int], ...]
    words: int
    foreign: tuple[str, ...]


def aligned(caption: str, text: str) -> Alignment:
    """Return where in `caption` the words of `text` come from; time and memory grow with the product of their lengths.

    A word of the text that replaces one of the caption ("shown" for "seen") is foreign, and the range goes on through
    the caption's word. Case, kinds of dashes and quotation marks, and punctuation make no difference.
    """
    source, target = tokenized(caption), tokenized(text)
    matches = _path(_keys(source.texts), _keys(target.texts))
    is_word = [_is_word(item) for item in target.texts]
    foreign = tuple(target.texts[row] for row, word in enumerate(is_word) if word and matches[row] < 0)
    return Alignment(_segments(source, target, matches), sum(is_word), foreign)


def _is_word(token: str) -> bool:
    return token[0].isalnum()


def _keys(texts: Sequence[str]) -> list[str]:
    """Return the tokens as they are compared; the micro sign and mu count as the u that often stands for them."""
    return [_FOLDED.get(text) or normalize("NFKC", text).casefold().replace("μ", "u") for text in texts]


def _path(source: Sequence[str], target: Sequence[str]) -> list[int]:
    """Return for each token of `target` the index of its token in `source`, ascending; -1 without one."""
    columns, rows = len(source), len(target)
    if not columns or not rows:
        return [-1] * rows
    rewards = _rewards(source, set(target))
    # best[c]: score when the last matched source token is c - 1; best[0]: nothing matched yet
    best: NDArray[np.float64] = np.full(columns + 1, -np.inf)
    best[0] = 0.0
    numbers = np.arange(columns + 1)
    came_from: NDArray[np.int32] = np.full((rows, columns + 1), -1, dtype=np.int32)
    for row, key in enumerate(target):
        skipped = best - (_FOREIGN_WORD if _is_word(key) else 0.0)
        reward = rewards.get(key)
        if reward is None:
            best = skipped
            continue
        started = best[1:]
        highest = np.maximum.accumulate(started)
        nearest = np.maximum.accumulate(np.where(started == highest, numbers[1:], 0))
        # from the token directly before, or by a jump from the best one before that, or from the start
        previous, score = numbers[:-1].copy(), best[:-1].copy()
        jump = np.full(columns, -np.inf)
        jump[1:] = highest[:-1] - _JUMP
        jumped = jump > score
        previous[jumped] = np.concatenate(([0], nearest[:-1]))[jumped]
        score = np.maximum(score, jump)
        fresh = best[0] > score
        previous[fresh], score[fresh] = 0, best[0]
        matched = score + reward
        better = matched > skipped[1:]
        came_from[row, 1:][better] = previous[better]
        best = skipped
        best[1:][better] = matched[better]
    matches = [-1] * rows
    column = int(np.argmax(best))
    for row in range(rows - 1, -1, -1):
        if (previous_column := int(came_from[row, column])) >= 0:
            matches[row] = column - 1
            column = previous_column
    return matches


def _rewards(source: Sequence[str], wanted: set[str]) -> dict[str, NDArray[np.float64]]:
    """Return per wanted token the reward for matching it at each source position, -inf where it does not match."""
    positions: dict[str, list[int]] = {}
    for index, key in enumerate(source):
        positions.setdefault(key, []).append(index)
    long_words = sorted(key for key in positions if _is_word(key) and len(key) >= _SHORTEST_SIMILAR)
    rewards = {}
    for key in sorted(wanted):
        at: list[tuple[list[int], float]] = []
        if key in positions:
            at.append((positions[key], _WORD if _is_word(key) else _PUNCTUATION))
        elif _is_word(key) and key.isalpha() and len(key) >= _SHORTEST_SIMILAR:
            for word, _, _ in process.extract(
                key, long_words, scorer=fuzz.ratio, score_cutoff=_SIMILAR, limit=_SIMILAR_FORMS
            ):
                at.append((positions[word], _SIMILAR_WORD))
        if at:
            reward: NDArray[np.float64] = np.full(len(source), -np.inf)
            for places, value in at:
                reward[places] = value
            rewards[key] = reward
    return rewards


def _segments(source: Tokens, target: Tokens, matches: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the matched source tokens as ranges; small differences inside a range do not end it."""
    found: list[list[int]] = []  # [first token, last token]
    replaced = 0  # foreign words of the text since the last match
    for row, column in enumerate(matches):
        if column < 0:
            replaced += _is_word(target.texts[row])
            continue
        if found:
            between = range(found[-1][1] + 1, column)
            words = sum(_is_word(source.texts[index]) for index in between)
            bridged = words <= replaced if words else not any(source.texts[index] in "()[]" for index in between)
            if bridged:
                found[-1][1] = column
                replaced = 0
                continue
        found.append([column, column])
        replaced = 0
    rows_of = {column: row for row, column in enumerate(matches) if column >= 0}
    segments = []
    for number, (first, last) in enumerate(found):
        end = source.ends[last]
        follower = last + 1
        if follower < len(source.texts) and source.texts[follower] in _SEPARATORS and not source.gap(follower):
            # the text goes on with a separator too, perhaps another one
            row = rows_of[last] + 1
            separated = row < len(target.texts) and target.texts[row] in _SEPARATORS
            if separated and (number < len(found) - 1 or source.texts[follower] in ".!?"):
                end = source.ends[follower]
        segments.append((source.starts[first], end))
    return tuple(segments)
