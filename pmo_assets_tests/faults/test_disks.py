"""Real disks that are read-only or full: what reads goes on, what writes says how to mend it."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import command, environment, files_below
from pmo_assets_tests.disks import on_read_only, on_small_disk, skip_without_mounts

pytestmark = pytest.mark.faults

ARTICLES = 3


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with articles, and a data root, with its Dagster home below it, that is made of them."""
    skip_without_mounts()
    folder = tmp_path_factory.mktemp("disks")
    for package in sorted((sample_folder / "articles").iterdir())[:ARTICLES]:
        shutil.copytree(package, folder / "articles" / package.name)
    (folder / "captions.jsonl").write_text(
        "".join(json.dumps({"id": str(n), "caption": f"Eye {n}. (A) Scan. (B) Map."}) + "\n" for n in range(20_000))
    )
    for words in (("batches", "add", "--source", "articles"), ("run",)):
        subprocess.run(command(*words), env=variables(folder), cwd=folder, check=True, capture_output=True)
    return folder


def variables(folder: Path) -> dict[str, str]:
    found = {**environment(folder), "COLUMNS": "300"}
    del found["PMO_DAGSTER_HOME"]
    return found


def article(folder: Path) -> str:
    return sorted(path.name for path in (folder / "articles").iterdir())[0]


READS = {
    "batches list": "0001-",
    "report": "panels",
    "release list": "1.0.0",
    "release diff 1.0.0 1.0.0": "the panels are the same",
    "release rebuild 1.0.0 out/rebuilt": "are those of release",
    "release webdataset --to out/web": "",
    "doctor --offline": "nothing stands in the way",
    "settings": "PMO_DATA_ROOT",
    "clean": "",
    "article articles/ARTICLE --out out/article.json": "",
    "annotate export out/people --articles ARTICLE": "tasks",
}


@pytest.mark.parametrize("words", READS)
def test_on_a_read_only_root_what_reads_reads(folder: Path, words: str) -> None:
    before = files_below(folder / "data")
    done = subprocess.run(
        on_read_only(folder / "data", command(*words.replace("ARTICLE", article(folder)).split())),
        env=variables(folder), cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert READS[words] in done.stdout
    assert files_below(folder / "data") == before


@pytest.mark.parametrize(
    "words", ["run", "run --again", "clean --yes", "home", "batches add --source articles --size 1"]
)
def test_what_writes_says_in_one_line_what_to_do(folder: Path, words: str) -> None:
    done = subprocess.run(
        on_read_only(folder / "data", command(*words.split())),
        env=variables(folder), cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "read-only" in done.stderr.lower()
    assert "PMO_DATA_ROOT" in done.stderr
    assert "Traceback" not in done.stderr


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(("words", "page"), [("dev", "server_info"), ("pages", "")])
def test_the_ui_and_the_pages_start_on_a_read_only_root(folder: Path, words: str, page: str) -> None:
    port = free_port()
    with subprocess.Popen(
        on_read_only(folder / "data", command(words, "--port", str(port))),
        env=variables(folder), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert answers(f"http://127.0.0.1:{port}/{page}", process)
        finally:
            process.send_signal(signal.SIGINT if words == "dev" else signal.SIGTERM)
            process.wait(60)


def answers(url: str, process: subprocess.Popen[str]) -> bool:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(1)
    return False


FULL = {
    "release webdataset --to DISK/out": "600k",
    "release rebuild 1.0.0 DISK/out": "100k",
    "captions split --grammar --jsonl captions.jsonl DISK/out.jsonl": "300k",
    "annotate export DISK/out --articles ARTICLE": "100k",
    "article articles/ARTICLE --out DISK/out.json --overlays DISK/pictures": "40k",
    "samples DISK/samples": "300k",
}


@pytest.mark.parametrize("words", FULL)
def test_where_a_full_disk_ends_a_command_it_says_how_to_mend_it(folder: Path, words: str, tmp_path: Path) -> None:
    ended_by_a_full_disk(folder, words, tmp_path, FULL[words], {})


@pytest.mark.parametrize("size", ["300k", "1500k", "4m"])
def test_wherever_a_run_meets_a_full_disk_it_says_how_to_mend_it(folder: Path, size: str, tmp_path: Path) -> None:
    """While it registers, while the Dagster home is made, in a step."""
    disk = {"PMO_DATA_ROOT": f"{tmp_path}/disk/data", "PMO_DAGSTER_HOME": f"{tmp_path}/home"}
    add_and_run = ["sh", "-c", '"$@" batches add --source articles && exec "$@" run', "sh", *command()]
    ended_by_a_full_disk(folder, add_and_run, tmp_path, size, disk)


def ended_by_a_full_disk(
    folder: Path, words: str | list[str], tmp_path: Path, size: str, changed: dict[str, str]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if isinstance(words, str):
        words = command(*words.replace("DISK", str(disk)).replace("ARTICLE", article(folder)).split())
    done = subprocess.run(
        on_small_disk(disk, size, words),
        env={**variables(folder), **changed}, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert "Traceback" not in said
    assert f"the disk at {disk} has" in said, said
    assert "`pmo clean --yes` deletes what nobody needs" in said
