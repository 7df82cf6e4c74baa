"""The rows of all batches with their pictures, licences applied, streamed into both forms of a release in one pass.

Memory holds the facts of one batch and a row group per file that is being written, whatever the number of rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl
import pyarrow as pa

from pmo_assets.pictures import decoded_bytes, pixels_digest
from pmo_assets.pipeline.dataset.hub_rows import (
    FIGURE_PICTURE,
    PANEL_PICTURE,
    hub_articles,
    hub_figures,
    hub_panels,
    with_joined,
)
from pmo_assets.pipeline.dataset.instruction_rows import (
    YesNoBalance,
    hub_instructions,
    hub_video_instructions,
    kept_instructions,
    yes_no_counts,
)
from pmo_assets.pipeline.dataset.licensing import withheld, withheld_columns, without_forbidden
from pmo_assets.pipeline.dataset.pair_rows import FROM_FIGURES, FROM_PANELS, FROM_VIDEOS, hub_pairs, video_pairs
from pmo_assets.pipeline.dataset.published import published_rows
from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.records.videos import KEYFRAMES
from pmo_assets.release.facts import SURE
from pmo_assets.release.lectures import Lectures, lecture_instructions, rows_of_videos
from pmo_assets.release.masking import PeopleMasking
from pmo_assets.release.row_index import row_digests
from pmo_assets.release.selection import Selection, articles_under, current_rows
from pmo_assets.release.shards import Pictures, ShardWriter
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import content_digest
from pmo_assets.storage.parquet import WrittenFile
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import (
    CONFIGS,
    LECTURE_PICTURE,
    RowIndex,
    WithheldPanels,
    arrow_schema,
    joined_columns,
    release_tables,
)
from pmo_assets.tables.released import KEYS

PUBLISHED_PICTURE: Final = "panel_image_bytes"

_TEXTS: Final = ("subcaption_text", "in_text_mention")
"""Texts of a panel that `WithheldPanels` has a digest of each; those of other tables have theirs in `other_texts`."""

_PICTURES = {"panels": PANEL_PICTURE, "figures": FIGURE_PICTURE, "videos": LECTURE_PICTURE}


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """Choice of the rows, pictures and texts that a release takes.

    Attributes:
        noncommercial: keep rows whose licence forbids commercial use; else they are left out.
        figure_pictures: the hub's table `figures` has pictures.
        withhold: null what a licence does not let a release publish; False only for oneself.
        mask_people: faces and printed names, dates and numbers of patients are black in its pictures.
    """

    noncommercial: bool = True
    figure_pictures: bool = True
    withhold: bool = True
    mask_people: bool = False


@dataclass
class ReleaseCounts:
    """Counts taken while a release was written.

    Of them `confidence` is the sum over the panels that their subcaption is theirs, `sure` and `decided` are as
    `QualityFacts` has them; `pairs` counts rows by level and kind of text, `paired` the figures, panels, regions
    and pictures of lectures that have any; `instructions` counts rows by kind, `answers` those of yes/no by split,
    topic and answer; `lectures` counts videos of which pairs go out, `lectures_withheld` pairs that a licence keeps
    back.
    """

    panels: int = 0
    figures: int = 0
    articles: int = 0
    withheld: int = 0
    confidence: float = 0.0
    sure: int = 0
    decided: int = 0
    noncommercial_left_out: int = 0
    noncommercial_articles: set[int] = field(default_factory=set)
    licences: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    contains: Counter[str] = field(default_factory=Counter)
    assembly: Counter[str] = field(default_factory=Counter)
    journals: set[str] = field(default_factory=set)
    years: set[int] = field(default_factory=set)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    paired: Counter[str] = field(default_factory=Counter)
    instructions: Counter[str] = field(default_factory=Counter)
    answers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    instructions_left_out: int = 0
    instructed_panels: int = 0
    instructed_lectures: int = 0
    lectures: int = 0
    lecture_pairs: int = 0
    lectures_withheld: int = 0


@dataclass(frozen=True)
class WrittenTables:
    """The files of a release's tables.

    Attributes:
        published: `pubmed_ophtha.parquet`.
        configs: the hub's shards, by config and split.
        withheld: list of withheld values, with the hashes to restore them by.
        index: digests of the rows.
        counts: what they hold.
    """

    published: WrittenFile
    configs: Mapping[str, Mapping[str, Sequence[WrittenFile]]]
    withheld: WrittenFile
    index: WrittenFile
    counts: ReleaseCounts


def released_rows(
    tables: Tables, selection: Selection, batch: str, options: ReleaseOptions, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the rows of a batch that a release takes: the current ones, without NC where that is left out."""
    if options.noncommercial:
        return current_rows(tables, selection, batch, columns)
    wanted = None if columns is None else list(dict.fromkeys((*columns, "license")))
    rows = current_rows(tables, selection, batch, wanted)
    rows = rows.filter(~is_noncommercial())
    return rows if columns is None else rows.select(columns)


