"""Train, validation and test: by article, the same for ever, and no picture in two of them.

An article's own split is a matter of its number alone (or of its year, if the newest articles are to be tested on), not
of what else there is. Articles that show the same picture get one split: the one nearest to training among their own.
So nothing has to be remembered between releases. Whoever splits the same articles gets the same splits; and since a
further article can only bring further links, an article that was published once moves, if at all, towards training.
What a model was trained on is not among what it is tested on later.

The converse holds as well: an article that is taken away takes its links along. Withdrawn articles should therefore be
given, too, as long as their panels are known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Split = Literal["train", "validation", "test"]

SPLITS: Final[tuple[Split, ...]] = ("train", "validation", "test")
"""The names by which the Hub knows them; of articles that belong together, the first wins."""

SALT: Final = "pubmed-ophtha split "
"""Precedes the article's number: other datasets that split by a hash of the PMC number split otherwise. Changing it
moves every article."""


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """Options of splitting the articles.

    Attributes:
        shares: of the articles, for train, validation and test.
        test_from_year: articles of this year or later are the test articles, all others (also those without a year)
            are shared between train and validation; None to draw the test articles like the others.

    Raises:
        ValueError: if the shares are none.
    """

    shares: tuple[float, float, float] = (0.8, 0.1, 0.1)
    test_from_year: int | None = None

    def __post_init__(self) -> None:
        if len(self.shares) != len(SPLITS) or min(self.shares) < 0 or abs(sum(self.shares) - 1) > 1e-9:
            raise ValueError(f"shares of train, validation and test must be three that add up to 1, not {self.shares}")
        if self.test_from_year is not None and self.shares[0] + self.shares[1] == 0:
            raise ValueError("with test articles by year, train or validation need a share for the others")


@dataclass(frozen=True, slots=True)
class ArticleSplits:
    """Splits of articles, in the order in which they were given.

    Attributes:
        articles: article ids.
        split: index into `SPLITS`.
        own: what it would be without near-duplicates.
        family: the lowest article id among those it shares pictures with, directly or over others; its own if none.
    """

    articles: NDArray[np.int64]
    split: NDArray[np.int64]
    own: NDArray[np.int64]
    family: NDArray[np.int64]

    def by_article(self) -> dict[int, Split]:
        """Return the split of each article."""
        return {int(article): SPLITS[split] for article, split in zip(self.articles, self.split, strict=True)}


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """Counts of the splits, and of the groups and articles that cross them.

    Attributes:
        articles: per split.
        panels: per split.
        groups: of near-identical panels.
        groups_across_articles: of these, in more than one article.
        crossing_groups: of these, in more than one split. Must be 0.
        linked_articles: articles that share a picture with another.
        moved_articles: articles whose split is not their own.
        largest_family: number of articles of the largest family. A large one says that pictures which are in many
            articles for another reason (a logo, a chart's frame) tie them together.
    """

    articles: Mapping[Split, int]
    panels: Mapping[Split, int]
    groups: int
    groups_across_articles: int
    crossing_groups: int
    linked_articles: int
    moved_articles: int
    largest_family: int


def article_fraction(article_id: int) -> float:
    """Return an article's place in [0, 1), evenly spread and the same for ever."""
    digest = hashlib.sha256(f"{SALT}{article_id}".encode()).digest()
    return float((int.from_bytes(digest[:8], "big") >> 11) / 2**53)


def own_splits(
    articles: Sequence[int] | NDArray[np.int64], years: Sequence[int | None], options: SplitOptions
) -> NDArray[np.int64]:
    """Return the split of each article by itself, as index into `SPLITS`.

    Without a year, train comes first on [0, 1), then validation, then test. With one, train and validation keep their
    articles. Only those that would be test and are too old are dealt out to train and validation, in the ratio of their
    shares: switching the option moves no article that need not move.
    """
    places = np.array([article_fraction(int(article)) for article in articles], dtype=np.float64)
    train, validation, _ = options.shares
    drawn = _dealt(places, options.shares)
    if options.test_from_year is None:
        return drawn
    begin = train + validation
    within = np.clip((places - begin) / max(1 - begin, 1e-12), 0, 1)
    instead = _dealt(within, (train / begin, validation / begin, 0.0))
    rest = np.where(drawn == SPLITS.index("test"), instead, drawn)
    is_new = np.array([year is not None and year >= options.test_from_year for year in years], dtype=np.bool_)
    return np.asarray(np.where(is_new, SPLITS.index("test"), rest))


def article_links(panel_articles: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the articles that share pictures, (m, 2): per group its lowest article with each of the others.

    Args:
        panel_articles: article id of each panel.
        groups: its group (`near_duplicate_groups`), -1 for none.
    """
    grouped = np.flatnonzero(groups >= 0)
    pairs = np.unique(np.column_stack([groups[grouped], panel_articles[grouped]]).reshape(-1, 2), axis=0)
    _, first, which = np.unique(pairs[:, 0], return_index=True, return_inverse=True)
    links = np.column_stack([pairs[first, 1][which.reshape(-1)], pairs[:, 1]])
    return np.asarray(np.unique(links[links[:, 0] != links[:, 1]], axis=0), dtype=np.int64)


def article_splits(
    articles: Sequence[int] | NDArray[np.int64],
    years: Sequence[int | None],
    links: NDArray[np.int64] | Sequence[tuple[int, int]] = (),
    options: SplitOptions | None = None,
) -> ArticleSplits:
    """Return the splits of articles. They do not depend on the order of articles or links.

    Args:
        articles: article ids, each once.
        years: of publication; None if unknown.
        links: pairs of articles that share a picture (`article_links`).
        options: of splitting.

    Raises:
        ValueError: if articles are given twice, years do not fit, or a link names another article.
    """
    numbers = np.asarray(articles, dtype=np.int64).reshape(-1)
    if len(years) != len(numbers) or len(np.unique(numbers)) != len(numbers):
        raise ValueError(f"{len(numbers)} articles, {len(np.unique(numbers))} different ones, and {len(years)} years")
    own = own_splits(numbers, years, options or SplitOptions())
    if not len(numbers):
        return ArticleSplits(numbers, own, own.copy(), numbers.copy())
    left, right = (_places(numbers, ids) for ids in np.asarray(links, dtype=np.int64).reshape(-1, 2).T)
    # Imported here: `records.pairing` says why.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(left), dtype=np.bool_), (left, right)), shape=(len(numbers), len(numbers)))
    families, which = connected_components(graph, directed=False)
    split = np.full(families, len(SPLITS) - 1, dtype=np.int64)
    np.minimum.at(split, which, own)
    lowest = np.full(families, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(lowest, which, numbers)
    return ArticleSplits(numbers, split[which], own, lowest[which])


def split_check(splits: ArticleSplits, panel_articles: NDArray[np.int64], groups: NDArray[np.int64]) -> SplitCheck:
    """Count what the splits hold, and the groups of near-identical panels that would cross them.

    Args:
        splits: of all articles that have panels.
        panel_articles: article id of each panel.
        groups: its group of near-identical panels, -1 for none.

    Raises:
        ValueError: if a panel's article has no split.
    """
    of_panel = splits.split[_places(splits.articles, panel_articles)]
    grouped = groups >= 0
    per_article = np.unique(np.column_stack([groups[grouped], panel_articles[grouped]]).reshape(-1, 2), axis=0)
    per_split = np.unique(np.column_stack([groups[grouped], of_panel[grouped]]).reshape(-1, 2), axis=0)
    sizes = np.unique(splits.family, return_counts=True)[1]
    return SplitCheck(
        articles=_counted(splits.split),
        panels=_counted(of_panel),
        groups=len(np.unique(groups[grouped])),
        groups_across_articles=_repeated(per_article[:, 0]),
        crossing_groups=_repeated(per_split[:, 0]),
        linked_articles=int(sizes[sizes > 1].sum()),
        moved_articles=int((splits.split != splits.own).sum()),
        largest_family=int(sizes.max(initial=0)),
    )


def _dealt(places: NDArray[np.float64], shares: tuple[float, float, float]) -> NDArray[np.int64]:
    """Return which share each place in [0, 1] falls into; a share of 0 gets none, whatever the others add up to."""
    last = max(index for index, share in enumerate(shares) if share > 0)
    return np.asarray(np.minimum(np.searchsorted(np.cumsum(shares)[:-1], places, side="right"), last))


def _places(articles: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of article ids among the articles."""
    order = np.argsort(articles)
    at = np.searchsorted(articles, wanted, sorter=order)
    unknown = at == len(articles)
    unknown[~unknown] = articles[order[at[~unknown]]] != wanted[~unknown]
    if unknown.any():
        raise ValueError(
            f"{int(unknown.sum())} times an article that is not among those to split: {wanted[unknown][0]}"
        )
    return np.asarray(order[at])


def _counted(split: NDArray[np.int64]) -> dict[Split, int]:
    counts = np.bincount(split, minlength=len(SPLITS))
    return {name: int(count) for name, count in zip(SPLITS, counts, strict=True)}


def _repeated(numbers: NDArray[np.int64]) -> int:
    """Return the count of numbers that occur more than once."""
    return int((np.unique(numbers, return_counts=True)[1] > 1).sum())
