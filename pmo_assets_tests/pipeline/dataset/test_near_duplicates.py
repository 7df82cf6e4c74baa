"""Groups of panels that show the same picture, against a comparison of all pairs."""

from __future__ import annotations

import hashlib
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pmo_assets.pipeline.dataset import near_duplicates
from pmo_assets.pipeline.dataset.near_duplicates import (
    IDENTICAL,
    NEAR,
    THRESHOLD,
    NearDuplicates,
    near_duplicate_groups,
    near_pairs,
)
from pmo_assets.pipeline.figures.perceptual_hash import HASH_BYTES, NO_STRUCTURE

Hashes = NDArray[np.uint8]


def random_hashes(count: int, seed: int = 0) -> Hashes:
    """Hashes of different pictures: 128 ± 8 bits apart."""
    return np.random.default_rng(seed).integers(0, 256, (count, HASH_BYTES), dtype=np.uint8)


def changed(hashed: Hashes, places: list[int]) -> Hashes:
    """A hash with some of its bits flipped."""
    bits = np.unpackbits(hashed)
    bits[places] ^= 1
    return np.packbits(bits)


def grouped(hashes: Hashes, digests: list[str] | None = None, articles: list[int] | None = None) -> NearDuplicates:
    count = len(hashes)
    return near_duplicate_groups(
        hashes,
        digests if digests is not None else [f"{place:064x}" for place in range(count)],
        np.array(articles if articles is not None else range(count), dtype=np.int64),
    )


def members(found: NearDuplicates) -> set[frozenset[int]]:
    return {
        frozenset(np.flatnonzero(found.group == group).tolist()) for group in range(found.group.max(initial=-1) + 1)
    }


def expected(hashes: Hashes, digests: list[str]) -> set[frozenset[int]]:
    """Groups by comparing all pairs."""
    families = [{place} for place in range(len(hashes))]
    seen = [bytes(row) != NO_STRUCTURE for row in hashes]
    for one in range(len(hashes)):
        for other in range(one):
            apart = int(np.unpackbits(hashes[one] ^ hashes[other]).sum())
            linked = seen[one] and seen[other] and (apart <= THRESHOLD or digests[one] == digests[other])
            if linked and families[one] is not families[other]:
                families[one] |= families[other]
                for place in families[other]:
                    families[place] = families[one]
    return {frozenset(family) for family in families if len(family) > 1}


# what is linked


@pytest.mark.parametrize("bits", [0, 1, 11, 20, THRESHOLD])
def test_near_hashes_are_one_group(bits: int) -> None:
    """By construction at every threshold, for flips that lie together and for flips that are spread."""
    hashes = random_hashes(300)
    spread = np.random.default_rng(bits).permutation(256)[:bits].tolist()
    hashes = np.vstack([hashes, changed(hashes[7], list(range(bits))), changed(hashes[9], spread)])
    found = grouped(hashes)
    assert members(found) == {frozenset({7, 300}), frozenset({9, 301})}
    assert found.distance[[7, 300, 9, 301]].tolist() == [0, bits, 0, bits]


def test_far_hashes_are_none() -> None:
    hashes = random_hashes(300)
    found = grouped(np.vstack([hashes, changed(hashes[7], list(range(0, 2 * THRESHOLD + 2, 2)))]))
    assert members(found) == set()
    assert set(found.group.tolist()) == set(found.representative.tolist()) == set(found.distance.tolist()) == {-1}
    assert set(found.kind.tolist()) == {""}


def test_identical_pictures_are_one_group_and_say_so() -> None:
    hashes = random_hashes(4)
    hashes = np.vstack([hashes, hashes[1], changed(hashes[1], [3, 8])])
    found = grouped(hashes, ["a", "b", "c", "d", "b", "e"], [5, 4, 3, 2, 3, 9])
    assert members(found) == {frozenset({1, 4, 5})}
    assert found.kind.tolist() == ["", IDENTICAL, "", "", IDENTICAL, NEAR]
    assert found.representative.tolist() == [-1, 4, -1, -1, 4, 4], "the lowest article's"


def test_identical_pictures_are_one_group_whatever_their_hashes() -> None:
    """Hashes of another version of the library."""
    found = grouped(random_hashes(3), ["a", "b", "a"])
    assert members(found) == {frozenset({0, 2})}


def test_blank_pictures_have_no_group() -> None:
    hashes = random_hashes(6)
    hashes[[0, 2, 4]] = 0
    assert members(grouped(hashes, ["a"] * 6)) == {frozenset({1, 3, 5})}
    assert members(grouped(np.zeros((5, HASH_BYTES), dtype=np.uint8), ["a"] * 5)) == set()


def test_chain_is_one_group_and_its_drift_shows() -> None:
    hashes = [random_hashes(1)[0]]
    for step in range(3):
        hashes.append(changed(hashes[-1], list(range(20 * step, 20 * step + 20))))
    found = grouped(np.vstack(hashes))
    assert members(found) == {frozenset(range(4))}
    assert found.distance.tolist() == [0, 20, 40, 60]
    assert found.drifted.tolist() == [False, False, True, True]


def test_groups_are_numbered_by_their_first_panels() -> None:
    hashes = random_hashes(4)
    found = grouped(np.vstack([hashes[2], hashes[0], hashes[2], hashes[3], hashes[0]]))
    assert found.group.tolist() == [0, 1, 0, -1, 1]


def test_no_panels() -> None:
    assert len(grouped(np.zeros((0, HASH_BYTES), dtype=np.uint8)).group) == 0


