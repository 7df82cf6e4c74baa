"""Parquet files of a release: which of their rows have nulls that can be filled, and the same files with them filled.

A filled file has the row groups of the file that it was made of, and is written as a release writes it: where nothing
is left null it has the bytes that a release without withheld rows has.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa

from pmo_assets.pipeline.dataset.hub_rows import FIGURE_PICTURE, PANEL_PICTURE
from pmo_assets.pipeline.dataset.licensing import withheld_columns
from pmo_assets.pipeline.dataset.published import PICTURE as PUBLISHED_PICTURE
from pmo_assets.pipeline.dataset.published import published_mentions
from pmo_assets.records.stores import StorageError
from pmo_assets.release.filling.restoring import Restored
from pmo_assets.release.shards import picture_array
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.foreign_parquet import ForeignParquet
from pmo_assets.storage.parquet import ParquetStream, WrittenFile
from pmo_assets.tables.context import PanelSummaries
from pmo_assets.tables.release import CONFIGS, WithheldPanels, arrow_schema, joined_columns, release_tables


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of file that has nulls where a licence forbids redistribution.

    Attributes:
        table: its name in `release_tables`.
        picture: column of pictures.
        text: column of subcaptions or captions; null where a row is withheld, and only there.
        without: columns of this version that the file has not: it is of a release from before they came.
    """

    table: str
    picture: str
    text: str
    without: frozenset[str] = frozenset()

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the file."""
        whole = arrow_schema(release_tables()[self.table])
        return pa.schema([field for field in whole if field.name not in self.without])

    @property
    def filled(self) -> tuple[str, ...]:
        """The columns that are filled, in the file's order."""
        return withheld_columns(None, self.schema.names)

    @property
    def others(self) -> tuple[str, ...]:
        """Those of them that hold texts of other tables (`filling.context`)."""
        return tuple(name for name in self.filled if name not in (self.picture, self.text, "in_text_mention"))

    @property
    def is_published(self) -> bool:
        """True for the published form, `pubmed_ophtha.parquet`."""
        return self.table == PUBLISHED.table

    @property
    def is_of_figures(self) -> bool:
        """True if a row is a figure and not a panel."""
        return self.table == "figures"


PUBLISHED: Final = Form("pubmed_ophtha", PUBLISHED_PICTURE, "subcaption_text")
FORMS: Final = (
    PUBLISHED,
    Form("panels", PANEL_PICTURE, "subcaption_text"),
    Form("figures", FIGURE_PICTURE, "caption"),
)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[ForeignParquet]:
    """Open a Parquet file; what is wrong with it is named.

    Raises:
        StorageError: if it is missing, damaged, or no Parquet file.
    """
    damaged = f"{path} cannot be read as a Parquet file of a release"
    try:
        file = ForeignParquet(path)
    except FileNotFoundError as error:
        raise StorageError(f"there is no file {path}") from error
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{damaged}: {error}") from error
    with file:
        try:
            yield file
        except (pa.ArrowException, pl.exceptions.PolarsError) as error:
            raise StorageError(f"{damaged}: {error}") from error


def form_of(path: Path) -> Form:
    """Return the form of a file of a release; it may be of one from before the columns of other tables came.

    Raises:
        StorageError: if it is none of them, or cannot be read.
    """
    with _opened(path) as file:
        found = file.schema_arrow
    for form in FORMS:
        later = _later_columns(form)
        own = replace(form, without=later - set(found.names))
        if _same(found, own.schema):
            return own
        unknown = [name for name in found.names if name not in form.schema.names]
        if unknown and not set(form.schema.names) - later - set(found.names):
            raise StorageError(f"{path} has columns that this version's {form.table} has not ({', '.join(unknown)}): "
                               "use the version of pmo-assets that made it, with the groups it had")  # fmt: skip
    alike = next((form for form in FORMS if set(found.names) == set(form.schema.names)), None)
    if alike is not None:
        raise StorageError(f"{path} has columns of other types than this version's {alike.table}: use the version of "
                           "pmo-assets that made it")  # fmt: skip
    raise StorageError(
        f"{path} is no file of a release that has withheld rows: give pubmed_ophtha.parquet, a shard of the hub's "
        "panels or figures, or the hub's folder"
    )


