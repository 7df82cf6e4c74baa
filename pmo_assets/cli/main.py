"""`pmo …`: the pipeline from the command line.

An error is one clear line on standard error and a non-zero status; `pmo --debug …` shows the traceback. Importing the
pipeline takes a second, so every command imports what it needs.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from pmo_assets import __version__
from pmo_assets.cli.captions import captions_app
from pmo_assets.cli.console import (
    CommandError,
    console,
    data_root_of,
    messages,
    one_line,
    progress_bars,
    say_list,
    settings_from_environment,
    spinner,
    write_text,
)
from pmo_assets.cli.train import train_app
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings, settings_table

app = typer.Typer(
    name="pmo",
    help="Open-access articles in, an ophthalmic panel image-text dataset out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
batches_app = typer.Typer(help="Register article packages as batches, and list the batches.", no_args_is_help=True)
app.add_typer(batches_app, name="batches")
app.add_typer(captions_app, name="captions")
app.add_typer(train_app, name="train")


INTERRUPTED = 130
"""What Typer returns after Ctrl-C, and the status that shells expect."""


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"pmo-assets {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and Dagster's log.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Hold the options of every command."""
    context.obj = {"debug": debug}


@app.command()
def article(
    folder: Annotated[Path, typer.Argument(help="Package: article.pdf, optional article.xml, optional figures/.")],
    out: Annotated[Path, typer.Option("--out", help="JSON file to write; - for standard output.")],
    overlays: Annotated[
        Path | None, typer.Option("--overlays", help="Folder for pictures of the figures with what was found.")
    ] = None,
    ignore_xml: Annotated[bool, typer.Option("--ignore-xml", help="Work as if the package had no XML.")] = False,
) -> None:
    """Run the whole pipeline on one article package, without Dagster, and write what it found as JSON.

    The format is the annotation format: figures with panels, identifiers, images and subcaptions, plus scores.
    """
    from pmo_assets.defs.step_options import caption_cascade, detection_options, fetch_limits, figure_options
    from pmo_assets.models.chat import chat_model
    from pmo_assets.pipeline.article import MemoryObjects, MemoryPixels, annotation, process_article
    from pmo_assets.pipeline.articles.fetching import fetch_package
    from pmo_assets.pipeline.articles.relevance import load_specialty
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.sources.package_folders import list_package

    settings = settings_from_environment()
    folder = Path(os.path.abspath(folder))  # not resolve(): a link's own name is the package's name
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder: give the folder of one article package")
    listing = list_package(folder, folder)  # what lies outside of it is not read
    if listing is None:
        raise CommandError(f"{folder} is no article package: it holds neither article.pdf nor article.xml")
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    row = {
        **asdict(listing),
        "files": [asdict(item) for item in listing.files if not (ignore_xml and item.role == "xml")],
    }
    package = fetch_package(row, LocalFolder(folder), objects, fetch_limits(settings))
    if not package.rows:
        raise CommandError("; ".join(item.message for item in package.rejections))
    start = time.perf_counter()
    with chat_model(settings, data_root_of(settings)) as model:
        result = process_article(
            package.rows[0],
            objects,
            specialty=load_specialty(settings.specialty),
            pixels=pixels,
            figure_options=figure_options(settings),
            detection_options=detection_options(settings),
            cascade=caption_cascade(settings, model),
        )
    seconds = time.perf_counter() - start
    result = replace(result, rejections=[*package.rejections, *result.rejections])
    text = json.dumps(annotation(folder.name, result), ensure_ascii=False, indent=1) + "\n"
    if str(out) == "-":
        sys.stdout.write(text)
    else:
        write_text(out, text)
    if overlays is not None:
        _write_overlays(overlays, result, pixels.read(result.article["article_id"]))
    panels = [panel for rows in result.assembled.values() for panel in rows]
    messages.print(
        f"{len(result.figures)} figures, {len(panels)} panels, "
        f"{sum(panel['subcaption'] is not None for panel in panels)} with a subcaption, "
        f"{len(result.rejections)} rejections, {seconds:.1f} s"
    )
    for item in result.rejections:
        text = escape(f"{item.stage}: {item.error_class}: {item.message}")
        messages.print(f"[yellow]rejected[/] {text}", highlight=False, soft_wrap=True)
    if any(item.image_cluster_id is None for item in result.rejections) and not result.figures:
        raise CommandError("the article could not be processed; the reason is above and in the JSON")


