"""`pmo release filters`: what the filters of Open-PMC-18M would remove of a release."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pmo_assets.cli.console import console, data_root_of, settings_from_environment
from pmo_assets.cli.release.shared import release_folder


def filters(
    folder: Annotated[
        Path | None, typer.Argument(help="A release's hub folder, or a download of it; the data root's if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Count what each filter of Open-PMC-18M, alone and after those before it, would remove; nothing is removed."""
    from pmo_assets.release.panel_filters import count_filters, read_filter_columns

    place = (folder or release_folder(data_root_of(settings_from_environment()))).resolve()
    counts = count_filters(read_filter_columns(place))
    if as_json:
        typer.echo(json.dumps([asdict(item) for item in counts], indent=1))
        return
    table = Table("filter", "keeps", "removes", "undecided", "in order", "left", "Open-PMC-18M removes")
    for item in counts:
        said = item.filter
        table.add_row(
            said.column,
            said.keeps,
            f"{item.removed} ({_share(item.removed, item.panels)})",
            str(item.undecided),
            str(item.removed_in_order),
            str(item.left),
            f"{_share(said.before - said.after, said.before)} of {said.before / 1e6:.0f} M {said.of}",
        )
    console.print(table)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
