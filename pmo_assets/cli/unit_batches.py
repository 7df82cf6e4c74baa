"""Batches of units other than articles, for `pmo batches` and `pmo run`: lecture videos."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.markup import escape

from pmo_assets.cli.console import CommandError, console, counted, data_root_of, messages, say_list, spinner
from pmo_assets.records.units import ARTICLE, VIDEO, Unit
from pmo_assets.settings import Settings

VIDEOS_PER_BATCH = 20
"""Videos of a batch, if not said otherwise: some hours of work."""


def add_videos(settings: Settings, place: str, size: int | None) -> None:
    """Register the videos of a folder or prefix as batches, and say what became of each.

    Raises:
        CommandError: when none can be registered.
    """
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.records.packages import Skipped
    from pmo_assets.records.rejections import Rejection
    from pmo_assets.sources.video_folders import open_videos, video_listings
    from pmo_assets.storage.manifests import Manifests

    rows: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    skipped: list[Skipped] = []
    with spinner("reading videos") as tell:
        for item in video_listings(open_videos(place, settings.s3_endpoint)):
            if isinstance(item, Rejection):
                rejected.append(item)
            elif isinstance(item, Skipped):
                skipped.append(item)
            else:
                rows.append(item)
                tell(item["name"])
    manifests = Manifests(data_root_of(settings), VIDEO)
    added = manifests.add(rows, size or VIDEOS_PER_BATCH)
    with open_instance(settings) as instance:
        register_partitions(instance, manifests.batches(), VIDEO)
    for key, count in added:
        console.print(f"{key}  {counted(count, VIDEO.name)}")
    say_list("without metadata", "video", [f"{row['name']}: {row['problem']}" for row in rows if row["problem"]])
    say_list("not registered", "video", [item.message for item in rejected])
    say_list("passed over", "entry", [f"{item.path}: {item.reason}" for item in skipped])
    if not rows:
        raise CommandError("no video could be registered: the reasons are above")
    if not added:
        console.print("nothing new: every video that can be registered is in a batch already")
    else:
        messages.print("next: pmo run", highlight=False)


def other_units() -> tuple[Unit, ...]:
    """Return the units whose batches are not articles', as they were kept when this code was loaded before."""
    from pmo_assets.defs.package_cache import of_this_code

    kept = of_this_code("units of batches", _declared_units)
    units = (Unit(**{**fields, "rows": tuple(map(tuple, fields["rows"]))}) for fields in kept)
    return tuple(unit for unit in units if unit != ARTICLE)


def _declared_units() -> list[dict[str, Any]]:
    from pmo_assets.pipeline.graph import declared_units

    return [asdict(unit) for unit in declared_units()]


def other_batches(settings: Settings) -> dict[str, Unit]:
    """Return the batches of other units than articles by their keys, in order."""
    from pmo_assets.storage.manifests import Manifests

    root = data_root_of(settings)
    return {key: unit for unit in other_units() for key in Manifests(root, unit).batches()}


def remove_others(settings: Settings, batches: Sequence[str]) -> list[str]:
    """Take out those of these batches that are of other units than articles; return the rest."""
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.run_leases import batch_lease, run_is_over
    from pmo_assets.storage.leases import holding
    from pmo_assets.storage.removed import remove_batch

    known, root = other_batches(settings), data_root_of(settings)
    chosen = {batch: known[batch] for batch in batches if batch in known}
    if chosen:
        with open_instance(settings) as instance:
            for batch, unit in chosen.items():
                with holding(root, batch_lease(batch), "pmo batches remove", is_over=run_is_over(instance)):
                    remove_batch(root, batch, unit)
                instance.delete_dynamic_partition(unit.batch, batch)
                console.print(f"removed {batch}, of {unit.names}", highlight=False)
    return [batch for batch in batches if batch not in chosen]


def restore_others(settings: Settings, batches: Sequence[str]) -> list[str]:
    """Bring those of these batches back that are of other units than articles; return the rest."""
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.storage.manifests import Manifests
    from pmo_assets.storage.removed import removed_batches, restore_batch

    root, rest = data_root_of(settings), list(batches)
    for unit in other_units():
        own = [batch for batch in rest if batch in removed_batches(root, unit)]
        for batch in own:
            restore_batch(root, batch, unit)
        if own:
            with open_instance(settings) as instance:
                register_partitions(instance, Manifests(root, unit).batches(), unit)
        rest = [batch for batch in rest if batch not in own]
    return rest


def unit_states(settings: Settings) -> list[list[str]]:
    """Return a line for each batch of other units: its key, what it holds, and what is to be made next."""
    batches = other_batches(settings)
    if not batches:
        return []
    from pmo_assets.definitions import build_defs  # takes seconds
    from pmo_assets.defs.batch_states import stale_assets
    from pmo_assets.defs.instance import open_instance_to_read
    from pmo_assets.storage.manifests import Manifests
    from pmo_assets.storage.tables import Tables

    root, defs = data_root_of(settings), build_defs(settings)
    sizes = {key: size for unit in other_units() for key, size in Manifests(root, unit).sizes().items()}
    lines = []
    with open_instance_to_read(settings) as instance:
        for key, unit in batches.items():
            stale = stale_assets(defs, instance, Tables(root), key, unit)
            lines.append([key, counted(sizes[key], unit.name), f"next: {stale[0]}" if stale else "up to date"])
    return lines


def process_units(
    settings: Settings, defs: Any, instance: Any, batches: dict[str, Unit], progress: Any, *, again: bool, verbose: bool
) -> list[str]:
    """Take batches of other units through those of their stages that are stale; return a line per failure."""
    from pmo_assets.defs.batch_states import stale_assets
    from pmo_assets.defs.graph import graph_of_location
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.defs.runner import RunFailed, run_job
    from pmo_assets.release.statistics.losses import excessive, losses_in_words, unit_losses
    from pmo_assets.storage.tables import Tables

    tables = Tables(data_root_of(settings))
    failed: list[str] = []
    for unit in dict.fromkeys(batches.values()):
        register_partitions(instance, [key for key, own in batches.items() if own == unit], unit)
    for key, unit in batches.items():
        graph = graph_of_location(defs, unit)
        assets: Sequence[str] = graph.stages if again else stale_assets(defs, instance, tables, key, unit)
        if not assets:
            progress.console.print(f"[dim]batch {key} of {unit.names} is up to date[/]", highlight=False)
            continue
        start = time.perf_counter()
        try:
            run_job(defs, instance, f"process_{unit.batch}", batch=key, assets=list(assets), verbose=verbose)
        except RunFailed as error:
            lost = excessive(unit_losses(tables, key, graph.losing, unit), settings.rejected_fail)
            words = losses_in_words(lost, settings.rejected_fail) if lost else str(error)
            progress.console.print(f"[red]failed[/] batch {key}: {escape(words)}", highlight=False, soft_wrap=True)
            failed.append(f"batch {key}: {words}")
            continue
        counts = [f"{tables.read(name, key).height} {name.replace('_', ' ')}" for name in graph.stages]
        progress.console.print(
            f"[green]done[/] batch {key}: {', '.join(counts)} in {time.perf_counter() - start:.0f} s",
            highlight=False,
            soft_wrap=True,
        )
    return failed