def _later_columns(form: Form) -> frozenset[str]:
    """Return the columns that releases of earlier versions have not."""
    config = next((config for config in CONFIGS if config == form.table), None)
    return frozenset(name for names in joined_columns(config).values() for name in names) if config else frozenset()


def _same(found: pa.Schema, schema: pa.Schema) -> bool:
    """Say whether columns and types are the same; what a list calls its elements does not count."""
    return found.names == schema.names and all(
        own.type.equals(field.type) for own, field in zip(found, schema, strict=True)
    )


def read_withheld(path: Path) -> pl.DataFrame:
    """Return the list of what a release withholds (`WithheldPanels`); an earlier version's has no `other_texts`.

    Raises:
        StorageError: if there is none at the path.
    """
    schema = arrow_schema(WithheldPanels)
    before = schema.remove(schema.get_field_index("other_texts"))
    with _opened(path) as file:
        if _same(file.schema_arrow, before):
            return pl.DataFrame(pl.from_arrow(file.read())).with_columns(other_texts=pl.lit([], _DIGESTS))
        if not _same(file.schema_arrow, schema):
            raise StorageError(f"{path} is no list of what a release withholds (withheld.parquet)")
        return pl.DataFrame(pl.from_arrow(file.read()))


_DIGESTS: Final = pl.List(pl.Struct({"column": pl.String, "sha256": pl.String}))


PLACES: Final = ("mention_places", "summary_places")
"""Columns that say where withheld sentences stand in the article."""

NULL_ROWS: Final = pl.Schema(
    {
        "key": pl.String(),
        "article_id": pl.Int64(),
        "image_cluster_id": pl.String(),
        "content_box": pl.List(pl.Float64()),
        "segments": pl.List(pl.List(pl.Int64())),
        **{name: PanelSummaries.columns()[name].dtype for name in PLACES},
    }
)
"""Columns of `null_rows`; box, segments ([start, end)) and places of panels only."""


def null_rows(path: Path, form: Form) -> pl.DataFrame:
    """Return the rows of a file whose picture and texts are null, read without the pictures.

    Raises:
        StorageError: if the file is damaged.
    """
    wanted = ["article_id", "image_cluster_id", form.text]
    if not form.is_of_figures:
        wanted += ["panel_id", "subcaption_segments", "position" if form.is_published else "content_box"]
        wanted += [name for name in PLACES if name in form.schema.names]
    parts = [pl.DataFrame(schema=NULL_ROWS)]
    with _opened(path) as file:
        for number in range(file.num_row_groups):
            group = pl.DataFrame(pl.from_arrow(file.read_row_group(number, columns=wanted)))
            rows = group.filter(pl.col(form.text).is_null())
            parts.append(_null_rows(rows, form).cast(NULL_ROWS))
    return pl.concat(parts)


def _null_rows(rows: pl.DataFrame, form: Form) -> pl.DataFrame:
    shared = ("article_id", "image_cluster_id")
    if form.is_of_figures:
        empty = (_nothing(name) for name in ("content_box", "segments", *PLACES))
        return rows.select(_figure_keys().alias("key"), *shared, *empty)
    segments, box = pl.col("subcaption_segments"), pl.col("content_box")
    if form.is_published:
        first, length = pl.element().list.get(0), pl.element().list.get(1)
        segments = segments.list.eval(pl.concat_list(first, first + length))
        box = pl.col("position").str.json_path_match("$.content_box").str.json_decode(pl.List(pl.Float64))
    places = (pl.col(name) if name in rows.columns else _nothing(name) for name in PLACES)
    key = pl.col("panel_id").alias("key")
    return rows.select(key, *shared, box.alias("content_box"), segments.alias("segments"), *places)


def _nothing(name: str) -> pl.Expr:
    return pl.lit(None, dtype=NULL_ROWS[name]).alias(name)


def _figure_keys() -> pl.Expr:
    return pl.format("{}/{}", "article_id", "image_cluster_id")


def row_count(path: Path) -> int:
    """Return the number of rows of a file.

    Raises:
        StorageError: if it cannot be read.
    """
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def has_pictures(path: Path, form: Form) -> bool:
    """Say whether any row of a hub's shard has a picture; only the pictures' names are read."""
    name = f"{form.picture}.path"
    with _opened(path) as file:
        return any(
            file.read_row_group(number, columns=[name])[form.picture].combine_chunks().field("path").null_count
            < file.metadata.row_group(number).num_rows
            for number in range(file.num_row_groups)
        )


