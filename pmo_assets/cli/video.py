"""`pmo video`: one lecture video as pictures and what is said about them, without Dagster."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from pmo_assets.cli.console import (
    CommandError,
    counted,
    messages,
    settings_from_environment,
    spinner,
    write_json,
)
from pmo_assets.logs import printable
from pmo_assets.records.defaults import VIDEO_HOURS


def video(
    file: Annotated[Path, typer.Argument(help="MP4, QuickTime, WebM or Matroska; NAME.vtt beside it is used.")],
    out: Annotated[Path, typer.Option("--out", help="JSON file to write; - for standard output.")],
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            help="Folder for the pictures: the retinal images of each episode, cropped; faces and names are black.",
        ),
    ] = None,
    hours: Annotated[float, typer.Option("--hours", min=0.01, max=24.0, help="Read no more of it.")] = VIDEO_HOURS,
    whisper: Annotated[
        Path | None,
        typer.Option(
            "--whisper", help="Folder of a Whisper model for CTranslate2; default: tiny, in the extra `video`."
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", min=1, max=64, help="Threads that recognise speech; the words are the same.")
    ] = min(2, os.cpu_count() or 1),
    all_speech: Annotated[
        bool, typer.Option("--all-speech", help="Transcribe episodes without a retinal image, too.")
    ] = False,
) -> None:
    """Cut a lecture video into episodes and write, as JSON, which retinal images each shows and what is said there.

    Questions and answers that rest on what is said of a picture come with it.
    Faces and printed names are black in every picture that leaves. Needs the extra `video`.
    """
    from functools import partial

    from pmo_assets.pipeline.instructions.video_steps import episode_instructions
    from pmo_assets.pipeline.videos.containers import pyav
    from pmo_assets.pipeline.videos.speech import WhisperTranscriber, check_model
    from pmo_assets.pipeline.videos.video import VideoOptions, load_for_videos
    from pmo_assets.pipeline.videos.video_file import video_output
    from pmo_assets.records.faults import is_decision
    from pmo_assets.records.rejections import Rejection
    from pmo_assets.workers.pool import WorkerPool

    settings = settings_from_environment()
    pyav()
    if not file.is_file():
        raise CommandError(f"{file} is not a file: give one video")
    if whisper is not None:
        check_model(whisper)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)  # what is in its way is said before hours of reading
    options = VideoOptions(
        most_hours=hours, transcriber=WhisperTranscriber(whisper and whisper.resolve(), threads), all_speech=all_speech
    )
    start = time.perf_counter()
    limit = max(600.0, hours * 3600)
    with (
        tempfile.TemporaryDirectory() as folder,
        _progress(file.name, Path(folder, "told")) as told,
        WorkerPool(1, timeout=limit, memory_mb=settings.worker_memory_mb) as pool,
    ):
        work = (file.resolve(), options, pictures and pictures.resolve(), told)
        (output,) = pool.map_units("video", video_output, [(0, work)], partial(load_for_videos, options, file))
    rejected: Rejection | None = next(iter(output.rejections), None)
    row: dict[str, Any] = output.rows[0] if output.rows else {"video": file.name, "episodes": []}
    # A worker speaks of articles and their settings.
    words = rejected and (
        f"took longer than {limit:.0f} s" if rejected.error_class == "ArticleTimeout" else rejected.message
    )
    if rejected is not None and not is_decision(rejected):
        raise CommandError(f"{file.name} could not be read to its end, which may be no fault of it: "
                           f"{rejected.error_class}: {words}; nothing is written to {out}")  # fmt: skip
    episodes = row["episodes"]
    for number, episode in enumerate(episodes):
        episode["instructions"] = episode_instructions(episode, f"{file.name} {number}")
    row["rejection"] = None if rejected is None else {"error": rejected.error_class, "message": words}
    write_json(out, row)
    if rejected is not None:
        raise CommandError(f"{file.name} was rejected: {rejected.error_class}: {words}")
    pairs = sum(episode["reason"] is None for episode in episodes)
    seconds = time.perf_counter() - start
    messages.print(
        f"{row['seconds'] / 60:.1f} minutes, {counted(len(episodes), 'episode')}, {pairs} with a retinal image and "
        f"words, {seconds:.1f} s"
    )
    for note in row["notes"]:
        messages.print(f"[yellow]note[/] {escape(printable(note))}", highlight=False, soft_wrap=True)


@contextlib.contextmanager
def _progress(name: str, told: Path) -> Iterator[Path]:
    """Show how many minutes of the video have been read, as a worker writes them to a file; give the file."""
    ended = threading.Event()
    with spinner(f"reading {escape(printable(name))}") as show:

        def follow() -> None:
            while not ended.wait(0.5):
                with contextlib.suppress(OSError, ValueError):
                    show(f"{float(told.read_text()) / 60:.1f} minutes")

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield told
        finally:
            ended.set()
            follower.join()