def _write_overlays(folder: Path, result: Any, pictures: Any) -> None:
    from PIL import Image

    from pmo_assets.pipeline.figures.pictures import decoded
    from pmo_assets.viewing.overlays import draw_detections

    folder.mkdir(parents=True, exist_ok=True)
    for figure in result.figures:
        key = figure["pdf_figure_id"]
        panels = result.assembled.get(figure["image_cluster_id"], [])
        image = draw_detections(
            decoded(pictures.get(key), key),
            panels=[(tuple(panel["content_box"]), panel["identifier"]) for panel in panels],
            identifiers=[
                (tuple(item["box"]), item["text"]) for panel in panels for item in panel["printed_identifiers"]
            ],
            images=[(tuple(i["box"]), i["image_type"], i["marked"]) for panel in panels for i in panel["images"]],
            max_side=1400,
        )
        Image.fromarray(image).save(folder / f"{key}.png")


@batches_app.command("add")
def batches_add(
    source: Annotated[
        Path,
        typer.Option("--source", help="Folder whose subfolders are article packages, or the folder of one package."),
    ],
    size: Annotated[
        int | None, typer.Option("--size", min=1, help="Articles per batch; PMO_BATCH_SIZE if not given.")
    ] = None,
) -> None:
    """Register the packages of a folder as batches. What is registered already is not registered again.

    The folder is that of one package, or its subfolders are packages: NAME/article.pdf with optional article.xml,
    figures/ and metadata.json, or the PMC Cloud Service's PMC123.1/PMC123.1.pdf with .xml, .json and media files.
    Links are followed inside the folder only.

    A package that cannot be registered is named with the reason, here and in `pmo report`, until it is mended and the
    folder registered again; the others are registered. The status is 1 only if no package could be registered.
    """
    from pmo_assets.defs.runner import open_instance, register_partitions
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.storage.registry import BatchRegistry

    settings = settings_from_environment()
    registry = BatchRegistry(data_root_of(settings))
    problems: list[str] = []
    readable = 0

    def look(item: Any) -> None:
        nonlocal readable
        readable += 1
        problems.extend(problem.message for problem in item.problems)
        tell(item.name)

    with spinner("reading packages") as tell:
        added = registry.add(LocalFolder(source), size or settings.batch_size, progress=look)
    with open_instance(settings) as instance:
        register_partitions(instance, registry.batches())
    for key, count in added:
        console.print(f"{key}  {count} articles")
    rejected = registry.rejections(LocalFolder(source).uri)["message"].to_list()
    say_list("left out", "file", problems)
    say_list("not registered", "package", rejected)
    if not readable:
        raise CommandError("no package could be registered: the reasons are above and in `pmo report`")
    if not added:
        console.print("nothing new: every package that can be registered is in a batch already")


@batches_app.command("list")
def batches_list() -> None:
    """List the batches and how far each one is."""
    from pmo_assets.definitions import build_defs
    from pmo_assets.defs.runner import open_instance, register_partitions, stale_assets
    from pmo_assets.release.losses import batch_losses, excessive
    from pmo_assets.storage.registry import BatchRegistry
    from pmo_assets.storage.tables import Tables

    settings = settings_from_environment()
    registry = BatchRegistry(data_root_of(settings))
    keys = registry.batches()
    if not keys:
        console.print("no batches yet: register articles with `pmo batches add --source DIR`")
        return
    tables, defs, shown = Tables(registry.data_root), build_defs(settings), ("dataset_rows", "rejections")
    table = Table("batch", "articles", "state", *(name.replace("_", " ") for name in shown))
    with open_instance(settings) as instance:
        register_partitions(instance, keys)
        for key in keys:
            stale = stale_assets(defs, instance, tables, key)
            lost = [] if stale else excessive(batch_losses(tables, key), settings.rejected_fail)
            state = f"next: {stale[0]}" if stale else f"not done: {lost[0]}" if lost else "up to date"
            # a stale table may have the columns of another version
            counts = ["–" if name in stale else str(tables.read(name, key).height) for name in shown]
            table.add_row(key, str(registry.manifest(key).height), escape(state), *counts)
    console.print(table)


