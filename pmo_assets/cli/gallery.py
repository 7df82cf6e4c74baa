"""`pmo gallery`: where the release's gallery is, and one with all pictures for the owner of the articles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmo_assets.cli.console import CommandError, console, counted, data_root_of, messages, settings_from_environment

if TYPE_CHECKING:
    from pmo_assets.storage.data_root import DataRoot

FOLDER = "gallery"
"""Name of the gallery's folder below `private/` of a data root."""


def gallery(
    folder: Annotated[
        Path | None,
        typer.Argument(help="With --private: folder to write, outside of the release; DATA_ROOT/private/gallery."),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Write one with all pictures and texts, for yourself only.")
    ] = False,
) -> None:
    """Say where the release's gallery is; with --private, write one that shows what licences withhold, for yourself.

    The release's gallery shows no picture or text that a licence does not let anyone pass on. Who has the articles may
    look at them all the same: the private gallery shows everything, with the same filters and search. It lies outside
    of what `pmo pages` serves and `pmo release push` sends, each page of it says what it is, and it is to be shown to
    nobody else. It is of the tables as they are now; make it again after the next release.
    """
    from pmo_assets.release.keys import GALLERY_KEY

    settings = settings_from_environment()
    root = data_root_of(settings)
    if not private:
        if folder is not None:
            raise CommandError("the release's gallery is made with the release (pmo run); FOLDER goes with --private")
        if not root.exists(GALLERY_KEY):
            raise CommandError("there is no release yet: pmo run")
        console.print(root.uri(GALLERY_KEY), soft_wrap=True, highlight=False, markup=False)
        return
    target = private_place(root, folder)
    page = _write(target)
    console.print(page, soft_wrap=True, highlight=False, markup=False)
    messages.print(
        "[yellow]for yourself only:[/] it shows pictures and texts whose licences do not let anyone pass them on; do "
        "not publish this folder",
        soft_wrap=True,
        highlight=False,
    )


def private_place(root: DataRoot, folder: Path | None) -> Path:
    """Return where a private gallery goes.

    Raises:
        CommandError: for a folder that others see, that holds something else, or in a bucket.
    """
    from pmo_assets.cli.release.fill_null import PRIVATE, served_folder
    from pmo_assets.release.gallery_pages import PRIVATE_NOTE
    from pmo_assets.serving.addresses import SERVED

    if folder is None and not root.is_local:
        raise CommandError(f"{root.root} is a bucket: give a folder of this machine (pmo gallery --private FOLDER)")
    target = (folder if folder is not None else Path(root.uri(f"{PRIVATE}/{FOLDER}"))).expanduser().resolve()
    shown = [Path(root.uri(name)).resolve() for name in SERVED] if root.is_local else []
    if served := next((place for place in shown if target.is_relative_to(place)), None) or served_folder(target):
        raise CommandError(
            f"{target} lies in {served}, which `pmo pages` and buckets show to others: what licences withhold may not "
            "be there"
        )
    if target.exists() and not (target / PRIVATE_NOTE).is_file() and (not target.is_dir() or any(target.iterdir())):
        raise CommandError(f"{target} holds something else than a private gallery: give a new folder")
    return target


def _write(target: Path) -> str:
    from pmo_assets.defs.statistics import selection_of, split_options_of
    from pmo_assets.pipeline.articles.relevance import load_specialty
    from pmo_assets.release.gallery_pages import write_private_gallery
    from pmo_assets.release.keys import SPLITS_KEY
    from pmo_assets.release.versions import version_facts
    from pmo_assets.release.writing import ReleaseOptions
    from pmo_assets.storage.parquet import read_parquet
    from pmo_assets.storage.tables import Tables

    settings = settings_from_environment()
    root = data_root_of(settings)
    tables = Tables(root)
    if not tables.batches("dataset_rows"):
        raise CommandError("no batch has been processed yet: pmo run")
    known = read_parquet(root, SPLITS_KEY, ["article_id", "split"]) if root.exists(SPLITS_KEY) else None
    with messages.status("writing the gallery"):
        written = write_private_gallery(
            target,
            tables,
            selection_of(settings, tables, lambda _: None, keep=False),
            ReleaseOptions(),
            dict(known.iter_rows()) if known is not None else {},
            specialty=load_specialty(settings.specialty),
            facts=version_facts(root),
            split_options=split_options_of(settings),
        )
    messages.print(
        f"{counted(written.panels, 'panel')} of {counted(written.figures, 'figure')} from "
        f"{counted(written.articles, 'article')}",
        highlight=False,
    )
    return str(target / "index.html")
