"""`pmo release fill-null`: withheld texts and pictures of a release, restored from one's own copies of the articles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from pmo_assets.cli.console import (
    CommandError,
    console,
    counted,
    data_root_of,
    messages,
    progress_bars,
    say_list,
    settings_from_environment,
)

if TYPE_CHECKING:
    from pmo_assets.release.filling.copies import ArticleCopies
    from pmo_assets.settings import Settings

STEPS = 6
"""An article is fetched and taken through five steps; the time limit of each is PMO_ARTICLE_TIMEOUT."""

SHOWN = 100
"""Number of reasons that are printed."""

PRIVATE = "private"
"""Folder below a data root for content that licences do not let anyone pass on; `pmo pages` serves nothing of it."""

FIGURE_SETTINGS = ("max_dpi", "max_pixels", "max_pages")
"""Settings that say how figures are rendered: a release's manifest may state them as `options.figures`."""


def fill_null(
    file: Annotated[
        Path,
        typer.Argument(help="pubmed_ophtha.parquet, a shard of the hub's panels or figures, or the hub's folder."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="File or folder to write, outside of what is served; beside FILE if not given, or below private/ of "
            "the data root for its own release.",
        ),
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace FILE, whole or not at all.")] = False,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            help="Where copies of the articles are: a data root (folder or s3://…), a folder of article packages, or "
            "pmc; PMO_DATA_ROOT if not given.",
        ),
    ] = None,
    withheld: Annotated[
        Path | None,
        typer.Option("--withheld", help="The release's withheld.parquet; looked for beside FILE if not given."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=0, help="Worker processes; PMO_WORKERS if not given.")
    ] = None,
) -> None:
    """Restore the pictures and texts that a release withholds, for yourself only: they may not be passed on.

    They are made again from copies of the articles, by the steps that made the release, and each is verified by the
    hash that withheld.parquet states of it. Where all are restored, the file has the bytes that the release would have
    without withheld rows. What cannot be restored stays null, is named with the reason, and the status is 1; a summary
    that a language model wrote is named, too, and is no reason for that.

    Interrupted, it goes on where it was; run again with another --source, it restores what is still missing.
    """
    from pmo_assets.release.filling.fill import fill_null as fill
    from pmo_assets.release.filling.fill import finish_exchange
    from pmo_assets.release.hub.checking import read_manifest_file
    from pmo_assets.settings.step_options import figure_options
    from pmo_assets.workers.pool import WorkerPool

    file = _absolute(file)
    if in_place and out is not None:
        raise CommandError("give --out or --in-place, not both")
    finish_exchange(file)
    if not file.exists():
        raise CommandError(f"there is no {file}")
    target = file if in_place else _absolute(out) if out is not None else _beside(file)
    if (served := served_folder(target)) is not None:
        raise CommandError(
            f"{target} lies in {served}, which `pmo pages` and buckets show to others: what licences withhold may not "
            f"be there. Give --out outside of it, e.g. {served.parent / PRIVATE / target.name}"
        )
    if target == file and not in_place:
        raise CommandError(f"{file} would replace itself: give another --out, or --in-place")
    listed = _absolute(withheld) if withheld is not None else _withheld_of(file)
    manifest = read_manifest_file(listed.parent)
    settings = _as_released(settings_from_environment(), manifest)
    copies = _copies(source, settings)
    with progress_bars() as (_, tell):
        pool = WorkerPool(
            settings.workers if workers is None else workers,
            STEPS * settings.article_timeout,
            settings.worker_memory_mb,
            tell,
        )
        with pool:
            filled = fill(
                file,
                target,
                listed,
                copies=copies,
                figure_options=figure_options(settings),
                pool=pool,
                figure_pictures=_figure_pictures(manifest),
                say=lambda text: messages.print(f"  {text}", highlight=False),
            )
    say_list("not restored", "reason", filled.reasons, SHOWN)
    for line in filled.left:
        messages.print(line, highlight=False, markup=False, soft_wrap=True)
    if filled.reused:
        messages.print(f"{counted(filled.reused, 'article')} had been restored before", highlight=False)
    console.print(
        f"{filled.target}: {counted(filled.restored, 'row')} of {filled.rows:,} with nulls restored, of "
        f"{counted(filled.articles, 'article')}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    if filled.restored:
        messages.print(
            "[yellow]for yourself only:[/] the licences of these articles do not let anyone pass on their adapted "
            "pictures and texts; do not publish this copy",
            highlight=False,
            soft_wrap=True,
        )
    if filled.restored < filled.rows:
        raise CommandError(
            f"{counted(filled.rows - filled.restored, 'row')} of {filled.rows:,} still "
            "null: the reasons are above; run again with another --source to restore more" + _other_software(manifest)
        )


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path.expanduser()))