@app.command()
def run(
    context: typer.Context,
    batch: Annotated[
        list[str] | None, typer.Option("--batch", help="Only this batch (repeatable); all batches if not given.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also redo what is up to date.")] = False,
    release: Annotated[bool, typer.Option(help="Make the release afterwards.")] = True,
) -> None:
    """Materialise batches and the release in this process, with progress; what is up to date is not redone.

    A run that was killed is continued by running it again.
    """
    settings = settings_from_environment()
    failed = _run(settings, batch or [], again=again, release=release, verbose=context.obj["debug"])
    if failed:
        raise CommandError("; ".join(failed))


def _run(settings: Settings, wanted: list[str], *, again: bool, release: bool, verbose: bool) -> list[str]:
    from pmo_assets.definitions import build_defs
    from pmo_assets.defs.loading import stages_of
    from pmo_assets.defs.resources import workers_resource
    from pmo_assets.defs.runner import (
        RunFailed,
        close_dead_runs,
        open_instance,
        register_partitions,
        release_is_stale,
        run_job,
        stale_assets,
    )
    from pmo_assets.release.losses import batch_losses, excessive, losses_in_words
    from pmo_assets.storage.registry import BatchRegistry
    from pmo_assets.storage.tables import Tables

    registry = BatchRegistry(data_root_of(settings))
    keys = registry.batches()
    if not keys:
        raise CommandError("no batches yet: register articles with `pmo batches add --source DIR`")
    if unknown := sorted(set(wanted) - set(keys)):
        raise CommandError(f"no such batch: {', '.join(unknown)}; `pmo batches list` shows the {len(keys)} that exist")
    failed: list[str] = []
    with open_instance(settings) as instance, progress_bars() as (progress, tell):
        register_partitions(instance, keys)
        close_dead_runs(instance)
        defs = build_defs(settings, resource_overrides={"workers": workers_resource(settings, tell)})
        chosen, tables = wanted or keys, Tables(registry.data_root)
        overall = progress.add_task("batches", total=len(chosen))
        for key in chosen:
            progress.update(overall, description=f"batch {key}")
            assets = list(stages_of(defs)) if again else stale_assets(defs, instance, tables, key)
            error: RunFailed | None = None
            start: float | None = None
            if assets:
                start = time.perf_counter()
                try:
                    run_job(defs, instance, "process_batch", batch=key, assets=assets, verbose=verbose)
                except RunFailed as caught:
                    error = caught
            # What a batch lost is looked at every time: as long as it lost too much, it does not count as done.
            if not stale_assets(defs, instance, tables, key):
                lost = excessive(batch_losses(tables, key), settings.rejected_fail)
                error = RunFailed(losses_in_words(lost, settings.rejected_fail)) if lost else error
            if error is not None:
                failed.append(f"batch {key}: {error}")
                progress.console.print(
                    f"[red]failed[/] batch {key}: {escape(str(error))}", highlight=False, soft_wrap=True
                )
            elif start is not None:
                _say_batch(progress, registry, key, time.perf_counter() - start)
            else:
                progress.console.print(f"[dim]batch {key} is up to date[/]", highlight=False)
            progress.advance(overall)
        made = bool(tables.batches("dataset_rows"))
        if release and made and (again or release_is_stale(defs, instance, registry.data_root, keys)):
            progress.update(overall, description="release")
            try:
                run_job(defs, instance, "make_release", verbose=verbose)
            except RunFailed as error:
                failed.append(f"release: {error}")
    if release and not failed:
        _say_release(settings)
    return failed


