"""Kill `pmo video` and `pmo run` at ten moments each (SIGKILL) and see that a second run gives the bytes of an
undisturbed one.

    python benchmarks/kill_videos.py [--moments 10] [--command video|run]

Needs the extra `video` and eSpeak NG. A lecture of four slides is drawn; it is read once from beginning to end, and the
time that this took is cut into equal parts, in the middle of each of which a further reading is killed. Then nothing
may be half written (a JSON file that is no JSON, a picture or a table that differs from the undisturbed one), and a
reading to the end must give the same bytes. Status 1 if not.

* `video`: `pmo video LECTURE --out --pictures`; what is compared is the JSON file and the pictures.
* `run`: `pmo run` of a batch of the lecture; the tables, pictures and files of the release, but for what names times
  and machines (the metadata of the tables, leases, logs).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from pmo_assets_tests.samples.lectures import Lecture, Slide, typeset_lecture

SLIDES = (
    Slide("title", (), ("Welcome to this lecture on diseases of the retina.",), "fade"),
    Slide("pair", ("cfp", "oct"), ("This fundus photograph shows drusen in the macula of the right eye.",)),
    Slide("patient", ("oct",), ("The scan shows subretinal fluid under the fovea.",), "black"),
    Slide("full", ("cfp",), ("The optic disc is pale and the vessels are narrow.",)),
)

PMO = (sys.executable, "-c", "from pmo_assets.cli.main import main; main()")


def ended(command: Sequence[str | Path], home: Path, after: float | None = None) -> tuple[float, bool]:
    """Run a command, killed after so many seconds; return how long it took, and whether it was killed."""
    own = {"PMO_DATA_ROOT": str(home / "root"), "DAGSTER_HOME": str(home / "dagster"), "OMP_NUM_THREADS": "1"}
    (home / "dagster").mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    process = subprocess.Popen(
        [*PMO, *map(str, command)], env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, said = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return time.perf_counter() - start, True
    if process.returncode:
        raise SystemExit(f"pmo {command[0]} failed: {said.decode()[-2000:]}")
    return time.perf_counter() - start, False


def video_files(home: Path) -> dict[str, bytes]:
    """Return what `pmo video` wrote, by name.

    Raises:
        ValueError: if the JSON file is not whole.
    """
    found = {path.name: path.read_bytes() for path in sorted((home / "pictures").glob("*.png"))}
    out = home / "out.json"
    if out.exists():
        json.loads(out.read_bytes())
        found[out.name] = out.read_bytes()
    return found


def run_files(home: Path) -> dict[str, bytes]:
    """Return the rows of the tables and pictures of a data root as bytes, by name.

    Raises:
        polars.exceptions.ComputeError: if a file is not whole.
    """
    root, found = home / "root", {}
    for folder in ("tables", "pixels", "release/hub/data"):
        for path in sorted((root / folder).rglob("*.parquet")):
            found[str(path.relative_to(root))] = pl.read_parquet(path).write_ipc(None).getvalue()
    return found


def read_video(lecture: Path, home: Path, after: float | None = None) -> tuple[float, bool]:
    """Take a lecture through `pmo video`."""
    command = ("video", lecture, "--out", home / "out.json", "--pictures", home / "pictures")
    return ended(command, home, after)


def run_batch(lecture: Path, home: Path, after: float | None = None) -> tuple[float, bool]:
    """Take a lecture through `pmo run`; it is registered before."""
    if not (home / "root").exists():
        ended(("batches", "add", "--videos", lecture.parent), home)
    return ended(("run",), home, after)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--command", choices=("video", "run"), default="video")
    arguments = parser.parse_args()
    work: Callable[..., tuple[float, bool]] = read_video if arguments.command == "video" else run_batch
    files = video_files if arguments.command == "video" else run_files
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "videos").mkdir()
        lecture = folder / "videos" / "lecture.mp4"
        typeset_lecture(Lecture(7, SLIDES), lecture)
        stated = {"title": "Diseases of the retina", "channel": "Eyes", "license": "CC BY 4.0"}
        (folder / "videos" / "lecture.info.json").write_text(json.dumps(stated))
        whole = folder / "whole"
        seconds, _ = work(lecture, whole)
        expected = files(whole)
        if not any(key.endswith((".png", ".parquet")) for key in expected):
            raise SystemExit("the undisturbed reading made no picture: nothing is compared")
        print(f"undisturbed: {seconds:.0f} s, {len(expected)} files", flush=True)
        faults = kills = 0
        for moment in range(arguments.moments):
            home = folder / f"killed{moment}"
            after = seconds * (moment + 0.5) / arguments.moments
            _, killed = work(lecture, home, after)
            left = files(home)
            half = [key for key, content in left.items() if expected.get(key) != content]
            work(lecture, home)
            again = files(home)
            kills += killed
            faults += bool(half) + (again != expected)
            print(f"after {after:5.1f} s: {'killed' if killed else 'was done'}, {len(left)} files were there, "
                  f"{len(half)} not whole; afterwards {'the same' if again == expected else 'OTHER'} bytes",
                  flush=True)  # fmt: skip
            shutil.rmtree(home)
    print(f"{kills} kills, {faults} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
