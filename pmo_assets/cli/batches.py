"""`pmo batches …`: register article packages as batches, and list the batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from pmo_assets.cli.console import (
    AsJson,
    CommandError,
    console,
    counted,
    data_root_of,
    messages,
    place_of,
    say_columns,
    say_json,
    say_list,
    settings_from_environment,
    spinner,
    uncollected,
)
from pmo_assets.cli.unit_batches import add_videos, remove_others, restore_others, unit_states

if TYPE_CHECKING:
    from pmo_assets.storage.registry import BatchRegistry

batches_app = typer.Typer(
    help="Register article packages as batches; list, remove and restore batches.", no_args_is_help=True
)


@batches_app.command("add")
def batches_add(
    folder: Annotated[
        Path | None, typer.Argument(help="Its subfolders are article packages, or it is one package.")
    ] = None,
    source: Annotated[Path | None, typer.Option("--source", help="The same as FOLDER.")] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", min=1, help="Articles per batch; PMO_BATCH_SIZE if not given. Of videos: 20."),
    ] = None,
    videos: Annotated[
        str | None,
        typer.Option(
            "--videos",
            metavar="FOLDER",
            help="Register lecture videos instead: a folder, or s3://bucket/prefix, of NAME.mp4 (.webm, .mkv, …) with "
            "NAME.info.json and NAME.vtt as yt-dlp names them.",
        ),
    ] = None,
) -> None:
    """Register the packages of a folder as batches. What is registered already is not registered again.

    The folder is that of one package, or its subfolders are packages: NAME/article.pdf with optional article.xml,
    figures/ and metadata.json, or the PMC Cloud Service's PMC123.1/PMC123.1.pdf with .xml, .json and media files.
    Links are followed inside the folder only.

    A package that cannot be registered is named with the reason, here and in `pmo report`, until it is mended and the
    folder registered again; the others are registered. The status is 1 only if no package could be registered.
    """
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.settings.step_options import fetch_limits
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.storage.registry import BatchRegistry

    place = folder or source
    if videos is not None:
        if place is not None:
            raise CommandError("articles and videos are registered apart: give one of them")
        add_videos(settings_from_environment(), videos, size)
        return
    if place is None or (folder and source):
        raise CommandError("give the folder of the articles once: pmo batches add FOLDER")
    settings = settings_from_environment()
    registry = BatchRegistry(data_root_of(settings))
    with spinner("reading packages") as tell:
        look = registry.look_at(LocalFolder(place, fetch_limits(settings)), progress=lambda item: tell(item.name))
        registered = registry.register(look, size or settings.batch_size)
    added = registered.added
    with open_instance(settings) as instance:
        register_partitions(instance, registry.batches())
    for key, count in added:
        console.print(f"{key}  {counted(count, 'article')}")
    rejected = registry.rejections(look.source)["message"].to_list()
    say_list("left out", "file", [problem.message for item in look.listings for problem in item.problems])
    say_list("not registered", "package", rejected)
    say_list("passed over", "entry", [f"{item.path}: {item.reason}" for item in look.skipped])
    superseded = [f"{item.name}: what it holds was registered before" for item in registered.said_before]
    say_list("superseded since, and not registered again:", "package", superseded)
    say_list("named like another article:", "package", [item.message for item in registered.same_name])
    _say_totals(look.totals())
    if not look.listings:
        raise CommandError("no package could be registered: the reasons are above and in `pmo report`")
    if not added:
        console.print("nothing new: every package that can be registered is in a batch already")
    else:
        messages.print("next: pmo run (all steps and the release), or pmo dev (in the browser)", highlight=False)


def _say_totals(totals: Mapping[str, Any]) -> None:
    left_out = totals["left_out"]
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    messages.print(
        f"{totals['packages']:,} packages; of {totals['seen']:,} files {totals['used']:,} are used and "
        f"{sum(left_out.values()):,} left out" + (escape(f": {reasons}") if reasons else ""),
        soft_wrap=True,
        highlight=False,
    )


@batches_app.command("remove")
def batches_remove(
    batches: Annotated[list[str], typer.Argument(metavar="BATCH…", help="Keys of `pmo batches list`.")],
) -> None:
    """Take batches out that were registered by mistake: the next release is made without them.

    Nothing is deleted: `pmo batches restore` brings them back, until `pmo clean --yes`, a day later at the earliest,
    deletes their tables; a batch that is restored after that is processed anew. A partition that somebody invented in
    the UI goes, too.
    """
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import ARTICLE_BATCHES
    from pmo_assets.defs.run_leases import batch_lease, run_is_over
    from pmo_assets.storage.leases import holding
    from pmo_assets.storage.registry import BatchRegistry
    from pmo_assets.storage.removed import remove_batch

    settings = settings_from_environment()
    batches = remove_others(settings, batches)
    if not batches:
        return
    registry, partitions = BatchRegistry(data_root_of(settings)), str(ARTICLE_BATCHES.name)
    with open_instance(settings) as instance:
        known = set(registry.batches())
        if unknown := sorted(set(batches) - known - set(instance.get_dynamic_partitions(partitions))):
            raise CommandError(f"no such batch: {', '.join(unknown)}; `pmo batches list` shows those that exist")
        for batch in dict.fromkeys(batches):
            if batch in known:
                with holding(
                    registry.data_root, batch_lease(batch), "pmo batches remove", is_over=run_is_over(instance)
                ):
                    said = _what_leaves(registry, batch)
                    remove_batch(registry.data_root, batch)
            else:
                said = "a partition without a batch"
            instance.delete_dynamic_partition(partitions, batch)
            console.print(f"removed {batch}: {said}", highlight=False, soft_wrap=True, markup=False)
    if known.intersection(batches):
        messages.print("back again: pmo batches restore BATCH; next: pmo run makes the release", highlight=False)


@batches_app.command("restore")
def batches_restore(
    batches: Annotated[list[str], typer.Argument(metavar="BATCH…", help="Keys of batches that were removed.")],
) -> None:
    """Bring removed batches back, with their tables as far as `pmo clean` has left them."""
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.defs.run_leases import batch_lease, run_is_over
    from pmo_assets.storage.leases import holding
    from pmo_assets.storage.registry import BatchRegistry
    from pmo_assets.storage.removed import removed_batches, restore_batch

    settings = settings_from_environment()
    batches = restore_others(settings, batches)
    if not batches:
        messages.print("next: pmo run", highlight=False)
        return
    registry = BatchRegistry(data_root_of(settings))
    removed = removed_batches(registry.data_root)
    if unknown := sorted(set(batches) - removed):
        raise CommandError(f"not removed: {', '.join(unknown)}; removed are {', '.join(sorted(removed)) or 'none'}")
    with open_instance(settings) as instance:
        for batch in batches:  # `pmo clean` deletes a batch's files under the same lease
            with holding(registry.data_root, batch_lease(batch), "pmo batches restore", is_over=run_is_over(instance)):
                restore_batch(registry.data_root, batch)
        register_partitions(instance, registry.batches())
    messages.print("next: pmo run", highlight=False)


def _what_leaves(registry: BatchRegistry, batch: str) -> str:
    """Return in words what a batch holds, and what of it the newest release has."""
    from pmo_assets.release.versions import read_version_table, released_versions

    own = set(registry.manifest(batch)["article_id"])
    said = counted(len(own), "article")
    others = registry.articles([key for key in registry.batches() if key != batch])
    if again := own.intersection(chain.from_iterable(others.values())):
        said += (
            f" ({counted(len(again), 'article')} of them in other batches, too: the licence and retraction that those "
            "state will count)"
        )
    versions = released_versions(registry.data_root)
    if not versions:
        return f"{said}; nothing was released yet"
    articles = read_version_table(registry.data_root, versions[-1], "articles")
    there = articles.filter(articles["batch"].cast(str) == batch)
    rows = read_version_table(registry.data_root, versions[-1], "rows").join(there, "article_id", "semi")
    leaving = f"{counted(rows.height, 'panel')} of {counted(rows['article_id'].n_unique(), 'article')}"
    return f"{said}; of release {versions[-1]}, which keeps them, {leaving} will not be in the next"


@batches_app.command("list")
def batches_list(as_json: AsJson = False) -> None:
    """List the batches, how far each one is, and why something of it is to be made."""
    with uncollected():
        _list_batches(as_json)


def _list_batches(as_json: bool) -> None:
    from pmo_assets.defs.batch_states import COUNTED, batch_states, graph_of_this_code
    from pmo_assets.defs.instance import open_instance_to_read
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.defs.staleness import stages_in_force
    from pmo_assets.storage.registry import BatchRegistry

    settings = settings_from_environment()
    registry = BatchRegistry(data_root_of(settings))
    keys = registry.batches()
    others = unit_states(settings) if not as_json else []
    if others:
        say_columns(["BATCH", "OF", "STATE"], others)
    if not keys and not as_json and not others:
        console.print(
            f"no batches yet below {place_of(settings)}: register articles with `pmo batches add FOLDER`",
            soft_wrap=True,
            highlight=False,
            markup=False,
        )
    if not keys and not as_json:
        return
    rows = []
    with open_instance_to_read(settings) as instance:
        register_partitions(instance, keys)
        states = batch_states(stages_in_force(graph_of_this_code(), settings), settings, instance, registry)
    if as_json:
        say_json([{**asdict(found), "lost": list(map(str, found.lost))} for found in states])
        return
    for found in states:
        unfinished = (
            f"next: {found.stale[0]} ({found.why})"
            if found.stale
            else f"not done: {found.lost[0]}"
            if found.lost
            else ""
        )
        counts = [str(found.rows.get(name, "–")) for name in COUNTED]
        rows.append([found.batch, str(found.articles), unfinished or "up to date", *counts])
    say_columns(["BATCH", "ARTICLES", "STATE", *(name.replace("_", " ").upper() for name in COUNTED)], rows)
