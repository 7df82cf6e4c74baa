"""`pmo release compare`: a published file and this release, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

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
    from pmo_assets.release.comparison_summary import ComparisonSummary
    from pmo_assets.storage.data_root import DataRoot

RELEASE: Final = "release/pubmed_ophtha.parquet"
"""Below the data root."""


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
    if release is None and root is not None and not root.exists(RELEASE):
        raise CommandError(f"no release at {root.uri(RELEASE)}: make one (`pmo run`), or give --release FILE")
    summary = _compared(file, release, root, out)
    for table in _tables(summary):
        console.print(table)
    if html is not None:
        from pmo_assets.release.comparison_page import comparison_page

        write_text(html, comparison_page(summary, str(file), _release_name(release, root)))
    for name, path in (("pairs", out), ("page", html)):
        if path is not None:
            console.print(f"{name:6s} {path}", soft_wrap=True, highlight=False, markup=False)


def _release_name(release: Path | None, root: DataRoot | None) -> str:
    return str(release) if release is not None or root is None else root.uri(RELEASE)


def _compared(published: Path, release: Path | None, root: DataRoot | None, out: Path | None) -> ComparisonSummary:
    import contextlib

    from pmo_assets.release.absences import absences_below
    from pmo_assets.release.comparison import (
        COMPARED_COLUMNS,
        Absences,
        FromReleaseOnly,
        compared_articles,
        compared_columns,
    )
    from pmo_assets.release.comparison_page import pairs_file
    from pmo_assets.release.comparison_summary import summarised
    from pmo_assets.release.published_file import read_published
    from pmo_assets.storage.tables import Tables

    with spinner("comparing") as say, contextlib.ExitStack() as stack:
        say(f"reading {published}")
        theirs = compared_columns(read_published(published, COMPARED_COLUMNS))
        place = _release_name(release, root)
        say(f"reading {place}")
        source: Any = release if release is not None or root is None else stack.enter_context(root.open_random(RELEASE))
        ours = compared_columns(read_published(source, COMPARED_COLUMNS, place=place))
        absences: Absences = FromReleaseOnly()
        if root is not None:
            say("why articles and figures are not in the release")
            absences = absences_below(Tables(root), set(theirs["article_id"]))
        say(f"{theirs.height} and {ours.height} panels")
        articles = compared_articles(theirs, ours, absences)
        if out is None:
            return summarised(articles)
        add = stack.enter_context(pairs_file(out))
        return summarised(_added(articles, add))


def _added(articles: Any, add: Any) -> Any:
    for article in articles:
        add(article)
        yield article


def _tables(summary: ComparisonSummary) -> list[Table]:
    from pmo_assets.release.comparison_page import comparison_tables

    found = []
    for content in comparison_tables(summary):
        table = Table(title=escape(content.title), title_justify="left")
        for number, heading in enumerate(content.columns):
            table.add_column(escape(heading), justify="left" if number == 0 else "right")
        for row in content.rows:
            table.add_row(*("" if cell is None else escape(str(cell)) for cell in row))
        found.append(table)
    return found
