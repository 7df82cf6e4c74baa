"""Which panels of a release look the same, and the split of every article, which follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from pmo_assets.pipeline.dataset.near_duplicates import NearDuplicates, near_duplicate_groups
from pmo_assets.pipeline.dataset.splits import SPLITS, SplitOptions, article_links, article_splits, split_check
from pmo_assets.pipeline.dataset.splits import ArticleSplits as Splits
from pmo_assets.pipeline.figures.perceptual_hash import HASH_BYTES
from pmo_assets.release.facts import SplitFacts
from pmo_assets.release.selection import Selection
from pmo_assets.release.versions import read_manifest, read_version_table, released_versions
from pmo_assets.release.writing import ReleaseOptions, released_rows
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import ArticleSplits, PanelDuplicates
from pmo_assets.tables.schemas import checked, empty_table, schema_of

_COLUMNS: Final = ("panel_id", "article_id", "year", "perceptual_hash", "picture_sha256")

_DIGEST_LENGTH: Final = 24
"""Hexadecimal digits of a digest that are compared: 96 bits tell a million pictures apart as well as 256 do, in half of
the memory."""


@dataclass(frozen=True)
class PanelGroups:
    """Panels that look the same, and the splits that keep them together.

    Attributes:
        duplicates: `PanelDuplicates`: every panel that looks like another one.
        splits: `ArticleSplits`: every article that has panels.
        facts: the counts.
        split_options: by which articles were split.
        panels: number of panels that were compared.
    """

    duplicates: pl.DataFrame
    splits: pl.DataFrame
    facts: SplitFacts
    split_options: SplitOptions
    panels: int

    def largest(self, count: int) -> list[tuple[str, int, int]]:
        """Return (group, panels, articles) of the largest groups."""
        sizes = self.duplicates.group_by("duplicate_group").agg(pl.len(), pl.col("article_id").n_unique())
        return list(sizes.sort("len", "duplicate_group", descending=[True, False]).head(count).iter_rows())


def split_facts(options: SplitOptions) -> dict[str, Any]:
    """Return the options of splitting articles, for the manifest."""
    return {"split_shares": list(options.shares), "test_from_year": options.test_from_year}


def find_panel_duplicates(
    tables: Tables, selection: Selection, options: ReleaseOptions, split_options: SplitOptions
) -> PanelGroups:
    """Find the panels that look the same over all batches, and give every article its split.

    An article that was released before never moves away from training, also when the article that it shares a picture
    with was withdrawn since: models were trained on it.

    Memory: about 200 bytes a panel, and what `near_duplicate_groups` takes.

    Args:
        tables: the tables below the data root.
        selection: see `select_articles`.
        options: the rows, pictures and texts that the release takes.
        split_options: shares, and from which year on articles are for testing.

    Raises:
        StorageError: if a batch's rows are missing or of another version.
    """
    panels = _panels(tables, selection, options)
    hashes = np.frombuffer(b"".join(panels["perceptual_hash"]), dtype=np.uint8).reshape(-1, HASH_BYTES)
    digests = np.frombuffer("".join(panels["picture_sha256"]).encode(), dtype=f"S{_DIGEST_LENGTH}")
    panels = panels.select("panel_id", "article_id", "year")  # a third of the memory
    articles = panels["article_id"].to_numpy()
    found = near_duplicate_groups(hashes, digests, articles)
    years = panels.group_by("article_id").agg(pl.col("year").first()).sort("article_id")
    splits = article_splits(
        years["article_id"].to_numpy(), years["year"].to_list(), article_links(articles, found.group), split_options
    )
    splits = not_moved_away(splits, _released_splits(tables.data_root, split_options))
    check = split_check(splits, articles, found.group)
    return PanelGroups(
        duplicates=_duplicates(panels, found, splits),
        splits=checked(
            ArticleSplits,
            pl.DataFrame(
                {
                    "article_id": splits.articles,
                    "split": [SPLITS[number] for number in splits.split],
                    "own_split": [SPLITS[number] for number in splits.own],
                }
            ),
        ),
        facts=SplitFacts(
            shares=dict(zip(SPLITS, split_options.shares, strict=True)),
            test_from_year=split_options.test_from_year,
            articles={str(name): count for name, count in check.articles.items()},
            panels={str(name): count for name, count in check.panels.items()},
            groups=check.groups,
            grouped_panels=int((found.group >= 0).sum()),
            groups_across_articles=check.groups_across_articles,
            moved=check.moved_articles,
            groups_across_splits=check.crossing_groups,
        ),
        split_options=split_options,
        panels=panels.height,
    )


def _panels(tables: Tables, selection: Selection, options: ReleaseOptions) -> pl.DataFrame:
    """Return the compared columns of all panels: ids, year, hash and digest as bytes."""
    none = empty_table(schema_of("dataset_rows")).select(_COLUMNS)  # of a data root with nothing but lectures
    return pl.concat(
        rows.with_columns(
            pl.col("perceptual_hash").str.decode("hex"),
            pl.col("picture_sha256").str.slice(0, _DIGEST_LENGTH),
        )
        for rows in (none, *(released_rows(tables, selection, batch, options, _COLUMNS) for batch in selection.current))
    )


def _released_splits(data_root: DataRoot, options: SplitOptions) -> dict[int, int]:
    """Return the split nearest to training that an article ever had, as index, by article.

    Releases count back to the first that was split by other options: with these, splitting started afresh.
    """
    found: dict[int, int] = {}
    for version in reversed(released_versions(data_root)):
        then = read_manifest(data_root, version).options
        if {name: then.get(name) for name in split_facts(options)} != split_facts(options):
            break
        known = read_version_table(data_root, version, "articles").drop_nulls("split")
        for article, split in known.select("article_id", "split").iter_rows():
            found[article] = min(found.get(article, len(SPLITS)), SPLITS.index(split))
    return found


def not_moved_away(splits: Splits, released: Mapping[int, int]) -> Splits:
    """Return splits in which no article, nor one that shares a picture with it, is farther from training than before.

    Args:
        splits: of all articles.
        released: split of articles that were released before, as index.
    """
    before = np.array([released.get(int(article), len(SPLITS)) for article in splits.articles], dtype=np.int64)
    families, which = np.unique(splits.family, return_inverse=True)
    least = np.full(len(families), len(SPLITS), dtype=np.int64)
    np.minimum.at(least, which, np.minimum(before, splits.split))
    return replace(splits, split=least[which])


def _duplicates(panels: pl.DataFrame, found: NearDuplicates, splits: Splits) -> pl.DataFrame:
    """Return `PanelDuplicates`."""
    grouped = np.flatnonzero(found.group >= 0)
    rows = panels[grouped].select("panel_id", "article_id")
    by_article = splits.by_article()
    table = rows.with_columns(
        duplicate_group=panels["panel_id"].gather(found.representative[grouped]),
        kind=pl.Series(found.kind[grouped].tolist(), dtype=pl.String),
        distance=pl.Series(found.distance[grouped]),
        split=pl.Series([by_article[article] for article in rows["article_id"]], dtype=pl.String),
    )
    return checked(PanelDuplicates, table)
