"""Splits by article: stable, in the shares asked for, and no picture in two of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.splits import (
    SPLITS,
    SplitOptions,
    article_fraction,
    article_links,
    article_splits,
    own_splits,
    split_check,
)

TRAIN, VALIDATION, TEST = range(3)


def ids(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


def one_of_each() -> tuple[int, int, int]:
    """The first articles whose own splits are train, validation and test."""
    own = own_splits(range(1, 200), [None] * 199, SplitOptions())
    first = [int(np.flatnonzero(own == split)[0]) + 1 for split in range(3)]
    return first[0], first[1], first[2]


def test_fractions_are_fixed_for_ever() -> None:
    """Whoever changes these numbers moves the articles of every release."""
    assert [round(article_fraction(number), 6) for number in (1, 4736323, 10**12 + 7)] == [0.691729, 0.670464, 0.883509]


@pytest.mark.parametrize("shares", [(0.8, 0.1, 0.1), (0.7, 0.2, 0.1), (0.5, 0.0, 0.5), (1.0, 0.0, 0.0)])
def test_shares_are_met(shares: tuple[float, float, float]) -> None:
    """Within five standard deviations of a draw; a share of 0 is empty."""
    count = 20_000
    own = own_splits(range(4_000_000, 4_000_000 + count), [None] * count, SplitOptions(shares))
    for split, share in enumerate(shares):
        allowed = 5 * math.sqrt(count * share * (1 - share))
        assert abs(int((own == split).sum()) - count * share) <= allowed


@pytest.mark.parametrize("shares", [(0.8, 0.1, 0.2), (1.1, -0.1, 0.0), (0.5, 0.5), (0.0, 0.0, 0.0)])
def test_shares_that_are_none_are_refused(shares: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="add up to 1"):
        SplitOptions(shares)


def test_newest_articles_need_others_to_train_on() -> None:
    with pytest.raises(ValueError, match="share for the others"):
        SplitOptions((0.0, 0.0, 1.0), 2024)


# by year


@given(st.lists(st.tuples(st.integers(1, 10**13), st.none() | st.integers(1990, 2030)), unique_by=lambda item: item[0]))
def test_only_those_move_that_must_when_test_articles_are_the_newest(facts: list[tuple[int, int | None]]) -> None:
    articles, years = [number for number, _ in facts], [year for _, year in facts]
    drawn = own_splits(articles, years, SplitOptions())
    by_year = own_splits(articles, years, SplitOptions(test_from_year=2020))
    for year, before, after in zip(years, drawn.tolist(), by_year.tolist(), strict=True):
        if year is not None and year >= 2020:
            assert after == TEST
        elif before == TEST:
            assert after in (TRAIN, VALIDATION)
        else:
            assert after == before


def test_old_articles_share_train_and_validation_in_their_ratio() -> None:
    count = 20_000
    own = own_splits(range(count), [2000] * count, SplitOptions((0.6, 0.2, 0.2), 2020))
    assert abs(np.mean(own == TRAIN) - 0.75) < 5 * math.sqrt(0.75 * 0.25 / count)
    assert not (own == TEST).any()


def test_later_year_moves_none_among_the_older() -> None:
    years = [2000 + number % 25 for number in range(2000)]
    early, late = (own_splits(range(2000), years, SplitOptions(test_from_year=year)) for year in (2015, 2020))
    assert all(a == b for a, b, year in zip(early, late, years, strict=True) if year < 2015 or year >= 2020)


# articles that share pictures


def test_the_split_nearest_to_training_wins() -> None:
    train, validation, test = one_of_each()
    for family, wins in (((train, test), "train"), ((validation, test), "validation"), ((train, validation), "train")):
        splits = article_splits([*family], [None, None], [family])
        assert set(splits.by_article().values()) == {wins}
        assert splits.family.tolist() == [min(family)] * 2


def test_links_reach_over_others() -> None:
    train, validation, test = one_of_each()
    splits = article_splits([test, validation, train], [None] * 3, [(test, validation), (validation, train)])
    assert set(splits.by_article().values()) == {"train"}


def test_without_links_every_article_has_its_own() -> None:
    splits = article_splits(range(50), [None] * 50)
    assert splits.split.tolist() == splits.own.tolist()
    assert splits.family.tolist() == list(range(50))


def test_no_articles() -> None:
    assert article_splits([], []).by_article() == {}
    assert split_check(article_splits([], []), ids(), ids()).articles == dict.fromkeys(SPLITS, 0)


def test_links_of_groups() -> None:
    links = article_links(ids(5, 3, 3, 9, 7, 7, 2), ids(0, 0, 0, 0, 1, 1, -1))
    assert links.tolist() == [[3, 5], [3, 9]]
    assert article_links(ids(1, 2), ids(-1, -1)).shape == (0, 2)


@pytest.mark.parametrize(
    ("articles", "years", "links"),
    [
        ([1, 1], [None, None], []),
        ([1, 2], [None], []),
        ([1, 2], [None, None], [(1, 3)]),
        ([1, 2], [None] * 2, [(0, 1)]),
    ],
)
def test_what_does_not_fit_is_an_error(articles: list[int], years: list[None], links: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="article"):
        article_splits(articles, years, links)


def test_check_finds_what_crosses() -> None:
    """Splits made without the links that the panels have."""
    train, _, test = one_of_each()
    articles, groups = ids(train, test, test, train), ids(0, 0, 1, -1)
    found = split_check(article_splits([train, test], [None, None]), articles, groups)
    assert (found.crossing_groups, found.groups, found.groups_across_articles, found.moved_articles) == (1, 2, 1, 0)
    linked = article_splits([train, test], [None, None], article_links(articles, groups))
    found = split_check(linked, articles, groups)
    assert (found.crossing_groups, found.moved_articles, found.linked_articles, found.largest_family) == (0, 1, 2, 2)
    assert found.articles == {"train": 2, "validation": 0, "test": 0}
    assert found.panels == {"train": 4, "validation": 0, "test": 0}


def test_check_knows_all_articles() -> None:
    with pytest.raises(ValueError, match="not among"):
        split_check(article_splits([1], [None]), ids(1, 2), ids(-1, -1))


# properties

panels_of_articles = st.lists(st.tuples(st.integers(1, 40), st.integers(-1, 12)), max_size=60)
"""Article and group of each panel."""

options = st.builds(
    SplitOptions, st.sampled_from([(0.8, 0.1, 0.1), (0.4, 0.3, 0.3)]), st.none() | st.integers(2000, 2010)
)


def year_of(article: int) -> int | None:
    return None if article % 5 == 0 else 1995 + article % 20


def split_of(panels: list[tuple[int, int]], how: SplitOptions) -> tuple[dict[int, str], int]:
    articles = ids(*(article for article, _ in panels))
    groups = ids(*(group for _, group in panels))
    numbers = sorted(set(articles.tolist()))
    splits = article_splits(numbers, [year_of(number) for number in numbers], article_links(articles, groups), how)
    return dict(splits.by_article()), split_check(splits, articles, groups).crossing_groups


@given(panels_of_articles, options)
def test_no_group_is_in_two_splits(panels: list[tuple[int, int]], how: SplitOptions) -> None:
    splits, crossing = split_of(panels, how)
    assert crossing == 0
    for group in range(13):
        assert len({splits[article] for article, its in panels if its == group}) <= 1


@given(panels_of_articles, options, st.integers(0, 60))
def test_more_articles_move_the_others_only_towards_training(
    panels: list[tuple[int, int]], how: SplitOptions, kept: int
) -> None:
    before, after = split_of(panels[:kept], how)[0], split_of(panels, how)[0]
    for article, split in before.items():
        assert SPLITS.index(after[article]) <= SPLITS.index(split)  # type: ignore[arg-type]


@given(panels_of_articles, options)
def test_articles_without_duplicates_stay_whatever_else_there_is(
    panels: list[tuple[int, int]], how: SplitOptions
) -> None:
    splits = split_of(panels, how)[0]
    for article in splits:
        if all(group == -1 for its, group in panels if its == article):
            assert SPLITS[int(own_splits([article], [year_of(article)], how)[0])] == splits[article]


@given(panels_of_articles, options, st.randoms())
def test_order_does_not_matter(panels: list[tuple[int, int]], how: SplitOptions, random: object) -> None:
    turned = list(panels)
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert split_of(turned, how)[0] == split_of(panels, how)[0]
