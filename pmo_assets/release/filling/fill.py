"""`fill_null`: a file of a release, or the hub's folder, with what is withheld restored; whole or not at all.

Articles are restored by worker processes, each kept as soon as it is done in a folder beside the output; then the
files are written from there. Killed at any point and begun again, it goes on, and gives the same bytes.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

import polars as pl
from filelock import FileLock, Timeout

from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import StorageError
from pmo_assets.release.filling.context import NO_OTHERS, WantedTexts
from pmo_assets.release.filling.copies import ArticleCopies, ArticleFiles
from pmo_assets.release.filling.folder import (
    files_of_folder,
    refuse_foreign_folder,
    renew_descriptions,
)
from pmo_assets.release.filling.restoring import (
    STAGE,
    Kept,
    Restored,
    WantedArticle,
    WantedFigure,
    WantedPanel,
    restore_article,
)
from pmo_assets.release.filling.shards import (
    PLACES,
    FilledRows,
    Form,
    form_of,
    has_pictures,
    null_rows,
    read_withheld,
    row_count,
    write_filled,
)
from pmo_assets.release.hub.sums import SUMS_FILE, refuse_damaged
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.system.aside import restore_folder
from pmo_assets.workers.pool import WorkerPool

_ABSENT: Final = "is null and not in the list of what the release withholds: is it the list of another release?"


@dataclass(frozen=True)
class Filled:
    """Result of filling a file or folder.

    Attributes:
        target: the file or folder that was written.
        rows: rows that had nulls.
        restored: how many of them were filled; they have no null any more but those of `left`.
        articles: number of articles of these rows.
        reused: articles that an earlier, interrupted run had restored.
        reasons: causes why the others still have nulls, one line each article, figure or row.
        left: texts that stay null in restored rows, and why, one line each column and cause.
    """

    target: Path
    rows: int
    restored: int
    articles: int
    reused: int
    reasons: Sequence[str]
    left: Sequence[str] = ()


@dataclass(frozen=True)
class _Wanted(Sequence[WantedArticle]):
    """Articles whose pictures and texts are to be restored; each is put together when it is asked for.

    Attributes:
        rows: `NULL_ROWS` and `of_figure` (true for a figure), joined with `WithheldPanels`; sorted by article, those
            that the list does not have (`name` is null) at the end.
        spans: (first row, number of rows) of each article.
        as_png: see `WantedArticle`.
        figure_pictures: true if figures have pictures.
    """

    rows: pl.DataFrame
    spans: Sequence[tuple[int, int]]
    as_png: bool
    figure_pictures: bool

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, number: int) -> WantedArticle: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[WantedArticle]: ...

    def __getitem__(self, number: int | slice) -> WantedArticle | Sequence[WantedArticle]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        rows = self.rows.slice(*self.spans[number]).to_dicts()
        panels = tuple(_wanted_panel(row, with_others=not self.as_png) for row in rows if not row["of_figure"])
        figures = tuple(_wanted_figure(row, self.figure_pictures) for row in rows if row["of_figure"])
        return WantedArticle(_files(rows[0]), panels, figures, self.as_png)

    def files(self) -> Iterator[ArticleFiles]:
        """Yield which copy of each article is wanted."""
        columns = ("article_id", "name", "pdf_sha256", "xml_sha256")
        firsts = self.rows.select(columns).drop_nulls("name").unique("article_id", keep="first", maintain_order=True)
        return (_files(row) for row in firsts.iter_rows(named=True))


def _files(row: Mapping[str, Any]) -> ArticleFiles:
    return ArticleFiles(row["article_id"], row["name"], row["pdf_sha256"], row["xml_sha256"])


def _wanted_panel(row: Mapping[str, Any], *, with_others: bool) -> WantedPanel:
    others = WantedTexts(
        {item["column"]: item["sha256"] for item in row["other_texts"] or ()},
        *(tuple(row[name] or ()) for name in PLACES),
    )
    return WantedPanel(
        panel_id=row["key"],
        image_cluster_id=row["image_cluster_id"],
        content_box=tuple(row["content_box"] or ()),
        segments=tuple(tuple(segment) for segment in row["segments"] or ()),
        others=others if with_others else NO_OTHERS,
        picture_sha256=row["panel_image_sha256"],
        text_sha256=row["subcaption_text_sha256"],
        mentions_sha256=row["in_text_mention_sha256"],
    )


def _wanted_figure(row: Mapping[str, Any], pictures: bool) -> WantedFigure:
    return WantedFigure(
        image_cluster_id=row["image_cluster_id"],
        picture_sha256=row["figure_image_sha256"] if pictures else None,
        text_sha256=row["caption_sha256"],
        mentions_sha256=row["in_text_mention_sha256"],
    )


@dataclass(frozen=True)
class _Jobs(Sequence[tuple[int, tuple[Any, ...]]]):
    """Articles as the pool takes them: (article_id, arguments of `restore_article`)."""

    wanted: _Wanted
    numbers: Sequence[int]
    places: Mapping[int, tuple[str, ...]]
    rest: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, number: int) -> tuple[int, tuple[Any, ...]]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[tuple[int, tuple[Any, ...]]]: ...

    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        article = self.wanted[self.numbers[number]]
        copies, *others = self.rest
        article_id = article.files.article_id
        return article_id, (article, copies, self.places.get(article_id, ()), *others)


def _wanted(shards: Sequence[tuple[Path, Form]], listed: pl.DataFrame, figure_pictures: bool | None) -> _Wanted:
    """Return the articles to restore: the null rows of the files, joined with their entries in the list.

    Raises:
        StorageError: if a file is damaged.
    """
    rows = pl.concat(
        [null_rows(path, form).with_columns(of_figure=pl.lit(form.is_of_figures)) for path, form in shards]
    )
    listed = listed.unique("panel_id", keep="first", maintain_order=True)
    by_figure = listed.unique(["article_id", "image_cluster_id"], keep="first", maintain_order=True)
    keys = ["article_id", "image_cluster_id"]
    panels = rows.filter(~pl.col("of_figure")).join(
        listed.rename({"panel_id": "key"}), on=["key", *keys], how="left", maintain_order="left"
    )
    figures = rows.filter("of_figure").join(by_figure.drop("panel_id"), on=keys, how="left", maintain_order="left")
    found = pl.concat([panels, figures.select(panels.columns)]).sort("article_id", maintain_order=True)
    if figure_pictures is None:
        hub = [(path, form) for path, form in shards if form.is_of_figures]
        some = any(has_pictures(path, form) for path, form in hub)
        figure_pictures = some or not any(_has_shown_rows(path, form) for path, form in hub)
    lengths = found.drop_nulls("name").group_by("article_id", maintain_order=True).len()["len"].to_list()
    firsts = pl.Series([0, *lengths], dtype=pl.Int64).cum_sum().to_list()
    spans = list(zip(firsts, lengths, strict=False))
    ordered = found.sort(pl.col("name").is_null(), maintain_order=True)
    return _Wanted(ordered, spans, shards[0][1].is_published, figure_pictures)


def fill_null(
    source: Path,
    target: Path,
    listed: Path,
    *,
    copies: ArticleCopies,
    figure_options: FigureOptions,
    pool: WorkerPool,
    figure_pictures: bool | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Filled:
    """Write a file or the hub's folder with its nulls filled, every value verified by its hash.

    Args:
        source: `pubmed_ophtha.parquet`, a shard of the hub's panels or figures, or the hub's folder.
        target: where the other one goes; the same path puts it in the place of the source.
        listed: the release's `withheld.parquet`.
        copies: where copies of the articles are.
        figure_options: of figures, as the release was made with.
        pool: restores articles; its time limit is for all steps of one.
        figure_pictures: true if the release's figures have pictures; None looks at the file's other rows.
        say: told what is being done.

    What cannot be restored stays null; then what was restored is kept for the next run, which may have another source.

    Raises:
        StorageError: if a file is none of a release, or cannot be read or written; nothing is changed then.
        SourceError: if the copies cannot be read.
        SystemicError: if workers cannot work.
    """
    is_folder = source.is_dir()
    shards = files_of_folder(source) if is_folder else [(source, form_of(source))]
    _refuse_foreign(source, target, is_folder)
    if is_folder:
        refuse_damaged(source)  # the filled folder gets sums of its own: damage would be hidden by them
    say("reading what is null")
    wanted = _wanted(shards, read_withheld(listed), figure_pictures)
    work = target.with_name(f".{target.name}.filling")
    with _alone(work):
        kept = Kept(str(work))
        todo = [number for number, article in enumerate(wanted) if not kept.is_complete(article)]
        rejections: list[Rejection] = []
        if todo:
            jobs = _Jobs(wanted, todo, copies.places(wanted.files()), (copies, figure_options, kept))
            for output in pool.map_units(STAGE, restore_article, jobs):
                rejections += output.rejections
        restored = _Reader(wanted, kept)
        say("writing")
        if is_folder:
            filled = _fill_folder(source, target, shards, work, restored)
        else:
            _, filled = write_filled(source, shards[0][1], DataRoot(str(target.parent)), target.name, restored)
        if filled.count == wanted.rows.height:
            shutil.rmtree(work, ignore_errors=True)
    unlisted = wanted.rows.filter(pl.col("name").is_null())["key"].to_list()
    reasons = [item.message for item in rejections] + [f"{key} {_ABSENT}" for key in unlisted]
    left = [f"{column} stays null in {count} rows: {why}" for (column, why), count in sorted(filled.left.items())]
    return Filled(target, wanted.rows.height, filled.count, len(wanted), len(wanted) - len(todo), reasons, left)


def finish_exchange(folder: Path) -> None:
    """Put a folder back that a killed run had just moved out of the way of the filled one.

    Raises:
        StorageError: if it cannot be moved.
    """
    try:
        restore_folder(folder)
    except OSError as error:
        raise StorageError(f"{folder} cannot be put back: {error}") from error


@contextlib.contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Let no other process fill the same file at the same time.

    Raises:
        StorageError: if one does, or the folder cannot be made.
    """
    lock = FileLock(work / ".lock")
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StorageError(f"another process is filling it: wait for its end ({work})") from error
    except OSError as error:
        raise StorageError(f"{work} cannot be written: {error}") from error
    try:
        yield
    finally:
        lock.release()


