"""`pmo batches`: what is registered, and what is said of the rest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.defs.instance import opened_home
from pmo_assets_tests.cli.command_line import Pmo, command, environment


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_source_of_which_nothing_can_be_registered_is_an_error(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / "PMC77").symlink_to("PMC77")
    result = pmo("batches", "add", "--source", tmp_path / "articles")
    assert result.returncode == 1
    assert "no package could be registered" in result.stderr
    assert "PMC77 is a link" in result.stderr


@pytest.mark.slow  # processes: storage/test_concurrent_registration holds it
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


@pytest.mark.slow  # whole commands; the tests of sources hold it
def test_the_folder_of_one_article_is_a_source(pmo: Pmo, few_articles: Path) -> None:
    result = pmo("batches", "add", sorted(few_articles.iterdir())[0])
    assert result.returncode == 0, result.stderr
    assert "1 article\n" in result.stdout
    assert "next: pmo run" in result.stderr, "not in the result, which programs read"
    (batch,) = json.loads(pmo("batches", "list", "--json").stdout)
    assert batch["batch"] == result.stdout.split()[0]
    assert (batch["articles"], batch["stale"][0], batch["why"]) == (1, "article_batch", "not made yet")
    assert "next: article_batch (not made yet)" in pmo("batches", "list").stdout


def test_the_folder_is_given_once(pmo: Pmo, few_articles: Path) -> None:
    for words in ((), (few_articles, "--source", few_articles)):
        result = pmo("batches", "add", *words)
        assert result.returncode == 1
        assert "pmo batches add FOLDER" in result.stderr


@pytest.mark.slow
def test_no_batches_are_an_empty_list_for_programs(pmo: Pmo) -> None:
    assert json.loads(pmo("batches", "list", "--json").stdout) == []


@pytest.mark.slow  # whole commands; test_registry and test_leftovers hold the rules
def test_what_was_registered_by_mistake_is_removed_and_brought_back(
    pmo: Pmo, few_articles: Path, tmp_path: Path
) -> None:
    added = pmo("batches", "add", few_articles, "--size", "3").stdout.split()
    first, second = added[0], added[3]
    with opened_home(tmp_path / "dagster") as instance:
        instance.add_dynamic_partitions("article_batch", ["mine"])
        result = pmo("batches", "remove", second, "mine")
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines() == [
            f"removed {second}: 3 articles; nothing was released yet", "removed mine: a partition without a batch"
        ]  # fmt: skip
        assert instance.get_dynamic_partitions("article_batch") == [first]
        assert "no such batch: mine" in pmo("batches", "remove", "mine").stderr
        assert [item["batch"] for item in json.loads(pmo("batches", "list", "--json").stdout)] == [first]
        assert pmo("batches", "restore", second).returncode == 0
        assert sorted(instance.get_dynamic_partitions("article_batch")) == [first, second]
        # an article that other batches have, too, is said: what those state of its rights will count
        package = "PMC9000000001"
        shutil.copytree(few_articles / package, tmp_path / "again" / package)
        (tmp_path / "again" / package / "metadata.json").write_text(json.dumps({"is_retracted": True}))
        third = pmo("batches", "add", tmp_path / "again").stdout.split()[0]
        said = pmo("batches", "remove", third, third).stdout
        assert said.startswith(f"removed {third}: 1 article (1 article of them in other batches, too: the licence and")
    assert f"not removed: {second}; removed are {third}" in pmo("batches", "restore", second).stderr


LOADED = """
import sys
from pmo_assets.cli.main import main
try:
    main()
finally:
    heavy = {"pmo_assets.definitions", "pmo_assets.defs.loading", "pmo_assets.pipeline.article", "pymupdf", "scipy"}
    print("loaded:", *sorted(heavy & set(sys.modules)))
"""


@pytest.mark.slow  # a process: test_house holds what rooms load
def test_batches_are_listed_without_loading_what_makes_them(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    assert pmo("batches", "add", "--source", few_articles).returncode == 0
    assert pmo("batches", "list").returncode == 0  # what it asks of the code is kept
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "batches", "list"],
        env=environment(tmp_path), cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "next: article_batch" in done.stdout
    assert done.stdout.endswith("loaded:\n"), "a thousand batches are listed in the time that loading these takes"