@dataclass(frozen=True, slots=True)
class FilledRows:
    """Rows that were filled: their number, and of (column, reason) the number of those in which a text stays null."""

    count: int = 0
    left: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def left_by_column(self) -> Counter[str]:
        """Number of the rows in which each column stays null."""
        found: Counter[str] = Counter()
        for (column, _), count in self.left.items():
            found[column] += count
        return found

    def __add__(self, other: FilledRows) -> FilledRows:
        return FilledRows(self.count + other.count, self.left + other.left)


def write_filled(
    source: Path,
    form: Form,
    data_root: DataRoot,
    key: str,
    restored: Callable[[int], Mapping[str, Restored]],
) -> tuple[WrittenFile, FilledRows]:
    """Write a file of a release with its nulls filled; it appears when it is whole, and may replace its source.

    Memory holds a row group, and what was restored of its rows.

    Args:
        source: the file with nulls.
        form: what kind of file it is.
        data_root: where the other file goes.
        key: its name there.
        restored: gives what was restored of an article, by key; called once for its rows that follow each other.

    Returns:
        What was written, and which rows were filled.

    Raises:
        StorageError: if a file cannot be read or written.
    """
    rows = FilledRows()
    with _opened(source) as file:
        stream = ParquetStream(data_root, key, form.schema, file.schema_arrow.metadata or {}, form.picture)
        try:
            for number in range(file.num_row_groups):
                group, filled = _filled_group(file.read_row_group(number), form, restored)
                stream.write(group)
                rows += filled
        except BaseException:
            stream.abandon()
            raise
    return stream.finish(), rows


def _filled_group(
    group: pa.Table, form: Form, restored: Callable[[int], Mapping[str, Restored]]
) -> tuple[pa.Table, FilledRows]:
    """Return a row group with its nulls filled, and which rows these are."""
    keys = pl.DataFrame(pl.from_arrow(group.select(["article_id", "image_cluster_id", form.text])))
    own = _figure_keys() if form.is_of_figures else pl.Series(group["panel_id"].to_pylist(), dtype=pl.String)
    places = keys.select(pl.row_index("row"), "article_id", own.alias("key"), pl.col(form.text).is_null().alias("null"))
    numbers: list[int] = []
    found: list[tuple[str, Restored]] = []
    for (article_id,), rows in places.filter("null").group_by("article_id", maintain_order=True):
        kept = restored(article_id)
        for number, key in rows.select("row", "key").iter_rows():
            if key in kept:
                numbers.append(number)
                found.append((key, kept[key]))
    if not found:
        return group, FilledRows()
    values = _filling(form, found)
    order = list(range(group.num_rows))
    for place, number in enumerate(numbers):
        order[number] = group.num_rows + place
    for name in form.filled:
        column = group[name].combine_chunks() if group[name].num_chunks != 1 else group[name].chunk(0)
        whole = pa.concat_arrays([column, values[name].combine_chunks().cast(column.type)])
        group = group.set_column(group.schema.get_field_index(name), name, whole.take(pa.array(order)))
    others = set(form.others)
    left = Counter(item for _, one in found for item in one.others.left.items() if item[0] in others)
    return group, FilledRows(len(found), left)


def _filling(form: Form, found: Sequence[tuple[str, Restored]]) -> pa.Table:
    """Return the values for the null rows, in their order: the columns that are filled."""
    mentions: Any = pl.Series([list(item.mentions) for _, item in found], dtype=pl.List(pl.String))
    if form.is_published:
        mentions = published_mentions(mentions)
    # the name of a figure's picture is that of its shard: `write_tables`
    names = [key.replace("/", "_", 1) if form.is_of_figures else key for key, _ in found]
    kinds = {name: form.schema.field(name).type for name in form.filled}
    return pa.table(
        {
            form.picture: picture_array(names, [item.picture for _, item in found], kinds[form.picture]),
            form.text: pa.array([item.text for _, item in found], kinds[form.text]),
            "in_text_mention": pa.array(mentions.to_list(), kinds["in_text_mention"]),
            **{
                name: pa.array([item.others.values.get(name) for _, item in found], kinds[name]) for name in form.others
            },
        }
    )
