"""`pmo refresh`: bring in new, changed and retracted articles of PubMed Central."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import (
    CommandError,
    console,
    counted,
    data_root_of,
    messages,
    progress_bars,
    settings_from_environment,
)
from pmo_assets.cli.run import run_batches
from pmo_assets.settings import Settings


def refresh(
    context: typer.Context,
    max_articles: Annotated[
        int | None,
        typer.Option(min=1, help="Take in at most so many new articles; PMO_REFRESH_MAX_ARTICLES if not given."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would come in; write nothing.")] = False,
    run: Annotated[bool, typer.Option(help="Process the batches and make the release.")] = True,
) -> None:
    """Find what is new, changed, retracted or removed at PMC, make batches of it, process them, make the release.

    The first time all articles of the specialty are searched for, then what has happened since. Whatever is killed or
    fails is continued by the same command; nothing is downloaded twice. Needs PMO_ENTREZ_EMAIL (your e-mail address,
    which NCBI asks for), no account.
    """
    from pmo_assets.records.stores import SystemicError
    from pmo_assets.refresh.lock import sole_refresh
    from pmo_assets.refresh.searching import NO_EMAIL, query_of
    from pmo_assets.storage.registry import BatchRegistry

    settings = settings_from_environment()
    if max_articles is not None:
        settings = settings.model_copy(update={"refresh_max_articles": max_articles})
    if settings.entrez_email is None:
        raise SystemicError(NO_EMAIL)
    query_of(settings)  # a wrong specialty is said before anything begins
    messages.print(f"data root {data_root_of(settings).uri('')}", highlight=False, markup=False, soft_wrap=True)
    if dry_run:
        _say_what_would_happen(settings)
        return
    # Held to the end: a second refresh would process the same batches at the same time.
    with sole_refresh(data_root_of(settings)):
        _find(settings, verbose=context.obj["debug"])
        # before the first article came in there is nothing to process, which is no error
        run = run and bool(BatchRegistry(data_root_of(settings)).batches())
        failed = run_batches(settings, [], again=False, release=True, verbose=context.obj["debug"]) if run else []
    if failed:
        raise CommandError("; ".join(failed))


def _say_what_would_happen(settings: Settings) -> None:
    from pmo_assets.refresh.registering import chosen_rows
    from pmo_assets.refresh.searching import search_pmc
    from pmo_assets.sources.pmc_cloud import PmcCloud
    from pmo_assets.storage.candidates import read_candidates
    from pmo_assets.storage.registry import BatchRegistry

    data_root = data_root_of(settings)
    registered = BatchRegistry(data_root).registered(PmcCloud.uri_of(settings.pmc_bucket))
    with progress_bars() as (_, tell):
        found = search_pmc(settings, data_root, read_candidates(data_root), registered, None, tell)
    rows = chosen_rows(found.candidates, registered, settings.refresh_max_articles)
    since = found.since or "the beginning"
    console.print(
        f"search since {since}: {found.searched:,} articles, {found.added:,} for the first time", highlight=False
    )
    for event, count in sorted(found.events.items()):
        console.print(f"{event}: {count}", highlight=False)
    for note in found.notes:
        messages.print(f"[yellow]note[/] {escape(note)}", highlight=False, soft_wrap=True)
    batches = -(-rows.height // settings.batch_size)
    coming = f"{counted(rows.height, 'article')} in {counted(batches, 'batch', 'batches')}"
    console.print(f"{coming} would come in; nothing was written", highlight=False)
    if rows.height:
        table = Table("article", "event", "licence", "title")
        for row in rows.head(20).iter_rows(named=True):
            table.add_row(row["name"], row["event"] or "", row["license_code"] or "–", escape(row["title"] or ""))
        console.print(table)


def _find(settings: Settings, *, verbose: bool) -> None:
    """Run the job that finds articles and makes batches, and print its outcome."""
    from pmo_assets.definitions import build_defs
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.runner import RunFailed, close_dead_runs, latest_metadata, run_job

    with open_instance(settings) as instance:
        close_dead_runs(instance)
        with progress_bars() as (progress, tell):
            progress.console.print("[bold]searching PMC[/]", highlight=False)
            defs = build_defs(settings, resource_overrides={"search_progress": tell})
            try:
                run_job(defs, instance, "refresh", verbose=verbose)
            except RunFailed as error:
                raise CommandError(str(error)) from error
        found = latest_metadata(instance, "pmc_candidates")
        made = latest_metadata(instance, "pmc_batches")
    _say_found(found, made)


def _say_found(found: dict[str, Any], made: dict[str, Any]) -> None:
    events = ("new", "changed", "superseded", "retracted", "restored", "removed")
    words = ", ".join(f"{found[name]} {name}" for name in events if found.get(name))
    console.print(
        f"search since {found.get('searched_since')}: {found.get('search_returned', 0)} articles, "
        f"{found.get('found', 0)} for the first time; {words or 'nothing has changed'}",
        highlight=False,
    )
    if "notes" in found:
        messages.print(escape(str(found["notes"])), highlight=False, soft_wrap=True)
    if found.get("now_without_pdf"):
        console.print(f"{counted(found['now_without_pdf'], 'article')} without a PDF at PMC: followed, not taken in")
    batches, articles = made.get("batches", 0), made.get("articles", 0)
    console.print(f"{counted(batches, 'new batch', 'new batches')}, {counted(articles, 'article')}", highlight=False)