def is_noncommercial(column: str = "license") -> pl.Expr:
    """Return the rows that a release without NC leaves out, by the column with their licence."""
    return pl.col(column).fill_null("").str.contains(r"\bNC\b")


class _Writers:
    """The writers of all files of a release; what is not finished leaves no trace."""

    def __init__(
        self,
        data_root: DataRoot,
        prefix: str,
        metadata: Callable[[pa.Schema], Mapping[bytes, bytes]],
        masking: PeopleMasking | None = None,
    ) -> None:
        def writer(name: str, schema: pa.Schema, pictures: str | None, described: bool, **options: Any) -> ShardWriter:
            facts = metadata(schema) if described else {}
            return ShardWriter(data_root, f"{prefix}{name}", schema, facts, pictures=pictures, **options)

        self.masking = masking
        schemas = {name: arrow_schema(schema) for name, schema in release_tables().items()}
        self.schemas = schemas
        self.published = writer(
            "pubmed_ophtha.parquet", schemas["pubmed_ophtha"], PUBLISHED_PICTURE, False, shard_bytes=None
        )
        self.configs = {
            (config, split): writer(
                f"hub/data/{config}/{split}-{{}}.parquet",
                schemas[config],
                _PICTURES.get(config),
                True,
            )
            for config in CONFIGS
            for split in SPLITS
        }
        self.rows: Counter[tuple[str, str]] = Counter()  # of configs and splits, as far as they were given
        self.withheld = writer("hub/withheld.parquet", arrow_schema(WithheldPanels), None, False, shard_bytes=None)
        self.index = writer("rows.parquet", arrow_schema(RowIndex), None, False, shard_bytes=None)

    def abandon(self) -> None:
        for writer in (self.published, *self.configs.values(), self.withheld, self.index):
            writer.abandon()


def write_tables(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    *,
    splits: pl.DataFrame,
    groups: pl.DataFrame,
    options: ReleaseOptions,
    prefix: str,
    metadata: Callable[[pa.Schema], Mapping[bytes, bytes]],
    say: Callable[[str], None],
    lectures: Lectures | None = None,
    masking: PeopleMasking | None = None,
) -> WrittenTables:
    """Write `pubmed_ophtha.parquet`, the hub's shards and what lies beside them.

    Args:
        data_root: root to write to; not always where tables and pictures are.
        tables: the tables below the data root.
        selection: see `select_articles`.
        splits: `ArticleSplits`, with every article that has rows.
        groups: `PanelDuplicates`.
        options: the rows, pictures and texts that the release takes.
        prefix: start of the files' keys, "" or ending in a slash.
        metadata: key-value metadata of the hub's files, by their schema.
        say: told of progress, batch by batch.
        lectures: pairs of lecture videos; None for none.
        masking: makes faces and printed names black in pictures; needed where `options` want it.

    Raises:
        StorageError: if pictures or splits are missing.
    """
    if options.mask_people and masking is None:
        raise StorageError("the release is to be without people, and nothing masks its pictures")
    writers = _Writers(data_root, prefix, metadata, masking)
    surplus = surplus_of_answers(tables, selection, splits, options, lectures)
    counts = ReleaseCounts(instructions_left_out=len(surplus))
    with contextlib.ExitStack() as stack:
        stack.callback(writers.abandon)
        for number, batch in enumerate(selection.current, start=1):
            current = current_rows(tables, selection, batch)
            rows = current if options.noncommercial else current.filter(~is_noncommercial())
            counts.noncommercial_left_out += current.height - rows.height
            counts.noncommercial_articles |= set(current["article_id"]).difference(rows["article_id"])
            say(f"release: batch {number} of {len(selection.current)} ({batch}, {rows.height} rows)")
            if not rows.is_empty():
                articles = articles_under(tables.read("articles", batch), selection)
                _write_batch(writers, tables, batch, rows, articles, splits, groups, options, counts, surplus)
        if lectures is not None:
            _write_lectures(writers, tables, lectures, surplus, counts)
        return WrittenTables(
            published=_only(writers.published),
            configs={
                config: {split: files for split in SPLITS if (files := writers.configs[config, split].finish())}
                for config in CONFIGS
            },
            withheld=_only(writers.withheld),
            index=_only(writers.index),
            counts=counts,
        )


