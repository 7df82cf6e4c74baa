"""`pmo refresh`: what PMC has comes in, what is wrong with it is said, and nothing is lost or written by accident."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.cli.command_line import Pmo, files_below
from pmo_assets_tests.loopback import Answer, CloudArticle, LoopbackPmc, articles_from_folder

RELEASED = "data/release/pubmed_ophtha.parquet"


@pytest.fixture
def articles(few_articles: Path) -> list[CloudArticle]:
    found = articles_from_folder(few_articles)
    return [item for item in found if item.pdf and not item.is_retracted]


@pytest.fixture
def pmc() -> Iterator[LoopbackPmc]:
    with LoopbackPmc() as server:
        yield server


def registered(folder: Path) -> list[list[int]]:
    registry = BatchRegistry(DataRoot(str(folder / "data")))
    return [registry.manifest(key)["article_id"].to_list() for key in registry.batches()]


@pytest.mark.slow
def test_a_dry_run_says_what_would_come_in_and_writes_nothing(
    pmo: Pmo, pmc: LoopbackPmc, articles: list[CloudArticle], tmp_path: Path
) -> None:
    pmc.put(*articles)
    result = pmo("refresh", "--dry-run", "--max-articles", "2", **pmc.environment)
    assert result.returncode == 0, result.stderr
    assert "search since the beginning" in result.stdout
    assert "2 articles in 1 batch would come in; nothing was written" in result.stdout
    assert "a refresh takes in 2 at most" in " ".join(result.stderr.split())
    assert files_below(tmp_path) == {}
    assert not any(path.startswith("PMC") for path in pmc.get_counts()), "only metadata is read"


def test_without_an_address_it_says_which_setting_is_missing(pmo: Pmo, pmc: LoopbackPmc, tmp_path: Path) -> None:
    result = pmo("refresh", **{**pmc.environment, "PMO_ENTREZ_EMAIL": ""})
    assert result.returncode == 1
    assert "error: set PMO_ENTREZ_EMAIL to your e-mail address" in result.stderr
    assert pmc.requests == []
    assert files_below(tmp_path) == {}


@pytest.mark.slow  # three processes: refresh/ holds the rules
def test_nothing_is_no_error_and_a_limit_takes_the_newest_first_and_the_next_call_goes_on(
    pmo: Pmo, pmc: LoopbackPmc, articles: list[CloudArticle], tmp_path: Path
) -> None:
    nothing = pmo("refresh", **pmc.environment)
    assert nothing.returncode == 0, nothing.stderr
    assert "nothing has changed" in " ".join(nothing.stdout.split())
    assert "0 new batches, 0 articles" in nothing.stdout
    assert registered(tmp_path) == []
    today = datetime.now(UTC).date()  # what PMC released long before the last search is not searched for again
    pmc.put(*(dataclasses.replace(item, released=today) for item in articles))
    outputs = [pmo("refresh", "--no-run", "--max-articles", "2", **pmc.environment) for _ in range(2)]
    assert [result.returncode for result in outputs] == [0, 0], [result.stderr for result in outputs]
    assert "further articles wait" in " ".join(outputs[0].stderr.split())
    batches = registered(tmp_path)
    assert [len(batch) for batch in batches] == [2, 2]
    taken = [number for batch in batches for number in batch]
    assert len(set(taken)) == 4
    assert min(batches[0]) > max(batches[1])


@pytest.mark.slow
def test_whatever_pmc_sends_is_a_rejection_and_the_others_are_released(
    pmo: Pmo, pmc: LoopbackPmc, articles: list[CloudArticle], tmp_path: Path
) -> None:
    good, html, empty, damaged, huge = (dataclasses.replace(item) for item in articles[:5])
    assert huge.xml is not None
    html = dataclasses.replace(html, pdf=Answer.html().body)  # the MD5 is that of the page
    empty = dataclasses.replace(empty, pdf=b"")
    padding = b"<!-- " + b"x" * (50 * 2**20) + b" -->"
    huge = dataclasses.replace(huge, xml=huge.xml + padding)
    pmc.put(good, html, empty, damaged, huge)
    pmc.answer_other_bytes(damaged.key("pdf"))
    pmc.write_inventory(datetime.now(UTC), damage="truncated_gzip")
    result = pmo(
        "refresh", **{**pmc.environment, "PMO_SPECIALTY": "everything", "PMO_REJECTED_FAIL": "1", "COLUMNS": "200"}
    )
    tables = Tables(DataRoot(str(tmp_path / "data")))
    (batch,) = tables.batches("article_packages")
    rejected = {
        (row["article_id"], row["stage"], row["error_class"])
        for row in tables.read_rejections(["article_packages", "articles", "pdf_figures"], batch).iter_rows(named=True)
    }
    assert (damaged.number, "article_packages", "ChecksumMismatch") in rejected
    assert (html.number, "pdf_figures", "UnreadablePdf") in rejected
    assert (empty.number, "pdf_figures", "UnreadablePdf") in rejected
    assert (huge.number, "articles", "MalformedXml") in rejected
    assert good.number not in {number for number, _, _ in rejected}
    assert result.returncode == 0, result.stderr
    release = pl.read_parquet(tmp_path / RELEASED)
    assert good.number in release["article_id"].to_list()
    assert not {html.number, empty.number, damaged.number} & set(release["article_id"].to_list())
    assert "inventory" in result.stderr
