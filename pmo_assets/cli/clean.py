"""`pmo clean`: leftovers that nobody needs, listed, and deleted on demand."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import console, counted, data_root_of, messages, settings_from_environment, spinner
from pmo_assets.settings import Settings

if TYPE_CHECKING:
    from pmo_assets.storage.data_root import DataRoot
    from pmo_assets.storage.leftovers import Leftover

PIXEL_STORES = {"figures": "pdf_figures", "panels": "panels", "keyframes": "video_episodes"}
"""Names of the pixel stores, each with the table whose articles or videos have pictures in it."""


@dataclass
class _Sum:
    count: int = 0
    size: int = 0
    example: str = ""


@dataclass
class _Found:
    """Number, bytes and an example of the leftovers of each kind, and the kinds that stay because they are in use."""

    sums: dict[str, _Sum] = field(default_factory=lambda: defaultdict(_Sum))
    left_alone: dict[str, str] = field(default_factory=dict)

    def stays(self, kind: str, why: Exception) -> None:
        """Note that some of a kind stay, because somebody writes there."""
        self.left_alone[kind] = str(why)

    def add(self, kind: str, size: int, example: str) -> None:
        """Count one thing."""
        item = self.sums[kind]
        item.count, item.size, item.example = item.count + 1, item.size + size, item.example or example


def clean(
    yes: Annotated[bool, typer.Option("--yes", help="Delete it; without, it is only shown.")] = False,
    days: Annotated[
        float, typer.Option(min=1, help="Leave alone what was written in so many days below the data root.")
    ] = 1,
    run_days: Annotated[float, typer.Option(min=1, help="… and Dagster's runs and ticks of so many days.")] = 30,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also answers of models that are not set any more.")
    ] = False,
    keep_versions: Annotated[
        int | None, typer.Option(min=1, help="Keep the facts of so many releases, the newest; all if not given.")
    ] = None,
) -> None:
    """Show what is kept and nobody needs, by kind; with --yes, delete it.

    Below the data root: half-written files, objects that no table refers to, tables and pictures of batches that are
    not registered, of assets that there are no more, of articles that left their table. In the Dagster home: runs that
    ended long ago, except those that hold the latest materialisation of something; of these their own log.

    It may be interrupted and run again, also while batches are processed: objects wait until no run is at work, here
    or on another machine, what belongs to a batch until nobody writes it. Before anything goes it is looked at again:
    what was used or named meanwhile stays. A run that begins meanwhile waits some seconds.
    """
    from pmo_assets.defs.instance import open_instance, open_instance_to_read
    from pmo_assets.defs.retention import delete_run, old_runs, purge_ticks, ticks_before
    from pmo_assets.defs.run_leases import run_is_over
    from pmo_assets.defs.runner import unfinished_runs
    from pmo_assets.storage.leases import held_below
    from pmo_assets.storage.leftovers import DAY, delete

    settings = settings_from_environment()
    data_root, found, now = data_root_of(settings), _Found(), time.time()
    opened = open_instance if yes else open_instance_to_read
    with opened(settings) as instance, spinner("looking" if not yes else "deleting") as tell:
        # Runs of this instance that have written nothing yet, and whoever else writes below the data root.
        at_work = max(len(unfinished_runs(instance)), len(held_below(data_root, is_over=run_is_over(instance))))
        leftovers = _leftovers(settings, data_root, now - days * DAY, answers, keep_versions, objects=not at_work)
        if yes:
            leftovers = delete(data_root, leftovers, is_over=run_is_over(instance), busy=found.stays)
        for item in leftovers:
            tell(item.kind)
            found.add(item.kind, item.file.size, item.file.key)
        # read to the end before the first one is deleted: the pages of the listing would move
        for run in list(old_runs(instance, now - run_days * DAY)):
            tell("Dagster's runs")
            if run.needed and not run.files:
                continue
            kind = "logs of Dagster's runs that stay" if run.needed else "Dagster's runs"
            if yes:
                delete_run(instance, run)
            found.add(kind, run.size, run.run_id)
        ticks = ticks_before(instance, now - run_days * DAY)
        if ticks:
            found.sums["ticks of sensors and schedules"].count = ticks
            if yes:
                purge_ticks(instance, now - run_days * DAY)
    _say(found, at_work, yes)


def _leftovers(
    settings: Settings, data_root: DataRoot, before: float, answers: bool, keep_versions: int | None, *, objects: bool
) -> Iterator[Leftover]:
    from pmo_assets.defs.batch_states import graph_of_this_code
    from pmo_assets.defs.rejections import rejections_of
    from pmo_assets.pipeline.graph import declared_units, stages_of_unit
    from pmo_assets.records.units import ARTICLE
    from pmo_assets.release.versions import version_key
    from pmo_assets.storage.leftovers import (
        KnownLayout,
        foreign_tables,
        half_written,
        old_answers,
        old_versions,
        unused_objects,
        unused_pictures,
    )

    units = declared_units()
    others = [
        name for unit in units if unit != ARTICLE for name in (unit.batch, *stages_of_unit(unit), rejections_of(unit))
    ]
    layout = KnownLayout([*graph_of_this_code().stages, *others], PIXEL_STORES, units)
    yield from half_written(data_root, before)
    yield from foreign_tables(data_root, layout, before)
    yield from unused_pictures(data_root, layout, before)
    if objects:
        yield from unused_objects(data_root, before)
    if answers:
        yield from old_answers(data_root, [name for name in (settings.llm_model, settings.vlm_model) if name], before)
    if keep_versions is not None:
        yield from old_versions(data_root, keep_versions, version_key)


def _say(found: _Found, at_work: int, deleted: bool) -> None:
    table = Table("what", "count", "MB", "for example")
    for kind, item in found.sums.items():
        table.add_row(kind, f"{item.count:,}", f"{item.size / 1e6:,.1f}", escape(item.example))
    if found.sums:
        console.print(table)
    if at_work:
        messages.print(f"objects are left alone: {counted(at_work, 'run is', 'runs are')} at work", highlight=False)
    for kind, why in found.left_alone.items():
        messages.print(f"{kind}, some left alone: {escape(why)}", highlight=False)
    total = sum(item.size for item in found.sums.values())
    if not found.sums:
        console.print("nothing to delete")
    elif deleted:
        console.print(f"deleted: {total / 1e6:,.1f} MB", highlight=False)
    else:
        console.print(f"{total / 1e6:,.1f} MB could go: `pmo clean --yes` deletes it", highlight=False)
