"""Which panels are the same picture: byte for byte, or nearly, by their perceptual hashes.

Two panels are linked if their pictures are identical or their hashes differ in at most `THRESHOLD` bits. A group is
what hangs together by links, directly or over others. That a link depends on its two panels alone keeps groups stable:
more panels may join groups, not part them, and the splits by article rely on it. The price is drift: A like B and B
like C make one group of A and C. It is not limited, it is shown: every member has its distance to the group's
representative, and `drifted` marks those that are farther from it than a link may be.

Links are looked for among hashes that agree in one of 96 keys, not among all pairs. What that misses is measured (fewer
than one link in 500 at the threshold itself), and by design independent of the order in which panels come.

A picture that shows nothing (`NO_STRUCTURE`) has no group, not even with identical ones: white paper in two articles
says nothing about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.perceptual_hash import HASH_BYTES

THRESHOLD: Final = 32
"""Bits of 256 in which the hashes of the same picture may differ.

On pictures held out by source, 99 % of what was scaled, compressed or made grey is within 16. Of those cut by up to 2 %
on each side 97 % are within 32, and so are all renderings and their JPEGs. No two pictures of different sources are
nearer than 82; one pair in 1,000 is nearer than 96, one in 10,000 than 88. If that goes on, 32 joins some 5 of the
5·10¹¹ pairs of a million panels, 40 some 50. Frames of one film and neighbouring B-scans begin at 12 and are joined;
across articles that is wanted (`benchmarks/near_duplicates.py`)."""

IDENTICAL: Final = "identical"
NEAR: Final = "near"

_BITS: Final = 8 * HASH_BYTES
_KEY_BITS: Final = 20
"""Bits of a hash that make a key: a million hashes fall into as many buckets."""

_SHUFFLES: Final = 8
"""Number of times that the bits are shuffled and dealt out into keys, 12 each. At 32 different bits one key agrees
with a probability of 0.07, one of 96 with 0.999; up to 11 different bits one of the 12 always does."""

_NEIGHBOURS: Final = 32
"""Hashes of a bucket with which each is compared: the next in the order of the key and of the 44 bits after it. Buckets
hold one hash on average; this bounds what a large one costs, and the panels of a large group are found through each
other."""

_CHUNK: Final = 1 << 16
"""Hashes whose bits are taken apart at once."""

_MANY_LINKS: Final = 1 << 19
"""Links that are kept before what they join becomes one; else they are joined once per key."""


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Groups of panels, one entry per panel in the order of the input.

    Attributes:
        group: number of its group, from 0 in the order of their first panels; -1 for a panel that is like no other.
        representative: index of the group's representative, its panel of the lowest article id, the first of these;
            -1 without a group.
        distance: bits in which its hash differs from the representative's, 0 for itself; -1 without a group.
        identical: its picture is the representative's byte for byte; true of the representative.
    """

    group: NDArray[np.int64]
    representative: NDArray[np.int64]
    distance: NDArray[np.int64]
    identical: NDArray[np.bool_]

    @property
    def kind(self) -> NDArray[np.str_]:
        """`IDENTICAL` or `NEAR`, what a panel is to its representative; empty without a group."""
        return np.where(self.group < 0, "", np.where(self.identical, IDENTICAL, NEAR))

    @property
    def drifted(self) -> NDArray[np.bool_]:
        """True for each panel that hangs together with its representative only over others, (n,) bool."""
        return self.distance > THRESHOLD


def near_duplicate_groups(
    hashes: NDArray[np.uint8], digests: Sequence[str] | NDArray[np.bytes_], articles: NDArray[np.int64]
) -> NearDuplicates:
    """Group the panels that show the same picture.

    A million panels take about a minute and less than 1 GB. The groups do not depend on the order of the panels.

    Args:
        hashes: (n, `HASH_BYTES`) perceptual hashes.
        digests: of the n pictures: equal only for identical ones.
        articles: their n article ids.

    Raises:
        ValueError: if the lengths differ, hashes are of another length, or a digest is missing.
    """
    count = len(articles)
    if not all(digests):
        raise ValueError("a panel without a digest would be identical to every other one")
    if hashes.shape != (count, HASH_BYTES) or len(digests) != count:
        raise ValueError(f"hashes of shape {hashes.shape}, {len(digests)} digests and {count} articles do not fit")
    group = np.full(count, -1, dtype=np.int64)
    representative = group.copy()
    distance = group.copy()
    identical = np.zeros(count, dtype=np.bool_)
    known = np.flatnonzero(hashes.any(axis=1))
    if not len(known):
        return NearDuplicates(group, representative, distance, identical)

    distinct, which = np.unique(_words(hashes[known]), axis=0, return_inverse=True)
    _, same_bytes = np.unique(np.asarray(digests, dtype=np.bytes_)[known], return_inverse=True)
    which = which.reshape(-1)
    # Identical pictures have identical hashes, but a hash may have been made by another version of the library.
    links = np.stack([which, which[_first_of_each(same_bytes)[same_bytes]]])
    labels = _joined(links, np.arange(len(distinct), dtype=np.int64))
    labels = _near(distinct, labels)[which]

    shared = np.bincount(labels)[labels] > 1
    known, labels = known[shared], labels[shared]
    if len(known):
        best = _best_of_each(labels, articles[known], known)[labels]
        group[known] = _numbered(labels, known)
        representative[known] = best
        distance[known] = _distances(_words(hashes[known]), _words(hashes[best]))
        texts = np.asarray(digests, dtype=np.bytes_)
        identical[known] = texts[known] == texts[best]
    return NearDuplicates(group, representative, distance, identical)