def test_one_panel() -> None:
    assert members(grouped(random_hashes(1))) == set()


@pytest.mark.parametrize("shape", [(2, 8), (3, HASH_BYTES)])
def test_what_does_not_fit_is_an_error(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        near_duplicate_groups(np.ones(shape, dtype=np.uint8), ["a", "b"], np.array([1, 2], dtype=np.int64))


@pytest.mark.parametrize("missing", ["", None])
def test_missing_digests_are_an_error(missing: str) -> None:
    with pytest.raises(ValueError, match="without a digest"):
        grouped(random_hashes(2), ["a", missing])


# properties


@st.composite
def panels(draw: st.DrawFn) -> tuple[Hashes, list[str], list[int]]:
    """A few pictures, each of them in several forms."""
    originals = random_hashes(draw(st.integers(1, 5)), draw(st.integers(0, 1000)))
    originals[0] = draw(st.sampled_from([originals[0], np.zeros(HASH_BYTES, dtype=np.uint8)]))
    rows, digests, articles = [], [], []
    for _ in range(draw(st.integers(1, 25))):
        which = draw(st.integers(0, len(originals) - 1))
        places = draw(st.lists(st.integers(0, 255), max_size=24, unique=True))
        row = changed(originals[which], places) if originals[which].any() else originals[which]
        rows.append(row)
        digests.append(hashlib.sha256(row.tobytes()).hexdigest())
        articles.append(draw(st.integers(1, 9)))
    return np.vstack(rows), digests, articles


@given(panels())
def test_groups_are_those_of_comparing_all_pairs(given_panels: tuple[Hashes, list[str], list[int]]) -> None:
    hashes, digests, articles = given_panels
    found = grouped(hashes, digests, articles)
    assert members(found) == expected(hashes, digests)
    for family in members(found):
        best = min(family, key=lambda place: (articles[place], place))
        for place in family:
            assert found.representative[place] == best
            assert found.distance[place] == int(np.unpackbits(hashes[place] ^ hashes[best]).sum())
            assert found.identical[place] == (digests[place] == digests[best])


@given(panels(), st.randoms())
def test_order_does_not_matter(given_panels: tuple[Hashes, list[str], list[int]], random: object) -> None:
    hashes, digests, articles = given_panels
    order = list(range(len(hashes)))
    random.shuffle(order)  # type: ignore[attr-defined]
    turned = grouped(hashes[order], [digests[place] for place in order], [articles[place] for place in order])
    assert {frozenset(order[place] for place in family) for family in members(turned)} == members(
        grouped(hashes, digests, articles)
    )


@given(panels(), st.integers(0, 25))
def test_more_panels_part_no_group(given_panels: tuple[Hashes, list[str], list[int]], kept: int) -> None:
    hashes, digests, articles = given_panels
    before = members(grouped(hashes[:kept], digests[:kept], articles[:kept]))
    after = members(grouped(hashes, digests, articles))
    assert all(any(family <= larger for larger in after) for family in before)


# many


@pytest.mark.slow
def test_many_panels_are_compared_without_comparing_all() -> None:
    """Known copies among 60,000 hashes whose bits lean like those of photographs of one kind."""
    generator = np.random.default_rng(5)
    kinds = generator.integers(0, 2, (5, 256), dtype=np.uint8)
    bits = kinds[generator.integers(0, 5, 60_000)] ^ (generator.random((60_000, 256)) < 0.35)
    copies = bits[:2000].copy()
    for row in copies:
        row[generator.permutation(256)[: generator.integers(0, THRESHOLD + 1)]] ^= 1
    start = time.process_time()
    found = grouped(np.packbits(np.vstack([bits, copies]), axis=1))
    assert time.process_time() - start < 30
    together = found.group[:2000] == found.group[60_000:]
    assert np.mean(together & (found.group[:2000] >= 0)) > 0.998
    assert (found.group >= 0).sum() < 4100


def test_one_large_group_costs_no_more() -> None:
    """A logo with noise: 30,000 different hashes, each near all others."""
    generator = np.random.default_rng(6)
    bits = np.tile(generator.integers(0, 2, 256, dtype=np.uint8), (30_000, 1))
    for row in bits:
        row[generator.integers(0, 256, 8)] ^= 1
    start = time.process_time()
    found = grouped(np.packbits(bits, axis=1))
    assert time.process_time() - start < 30
    assert members(found) == {frozenset(range(30_000))}
    assert not found.drifted.any()


def test_hashes_that_tie_are_in_their_own_order_on_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy sorts by other instructions on other processors, and only a stable sort leaves equal ones as they were."""
    ties = np.arange(20_000, dtype=np.uint64) * np.uint64(7919) % np.uint64(50)
    monkeypatch.setattr(near_duplicates, "_from_bit", lambda *_: ties)
    order, _ = next(near_duplicates._keyed(np.zeros((20_000, 4), dtype=np.uint64)))
    assert np.array_equal(order, np.lexsort((np.arange(20_000), ties)))


def test_two_sets_are_compared_each_with_each() -> None:
    rng = np.random.default_rng(3)
    many = rng.integers(0, 256, (50, HASH_BYTES), dtype=np.uint8)
    many[7] = 0
    few = many[[4, 7, 9]].copy()
    few[0, 0] ^= 0b101
    few[2, :8] ^= 0xFF  # 64 bits
    one, other, distance = near_pairs(few, many)
    assert (one.tolist(), other.tolist(), distance.tolist()) == ([0], [4], [2])
    assert [len(part) for part in near_pairs(few[:0], many)] == [0, 0, 0]
