"""A release: its configs, and how one row leads to another."""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pmo_assets.loading.errors import ReleaseError
from pmo_assets.loading.lecture_rows import VideoPair
from pmo_assets.loading.row_types import ROW_TYPES
from pmo_assets.loading.rows import Rows
from pmo_assets.loading.shards import Shard, ShardedTable
from pmo_assets.loading.typed_rows import Article, Figure, Instruction, Pair, Panel, Split
from pmo_assets.records.pairs import PICTURE_CONFIGS
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.tables.release import CONFIGS, LECTURE_PICTURE, arrow_schema, release_tables
from pmo_assets.tables.released import Config

PICTURES: Mapping[Config, str | None] = {
    "panels": "panel_image",
    "figures": "figure_image",
    "articles": None,
    "pairs": None,
    "instructions": None,
    "videos": LECTURE_PICTURE,
}
"""The column of each config that holds a picture."""


SUMS: Final = "SHA256SUMS"
"""The list of a release's files with their checksums, which is written last."""


@dataclass(frozen=True)
class RowMaker:
    """Makes records of a config's rows; travels to other processes with its release."""

    release: Release
    config: str

    def __call__(self, row: int, facts: dict[str, Any], /) -> Any:
        """Return the record of a row's facts."""
        return ROW_TYPES[self.config].of(self.release, row, facts)


_Named = TypeVar("_Named", bound=Pair | Instruction, covariant=True)


