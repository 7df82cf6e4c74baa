"""`pmo` as a person runs it: a real process, its output, its exit status, its files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

Pmo = Callable[..., subprocess.CompletedProcess[str]]


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
    return {
        **kept,
        "PMO_DATA_ROOT": str(folder / "data"),
        "PMO_DAGSTER_HOME": str(folder / "dagster"),
        "PMO_WORKERS": "2",
    }


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", "from pmo_assets.cli.main import main; main()", *map(str, arguments)]


@pytest.fixture
def pmo(tmp_path: Path) -> Pmo:
    def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {**environment(tmp_path), **variables}
        return subprocess.run(
            command(*arguments), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )

    return run


@pytest.fixture(scope="session")
def few_articles(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first six sample articles."""
    folder = tmp_path_factory.mktemp("few")
    for package in sorted((sample_folder / "articles").iterdir())[:6]:
        shutil.copytree(package, folder / package.name)
    return folder


def files_below(folder: Path) -> dict[str, str]:
    """Relative path -> SHA-256 of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "arguments", [["--help"], ["article", "--help"], ["batches", "add", "--help"], ["run", "--help"]]
)
def test_help_helps(pmo: Pmo, arguments: list[str]) -> None:
    result = pmo(*arguments)
    assert result.returncode == 0
    assert "Usage" in result.stdout


def test_version(pmo: Pmo) -> None:
    from pmo_assets import __version__

    assert __version__ in pmo("--version").stdout


def test_an_article_becomes_json_in_the_annotation_format(pmo: Pmo, sample_folder: Path, tmp_path: Path) -> None:
    truth_path = sorted((sample_folder / "truth").glob("*.json"))[0]
    out = tmp_path / "deep" / "out.json"
    result = pmo(
        "article", sample_folder / "articles" / truth_path.stem, "--out", out, "--overlays", tmp_path / "pictures"
    )
    assert result.returncode == 0, result.stderr
    found, truth = json.loads(out.read_text()), json.loads(truth_path.read_text())
    assert found["article_id"] == truth_path.stem
    assert len(found["figures"]) == len(truth["figures"])
    figure = found["figures"][0]
    assert set(figure) >= set(truth["figures"][0])
    assert 0 < figure["confidence"] <= 1
    assert all("score" in panel and "assembly" in panel for panel in figure["panels"])
    assert len(list((tmp_path / "pictures").glob("*.png"))) == len(found["figures"])


def test_json_goes_to_standard_output_when_asked(pmo: Pmo, few_articles: Path) -> None:
    result = pmo("article", sorted(few_articles.iterdir())[0], "--out", "-")
    assert json.loads(result.stdout)["figures"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["article", "nowhere", "--out", "x.json"], "not a folder"),
        (["batches", "add", "--source", "nowhere"], "not a folder"),
        (["run"], "no batches yet"),
        (["report"], "no batch has been processed"),
        (["run", "--batch", "0001-x"], "no batches yet"),
    ],
)
def test_an_error_is_one_line_and_a_non_zero_status(pmo: Pmo, arguments: list[str], words: str) -> None:
    result = pmo(*arguments)
    assert result.returncode == 1
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["article"], "folder"),
        (["run", "--bogus"], "--bogus"),
        (["fly"], "fly"),
        (["batches", "add", "--source", ".", "--size", "0"], "--size"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(pmo: Pmo, arguments: list[str], words: str) -> None:
    result = pmo(*arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_data_root_of_an_unknown_kind_is_refused(pmo: Pmo) -> None:
    result = pmo("batches", "list", PMO_DATA_ROOT="gs://bucket/prefix")
    assert result.returncode == 1
    assert "PMO_DATA_ROOT" in result.stderr


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


def test_debug_shows_the_traceback(pmo: Pmo) -> None:
    result = pmo("--debug", "run")
    assert result.returncode != 0
    assert "Traceback" in result.stderr


def test_a_wrong_setting_is_named(pmo: Pmo) -> None:
    result = pmo("settings", PMO_BATCH_SIZE="many")
    assert result.returncode == 1
    assert "PMO_BATCH_SIZE" in result.stderr


def test_an_unknown_specialty_is_named(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    result = pmo("article", sorted(few_articles.iterdir())[0], "--out", tmp_path / "x.json", PMO_SPECIALTY="dentistry")
    assert result.returncode == 1
    assert "dentistry" in result.stderr
    assert "ophthalmology" in result.stderr, "the error lists what exists"


def test_batches_run_and_report(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    added = pmo("batches", "add", "--source", few_articles, "--size", "4")
    assert added.returncode == 0, added.stderr
    assert [line.split()[1] for line in added.stdout.strip().splitlines()] == ["4", "2"]
    assert "nothing new" in pmo("batches", "add", "--source", few_articles).stdout
    first = added.stdout.split()[0]
    assert "next: article_batch" in pmo("batches", "list").stdout
    one = pmo("--debug", "run", "--batch", first, "--no-release")
    assert one.returncode == 0, one.stderr
    assert "STEP_SUCCESS" in one.stderr, "--debug lets Dagster's log through"
    assert "articles/min" in one.stderr
    everything = pmo("run")
    assert everything.returncode == 0, everything.stderr
    assert f"{first} is up to date" in everything.stderr
    assert "pubmed_ophtha.parquet" in everything.stdout
    assert "up to date" in pmo("batches", "list").stdout
    report = pmo("report")
    assert report.returncode == 0, report.stderr
    assert "dataset rows" in report.stdout


def test_packages_that_cannot_be_registered_are_named_and_the_others_registered(
    pmo: Pmo, few_articles: Path, tmp_path: Path
) -> None:
    source = tmp_path / "articles"
    shutil.copytree(few_articles, source)
    names = sorted(path.name for path in source.iterdir())
    (source / "PMC77").symlink_to("PMC77")
    (source / names[0] / "metadata.json").write_text("{")
    first = pmo("batches", "add", "--source", source)
    assert first.returncode == 0, first.stderr
    assert "6 articles" in first.stdout
    assert "not registered 1 package" in first.stderr
    assert "PMC77 is a link that leads to itself" in first.stderr
    assert f"left out 1 file:\n  {names[0]}/metadata.json cannot be used" in first.stderr
    assert "PMC77" in pmo("report").stderr, "also before anything is processed"
    assert pmo("run").returncode == 0
    report = pmo("report", COLUMNS="200").stdout
    for words in ("registration", "PMC77", "UnreadableMetadata", "article_packages"):
        assert words in report
    assert "PMC77" in (tmp_path / "data" / "release" / "report.html").read_text()
    release = pl.read_parquet(tmp_path / "data" / "release" / "pubmed_ophtha.parquet")
    withheld = release.filter(pl.col("article_id") == int(names[0].removeprefix("PMC")))
    assert withheld.height > 0
    for column in ("license", "panel_image_bytes", "subcaption_text"):
        assert withheld[column].is_null().all(), "its XML states a licence, but its metadata may have taken it back"
        assert release[column].is_not_null().any()
    (source / "PMC77").unlink()
    again = pmo("batches", "add", "--source", source)
    assert "not registered" not in again.stderr
    assert "registration" not in pmo("report", COLUMNS="200").stdout


def test_a_source_of_which_nothing_can_be_registered_is_an_error(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / "PMC77").symlink_to("PMC77")
    result = pmo("batches", "add", "--source", tmp_path / "articles")
    assert result.returncode == 1
    assert "no package could be registered" in result.stderr
    assert "PMC77 is a link" in result.stderr


def test_commands_that_begin_together_in_a_fresh_place_all_succeed(few_articles: Path, tmp_path: Path) -> None:
    adding = [
        subprocess.Popen(
            command("batches", "add", "--source", few_articles, "--size", "2"),
            env=environment(tmp_path), cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=120) for process in adding]
    assert [process.returncode for process in adding] == [0] * 3, outputs
    keys = [line.split()[0] for output, _ in outputs for line in output.splitlines() if "articles" in line]
    assert sorted(key.split("-")[0] for key in keys) == ["0001", "0002", "0003"]


def test_the_folder_of_one_article_is_a_source(pmo: Pmo, few_articles: Path) -> None:
    result = pmo("batches", "add", "--source", sorted(few_articles.iterdir())[0])
    assert result.returncode == 0, result.stderr
    assert "1 articles" in result.stdout


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


# quality


def test_quality_needs_ground_truth_and_processed_batches(pmo: Pmo, sample_folder: Path) -> None:
    done = pmo("quality")
    assert done.returncode == 1
    assert "PMO_ANNOTATIONS" in done.stderr
    done = pmo("quality", "--annotations", sample_folder / "truth")
    assert done.returncode == 1
    assert "run `pmo run`" in done.stderr


def test_quality_prints_the_numbers_and_where_the_pages_are(pmo: Pmo, sample_folder: Path, tmp_path: Path) -> None:
    for name in ("PMC9000000001", "PMC9000000002"):
        shutil.copytree(sample_folder / "articles" / name, tmp_path / "articles" / name)
    assert pmo("batches", "add", "--source", tmp_path / "articles").returncode == 0
    assert pmo("run", "--no-release").returncode == 0
    truth = tmp_path / "truth"
    shutil.copytree(sample_folder / "truth", truth)
    (truth / "broken.json").write_text("{")
    done = pmo("quality", "--annotations", truth, COLUMNS="120")
    assert done.returncode == 0, done.stderr
    assert "not usable broken.json" in done.stderr
    for text in ("figure recall", "mean average sentence BLEU", "mAP", "panels assigned", "at 0.75"):
        assert text in done.stdout
    page = tmp_path / "data" / "quality" / "detection_quality.html"
    assert str(page) in done.stdout
    assert page.is_file()

    (truth / "broken.json").unlink()
    for path in truth.glob("PMC900000000[12].json"):
        path.unlink()
    done = pmo("quality", PMO_ANNOTATIONS=str(truth))
    assert done.returncode == 1
    assert "nothing to score" in done.stderr


def locked(source: Path, folder: Path, count: int) -> Path:
    """Copy a sample article whose PDF is encrypted so many times under other numbers."""
    for number in range(1, count + 1):
        shutil.copytree(source, folder / f"PMC{number}")
    return folder


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


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as on Linux")
def test_an_address_space_too_small_for_the_libraries_is_refused(tmp_path: Path) -> None:
    quoted = " ".join(f"'{part}'" for part in command("settings"))
    result = subprocess.run(
        ["bash", "-c", f"ulimit -v 2000000; exec {quoted}"],
        env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert "limited to 1953 MiB" in result.stderr
    assert "ulimit -v unlimited" in result.stderr


def test_an_article_that_links_out_of_its_folder_reads_nothing_there(
    pmo: Pmo, few_articles: Path, tmp_path: Path
) -> None:
    package = tmp_path / "downloads" / "package"
    shutil.copytree(sorted(few_articles.iterdir())[0], package)
    (package / "article.xml").rename(tmp_path / "downloads" / "private.xml")
    (package / "article.xml").symlink_to("../private.xml")
    result = pmo("article", package, "--out", tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    assert "OutsideSource" in result.stderr
    assert json.loads((tmp_path / "out.json").read_text())["article_id"] == "package"


def test_the_demo_goes_through_and_says_where_everything_is(pmo: Pmo, tmp_path: Path) -> None:
    result = pmo("demo", tmp_path / "demo")
    assert result.returncode == 0, result.stderr
    for name in ("pubmed_ophtha.parquet", "gallery.html", "report.html"):
        assert (tmp_path / "data" / "release" / name).is_file()
        assert name in result.stdout
    assert "pmo dev" in result.stdout
