"""`pmo release instructions`: a release's instructions as files that trainers read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from pmo_assets.cli.console import console, counted, data_root_of, progress_bars, settings_from_environment
from pmo_assets.cli.release.shared import release_folder


def instructions(
    folder: Annotated[
        Path | None, typer.Argument(help="A release's hub folder, or a download of it; the data root's if not given.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Folder to make; instructions-FORM beside FOLDER if not given.")
    ] = None,
    form: Annotated[
        str, typer.Option(help="messages (JSON lines for TRL and ms-swift), sharegpt, or llava.")
    ] = "messages",
    split: Annotated[list[str] | None, typer.Option(help="Only this split; may be given again.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Only this kind (yes_no, what, where, conversation, reasoning); may be given again."),
    ] = None,
) -> None:
    """Write a release's instructions for training: a file a split, and the panels' pictures beside it.

    Whole or not at all; the same release gives the same bytes. Faces, and printed names, dates and numbers of patients,
    are black (PMO_MASK_PEOPLE); `masked.jsonl` lists where.
    """
    from pmo_assets.records.instructions import INSTRUCTION_KINDS
    from pmo_assets.release.deidentification import load_masker
    from pmo_assets.release.hub.instruction_files import MASKED_FILE, InstructionForm, write_instructions

    if unknown := sorted(set(kind or ()) - set(INSTRUCTION_KINDS)):
        raise typer.BadParameter(f"there is no kind {', '.join(unknown)}: {', '.join(INSTRUCTION_KINDS)}")
    settings = settings_from_environment()
    place = (folder or release_folder(data_root_of(settings))).resolve()
    target = to or place.with_name(f"instructions-{form}")
    with progress_bars() as (_, tell):
        written = write_instructions(
            place,
            target,
            form=cast(InstructionForm, form),
            splits=split or (),
            kinds=kind or (),
            masker=load_masker() if settings.mask_people != "no" else None,
            tell=tell,
        )
    for item in written:
        console.print(
            f"{item.path}: {counted(item.instructions, 'instruction')} about {counted(item.pictures, 'picture')}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    if masked := sum(item.masked for item in written):
        black = f"{counted(masked, 'picture')} with a part that is black"
        left_out = counted(sum(item.left_out for item in written), "instruction")
        console.print(
            f"{target / MASKED_FILE}: {black}; {left_out} left out for it",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
