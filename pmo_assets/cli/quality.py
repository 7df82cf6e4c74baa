"""`pmo quality`: compare what the pipeline found with annotated articles."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import (
    CommandError,
    console,
    data_root_of,
    messages,
    place_of,
    progress_bars,
    settings_from_environment,
)
from pmo_assets.settings import Settings


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
    measure_quality(settings, verbose=context.obj["debug"])


def measure_quality(settings: Settings, *, verbose: bool) -> None:
    """Materialise the group quality and print its numbers."""
    from pmo_assets.annotation.annotations import annotation_files, read_annotations
    from pmo_assets.definitions import build_defs
    from pmo_assets.defs.assets.quality import QUALITY_ASSETS
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.resources import workers_resource
    from pmo_assets.defs.runner import close_dead_runs, run_job
    from pmo_assets.quality.metrics.metric import metrics_by_threshold
    from pmo_assets.quality.quality_tables import page_key, read_metrics
    from pmo_assets.storage.tables import Tables

    root = data_root_of(settings)
    if not Tables(root).batches("panel_assembly"):
        raise CommandError(f"no batch has been processed yet below {place_of(settings)}: run `pmo run`")
    for problem in read_annotations(annotation_files(settings.annotations or "")).problems:
        text = escape(f"{problem.file}: {problem.reason}")
        messages.print(f"[yellow]not usable[/] {text}", highlight=False, soft_wrap=True)
    with open_instance(settings) as instance, progress_bars() as (_, tell):
        close_dead_runs(instance)
        defs = build_defs(settings, resource_overrides={"workers": workers_resource(settings, tell)})
        made = run_job(defs, instance, "evaluate", verbose=verbose)
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
