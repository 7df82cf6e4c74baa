"""A video file in a worker process: its row, and its pictures in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.videos.video import VideoOptions, read_video
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.videos import LARGEST_METADATA, METADATA_SUFFIX, UnreadableVideoMetadata, stated_video
from pmo_assets.system.aside import write_bytes

TOLD_EVERY: Final = 30.0
"""Seconds of a video after which its progress is told again."""


def people_of(path: Path) -> tuple[str, ...]:
    """Return the names of persons, and of channels, in yt-dlp's NAME.info.json beside a video; none without it.

    Raises:
        UnreadableVideoMetadata: when it is there and cannot be read: names in it could not be masked.
    """
    beside = path.with_suffix(METADATA_SUFFIX)
    try:
        with beside.open("rb") as file:
            return stated_video(file.read(LARGEST_METADATA + 1)).people
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise_fault(error)
        raise UnreadableVideoMetadata(f"{beside.name} cannot be read: {error.strerror or error}") from error


def video_output(
    path: Path, options: VideoOptions, pictures: Path | None = None, told: Path | None = None
) -> StepOutput:
    """Return the row of one video (`video.read_video`), each kept episode with the name of its picture.

    Args:
        path: of the video.
        options: see there; names from its metadata are added to `people`.
        pictures: folder for the pictures, NAME-0001.png is that of the first episode; None for none.
        told: a file that holds the seconds read so far; None for none.

    Raises:
        ArticleError: when the video, or the metadata beside it, cannot be read.
        SystemicError: when something is not installed.
    """
    names: dict[int, str] = {}

    def keep(number: int, pixels: NDArray[np.uint8]) -> None:
        names[number] = f"{path.stem}-{number + 1:04d}.png"
        if pictures is not None:
            write_bytes(pictures / names[number], png_bytes(pixels), durable=False)

    options = replace(options, people=(*options.people, *people_of(path)))
    row = read_video(path, options, keep, None if told is None else _teller(told))
    for number, episode in enumerate(row["episodes"]):
        episode["picture"] = names.get(number) if pictures is not None else None
    return StepOutput(rows=[row])


def _teller(told: Path) -> Callable[[float], None]:
    last = -TOLD_EVERY

    def tell(seconds: float) -> None:
        nonlocal last
        if seconds - last >= TOLD_EVERY:
            last = seconds
            told.write_text(f"{seconds:.0f}")

    return tell
