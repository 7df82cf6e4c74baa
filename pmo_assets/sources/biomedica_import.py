"""Import of BIOMEDICA's rows of registered articles, kept below the data root: each file of it is read once.

    biomedica/<source>/<file>.parquet       table `BiomedicaShard`

A file's table holds the rows of all articles that were registered when it was read, and the numbers of all others that
it has. So a file is read again only when one of those others has been registered since, or when the file has changed.
An import that was killed goes on with the file at which it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, fields
from typing import Any

import polars as pl

from pmo_assets.records.biomedica import BiomedicaFigure, MalformedRow
from pmo_assets.records.step_output import Row
from pmo_assets.sources.biomedica import BiomedicaSource, Shard, read_shard
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.tables.biomedica import BiomedicaShard
from pmo_assets.tables.schemas import checked

FIGURE, MALFORMED, OTHER = "figure", "malformed", "other"
"""States of a row of `BiomedicaShard`."""

FORMAT = 1
"""Version of the kept tables and of the fields read from a row; with another one, every file is read anew."""

_FIELDS = [field.name for field in fields(BiomedicaFigure)]


@dataclass(frozen=True)
class ImportedFigures:
    """The dataset's figures of some articles.

    Attributes:
        figures: rows of `biomedica_figures`.
        malformed: rows of these articles that cannot be used.
        lost: number of the dataset's rows that cannot be used and name no article.
        example: the reason for one of those.
        files: number of the dataset's files.
        read: number of files that were read for this, and not earlier.
    """

    figures: list[Row]
    malformed: list[MalformedRow]
    lost: int
    example: str
    files: int
    read: int


def imported_figures(
    source: BiomedicaSource,
    data_root: DataRoot,
    articles: Collection[int],
    registered: Callable[[], Collection[int]],
    say: Callable[[str], object] = lambda _: None,
) -> ImportedFigures:
    """Return the dataset's figures of some articles; files that were not yet read for them are read now.

    Args:
        source: the copy of the dataset.
        data_root: keeps the rows that were read.
        articles: numbers of the articles whose rows are returned.
        registered: gives the articles whose rows are kept when a file is read.
        say: told of each file that is read.

    Raises:
        SourceError: if the dataset cannot be read.
        StorageError: if the rows that were read cannot be kept.
    """
    figures: list[Row] = []
    malformed: list[MalformedRow] = []
    lost, read, example = 0, 0, ""
    folder = f"biomedica/{_digest(source.uri)}"
    shards = source.shards()
    kept = set(data_root.keys(folder, ".parquet"))
    wanted: set[int] | None = None
    mine = pl.Series(sorted(articles), dtype=pl.Int64)
    for number, shard in enumerate(shards, start=1):
        name = f"{_digest(f'{FORMAT} {shard.name} {shard.stamp}')}.parquet"
        table = read_parquet(data_root, f"{folder}/{name}") if name in kept else None
        if table is None or _others(table, mine):
            wanted = wanted if wanted is not None else {*registered(), *articles}
            say(f"BIOMEDICA: reading {shard.name} ({number} of {len(shards)})")
            table = _read(shard, wanted)
            data_root.write(f"{folder}/{name}", parquet_bytes(table))
            read += 1
        ours = table.filter(pl.col("article_id").is_in(mine.implode()))
        figures += ours.filter(pl.col("state") == FIGURE).select(_FIELDS).to_dicts()
        malformed += [
            MalformedRow(row["row_id"], row["article_id"], row["message"])
            for row in ours.filter(pl.col("state") == MALFORMED).iter_rows(named=True)
        ]
        nameless = table.filter((pl.col("state") == MALFORMED) & pl.col("article_id").is_null())
        lost += nameless.height
        example = example or (f"{nameless['row_id'][0]}: {nameless['message'][0]}" if nameless.height else "")
    return ImportedFigures(figures, malformed, lost, example, len(shards), read)


def _others(table: pl.DataFrame, articles: pl.Series) -> bool:
    """Say whether a file has rows of one of these articles that were not kept when it was read."""
    return bool(table.filter((pl.col("state") == OTHER) & pl.col("article_id").is_in(articles.implode())).height)


def _read(shard: Shard, wanted: Collection[int]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    others: set[int] = set()
    for item in read_shard(shard, wanted):
        if isinstance(item, int):
            others.add(item)
        elif isinstance(item, MalformedRow):
            rows.append({"state": MALFORMED, **asdict(item)})
        else:
            rows.append({"state": FIGURE, **asdict(item)})
    rows += [{"state": OTHER, "article_id": number} for number in sorted(others)]
    return checked(BiomedicaShard, rows)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