class _Reader:
    """Gives what is kept of an article; the files ask for one after the other."""

    def __init__(self, wanted: _Wanted, kept: Kept) -> None:
        numbers = {wanted.rows["article_id"][first]: place for place, (first, _) in enumerate(wanted.spans)}
        self._read = functools.lru_cache(maxsize=1)(
            lambda article_id: kept.read(wanted[numbers[article_id]]) if article_id in numbers else {}
        )

    def __call__(self, article_id: int) -> Mapping[str, Restored]:
        return self._read(article_id)


def _has_shown_rows(path: Path, form: Form) -> bool:
    return row_count(path) > null_rows(path, form).height


def _refuse_foreign(source: Path, target: Path, is_folder: bool) -> None:
    """Refuse to put the output in the place of what is no such output.

    Raises:
        StorageError: if something else is there.
    """
    if source == target or not target.exists():
        return
    if is_folder:
        refuse_foreign_folder(target)
    else:
        try:
            form_of(target)
        except StorageError as error:
            raise StorageError(f"{target} is there and no file of a release: give another --out ({error})") from error


def _fill_folder(
    source: Path,
    target: Path,
    shards: Sequence[tuple[Path, Form]],
    work: Path,
    restored: Callable[[int], Mapping[str, Restored]],
) -> FilledRows:
    """Write a whole folder aside, then put it in its place; return which rows were filled."""
    staging = work / "folder"
    shutil.rmtree(staging, ignore_errors=True)
    root = DataRoot(str(staging))
    rows, left = FilledRows(), 0
    written = {}
    for path, form in shards:
        key = path.relative_to(source).as_posix()
        file, filled = write_filled(path, form, root, key, restored)
        written[key] = file
        rows += filled
        left += null_rows(staging / key, form).height
    renew_descriptions(source, staging, written, restored=rows.count, left=left, left_texts=rows.left_by_column)
    parent = DataRoot(str(target.parent))
    parent.replace_tree(f"{work.name}/folder", target.name, last=SUMS_FILE)
    return rows
