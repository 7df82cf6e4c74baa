"""`pmo run` and `pmo report`: through the graph, interrupted, killed, and with losses."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo, command, environment, files_below


@pytest.mark.slow  # processes of the whole graph: defs/test_graph goes the same way in this one
def test_batches_run_and_report(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for package in sorted(few_articles.iterdir())[:3]:
        shutil.copytree(package, source / package.name)
    added = pmo("batches", "add", "--source", source, "--size", "2")
    assert added.returncode == 0, added.stderr
    assert [line.split()[1] for line in added.stdout.strip().splitlines()] == ["2", "1"]
    assert "nothing new" in pmo("batches", "add", "--source", source).stdout
    first = added.stdout.split()[0]
    assert "next: article_batch" in pmo("batches", "list").stdout
    one = pmo("--debug", "run", "--batch", first, "--no-release")
    assert one.returncode == 0, one.stderr
    assert "STEP_SUCCESS" in one.stderr, "--debug lets Dagster's log through"
    assert "articles/min" in one.stderr
    everything = pmo("run")
    assert everything.returncode == 0, everything.stderr
    assert f"{first} is up to date" in everything.stderr
    assert "2 batches are up to date" in pmo("run").stderr
    assert "pubmed_ophtha.parquet" in everything.stdout
    assert "up to date" in pmo("batches", "list").stdout
    report = pmo("report")
    assert report.returncode == 0, report.stderr
    assert "dataset rows" in report.stdout


@pytest.mark.slow  # a process of the whole graph
def test_an_interrupted_run_ends_and_says_how_to_continue(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    assert pmo("batches", "add", "--source", few_articles, "--size", "3").returncode == 0
    # as in a terminal, even where the tests run in the background with SIGINT ignored
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + command()[2]
    log = tmp_path / "log"
    with log.open("w") as stream:
        running = subprocess.Popen(
            [sys.executable, "-c", code, "run"], env=environment(tmp_path), cwd=tmp_path, stderr=stream
        )
        while "articles:" not in log.read_text():
            assert running.poll() is None, "it ended before it could be interrupted"
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
    assert "interrupted" in log.read_text()
    assert "failed" not in log.read_text()
    assert not list((tmp_path / "data" / "tables").glob("dataset_rows/*"))


@pytest.mark.slow
def test_a_killed_run_is_continued_and_gives_the_same_bytes(few_articles: Path, tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    for folder in (undisturbed, killed):
        folder.mkdir()
        subprocess.run(
            command("batches", "add", "--source", few_articles),
            env=environment(folder),
            cwd=folder,
            check=True,
            timeout=120,
        )
    subprocess.run(command("run"), env=environment(undisturbed), cwd=undisturbed, check=True, timeout=300)
    # Kill it, with its workers, as soon as a step in the middle has begun to write.
    running = subprocess.Popen(command("run"), env=environment(killed), cwd=killed, start_new_session=True)
    deadline = time.monotonic() + 240
    while not list((killed / "data" / "pixels").rglob("*.parquet")):
        assert running.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "it never began to render figures"
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (killed / "data" / "release" / "pubmed_ophtha.parquet").exists()
    subprocess.run(command("run"), env=environment(killed), cwd=killed, check=True, timeout=300)
    assert files_below(killed / "data") == files_below(undisturbed / "data")


def locked(source: Path, folder: Path, count: int) -> Path:
    """Copy a sample article whose PDF is encrypted so many times under other numbers."""
    for number in range(1, count + 1):
        shutil.copytree(source, folder / f"PMC{number}")
    return folder


@pytest.mark.slow
def test_a_batch_that_lost_most_of_its_articles_is_not_done(
    pmo: Pmo, sample_folder: Path, few_articles: Path, tmp_path: Path
) -> None:
    encrypted = next(
        path.parent for path in (sample_folder / "articles").glob("*/article.pdf") if b"/Encrypt" in path.read_bytes()
    )
    source = locked(encrypted, tmp_path / "source", 4)
    shutil.copytree(sorted(few_articles.iterdir())[0], source / "good")
    assert pmo("batches", "add", "--source", source).returncode == 0
    for _ in range(2):  # also when there is nothing left to do
        result = pmo("run")
        assert result.returncode == 1
        assert "pdf_figures rejected 4 of 5 articles: EncryptedPdf: the PDF is encrypted" in result.stderr
        assert "PMO_REJECTED_FAIL" in result.stderr
        assert "done" not in result.stderr.split("rejected 4 of 5")[0]
    assert "not done" in pmo("batches", "list").stdout
    result = pmo("run", PMO_REJECTED_FAIL="1")
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_a_fault_of_the_machinery_rejects_nothing_and_is_made_good_by_the_next_run(
    pmo: Pmo, few_articles: Path, tmp_path: Path
) -> None:
    weights = tmp_path / "figure_detector.onnx"
    weights.write_text("<html>404</html>")
    assert pmo("batches", "add", "--source", few_articles).returncode == 0
    result = pmo("run", PMO_DETECTOR_WEIGHTS=str(weights))
    assert result.returncode == 1
    assert "figure_detector.onnx" in result.stderr
    assert not list((tmp_path / "data" / "tables" / "panel_detections").glob("*"))
    result = pmo("run")
    assert result.returncode == 0, result.stderr
    assert "rows" in result.stderr