def joined_tables(tables: Tables, batch: str) -> dict[str, pl.DataFrame]:
    """Return the tables of a batch whose columns a release carries besides those that its rows are made of.

    Raises:
        StorageError: if one was not made for the batch.
    """
    wanted: dict[str, list[str]] = {}
    for config in CONFIGS:
        for table, columns in joined_columns(config).items():
            wanted[table] = [*wanted.get(table, ()), *KEYS[config], *columns]
    return {table: tables.read(table, batch, list(dict.fromkeys(columns))) for table, columns in wanted.items()}


def _only(writer: ShardWriter) -> WrittenFile:
    (file,) = writer.finish()
    return file


def _arrow(table: pl.DataFrame) -> pa.Table:
    return table.to_arrow(compat_level=pl.CompatLevel.oldest())


def _licensed(table: pl.DataFrame, options: ReleaseOptions) -> pl.DataFrame:
    """Return rows of a release with nulls where a licence forbids redistribution."""
    return without_forbidden(table) if options.withhold else table


def _write_batch(
    writers: _Writers,
    tables: Tables,
    batch: str,
    rows: pl.DataFrame,
    known: pl.DataFrame,
    splits: pl.DataFrame,
    groups: pl.DataFrame,
    options: ReleaseOptions,
    counts: ReleaseCounts,
    surplus: frozenset[str],
) -> None:
    others = joined_tables(tables, batch)
    rows = with_joined(rows, "panels", others)
    articles = hub_articles(rows, known, splits, others)
    if articles["split"].null_count():
        raise StorageError(
            "articles came in while the release was being made, and have no split yet: make the release again"
        )
    figures = hub_figures(rows, tables.read("figures", batch), splits, others)
    _count(counts, rows, articles, figures)
    packages = tables.read("article_packages", batch, ["article_id", "name", "pdf", "xml"])
    sources = {row["article_id"]: row for row in packages.iter_rows(named=True)}
    writers.index.add(_arrow(row_digests(rows)))
    published = _arrow(_licensed(published_rows(rows), options))
    licensed_panels = _licensed(hub_panels(rows, splits, groups), options)
    licensed_figures = _licensed(figures.drop("pdf_figure_id"), options)
    panels, whole = _arrow(licensed_panels), _arrow(licensed_figures)
    own = _arrow(_licensed(articles, options))
    panel_store, figure_store = (ParquetPixels(tables.data_root, store, batch) for store in ("panels", "figures"))
    pictured = rows.select("panel_id", "article_id", "image_cluster_id", "content_box", "modality")
    panel_ids, figure_ids = rows["panel_id"].to_list(), figures["pdf_figure_id"].to_list()
    clusters, captions = figures["image_cluster_id"].to_list(), figures["caption"].to_list()
    texts = rows.select("panel_id", "article_id", "image_cluster_id", "picture_sha256", *_TEXTS, *other_texts())
    # By figure, not by article: a figure may have an owner and a licence of its own.
    closed = [withheld(code) for code in rows["license"]]
    closed_figures = [withheld(code) for code in figures["license"]]
    whole_rows = _numbered(
        writers, "figures", licensed_figures, closed_figures, options, pictures=options.figure_pictures
    )
    panel_rows = _numbered(writers, "panels", licensed_panels, closed, options)
    _write_pairs(writers, whole_rows, panel_rows, counts)
    _write_instructions(writers, tables, batch, whole_rows, panel_rows, surplus, counts)
    facts = articles.select("article_id", "split").iter_rows()
    for place, (at, of, (article_id, split)) in enumerate(zip(_spans(rows), _spans(figures), facts, strict=True)):
        hidden = [shut and options.withhold for shut in closed[at]]
        found = _pictures(panel_store.read(article_id), panel_ids[at], batch, "panels")
        figures_found = _pictures(figure_store.read(article_id), figure_ids[of], batch, "figures")
        drawn = [picture.png for picture in figures_found]
        if writers.masking is not None:
            of_article = pictured.slice(at.start, len(found)).to_dicts()
            named = list(zip(clusters[of], figures_found, strict=True))
            found, figures_found = writers.masking.clean(of_article, found, named)
        count = len(found)
        as_published = [None if hide else picture.png for hide, picture in zip(hidden, found, strict=True)]
        sizes = [len(picture.png) for picture in found]
        writers.published.add(published.slice(at.start, count), Pictures(panel_ids[at], as_published, sizes))
        small = [picture.compact or picture.png for picture in found]
        given = [None if hide else picture for hide, picture in zip(hidden, small, strict=True)]
        shown = Pictures(panel_ids[at], given, [len(picture) for picture in small])
        writers.configs["panels", split].add(panels.slice(at.start, count), shown)
        whole_shown = [picture.png for picture in figures_found]
        names = [f"{article_id}_{cluster}" for cluster in clusters[of]]
        sizes = [len(picture) if options.figure_pictures else 0 for picture in whole_shown]
        whole_pictures: list[bytes | None] = [
            None if (shut and options.withhold) or not options.figure_pictures else picture
            for shut, picture in zip(closed_figures[of], whole_shown, strict=True)
        ]
        shown = Pictures(names, whole_pictures, sizes)
        writers.configs["figures", split].add(whole.slice(of.start, len(whole_shown)), shown)
        writers.configs["articles", split].add(own.slice(place, 1))
        if any(closed[at]):
            shut = texts.slice(at.start, count).filter(pl.Series(closed[at]))
            listed = _withheld(shut, captions[of], clusters[of], drawn, sources[article_id])
            writers.withheld.add(listed)