def _say_batch(progress: Progress, registry: Any, batch: str, seconds: float) -> None:
    from pmo_assets.storage.tables import Tables

    tables = Tables(registry.data_root)
    counts = {
        name: tables.read(name, batch).height
        for name in ("articles", "figures", "panels", "dataset_rows", "rejections")
    }
    words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    rate = counts["articles"] / seconds * 60 if seconds else 0.0
    progress.console.print(
        f"[green]done[/] batch {batch}: {words} in {seconds:.0f} s ({rate:.0f} articles/min)",
        highlight=False,
        soft_wrap=True,
    )


def _say_release(settings: Settings) -> None:
    from pmo_assets.release.releases import RELEASE_KEY
    from pmo_assets.release.reports import GALLERY_KEY, REPORT_KEY

    root = data_root_of(settings)
    for name, key in (("dataset", RELEASE_KEY), ("gallery", GALLERY_KEY), ("report", REPORT_KEY)):
        if root.exists(key):
            console.print(f"{name:8s} {root.uri(key)}", soft_wrap=True, highlight=False, markup=False)


@app.command()
def report() -> None:
    """Summarise what has been processed: batches, the way from articles to panels, what was rejected and why."""
    from pmo_assets.defs.loading import batch_stages, group_assets
    from pmo_assets.pipeline.articles.relevance import load_specialty
    from pmo_assets.release.releases import select_articles
    from pmo_assets.release.reports import duplicates_table, release_summary
    from pmo_assets.storage.tables import Tables
    from pmo_assets.viewing.report import BarGroup

    settings = settings_from_environment()
    tables = Tables(data_root_of(settings))
    if not tables.batches("dataset_rows"):
        say_list("not registered", "package", tables.registration_rejections()["message"].to_list())
        raise CommandError("no batch has been processed yet: run `pmo run`")
    selection = select_articles(tables)
    summary = release_summary(
        tables, selection, stages=batch_stages(group_assets()), specialty=load_specialty(settings.specialty)
    )
    console.print(", ".join(f"{item.value} {item.label}" for item in summary.headlines), highlight=False)
    for group in [BarGroup("Articles", summary.funnel), *summary.groups]:
        table = Table(title=group.title, title_justify="left", show_header=False)
        for bar in group.bars:
            table.add_row(escape(bar.label), f"{bar.value:g}")
        console.print(table)
    listed = duplicates_table(selection)
    if listed.rows:
        table = Table(
            *listed.columns, title="Packages not published: the same article as another", title_justify="left"
        )
        for cells in listed.rows:
            table.add_row(*(escape(str(cell)) for cell in cells))
        console.print(table)
    if summary.rejections:
        table = Table("stage", "error", "count", "for example", title="Rejections", title_justify="left")
        for reason in summary.rejections:
            example = escape(reason.examples[0]) if reason.examples else ""
            table.add_row(reason.stage, reason.reason, str(reason.count), example)
        console.print(table)
    _say_release(settings)


@app.command()
def quality(
    context: typer.Context,
    annotations: Annotated[
        str | None,
        typer.Option("--annotations", help="Folder or pattern of annotation files; PMO_ANNOTATIONS if not given."),
    ] = None,
) -> None:
    """Compare what the pipeline found with annotated articles: numbers here, the worst cases as pages."""
    settings = settings_from_environment()
    if annotations is not None:
        settings = settings.model_copy(update={"annotations": os.path.abspath(annotations)})
    if not settings.annotations:
        raise CommandError("no ground truth: give --annotations FOLDER or set PMO_ANNOTATIONS (JSON, one per article)")
    _measure_quality(settings, verbose=context.obj["debug"])