def near_pairs(
    few: NDArray[np.uint8], many: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return which pictures of two sets look the same: each compared with each, no group is made.

    A thousand against a million take some seconds. What shows nothing (`NO_STRUCTURE`) is like nothing.

    Args:
        few: (n, `HASH_BYTES`) perceptual hashes.
        many: (m, `HASH_BYTES`).

    Returns:
        (k,) places among the few, in order, (k,) places among the many, and (k,) bits in which they differ.
    """
    known = np.flatnonzero(many.any(axis=1))
    words, found = _words(many[known]), []
    for place in np.flatnonzero(few.any(axis=1)):
        bits = np.bitwise_count(words ^ _words(few[place : place + 1])).sum(axis=1, dtype=np.int64)
        near = np.flatnonzero(bits <= THRESHOLD)
        found.append(np.stack([np.full(len(near), place), known[near], bits[near]]))
    one, other, distance = np.concatenate([np.zeros((3, 0), dtype=np.int64), *found], axis=1)
    return one, other, distance


def _words(hashes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Hashes as big-endian words of 64 bits, so that their order is the order of the bytes."""
    return np.ascontiguousarray(hashes).view(">u8").astype(np.uint64)


def _distances(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.asarray(np.bitwise_count(first ^ second).sum(axis=1, dtype=np.int64))


def _first_of_each(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index at which each number 0, 1, … first occurs."""
    return np.asarray(np.unique(numbers, return_index=True)[1])


def _best_of_each(
    labels: NDArray[np.int64], articles: NDArray[np.int64], panels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return per label the panel of the lowest article id, the first of these."""
    order = np.lexsort((panels, articles, labels))
    best = np.empty(int(labels.max()) + 1, dtype=np.int64)
    best[labels[order[::-1]]] = panels[order[::-1]]  # the last assignment stays: the first in order
    return best


def _numbered(labels: NDArray[np.int64], panels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels as numbers from 0, in the order of their first panels; `panels` ascend."""
    found, first, which = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(found), dtype=np.int64)
    numbers[np.argsort(panels[first])] = np.arange(len(found))
    return np.asarray(numbers[which.reshape(-1)])


def _joined(pairs: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels of hashes after links between pairs of them, (2, m)."""
    count = len(labels)
    # Imported here: `records.pairing` says why.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(pairs.shape[1], dtype=np.bool_), tuple(labels[pairs])), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1][labels], dtype=np.int64)


def _near(distinct: NDArray[np.uint64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels of distinct hashes after all links between near ones that keys find.

    What hangs together already is not compared again: a large group costs little more than single panels.
    """
    for order, key in _keyed(distinct):
        pairs: list[NDArray[np.int64]] = []
        for left, right in _neighbours(order, key, labels):
            apart = labels[left] != labels[right]
            left, right = left[apart], right[apart]
            near = _distances(distinct[left], distinct[right]) <= THRESHOLD
            pairs.append(np.stack([left[near], right[near]]))
            if sum(pair.shape[1] for pair in pairs) > _MANY_LINKS:
                labels = _joined(np.concatenate(pairs, axis=1), labels)
                pairs.clear()
        if any(pair.shape[1] for pair in pairs):
            labels = _joined(np.concatenate(pairs, axis=1), labels)
    return labels


def _keyed(distinct: NDArray[np.uint64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
    """Yield per key the hashes' order by it and by the bits that follow, and their keys in that order."""
    shuffles = np.random.default_rng(0)
    for _ in range(_SHUFFLES):
        dealt = _dealt(distinct, shuffles.permutation(_BITS))
        for start in range(0, _BITS - _KEY_BITS + 1, _KEY_BITS):
            sorted_by = _from_bit(dealt, start)
            order = np.argsort(sorted_by, kind="stable")  # else ties lie as the processor has it, and so do groups
            yield order, sorted_by[order] >> np.uint64(64 - _KEY_BITS)


def _dealt(distinct: NDArray[np.uint64], places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes with their bits in another order."""
    result = np.empty_like(distinct)
    for start in range(0, len(distinct), _CHUNK):
        bits = np.unpackbits(distinct[start : start + _CHUNK].astype(">u8").view(np.uint8), axis=1)
        result[start : start + _CHUNK] = _words(np.packbits(bits[:, places], axis=1))
    return result


def _from_bit(dealt: NDArray[np.uint64], start: int) -> NDArray[np.uint64]:
    """Return the 64 bits from a bit on, beginning again after the last."""
    word, shift = divmod(start, 64)
    first, second = dealt[:, word], dealt[:, (word + 1) % dealt.shape[1]]
    return first if shift == 0 else (first << np.uint64(shift)) | (second >> np.uint64(64 - shift))


def _neighbours(
    order: NDArray[np.int64], key: NDArray[np.uint64], labels: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of hashes that have a key in common, at most `_NEIGHBOURS` places apart.

    Left out are hashes so far inside a large group that all their neighbours have its label.
    """
    known = labels[order]
    run = np.concatenate([[0], np.cumsum((key[1:] != key[:-1]) | (known[1:] != known[:-1]))])
    inside = np.zeros(len(order), dtype=np.bool_)
    inside[:-_NEIGHBOURS] = run[:-_NEIGHBOURS] == run[_NEIGHBOURS:]
    at = np.flatnonzero(~inside)
    for step in range(1, _NEIGHBOURS + 1):
        at = at[at < len(order) - step]
        at = at[key[at] == key[at + step]]
        if not len(at):
            return
        yield order[at], order[at + step]