def _numbered(
    writers: _Writers,
    config: str,
    rows: pl.DataFrame,
    closed: Sequence[bool],
    options: ReleaseOptions,
    *,
    pictures: bool = True,
) -> pl.DataFrame:
    """Return what pairs and instructions are made of, for rows that are about to be written to a config.

    Args:
        writers: of the release.
        config: "figures" or "panels".
        rows: of the batch, with licences applied.
        closed: whether the licence of each forbids passing on its picture.
        options: of the release.
        pictures: the config has pictures.
    """
    columns = FROM_FIGURES if config == "figures" else FROM_PANELS
    before = [writers.rows[config, split] for split in rows["split"]]
    numbered = rows.select(columns).with_columns(
        picture_row=pl.int_range(pl.len()).over("split") + pl.Series(before, dtype=pl.Int64),
        has_picture=pl.Series([pictures and not (shut and options.withhold) for shut in closed], dtype=pl.Boolean),
    )
    writers.rows.update((config, split) for split in rows["split"])
    return numbered


def _write_pairs(writers: _Writers, figures: pl.DataFrame, panels: pl.DataFrame, counts: ReleaseCounts) -> None:
    pairs = hub_pairs(figures, panels)
    for split in SPLITS:
        writers.configs["pairs", split].add(_arrow(pairs.filter(pl.col("split") == split)))
    counts.pairs.update(pairs.select("level", "text_kind").iter_rows())
    for level, key in {"figure": "figure_id", "panel": "panel_id", "region": "region_id"}.items():
        counts.paired[level] += pairs.filter(pl.col("level") == level)[key].n_unique()