def _measure_quality(settings: Settings, *, verbose: bool) -> None:
    """Materialise the group quality and print its numbers."""
    from pmo_assets.annotation.annotations import annotation_files, read_annotations
    from pmo_assets.definitions import build_defs
    from pmo_assets.defs.assets.quality import QUALITY_ASSETS
    from pmo_assets.defs.resources import workers_resource
    from pmo_assets.defs.runner import close_dead_runs, open_instance, run_job
    from pmo_assets.quality.metrics.metric import metrics_by_threshold
    from pmo_assets.quality.quality_tables import page_key, read_metrics
    from pmo_assets.storage.tables import Tables

    root = data_root_of(settings)
    if not Tables(root).batches("panel_assembly"):
        raise CommandError("no batch has been processed yet: run `pmo run`")
    for problem in read_annotations(annotation_files(settings.annotations or "")).problems:
        text = escape(f"{problem.file}: {problem.reason}")
        messages.print(f"[yellow]not usable[/] {text}", highlight=False, soft_wrap=True)
    with open_instance(settings) as instance, progress_bars() as (_, tell):
        close_dead_runs(instance)
        defs = build_defs(settings, resource_overrides={"workers": workers_resource(settings, tell)})
        made = run_job(defs, instance, "measure_quality", verbose=verbose)
    if not made.issuperset(QUALITY_ASSETS):
        raise CommandError(
            "no annotated article was processed: none is in a batch, or none is relevant; nothing to score"
        )
    for name in QUALITY_ASSETS[1:]:
        headings, lines = metrics_by_threshold(read_metrics(root, name))
        table = Table(title=name.replace("_", " "), title_justify="left")
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="left" if number < 2 else "right")
        for line in lines:
            table.add_row(*map(escape, line))
        console.print(table)
    for name in QUALITY_ASSETS[1:]:
        console.print(f"{name:18s} {root.uri(page_key(name))}", soft_wrap=True, highlight=False, markup=False)


@app.command()
def samples(
    folder: Annotated[Path, typer.Argument(help="Where to write articles/ and truth/.")],
    seed: Annotated[int, typer.Option(help="Other seeds give other articles; the same seed the same bytes.")] = 0,
    copies: Annotated[int, typer.Option(min=1, help="How many times the standard set, each with other content.")] = 1,
) -> None:
    """Typeset sample articles with exact ground truth."""
    from pmo_assets.samples import write_sample_articles

    try:
        written = write_sample_articles(folder, seed=seed, copies=copies)
    except OSError as error:
        raise CommandError(f"cannot write below {folder}: {error}") from error
    console.print(
        f"{len(written)} articles in {folder / 'articles'}, truth in {folder / 'truth'}", soft_wrap=True, markup=False
    )


@app.command()
def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where the sample articles go.")] = Path("demo"),
    batch_size: Annotated[int, typer.Option(min=1, help="Articles per batch.")] = 10,
    quality: Annotated[bool, typer.Option("--quality", help="Compare the result with the samples' truth.")] = False,
) -> None:
    """Typeset the sample articles, register them and take them through the whole graph.

    Everything goes below one folder, apart from your own data, unless PMO_DATA_ROOT says otherwise.
    """
    from pmo_assets.samples import write_sample_articles
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.storage.registry import BatchRegistry

    settings = _below_demo_folder(settings_from_environment(), folder)
    with spinner("typesetting sample articles"):
        written = write_sample_articles(folder)
    messages.print(f"typeset {len(written)} sample articles in {folder / 'articles'}", highlight=False, markup=False)
    registry = BatchRegistry(data_root_of(settings))
    added = registry.add(LocalFolder(folder / "articles"), batch_size)
    messages.print(f"registered {len(added)} new batches", highlight=False)
    failed = _run(settings, [], again=False, release=True, verbose=context.obj["debug"])
    if failed:
        raise CommandError("; ".join(failed))
    if quality:
        _measure_quality(settings, verbose=context.obj["debug"])
    console.print("UI       run `make dev` (or `pmo dev`), then open http://127.0.0.1:3000", highlight=False)


def _below_demo_folder(settings: Settings, folder: Path) -> Settings:
    """Return the settings with data, instance and truth below the demo's folder, where they are not set explicitly."""
    places = {
        "data_root": str((folder / "data").absolute()),
        "dagster_home": (folder / "dagster").absolute(),
        "annotations": str((folder / "truth").absolute()),
    }
    return settings.model_copy(update={k: v for k, v in places.items() if k not in settings.model_fields_set})


