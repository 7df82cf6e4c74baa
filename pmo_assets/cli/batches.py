"""`pmo batches …`: register article packages as batches, and list the batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

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

batches_app = typer.Typer(help="Register article packages as batches, and list the batches.", no_args_is_help=True)


@batches_app.command("add")
def batches_add(
    folder: Annotated[
        Path | None, typer.Argument(help="Its subfolders are article packages, or it is one package.")
    ] = None,
    source: Annotated[Path | None, typer.Option("--source", help="The same as FOLDER.")] = None,
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
    from pmo_assets.defs.instance import open_instance
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.settings.step_options import fetch_limits
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.storage.registry import BatchRegistry

    place = folder or source
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
    if not keys and not as_json:
        console.print(
            f"no batches yet below {place_of(settings)}: register articles with `pmo batches add FOLDER`",
            soft_wrap=True,
            highlight=False,
            markup=False,
        )
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
