"""`pmo release list`, `diff` and `rebuild`: the versions of the dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from pmo_assets.cli.console import (
    AsJson,
    CommandError,
    console,
    data_root_of,
    place_of,
    say_json,
    settings_from_environment,
    spinner,
)


def versions(as_json: AsJson = False) -> None:
    """List the releases of this data root, newest first: what each holds and how it differs from the one before."""
    from pmo_assets.release.versions import read_history, read_manifest, written_at

    settings = settings_from_environment()
    root = data_root_of(settings)
    history = read_history(root)
    if not history:
        raise CommandError(f"nothing was released yet below {place_of(settings)}: run `pmo run`")
    lines: list[dict[str, Any]] = []
    for version, changes in history:
        manifest = read_manifest(root, version)
        lines.append(
            {
                "version": version,
                "made": f"{written_at(root, version):%Y-%m-%d %H:%M} UTC",
                **{name: manifest.counts[name] for name in ("panels", "figures", "articles")},
                "new": sum(changes.new.values()),
                "changed": changes.changed_panels,
                "gone": sum(changes.gone.values()),
                "batches": len(manifest.batches),
            }
        )
    if as_json:
        say_json(lines)
        return
    table = Table(*lines[0])
    for line in lines:
        table.add_row(*map(str, line.values()))
    console.print(table)


def diff(
    old: Annotated[str, typer.Argument(help="The older version, e.g. 1.0.0 (`pmo release list`).")],
    new: Annotated[str, typer.Argument(help="The newer version.")],
    out: Annotated[Path | None, typer.Option(help="Parquet file for the panels that differ, one row each.")] = None,
) -> None:
    """Say which panels are new, changed or gone between two releases, and why as far as the newer one knows."""
    from pmo_assets.release.differences import changed_rows, differences, moved_articles
    from pmo_assets.release.versions import read_manifest, read_version_table

    root = data_root_of(settings_from_environment())
    manifests = [read_manifest(root, version) for version in (old, new)]
    before, after = (read_version_table(root, version, "rows") for version in (old, new))
    reasons = dict(read_version_table(root, new, "absent").iter_rows())
    moved = moved_articles(*(read_version_table(root, version, "articles") for version in (old, new)))
    columns = manifests[0].schema_digest != manifests[1].schema_digest
    found = differences(old, before, after, reasons, columns=columns)
    table = Table("", "panels", "why", title=f"{old} ({before.height} panels) → {new} ({after.height} panels)")
    for change, counts in (("new", found.new), ("changed", found.changed), ("gone", found.gone)):
        for why, count in counts.items():
            table.add_row(change, str(count), why)
    if columns:
        table.add_row("columns", "", "names or types of columns changed")
    for way, articles in moved.items():
        table.add_row("moved", "", f"{articles} articles to another split: {way}")
    if found.nothing and not columns and not moved:
        table.add_row("nothing", "0", "the panels are the same")
    console.print(table)
    if out is not None:
        changed_rows(before, after, reasons).write_parquet(out)
        console.print(f"the panels that differ: {out}", highlight=False)


def rebuild(
    version: Annotated[str, typer.Argument(help="Which release (`pmo release list`).")],
    to: Annotated[Path, typer.Argument(help="Folder for its files; made if it is not there.")],
) -> None:
    """Make the tables of an older release again, byte by byte, in another folder.

    That works as long as its batches were not processed again by other code or settings: if they were, the files are
    written all the same, and the command says what differs and ends with status 1.
    """
    from pmo_assets.release.rebuilding import rebuild_release
    from pmo_assets.release.versions import schema_digest
    from pmo_assets.storage.data_root import DataRoot
    from pmo_assets.storage.tables import Tables

    tables = Tables(data_root_of(settings_from_environment()))
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise CommandError(f"{to} is not an empty folder: name another one")
    with spinner(f"release {version}") as say:
        rebuilt = rebuild_release(tables, version, DataRoot(str(to)), say=say)
    console.print(f"{len(rebuilt.same)} files are those of release {version}: {to}", highlight=False)
    if rebuilt.other:
        if rebuilt.manifest.schema_digest != schema_digest():
            raise CommandError(
                f"release {version} had other columns, which this version of the software cannot write: use pmo-assets "
                f"{rebuilt.manifest.software}, as it was then"
            )
        batches = ", ".join(f"{batch} ({count} panels)" for batch, count in rebuilt.changed_batches.items())
        raise CommandError(
            f"{len(rebuilt.other)} files differ ({', '.join(rebuilt.other[:3])} …). Made again since: "
            f"{batches or 'nothing that the rows show (another version of a library writes other bytes)'}. The release "
            f"was made with pmo-assets {rebuilt.manifest.software}"
        )
