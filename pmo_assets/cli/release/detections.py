"""`pmo release detections`: a release's figures with their boxes as files that detection tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from pmo_assets.cli.console import console, counted, data_root_of, progress_bars, settings_from_environment
from pmo_assets.cli.release.shared import release_folder


def detections(
    folder: Annotated[
        Path | None, typer.Argument(help="A release's hub folder, or a download of it; the data root's if not given.")
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Folder to make; detections-FORM beside FOLDER if not given.")] = None,
    form: Annotated[str, typer.Option(help="coco, or fiftyone (FiftyOneImageDetectionDataset).")] = "coco",
    split: Annotated[list[str] | None, typer.Option(help="Only this split; may be given again.")] = None,
) -> None:
    """Write a release's figures with the boxes of panels, printed identifiers and images for detection tools.

    A folder a split with pictures and one file. Figures whose licence withholds the picture are left out. Whole or not
    at all; the same release gives the same bytes.
    """
    from pmo_assets.release.hub.detection_files import PANEL, DetectionForm, write_detections

    place = (folder or release_folder(data_root_of(settings_from_environment()))).resolve()
    target = to or place.with_name(f"detections-{form}")
    with progress_bars() as (_, tell):
        written = write_detections(place, target, form=cast(DetectionForm, form), splits=split or (), tell=tell)
    for item in written:
        withheld = f"; {counted(item.withheld, 'withheld figure')} left out" if item.withheld else ""
        console.print(
            f"{item.path}: {counted(item.figures, 'figure')}, {counted(item.boxes[PANEL], 'panel')}, "
            f"{counted(sum(item.boxes.values()), 'box', 'boxes')}{withheld}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