@app.command()
def dev(
    port: Annotated[int, typer.Option(help="Port of the web UI.")] = 3000,
    host: Annotated[str, typer.Option(help="Address the web UI listens on.")] = "127.0.0.1",
    demo_folder: Annotated[Path, typer.Option(help="The demo's folder.")] = Path("demo"),
) -> None:
    """Open the Dagster web UI and its daemon; Ctrl-C ends both.

    It shows your own data root; as long as nothing is registered there, that of the demo.
    """
    import subprocess

    from pmo_assets.defs.runner import dagster_home
    from pmo_assets.storage.registry import BatchRegistry

    settings = settings_from_environment()
    shown = _below_demo_folder(settings, demo_folder)
    if BatchRegistry(data_root_of(settings)).batches() or not BatchRegistry(data_root_of(shown)).batches():
        shown = settings
    home = dagster_home(shown)
    root = data_root_of(shown)
    place = os.path.abspath(root.root) if root.is_local else root.root
    messages.print(f"data root {place}, UI at http://{host}:{port}", highlight=False, markup=False, soft_wrap=True)
    command = [sys.executable, "-m", "dagster", "dev", "-m", "pmo_assets.definitions", "-h", host, "-p", str(port)]
    environment = {**os.environ, "DAGSTER_HOME": str(home), "PMO_DATA_ROOT": place}
    if shown.annotations:
        environment["PMO_ANNOTATIONS"] = shown.annotations
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


@app.command("settings")
def show_settings() -> None:
    """List every setting with its environment variable and its present value."""
    values = settings_from_environment()
    table = Table("variable", "value", "meaning")
    for (variable, _, text), name in zip(settings_table(), Settings.model_fields, strict=True):
        table.add_row(variable, escape(str(getattr(values, name))), text)
    console.print(table)


@app.command("home")
def show_home() -> None:
    """Print the folder of the Dagster instance (DAGSTER_HOME), making it if it is new."""
    from pmo_assets.defs.runner import dagster_home

    print(dagster_home(settings_from_environment()))


MINIMUM_ADDRESS_SPACE_MB = 2560
"""With less, libraries abort or wait for ever as they are loaded; machines with many cores need more."""


def _check_address_space() -> None:
    """Refuse to begin under a limit (`ulimit -v`) in which not even the libraries have room.

    The limit is on addresses, of which polars, NumPy and Arrow reserve far more than they use.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < MINIMUM_ADDRESS_SPACE_MB * 2**20:
        raise CommandError(
            f"the address space is limited to {limit // 2**20} MiB, {MINIMUM_ADDRESS_SPACE_MB} are needed at least: "
            "raise it (ulimit -v unlimited); PMO_WORKER_MEMORY_MB limits what articles may take"
        )


def main() -> None:
    """Run `pmo`, turning expected errors into one line and status 1."""
    debug = "--debug" in sys.argv
    try:
        _check_address_space()
    except CommandError as error:
        messages.print(f"[red]error:[/] {one_line(error)}", highlight=False, soft_wrap=True)
        sys.exit(1)
    from dataframely.exc import ValidationError as TableError

    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:  # wrong arguments; nothing to say when the help was shown for want of any
        text = " ".join(getattr(error, "format_message", error.__str__)().split())
        if text:
            messages.print(f"[red]error:[/] {escape(text)} (see `pmo --help`)", highlight=False, soft_wrap=True)
        sys.exit(2)
    except (CommandError, SystemicError, ArticleError, TableError, OSError, ValueError) as error:
        if debug:
            raise
        messages.print(f"[red]error:[/] {one_line(error)}", highlight=False, soft_wrap=True)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        messages.print(
            f"[red]error:[/] {one_line(error)} (run `pmo --debug …` for the traceback)", highlight=False, soft_wrap=True
        )
        sys.exit(1)
    if status == INTERRUPTED:
        messages.print("interrupted; run the same command again to continue", highlight=False)
    sys.exit(status or 0)
