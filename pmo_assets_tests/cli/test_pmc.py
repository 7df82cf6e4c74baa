"""`pmo pmc`: single articles and what would come in, without account and batch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.pmc import pmc_number
from pmo_assets_tests.cli.command_line import Pmo, environment, files_below
from pmo_assets_tests.loopback import Answer, LoopbackPmc, articles_from_folder


@pytest.fixture(scope="module")
def server(few_articles: Path) -> Iterator[LoopbackPmc]:
    with LoopbackPmc(articles_from_folder(few_articles)) as started:
        yield started


@pytest.fixture
def pmc(server: LoopbackPmc) -> Iterator[LoopbackPmc]:
    server.forget_requests()
    yield server
    server._traffic.answers.clear()


@pytest.fixture
def numbers(pmc: LoopbackPmc) -> list[int]:
    return sorted(number for number, _ in pmc.articles)


@pytest.mark.parametrize(
    "text",
    [
        "PMC4691483",
        "pmc4691483",
        "4691483",
        " PMC4691483 ",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC4691483/",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC4691483",
    ],
)
def test_a_number_may_be_given_in_many_ways(text: str) -> None:
    assert pmc_number(text) == 4691483


@pytest.mark.parametrize("text", ["", "PMC", "PMC0", "PMC 4691483", "10.1000/x", "-1", "PMC12345678901234", "PMC1;rm"])
def test_what_is_no_number_is_said_to_be_none(text: str) -> None:
    with pytest.raises(CommandError, match="is no PMC number: give e"):
        pmc_number(text)


def test_a_version_is_not_passed_over_in_silence() -> None:
    with pytest.raises(CommandError, match="names a version"):
        pmc_number("PMC4691483.1")


@pytest.mark.slow
def test_articles_are_fetched_and_what_cannot_be_is_named(
    pmo: Pmo, pmc: LoopbackPmc, numbers: list[int], tmp_path: Path
) -> None:
    first, second, third = numbers[:3]
    wrong = f"PMC{third}.1/PMC{third}.1.pdf"
    pmc.answer(wrong, Answer.html())
    wanted = [f"PMC{number}" for number in (first, 8, second, third, first)]
    result = pmo("pmc", "get", *wanted, "--to", "articles", **pmc.environment)
    assert result.returncode == 1
    assert f"articles/PMC{first}.1  PDF, XML" in result.stdout
    assert result.stdout.count("MB fetched") == 2
    assert "failed PMC8: PMC8 is not in pmc://pmc-oa-opendata: is the number right" in result.stderr
    assert f"failed PMC{third}: {wrong} is not what PMC's metadata states" in result.stderr
    assert "error: 2 of 4 articles were not fetched: the reasons are above" in result.stderr
    assert sorted(path.name for path in (tmp_path / "articles").iterdir()) == [f"PMC{first}.1", f"PMC{second}.1"]
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "dagster").exists()
    before = files_below(tmp_path)
    again = pmo("pmc", "get", f"PMC{first}", f"PMC{second}", "--to", "articles", **pmc.environment)
    assert again.returncode == 0
    assert again.stdout.count("there already") == 2
    assert files_below(tmp_path) == before


IMPATIENT = """
import pmo_assets.sources.pmc_bucket as bucket
bucket.ATTEMPTS = 2
from pmo_assets.cli.main import main
main()
"""


@pytest.mark.slow  # waits
def test_where_nobody_answers_or_the_bucket_is_wrong_one_line_says_what_to_look_at(
    pmo: Pmo, pmc: LoopbackPmc, tmp_path: Path
) -> None:
    env = {**environment(tmp_path), "PMO_PMC_ENDPOINT": "http://127.0.0.1:9"}
    nobody = subprocess.run(
        [sys.executable, "-c", IMPATIENT, "pmc", "get", "PMC7"],
        env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    wrong = pmo("pmc", "get", "PMC7", **{**pmc.environment, "PMO_PMC_BUCKET": "none-such"})
    for result in (nobody, wrong):
        assert result.returncode == 1
        assert "see that the network is there and that PMO_PMC_ENDPOINT and PMO_PMC_BUCKET are right" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert "http://127.0.0.1:9" in nobody.stderr
    assert "NoSuchBucket" in wrong.stderr


@pytest.mark.slow
def test_what_would_come_in_is_counted_and_shown_and_nothing_is_fetched(
    pmo: Pmo, pmc: LoopbackPmc, tmp_path: Path
) -> None:
    result = pmo("pmc", "find", "--show", "2", COLUMNS="200", **pmc.environment)
    assert result.returncode == 0, result.stderr
    count = int(result.stdout.split()[0])
    assert count > 2
    assert f"{count} would come in" in result.stdout
    assert f"… and {count - 2} more" in result.stdout
    assert result.stdout.count(".1 │") == 2
    assert not any(path.startswith("PMC") for path in pmc.get_counts())
    assert files_below(tmp_path) == {}
    later = pmo("pmc", "find", "--from", "2030-01-01", **pmc.environment)
    assert later.stdout.startswith("0 articles of the specialty")


@pytest.mark.slow
def test_a_search_needs_an_address_and_days_in_order(pmo: Pmo, pmc: LoopbackPmc) -> None:
    nameless = pmo("pmc", "find", **{**pmc.environment, "PMO_ENTREZ_EMAIL": ""})
    assert nameless.returncode == 1
    assert "PMO_ENTREZ_EMAIL" in nameless.stderr
    turned = pmo("pmc", "find", "--from", "2026-02-01", "--to", "2026-01-01", **pmc.environment)
    assert turned.returncode == 1
    assert "begin on 2026/02/01 and end before" in turned.stderr