def _write_instructions(
    writers: _Writers,
    tables: Tables,
    batch: str,
    figures: pl.DataFrame,
    panels: pl.DataFrame,
    surplus: frozenset[str],
    counts: ReleaseCounts,
) -> None:
    kept = kept_instructions(tables.read("instructions", batch), tables.read("verdicts", batch))
    key = ["article_id", "image_cluster_id"]
    sides = panels.join(figures.select(*key, "picture_width", "picture_height"), on=key, how="inner")
    pixels = {name: (width, height) for name, width, height in sides.select(
        "panel_id", "picture_width", "picture_height"
    ).iter_rows()}  # fmt: skip
    rows = hub_instructions(panels, kept, tables.read("cues", batch), pixels, surplus)
    _add_instructions(writers, rows, counts)
    counts.instructed_panels += rows["panel_id"].n_unique()


def _add_instructions(writers: _Writers, rows: pl.DataFrame, counts: ReleaseCounts) -> None:
    for split in SPLITS:
        writers.configs["instructions", split].add(_arrow(rows.filter(pl.col("split") == split)))
    counts.instructions.update(rows["kind"].cast(pl.String))
    counts.answers += yes_no_counts(rows)


def _write_lectures(
    writers: _Writers, tables: Tables, lectures: Lectures, surplus: frozenset[str], counts: ReleaseCounts
) -> None:
    for batch, video_id, split, rows in rows_of_videos(lectures):
        keys = [str(number) for number in rows["episode"]]
        found = _pictures(ParquetPixels(tables.data_root, KEYFRAMES, batch).read(video_id), keys, batch, KEYFRAMES)
        encoded = [picture.png for picture in found]
        shown = Pictures(rows["pair_id"].to_list(), encoded, [len(png) for png in encoded])
        writers.configs["videos", split].add(_arrow(rows.drop("batch", "episode", "picture_sha256")), shown)
        counts.lectures += 1
        counts.lecture_pairs += rows.height
    counts.lectures_withheld = lectures.withheld
    if lectures.rows.height:
        # Rows of a split follow each other there in the order in which they were written.
        rows = lectures.rows.with_columns(picture_row=pl.int_range(pl.len()).over("split"))
        pairs = video_pairs(rows.select(*FROM_VIDEOS, "picture_row"))
        for split in SPLITS:
            writers.configs["pairs", split].add(_arrow(pairs.filter(pl.col("split") == split)))
        counts.pairs["video", "transcript"] += pairs.height
        counts.paired["video"] += lectures.rows.select(pl.coalesce("picture_group", "pair_id").n_unique()).item()
        asked = hub_video_instructions(rows, *lecture_instructions(tables, lectures), surplus)
        _add_instructions(writers, asked, counts)
        counts.instructed_lectures += asked["pair_id"].n_unique()


def surplus_of_answers(
    tables: Tables,
    selection: Selection,
    splits: pl.DataFrame,
    options: ReleaseOptions,
    lectures: Lectures | None = None,
) -> frozenset[str]:
    """Return the yes/no instructions that balance leaves out, of all batches of articles and all lectures together."""
    balance = YesNoBalance()
    if lectures is not None and lectures.rows.height:
        own, _ = lecture_instructions(tables, lectures)
        _add_answers(balance, own.join(lectures.rows.select("pair_id", "split"), on="pair_id", how="inner"))
    for batch in selection.current:
        rows = released_rows(tables, selection, batch, options, ["panel_id", "article_id", "license"])
        if rows.is_empty():  # its other tables may never have been made
            continue
        closed = [options.withhold and withheld(code) for code in rows["license"]]
        open_rows = rows.filter(~pl.Series(closed, dtype=pl.Boolean)).join(splits, on="article_id", how="inner")
        asked = tables.read("instructions", batch, _OF_ANSWERS).filter(pl.col("kind") == "yes_no")
        kept = kept_instructions(asked, tables.read("verdicts", batch, ("panel_id", "number", "is_kept")))
        found = kept.join(open_rows.select("panel_id", "split"), on="panel_id", how="inner")
        _add_answers(balance, found)
    return balance.left_out()


def _add_answers(balance: YesNoBalance, rows: pl.DataFrame) -> None:
    for row in rows.filter(pl.col("kind") == "yes_no").iter_rows(named=True):
        answer = row["messages"][-1]["content"]
        balance.add(row["split"], row["topic"], row["asked"], answer, row["instruction_id"])


_OF_ANSWERS: Final = ("panel_id", "number", "kind", "topic", "asked", "messages")


