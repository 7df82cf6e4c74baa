"""`pmo samples` and `pmo demo`: try everything out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pmo_assets.cli.console import CommandError, console, data_root_of, messages, settings_from_environment, spinner
from pmo_assets.cli.quality import measure_quality
from pmo_assets.cli.run import run_batches
from pmo_assets.settings import Settings


def samples(
    folder: Annotated[Path, typer.Argument(help="Where to write articles/ and truth/.")],
    seed: Annotated[int, typer.Option(help="Other seeds give other articles; the same seed the same bytes.")] = 0,
    copies: Annotated[int, typer.Option(min=1, help="How many times the standard set, each with other content.")] = 1,
) -> None:
    """Typeset sample articles with exact ground truth."""
    from pmo_assets.samples import write_sample_articles

    try:
        written = write_sample_articles(folder, seed=seed, copies=copies)
    except OSError as error:
        raise CommandError(f"cannot write below {folder}: {error}") from error
    console.print(
        f"{len(written)} articles in {folder / 'articles'}, truth in {folder / 'truth'}", soft_wrap=True, markup=False
    )


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where the sample articles go.")] = Path("demo"),
    batch_size: Annotated[int, typer.Option(min=1, help="Articles per batch.")] = 10,
    quality: Annotated[bool, typer.Option("--quality", help="Compare the result with the samples' truth.")] = False,
) -> None:
    """Typeset the sample articles, register them and take them through the whole graph.

    Everything goes below one folder, apart from your own data, unless PMO_DATA_ROOT says otherwise.
    """
    from pmo_assets.samples import write_sample_articles
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.storage.registry import BatchRegistry

    settings = below_demo_folder(settings_from_environment(), folder)
    with spinner("typesetting sample articles"):
        written = write_sample_articles(folder)
    messages.print(f"typeset {len(written)} sample articles in {folder / 'articles'}", highlight=False, markup=False)
    registry = BatchRegistry(data_root_of(settings))
    added = registry.add(LocalFolder(folder / "articles"), batch_size)
    messages.print(f"registered {len(added)} new batches", highlight=False)
    failed = run_batches(settings, [], again=False, release=True, verbose=context.obj["debug"])
    if failed:
        raise CommandError("; ".join(failed))
    if quality:
        measure_quality(settings, verbose=context.obj["debug"])
    console.print("UI       run `make dev` (or `pmo dev`) and open the address that it prints", highlight=False)


def below_demo_folder(settings: Settings, folder: Path) -> Settings:
    """Return the settings with data and truth below the demo's folder, where they are not set explicitly.

    The truth is measured on and not applied: the demo shows what the machine makes.
    """
    places: dict[str, Any] = {
        "data_root": str((folder / "data").absolute()),
        "annotations": str((folder / "truth").absolute()),
        "apply_annotations": False,
    }
    return settings.model_copy(update={k: v for k, v in places.items() if k not in settings.model_fields_set})