class NamingRows(Rows[_Named]):
    """Pairs or instructions, read as they are asked for; their pictures stand in other configs."""

    def _pictures_read(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        maker = self._make
        assert isinstance(maker, RowMaker)
        knows_config = "picture_config" in self._table.schema.names  # instructions were of panels only, once
        named = ["picture_row", "split", *(["picture_config"] if knows_config else [])]
        read = pa.concat_tables([self._table.schema.empty_table().select(named), *self._table.tables(numbers, named)])
        splits = np.asarray(read["split"].to_pylist(), dtype=object)
        configs = np.asarray(read["picture_config"].to_pylist() if knows_config else ["panels"] * read.num_rows, object)
        rows = read["picture_row"].to_numpy()
        groups, sizes = np.zeros(len(numbers), dtype=np.int64), np.zeros(0, dtype=np.int64)
        for config in PICTURE_CONFIGS:
            if not (configs == config).any():
                continue
            table = maker.release.picture_table(config)
            for split in get_args(Split):
                chosen = (configs == config) & (splits == split)
                groups[chosen] = table.group_of(rows[chosen] + table.rows_of_split(split)[0]) + len(sizes)
            sizes = np.concatenate([sizes, table.picture_bytes()])
        return groups, sizes


class Release:
    """A release of the dataset, opened by `pmo_assets.load`.

    Attributes:
        folder: the hub's folder of the release.
        version: of the release.
        manifest: what `manifest.json` says.
    """

    def __init__(self, root: DataRoot, manifest: Mapping[str, Any], files: Mapping[str, Sequence[str] | None]) -> None:
        """Use `pmo_assets.load`.

        Args:
            root: the hub's folder.
            manifest: content of `manifest.json`.
            files: keys of each config's Parquet files, in order; None for a config that is not there.
        """
        self.manifest = dict(manifest)
        self._root = root
        self._files = dict(files)
        # now and not later: Dataframely asks Polars, which hangs in a forked process
        self._schemas = {config: arrow_schema(release_tables()[config]) for config in CONFIGS}
        self._added = {
            config: frozenset(self._schemas[config].names) - ROW_TYPES[config].columns() - {PICTURES[config]}
            for config in CONFIGS
        }

    def __getstate__(self) -> dict[str, Any]:
        # tables that were opened travel along, so that nobody reads the ends of all files again
        tables = {f"_{config}_table": self.__dict__.get(f"_{config}_table") for config in CONFIGS}
        state = {name: self.__dict__[name] for name in ("manifest", "_root", "_files", "_schemas", "_added")}
        return {**state, **{name: table for name, table in tables.items() if table is not None}}

    @property
    def version(self) -> str:
        """Version of the release."""
        return str(self.manifest["version"])

    @functools.cached_property
    def digest(self) -> str:
        """Hexadecimal SHA-256 of the list of its files' checksums: releases that differ in a byte have other ones."""
        return hashlib.sha256(self._root.read(SUMS)).hexdigest()

    @property
    def folder(self) -> str:
        """Path or address of the hub's folder."""
        return self._root.root

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{len(getattr(self, config)):,} {config}" for config in CONFIGS if self._files[config] is not None
        )
        return f"<Release {self.version} in {self.folder}: {counts}>"

    @functools.cached_property
    def _panels_table(self) -> ShardedTable:
        return self._opened("panels")

    @functools.cached_property
    def _figures_table(self) -> ShardedTable:
        return self._opened("figures")

    @functools.cached_property
    def _articles_table(self) -> ShardedTable:
        return self._opened("articles")

    @functools.cached_property
    def _pairs_table(self) -> ShardedTable:
        return self._opened("pairs")

    @functools.cached_property
    def _instructions_table(self) -> ShardedTable:
        return self._opened("instructions")

    @functools.cached_property
    def _videos_table(self) -> ShardedTable:
        return self._opened("videos")

    def _table(self, config: str) -> ShardedTable:
        if config not in CONFIGS:
            raise ValueError(f"there is no config {config!r}: one of {', '.join(CONFIGS)}")
        table = getattr(self, f"_{config}_table")
        assert isinstance(table, ShardedTable)
        return table

    def _opened(self, config: Config) -> ShardedTable:
        keys = self._files[config]
        if keys is None:
            raise ReleaseError(
                f"{self.folder} has no files data/{config}/…: fetch them, too, or the folder as a whole; a folder of "
                "your own is made again by `pmo run`"
            )
        expected = self._schemas[config]
        look = functools.partial(_shard, self._root, expected, self._added[config], PICTURES[config])
        with ThreadPoolExecutor(8) as pool:
            read = list(pool.map(look, keys))
        # columns of a later version are left out; types are the files', which may have longer offsets
        there = [name for name in expected.names if all(name in found.names for _, found in read)]
        schema = pa.schema([read[0][1].field(name) for name in there]) if read else expected
        return ShardedTable(self._root, [shard for shard, _ in read], schema, PICTURES[config])

    def _rows(self, config: str) -> Rows[Any]:
        table = self._table(config)
        return Rows(table, RowMaker(self, config), range(len(table)))

    @property
    def panels(self) -> Rows[Panel]:
        """The panels: train, validation, test, each in the order of the files."""
        return self._rows("panels")

    @property
    def figures(self) -> Rows[Figure]:
        """The figures of which a panel is in the dataset."""
        return self._rows("figures")

    @property
    def articles(self) -> Rows[Article]:
        """The articles of which a panel is in the dataset."""
        return self._rows("articles")

    @property
    def pairs(self) -> Rows[Pair]:
        """Figures, panels, regions and pictures of lectures, each with each of its texts.

        `filter(level="panel", text_kind="subcaption")`, `filter(level="video")`.

        Raises:
            ReleaseError: if the release was made before there were pairs.
        """
        table = self._table("pairs")
        return NamingRows(table, RowMaker(self, "pairs"), range(len(table)))

    @property
    def instructions(self) -> Rows[Instruction]:
        """Questions and dialogues about panels and lectures, with answers that rest on evidence.

        `filter(kind="where")`, `filter(picture_config="videos")`.

        Raises:
            ReleaseError: if the release was made before there were instructions.
        """
        table = self._table("instructions")
        return NamingRows(table, RowMaker(self, "instructions"), range(len(table)))

    @property
    def videos(self) -> Rows[VideoPair]:
        """Pictures of lecture videos with what is said while they are shown.

        Raises:
            ReleaseError: if the release was made before there were any.
        """
        return self._rows("videos")

    @functools.cached_property
    def duplicates(self) -> pl.DataFrame:
        """Panels that look the same, in groups, over all splits (`tables.release.PanelDuplicates`).

        Raises:
            ReleaseError: if the release has no such table.
        """
        if not self._root.exists("duplicates.parquet"):
            raise ReleaseError(f"{self._root.uri('duplicates.parquet')} is not there: fetch the folder as a whole")
        return pl.read_parquet(io.BytesIO(self._root.read("duplicates.parquet")))

    def lazy(self, config: str = "panels", *, pictures: bool = False) -> pl.LazyFrame:
        """Return a config as a lazy Polars table, without its pictures unless they are asked for."""
        table = self._table(config)
        return table.scan([*table.columns, *([table.picture] if pictures and table.picture else [])])

    def to_polars(self, config: str = "panels", *, pictures: bool = False) -> pl.DataFrame:
        """Return a config as a Polars table, all in memory, without its pictures unless they are asked for."""
        return self._rows(config).to_polars(pictures=pictures)

    def to_arrow(self, config: str = "panels", *, pictures: bool = False) -> pa.Table:
        """Return a config as an Arrow table, all in memory, without its pictures unless they are asked for."""
        return self._rows(config).to_arrow(pictures=pictures)

    def picture_of(self, config: str, row: int) -> bytes | None:
        """Return the picture of a row as a file (PNG or WebP); None where it is withheld."""
        return self._table(config).picture_of(row)

    def picture_table(self, config: str) -> ShardedTable:
        """Return the files of a config with the pictures of pairs: "figures", "panels" or "videos"."""
        return self._table(config)

    def picture_in_split(self, config: str, split: Split, row: int) -> bytes | None:
        """Return the picture of a row, counted among those of its split; None where it is withheld.

        Raises:
            ReleaseError: if there is no such row.
        """
        table = self._table(config)
        first, end = table.rows_of_split(split)
        if not 0 <= row < end - first:
            raise ReleaseError(
                f"{self.folder} has no row {row} of {config} in {split}: its files are not of one release, fetch it "
                "again"
            )
        return table.picture_of(first + row)

    def article_of(self, article_id: int) -> Article:
        """Return an article.

        Raises:
            ReleaseError: if it is not in the release, or in a split that was not opened.
        """
        found = self._of_article("articles", article_id)
        if not found:
            raise ReleaseError(f"{self.folder} has no article {article_id} in the splits that were opened")
        return found[0]  # type: ignore[no-any-return]

    def figures_of(self, article_id: int) -> tuple[Figure, ...]:
        """Return the figures of an article."""
        return self._of_article("figures", article_id)

    def figure_of(self, article_id: int, image_cluster_id: str) -> Figure:
        """Return a figure.

        Raises:
            ReleaseError: if it is not in the release, or in a split that was not opened.
        """
        found = [figure for figure in self.figures_of(article_id) if figure.image_cluster_id == image_cluster_id]
        if not found:
            raise ReleaseError(
                f"{self.folder} has no figure {image_cluster_id} of article {article_id} in the splits that were opened"
            )
        return found[0]

    def panels_of(self, article_id: int, image_cluster_id: str | None = None) -> tuple[Panel, ...]:
        """Return the panels of an article, or of one of its figures."""
        panels: tuple[Panel, ...] = self._of_article("panels", article_id)
        return tuple(panel for panel in panels if image_cluster_id in (None, panel.image_cluster_id))

    def _of_article(self, config: str, article_id: int) -> tuple[Any, ...]:
        table = self._table(config)
        return tuple(Rows(table, RowMaker(self, config), table.rows_of_article(article_id)))


