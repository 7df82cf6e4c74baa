"""`pmo release compare`: a published file and this release, row by row."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import (
    CommandError,
    console,
    data_root_of,
    settings_from_environment,
    spinner,
    write_text,
)

if TYPE_CHECKING:
    from pmo_assets.release.comparing.comparison import Absences, ComparedArticle
    from pmo_assets.release.comparing.summary import ComparisonSummary
    from pmo_assets.settings import Settings
    from pmo_assets.storage.data_root import DataRoot


def compare(
    published: Annotated[
        Path, typer.Argument(help="A file in the published form: pubmed_ophtha.parquet, or its folder.")
    ],
    data_root: Annotated[
        Path | None, typer.Option("--data-root", help="Data root with the release; PMO_DATA_ROOT if not given.")
    ] = None,
    release: Annotated[
        Path | None, typer.Option("--release", help="The release's file; without it the one below the data root.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the pairs as Parquet.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with the worst disagreements.")] = None,
) -> None:
    """Compare a published file with this release: what both have and how far they agree, what only one has and why."""
    settings = settings_from_environment()
    if data_root is not None:
        settings = settings.model_copy(update={"data_root": str(data_root)})
    file = published / "pubmed_ophtha.parquet" if published.is_dir() else published
    if not file.is_file():
        raise CommandError(f"there is no file {file}: give a file in the published form (pubmed_ophtha.parquet)")
    if release is not None and not release.is_file():
        raise CommandError(f"there is no file {release}")
    root = data_root_of(settings) if release is None or data_root is not None else None
    from pmo_assets.release.keys import RELEASE_KEY

    if release is None and root is not None and not root.exists(RELEASE_KEY):
        raise CommandError(f"no release at {root.uri(RELEASE_KEY)}: make one (`pmo run`), or give --release FILE")
    place = str(release) if release is not None or root is None else root.uri(RELEASE_KEY)
    summary = _compared(file, release, root, place, out, settings)
    for table in _tables(summary):
        console.print(table)
    if html is not None:
        from pmo_assets.release.comparing.page import comparison_page

        write_text(html, comparison_page(summary, str(file), place))
    for name, path in (("pairs", out), ("page", html)):
        if path is not None:
            console.print(f"{name:6s} {path}", soft_wrap=True, highlight=False, markup=False)


def _compared(
    published: Path, release: Path | None, root: DataRoot | None, place: str, out: Path | None, settings: Settings
) -> ComparisonSummary:
    from pmo_assets.release.comparing.comparison import (
        COMPARED_COLUMNS,
        FromReleaseOnly,
        compared_articles,
        compared_columns,
    )
    from pmo_assets.release.comparing.page import pairs_file
    from pmo_assets.release.comparing.published_file import read_published
    from pmo_assets.release.comparing.summary import summarised
    from pmo_assets.release.keys import RELEASE_KEY

    with spinner("comparing") as say, contextlib.ExitStack() as stack:
        say(f"reading {published}")
        theirs = compared_columns(read_published(published, COMPARED_COLUMNS))
        say(f"reading {place}")
        source = release if release is not None or root is None else stack.enter_context(root.open_random(RELEASE_KEY))
        ours = compared_columns(read_published(source or place, COMPARED_COLUMNS, place=place))
        numbers = set(theirs["article_id"])
        absences = FromReleaseOnly() if root is None else _absences(root, numbers, settings, say)
        say(f"{theirs.height} and {ours.height} panels")
        articles = compared_articles(theirs, ours, absences)
        return summarised(articles if out is None else _added(articles, stack.enter_context(pairs_file(out))))


def _absences(root: DataRoot, numbers: set[int], settings: Settings, say: Callable[[str], None]) -> Absences:
    from pmo_assets.pipeline.articles.relevance import load_specialty
    from pmo_assets.pipeline.dataset.rows import Entry
    from pmo_assets.release.comparing.absences import absences_below
    from pmo_assets.storage.tables import Tables

    types = load_specialty(settings.specialty).image_types
    entry = Entry(types, settings.min_assembly_confidence)
    keep = settings.release_noncommercial
    return absences_below(
        Tables(root),
        numbers,
        entry,
        noncommercial=keep,
        trusted=settings.trusted_sources.split(),
        say=lambda batch: say(f"what became of {batch}"),
    )


def _added(articles: Iterable[ComparedArticle], add: Callable[[ComparedArticle], None]) -> Iterator[ComparedArticle]:
    for article in articles:
        add(article)
        yield article


def _tables(summary: ComparisonSummary) -> list[Table]:
    from pmo_assets.release.comparing.page import comparison_tables

    found = []
    for content in comparison_tables(summary):
        table = Table(title=escape(content.title), title_justify="left")
        for number, heading in enumerate(content.columns):
            table.add_column(escape(heading), justify="left" if number == 0 else "right")
        for row in content.rows:
            table.add_row(*("" if cell is None else escape(str(cell)) for cell in row))
        found.append(table)
    return found