def _beside(file: Path) -> Path:
    """Return where the output goes if nobody says.

    Raises:
        CommandError: for a shard in a release's folder: there, readers would take the other one for a further shard.
    """
    if not file.is_dir() and any((folder / "SHA256SUMS").exists() for folder in file.parents[:3]):
        raise CommandError(
            f"{file} lies in a release's folder: say where the other one goes (--out), or give the folder"
        )
    name = f"{file.name}-filled" if file.is_dir() else f"{file.stem}.filled{file.suffix}"
    served = served_folder(file)
    return file.with_name(name) if served is None else served.parent / PRIVATE / name


def served_folder(path: Path) -> Path | None:
    """Return the folder `release` of a data root that a path lies in, or is; None outside of one.

    It is told by what every release has: `versions`, or the hub's folder.
    """
    for folder in (path, *path.parents):
        if folder.name == "release" and ((folder / "versions").is_dir() or (folder / "hub").is_dir()):
            return folder
    return None


def _withheld_of(file: Path) -> Path:
    """Return the list of withheld values: in the hub's folder, or where a file of the release has it.

    Raises:
        CommandError: if it is not there.
    """
    name = "withheld.parquet"
    # hub/ · release/pubmed_ophtha.parquet · hub/data/panels/train-00000.parquet
    places = [file] if file.is_dir() else [file.parent, file.parent / "hub", *file.parents[2:3]]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise CommandError(f"there is no {name} beside {file}: name the release's with --withheld")


def _as_released(settings: Settings, manifest: dict[str, Any]) -> Settings:
    """Return the settings, those that render figures as the release states them."""
    options = manifest.get("options")
    stated = options.get("figures") if isinstance(options, dict) else None
    values = stated if isinstance(stated, dict) else {}
    known = {name: values.get(name) for name in FIGURE_SETTINGS}
    given = {name: value for name, value in known.items() if isinstance(value, int) and value > 0}
    return settings.model_copy(update=given)


def _figure_pictures(manifest: dict[str, Any]) -> bool | None:
    """Return whether the release's figures have pictures; None if it does not say."""
    options = manifest.get("options")
    stated = options.get("figure_pictures") if isinstance(options, dict) else None
    return stated if isinstance(stated, bool) else None


def _other_software(manifest: dict[str, Any]) -> str:
    from pmo_assets import __version__

    software = manifest.get("software")
    if not isinstance(software, str) or software == __version__:
        return ""
    return escape(f" (the release was made with pmo-assets {software[:40]}, this is {__version__})")


def _copies(source: str | None, settings: Settings) -> ArticleCopies:
    """Return where copies of the articles are.

    Raises:
        CommandError: if there are none.
    """
    from pmo_assets.refresh.searching import pmc_options
    from pmo_assets.release.filling.copies import DataRootCopies, FolderCopies, PmcCopies
    from pmo_assets.settings.step_options import fetch_limits
    from pmo_assets.storage.data_root import DataRoot
    from pmo_assets.storage.tables import Tables

    if source == "pmc":
        return PmcCopies(pmc_options(settings), fetch_limits(settings))
    root = data_root_of(settings) if source is None else DataRoot(_place(source), settings.s3_endpoint)
    if Tables(root).batches("article_packages"):
        return DataRootCopies(root)
    if source is None or not root.is_local:
        raise CommandError(
            f"{root.root} holds no articles: give --source pmc, a folder of article packages, or the data root of the "
            "release"
        )
    folder = Path(root.root)
    if not folder.is_dir():
        raise CommandError(f"--source {source}: there is no such folder")
    return FolderCopies(folder, fetch_limits(settings))


def _place(source: str) -> str:
    return source if source.startswith("s3://") else str(_absolute(Path(source)))