def _spans(rows: pl.DataFrame) -> Iterator[slice]:
    """Yield the rows of each article, in the order of the rows."""
    start = 0
    for count in rows.group_by("article_id", maintain_order=True).len()["len"]:
        yield slice(start, start + count)
        start += count


def _pictures(stored: Mapping[str, Picture], keys: Sequence[str], batch: str, store: str) -> list[Picture]:
    if missing := [key for key in keys if key not in stored]:
        raise StorageError(
            f"batch {batch} has dataset rows without a picture ({missing[0]} …): its {store} were made again and the "
            "run ended before its dataset rows were; run `pmo run` or materialise the batch in the UI"
        )
    return [stored[key] for key in keys]


def _count(counts: ReleaseCounts, rows: pl.DataFrame, articles: pl.DataFrame, figures: pl.DataFrame) -> None:
    counts.panels += rows.height
    counts.figures += figures.height
    counts.articles += articles.height
    counts.withheld += _withheld_rows(rows)
    counts.confidence += float(rows["assembly_confidence"].sum())
    counts.sure += int((rows["assembly_confidence"] >= SURE).sum())
    counts.decided += int((rows["annotations"].list.len() > 0).sum())
    for code, url, count in rows.group_by("license", "license_url").len().iter_rows():
        counts.licences[code, url] += count
    for name in rows.columns:
        if name.startswith("contains_"):
            counts.contains[name.removeprefix("contains_")] += int(rows[name].sum())
    counts.assembly.update(dict(rows["assembly"].value_counts().iter_rows()))
    counts.journals.update(articles["journal"].drop_nulls())
    counts.years.update(articles["year"].drop_nulls())


def _withheld_rows(rows: pl.DataFrame) -> int:
    return sum(withheld(code) for code in rows["license"])


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text (UTF-8)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def list_digest(texts: Sequence[str]) -> str:
    """Return the SHA-256 of a list of texts: of the list as JSON."""
    return text_digest(json.dumps(list(texts), ensure_ascii=False))


def value_digest(value: Any) -> str:
    """Return the SHA-256 of a value of any column that holds text: of the value as JSON, keys sorted."""
    return text_digest(json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr))


def other_texts() -> tuple[str, ...]:
    """Return the columns of panels with content that a licence may forbid, of other tables than `dataset_rows`."""
    return withheld_columns(None, (name for names in joined_columns("panels").values() for name in names))


def _withheld(
    rows: pl.DataFrame,
    captions: Sequence[str],
    clusters: Sequence[str],
    drawn: Sequence[bytes],
    source: Mapping[str, Any],
) -> pa.Table:
    """Return the list of withheld panels (`WithheldPanels`) for an article's rows.

    Args:
        rows: of the article: ids, digest of the picture, texts of `DatasetRows`, and `other_texts`.
        captions: of its figures.
        clusters: their `image_cluster_id`.
        drawn: their encoded pictures.
        source: its row of `article_packages`.
    """
    of_figure = {
        cluster: (text_digest(caption), pixels_digest(decoded_bytes(encoded)))
        for cluster, caption, encoded in zip(clusters, captions, drawn, strict=True)
    }
    listed, others = [], other_texts()
    for row in rows.iter_rows(named=True):
        listed.append(
            {
                "panel_id": row["panel_id"],
                "article_id": row["article_id"],
                "name": source["name"],
                "image_cluster_id": row["image_cluster_id"],
                "pdf_sha256": content_digest(source["pdf"]) if source["pdf"] else None,
                "xml_sha256": content_digest(source["xml"]) if source["xml"] else None,
                "panel_image_sha256": row["picture_sha256"],
                "subcaption_text_sha256": text_digest(row["subcaption_text"]),
                "in_text_mention_sha256": list_digest(row["in_text_mention"]),
                "caption_sha256": of_figure[row["image_cluster_id"]][0],
                "figure_image_sha256": of_figure[row["image_cluster_id"]][1],
                "other_texts": [
                    {"column": name, "sha256": value_digest(row[name])} for name in others if row[name] is not None
                ],
            }
        )
    return pa.Table.from_pylist(listed, arrow_schema(WithheldPanels))
