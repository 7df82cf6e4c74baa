"""`pmo release webdataset`: a release as tar shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pmo_assets.cli.console import console, counted, data_root_of, progress_bars, settings_from_environment
from pmo_assets.cli.release.shared import release_folder

MEGABYTE = 10**6


def webdataset(
    folder: Annotated[
        Path | None, typer.Argument(help="A release's hub folder, or a download of it; the data root's if not given.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Folder to make; webdataset-CONFIG beside FOLDER if not given.")
    ] = None,
    config: Annotated[
        str, typer.Option(help="panels, figures, or pairs: each picture with all its texts and boxes.")
    ] = "panels",
    split: Annotated[list[str] | None, typer.Option(help="Only this split; may be given again.")] = None,
    shard_size: Annotated[int, typer.Option(min=1, metavar="MB", help="Megabytes of a tar at most.")] = 500,
    withheld: Annotated[
        bool, typer.Option("--withheld", help="Keep rows whose licence forbids pictures, with their JSON alone.")
    ] = False,
) -> None:
    """Write a release as tar shards for webdataset: KEY.png (or .webp), KEY.txt (the subcaption), KEY.json (all else).

    Of pairs a sample is a picture with all of them: KEY.txt has the first text, KEY.json the list.

    Whole or not at all; the same release gives the same bytes.
    """
    from pmo_assets.release.hub.markdown import size_text
    from pmo_assets.release.hub.webdataset import write_webdataset

    place = (folder or release_folder(data_root_of(settings_from_environment()))).resolve()
    target = to or place.with_name(f"webdataset-{config}")
    with progress_bars() as (_, tell):
        written = write_webdataset(
            place,
            target,
            config=config,
            splits=split or (),
            shard_size=shard_size * MEGABYTE,
            keep_withheld=withheld,
            tell=tell,
        )
    for item in written:
        without = "without picture" if withheld else "left out"
        console.print(
            f"{target}/{item.split}-*.tar: {counted(item.samples, 'sample')} in {counted(item.shards, 'shard')}, "
            f"{size_text(item.size)}; {counted(item.withheld, 'withheld row')} {without}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