def _shard(
    root: DataRoot, expected: pa.Schema, added: Collection[str], picture: str | None, key: str
) -> tuple[Shard, pa.Schema]:
    """Return the row groups and columns of a Parquet file, as its end states them.

    Raises:
        ReleaseError: if it is damaged, or has other columns than this version of the package reads.
    """
    try:
        with root.open_random(key) as stream:
            file = pq.ParquetFile(stream)
            found, metadata = file.schema_arrow, file.metadata
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(
            f"{root.uri(key)} is damaged ({' '.join(str(error).split())}): fetch it again, or `pmo run` makes it again"
        ) from error
    # Columns that came later, of the release or of groups that were added: one that was made without them is as good.
    missing = [name for name in expected.names if name not in found.names and name not in added]
    other = [
        f"{name} ({found.field(name).type} instead of {expected.field(name).type})"
        for name in expected.names
        if name in found.names and not _alike(found.field(name).type, expected.field(name).type)
    ]
    if missing or other:
        what = [*(f"no column {name}" for name in missing), *(f"another type of {item}" for item in other)]
        raise ReleaseError(
            f"{root.uri(key)} has {', '.join(what)}: the release was made by another version of pmo-assets; open it "
            "with that version, or make it again (`pmo run`)"
        )
    sizes = [_column_bytes(metadata.row_group(group), picture) for group in range(metadata.num_row_groups)]
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    return Shard(key, tuple(rows), tuple(sizes)), found


def _column_bytes(group: pq.RowGroupMetaData, column: str | None) -> int:
    """Return the uncompressed size of a column with all its parts in bytes."""
    if column is None:
        return 0
    parts = (group.column(number) for number in range(group.num_columns))
    return sum(part.total_uncompressed_size for part in parts if part.path_in_schema.split(".")[0] == column)


def _alike(found: pa.DataType, expected: pa.DataType) -> bool:
    """Say whether a column can be read as it should be; other tools write strings and lists with longer offsets."""
    if pa.types.is_struct(expected):
        return pa.types.is_struct(found) and all(
            found.get_field_index(part.name) >= 0 and _alike(found.field(part.name).type, part.type)
            for part in expected
        )
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return is_list and _alike(found.value_type, expected.value_type)
    if pa.types.is_dictionary(found):
        return _alike(found.value_type, expected)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))
    if pa.types.is_binary(expected):
        return bool(pa.types.is_binary(found) or pa.types.is_large_binary(found) or pa.types.is_binary_view(found))
    return bool(found.equals(expected))
