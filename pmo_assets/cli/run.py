"""`pmo run` and `pmo report`: take the batches through the graph, and print the outcome."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from pmo_assets.cli.console import (
    AsJson,
    CommandError,
    console,
    data_root_of,
    place_of,
    progress_bars,
    say_json,
    say_list,
    settings_from_environment,
)
from pmo_assets.cli.unit_batches import other_batches, process_units
from pmo_assets.cli.whole_run import WholeRun
from pmo_assets.configuration.remembered import check_settings, renew_settings, with_remembered
from pmo_assets.records.videos import VIDEO_PAIRS
from pmo_assets.settings import Settings


def run(
    context: typer.Context,
    batch: Annotated[
        list[str] | None, typer.Option("--batch", help="Only this batch (repeatable); all batches if not given.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also redo what is up to date.")] = False,
    release: Annotated[bool, typer.Option(help="Make the release afterwards.")] = True,
    even_so: Annotated[
        bool,
        typer.Option(
            "--even-so",
            help="Make the release also if a batch failed, or if it has lost more than a tenth of its panels.",
        ),
    ] = False,
    with_new_settings: Annotated[
        bool,
        typer.Option(
            "--with-new-settings",
            help="The settings of this shell count from now on: what was made below the data root with others is made "
            "again, and a new version of the release.",
        ),
    ] = False,
    with_stored_settings: Annotated[
        bool,
        typer.Option("--with-stored-settings", help="Go on with the settings that the data root was made with."),
    ] = False,
) -> None:
    """Materialise batches and the release in this process, with progress; what is up to date is not redone.

    A run that was killed is continued by running it again.
    """
    if with_new_settings and with_stored_settings:
        raise CommandError("--with-new-settings and --with-stored-settings exclude each other: give one of them")
    settings = settings_from_environment()
    if with_stored_settings:
        settings = with_remembered(data_root_of(settings), settings)
    elif with_new_settings:
        renew_settings(data_root_of(settings), settings)
    failed = run_batches(
        settings, batch or [], again=again, release=release, verbose=context.obj["debug"], even_so=even_so
    )
    if failed:
        raise CommandError("; ".join(failed))


def run_batches(
    settings: Settings, wanted: list[str], *, again: bool, release: bool, verbose: bool, even_so: bool = False
) -> list[str]:
    """Take batches through the graph and make the release; return a line per failure.

    What another command, run or machine is at work on comes last, when that has ended (`pmo_assets.storage.leases`):
    commands that run at the same time share the work.
    """
    from pmo_assets.definitions import build_defs
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.defs.release_origin import EVEN_SO_TAG
    from pmo_assets.defs.resources import workers_resource
    from pmo_assets.defs.run_leases import RELEASE, batch_lease, run_is_over
    from pmo_assets.defs.runner import (
        RunFailed,
        close_dead_runs,
        read_annotations_if_changed,
        release_is_stale,
        run_job,
    )
    from pmo_assets.storage.leases import in_turn
    from pmo_assets.storage.registry import BatchRegistry
    from pmo_assets.storage.tables import Tables

    registry = BatchRegistry(data_root_of(settings))
    check_settings(registry.data_root, settings)
    keys, others = registry.batches(), other_batches(settings)
    if not keys and not others:
        raise CommandError(
            f"no batches yet below {place_of(settings)}: register articles with `pmo batches add FOLDER`"
        )
    if unknown := sorted(set(wanted) - {*keys, *others}):
        known = len(keys) + len(others)
        raise CommandError(f"no such batch: {', '.join(unknown)}; `pmo batches list` shows the {known} that exist")
    failed: list[str] = []
    with open_instance(settings) as instance, progress_bars() as (progress, tell):
        register_partitions(instance, keys)
        close_dead_runs(instance)
        overall = WholeRun(progress, registry.sizes())

        def told(stage: str, done: int, total: int) -> None:
            tell(stage, done, total)
            overall.tell(stage, done, total)

        defs = build_defs(settings, resource_overrides={"workers": workers_resource(settings, told)})
        failed += read_annotations_if_changed(defs, instance, settings, verbose=verbose)
        failed += process_units(
            settings,
            defs,
            instance,
            {key: unit for key, unit in others.items() if not wanted or key in wanted},
            progress,
            again=again,
            verbose=verbose,
        )
        chosen = [key for key in wanted if key in keys] if wanted else keys
        done = set() if again else _finished_batches(defs, instance, registry)
        _say_up_to_date(progress, [key for key in chosen if key in done])
        chosen = [key for key in chosen if key not in done]
        overall.begin(chosen)

        def waiting(name: str, holder: str) -> None:
            overall.say(f"waiting for {name.replace('batches/', 'batch ')}: {escape(holder)}")

        def process(name: str, holder: str | None) -> None:
            key = name.removeprefix(batch_lease(""))
            overall.say(f"articles, batch {key}")
            # What another one was at work on while this command ran is not done again.
            failed.extend(
                _process_batch(
                    settings, defs, instance, overall, key, again=again and not holder, holder=holder, verbose=verbose
                )
            )

        def make_release(_: str, __: str | None) -> None:
            overall.say("release")
            if not again and not release_is_stale(defs, instance, registry.data_root, keys):
                return
            try:
                run_job(defs, instance, "release", verbose=verbose, tags={EVEN_SO_TAG: "true"} if even_so else {})
            except RunFailed as error:
                failed.append(f"release: {error}")

        in_turn(
            registry.data_root,
            [batch_lease(key) for key in chosen],
            process,
            purpose=_PURPOSE,
            waiting=waiting,
            is_over=run_is_over(instance),
        )
        if release and failed and not even_so:
            failed.append("no release was made of what failed (`pmo run --even-so` makes it with what is there)")
        elif release and any(Tables(registry.data_root).batches(name) for name in ("dataset_rows", VIDEO_PAIRS)):
            in_turn(
                registry.data_root,
                [RELEASE],
                make_release,
                purpose=_PURPOSE,
                waiting=waiting,
                is_over=run_is_over(instance),
            )
    if release and not failed:
        say_release(settings)
    return failed


def _finished_batches(defs: Any, instance: Any, registry: Any) -> set[str]:
    """Return the batches that are up to date, did not lose too much, and that nobody is at work on.

    All are asked about at once: one by one, a thousand of them take minutes.
    """
    from pmo_assets.defs.batch_states import batch_states
    from pmo_assets.defs.run_leases import batch_lease, run_is_over
    from pmo_assets.defs.staleness import stages_of_location
    from pmo_assets.storage.leases import held_below

    held = held_below(registry.data_root, is_over=run_is_over(instance))
    states = batch_states(stages_of_location(defs, registry.data_root), defs.resources["settings"], instance, registry)
    return {item.batch for item in states if not item.stale and not item.lost and batch_lease(item.batch) not in held}


def _say_up_to_date(progress: Progress, batches: Sequence[str], by: str = "") -> None:
    if batches:
        which = f"batch {batches[0]} is" if len(batches) == 1 else f"{len(batches)} batches are"
        progress.console.print(f"[dim]{which} up to date{by}[/]", highlight=False, soft_wrap=True)


_PURPOSE = "`pmo run`"
"""Purpose of the leases, which names their holder to others."""


def _process_batch(
    settings: Settings,
    defs: Any,
    instance: Any,
    overall: WholeRun,
    key: str,
    *,
    again: bool,
    holder: str | None,
    verbose: bool,
) -> list[str]:
    """Make the assets of a batch that are not up to date, print its outcome, and return a line if it failed."""
    from pmo_assets.defs.batch_states import stale_assets
    from pmo_assets.defs.graph import graph_of_location
    from pmo_assets.defs.runner import RunFailed, run_job
    from pmo_assets.release.statistics.losses import batch_losses, excessive, losses_in_words
    from pmo_assets.storage.tables import Tables

    tables, progress = Tables(data_root_of(settings)), overall.progress
    graph = graph_of_location(defs)
    assets = list(graph.stages) if again else stale_assets(defs, instance, tables, key)
    overall.steps = assets
    error: RunFailed | None = None
    start: float | None = None
    if assets:
        start = time.perf_counter()
        try:
            run_job(defs, instance, "process_batch", batch=key, assets=assets, verbose=verbose)
        except RunFailed as caught:
            error = caught
    overall.end(key)
    # What a batch lost is looked at every time: as long as it lost too much, it does not count as done.
    if not (assets and stale_assets(defs, instance, tables, key)):
        lost = excessive(batch_losses(tables, key, graph.losing), settings.rejected_fail)
        error = RunFailed(losses_in_words(lost, settings.rejected_fail)) if lost else error
    if error is not None:
        progress.console.print(f"[red]failed[/] batch {key}: {escape(str(error))}", highlight=False, soft_wrap=True)
        return [f"batch {key}: {error}"]
    if start is not None:
        _say_batch(progress, settings, key, time.perf_counter() - start, overall.left())
    else:
        _say_up_to_date(progress, [key], f", made by {escape(holder)}" if holder else "")
    return []


def _say_batch(progress: Progress, settings: Settings, batch: str, seconds: float, left: str) -> None:
    from pmo_assets.records.panels import is_undecided
    from pmo_assets.storage.tables import Tables

    tables = Tables(data_root_of(settings))
    least = settings.min_assembly_confidence
    key, facts = ("article_id", "image_cluster_id", "ordinal"), ("subcaption", "assembly", "confidence")
    panels = tables.read("reviewed_panels", batch, [*key, *facts]).join(tables.read("panels", batch, key), key, "semi")
    undecided = sum(is_undecided(said, by, sure, least) for said, by, sure in panels.select(facts).iter_rows())
    counts = {
        name: tables.read(name, batch).height
        for name in ("articles", "figures", "panels", "dataset_rows", "rejections")
    }
    words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    rate = counts["articles"] / seconds * 60 if seconds else 0.0
    progress.console.print(
        f"[green]done[/] batch {batch}: {words} in {seconds:.0f} s ({rate:.0f} articles/min){left}",
        highlight=False,
        soft_wrap=True,
    )
    if undecided:
        progress.console.print(
            f"  {undecided} {'panel is' if undecided == 1 else 'panels are'} undecided and not in the dataset: "
            "`pmo annotate export FOLDER --undecided` asks people",
            highlight=False,
            soft_wrap=True,
        )


def say_release(settings: Settings) -> None:
    for name, place in _release_files(settings).items():
        console.print(f"{name:8s} {place}", soft_wrap=True, highlight=False, markup=False)


def _release_files(settings: Settings) -> dict[str, str]:
    from pmo_assets.release.keys import GALLERY_KEY, HUB, RELEASE_KEY, REPORT_KEY

    root = data_root_of(settings)
    places = {
        "dataset": f"{HUB}/README.md",
        "published": RELEASE_KEY,
        "gallery": GALLERY_KEY,
        "report": REPORT_KEY,
    }
    return {name: root.uri(key) for name, key in places.items() if root.exists(key)}


def report(as_json: AsJson = False) -> None:
    """Summarise what has been processed: what was lost where, numbers beside the paper's, what was rejected and why."""
    from pmo_assets.defs.statistics import selection_of, statistics_of, summary_of
    from pmo_assets.release.statistics.views import WATERFALL_HEADER, statistics_json, waterfall_cells
    from pmo_assets.storage.tables import Tables
    from pmo_assets.viewing.report import Table as Cells
    from pmo_assets.viewing.report import cell_text

    settings = settings_from_environment()
    tables = Tables(data_root_of(settings))
    if not tables.batches("dataset_rows"):
        say_list("not registered", "package", tables.registration_rejections()["message"].to_list())
        raise CommandError(f"no batch has been processed yet below {place_of(settings)}: run `pmo run`")
    selection = selection_of(settings, tables, lambda _: None, keep=False)
    statistics = statistics_of(settings, tables, selection)
    summary = summary_of(settings, tables, selection, statistics)
    if as_json:
        rejections = [asdict(reason) for reason in summary.rejections]
        say_json({**statistics_json(statistics), "rejections": rejections, "files": _release_files(settings)})
        return
    headlines = (f"{cell_text(item.value)} {item.label}" for item in summary.headlines)
    console.print(", ".join(headlines), highlight=False)
    ways = [Cells(way.unit, WATERFALL_HEADER, tuple(waterfall_cells(way))) for way in statistics.waterfalls]
    charts = [
        Cells(group.title, ("", ""), tuple((bar.label, bar.value) for bar in group.bars)) for group in summary.groups
    ]
    shown = [*ways, *([summary.compared] if summary.compared else []), *charts, *summary.tables]
    for cells in shown:
        named = any(cells.columns)
        table = Table(*cells.columns, title=cells.title, title_justify="left", show_header=named)
        for row in cells.rows:
            table.add_row(*(escape("" if cell is None else cell_text(cell)) for cell in row))
        console.print(table)
    if summary.rejections:
        table = Table("stage", "error", "count", "for example", title="Rejections", title_justify="left")
        for reason in summary.rejections:
            example = escape(reason.examples[0]) if reason.examples else ""
            table.add_row(reason.stage, reason.reason, str(reason.count), example)
        console.print(table)
    say_release(settings)
