"""What leaves the dataset is remembered: which article, when, why, and which rows went with it."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.records.candidates import Candidate, CandidateState, KnownVersion
from pmo_assets.records.packages import PackageListing
from pmo_assets.release.keys import RELEASE_KEY, RETRACTIONS_KEY
from pmo_assets.release.retractions import (
    REMOVED,
    RETRACTED,
    Gone,
    read_retractions,
    released_panels,
    renewed_retractions,
    write_retractions,
)
from pmo_assets.release.selection import current_articles, select_articles
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.storage.candidates import Candidates, write_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.removed import remove_batch, restore_batch
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.articles import ArticleBatch
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.release.finished import LOCAL, finish, published, release_of

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def day(number: int) -> date:
    return date(2026, 1, number)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def removed(tables: Tables, *versions: tuple[int, int], still_there: tuple[int, int] | None = None) -> None:
    """Let PMC no longer hold some (article, version)."""
    known: dict[int, Candidate] = {}
    for number, version in versions:
        gone = KnownVersion(version, "e", NOW, present=False)
        before = known.get(number, Candidate(number, CandidateState.REMOVED, NOW))
        known[number] = dataclasses.replace(before, versions=(*before.versions, gone))
    if still_there is not None:
        number, version = still_there
        known[number] = dataclasses.replace(
            known[number],
            state=CandidateState.AVAILABLE,
            versions=(*known[number].versions, KnownVersion(version, "e", NOW)),
        )
    write_candidates(tables.data_root, Candidates().updated(list(known.values())))


def released(tables: Tables, on: date) -> pl.DataFrame:
    """Note what is out, then make the release, as the assets do; return what is noted."""
    selection = select_articles(tables)
    noted = write_retractions(tables, selection, on)
    release_of(tables, selection)
    return noted


def rows(noted: pl.DataFrame) -> list[tuple[object, ...]]:
    return noted.select("article_id", "reason", "noticed_on", "returned_on", "panels").rows()


# what leaves


def test_a_retracted_article_leaves_and_its_rows_are_noted(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}}, panels=2)
    assert rows(released(tables, day(1))) == []
    finish(tables, "0002-b", {1: {"is_retracted": True}})
    assert rows(released(tables, day(2))) == [(1, RETRACTED, day(2), None, ["p_1_f1_0", "p_1_f1_1"])]
    assert set(released_panels(tables.data_root)) == {2}


def at_pmc(tables: Tables, number: int, version: int, *others: int, retracted: bool = False) -> None:
    """Let PMC hold versions of an article, of which one counts."""
    listing = PackageListing(number, f"PMC{number}.{version}", version, "CC BY", retracted, None, None, (), "d")
    versions = tuple(KnownVersion(each, "e", NOW) for each in sorted((version, *others)))
    known = Candidate(number, CandidateState.AVAILABLE, NOW, versions=versions, listing=listing)
    write_candidates(tables.data_root, Candidates().updated([known]))


@pytest.mark.slow
def test_a_retraction_does_not_wait_for_the_batch_that_says_so(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}})
    released(tables, day(1))
    at_pmc(tables, 1, 1, retracted=True)
    assert rows(released(tables, day(2))) == [(1, RETRACTED, day(2), None, ["p_1_f1_0"])]
    assert set(released_panels(tables.data_root)) == {2}
    finish(tables, "0002-b", {1: {"is_retracted": True}})
    assert rows(released(tables, day(3))) == [(1, RETRACTED, day(2), None, ["p_1_f1_0"])]


def test_an_old_copy_that_is_registered_later_does_not_bring_a_retracted_article_back(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"name": "PMC1.1"}})
    finish(tables, "0002-b", {1: {"name": "PMC1.1", "is_retracted": True}})
    at_pmc(tables, 1, 1, retracted=True)
    finish(tables, "0003-folder", {1: {"name": "PMC1.1"}})
    assert rows(released(tables, day(1))) == [(1, RETRACTED, day(1), None, [])]
    assert released_panels(tables.data_root) == {}


def test_a_copy_under_another_name_goes_with_what_pmc_retracts(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"doi": "10.1/x"}, LOCAL + 1: {"doi": "10.1/x"}})
    at_pmc(tables, 1, 1, retracted=True)
    noted = released(tables, day(1))
    assert noted.select("article_id", "reason").rows() == [(1, RETRACTED), (LOCAL + 1, RETRACTED)]
    assert released_panels(tables.data_root) == {}


def test_a_version_that_turns_out_to_be_the_manuscript_gives_way_to_the_published_one(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"version": 2}})
    at_pmc(tables, 1, 1, 2)
    assert current_articles(tables) == {"0001-a": [1]}, "as long as no batch has the published one"
    finish(tables, "0002-b", {1: {"version": 1}})
    assert current_articles(tables) == {"0001-a": [], "0002-b": [1]}


@pytest.mark.slow
def test_a_removed_article_leaves_without_a_new_batch(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}})
    released(tables, day(1))
    removed(tables, (1, 1))
    noted = released(tables, day(2))
    assert rows(noted) == [(1, REMOVED, day(2), None, ["p_1_f1_0"])]
    assert noted["name"].to_list() == ["PMC1.1"]
    assert set(released_panels(tables.data_root)) == {2}


def test_when_the_highest_version_is_withdrawn_the_one_below_is_published(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"name": "PMC1.1"}})
    finish(tables, "0002-b", {1: {"name": "PMC1.2", "version": 2}})
    assert current_articles(tables) == {"0001-a": [], "0002-b": [1]}
    removed(tables, (1, 2), still_there=(1, 1))
    assert current_articles(tables) == {"0001-a": [1], "0002-b": []}
    assert rows(released(tables, day(1))) == [], "the article did not leave"


def test_a_manuscript_does_not_supersede_the_published_version(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    finish(tables, "0002-b", {1: {"version": 2, "is_manuscript": True}})
    assert current_articles(tables) == {"0001-a": [1], "0002-b": []}
    finish(tables, "0003-c", {2: {"version": 2, "is_manuscript": True}})
    finish(tables, "0004-d", {2: {"version": 1}})
    assert current_articles(tables)["0004-d"] == [2]


def test_a_retraction_counts_whichever_batch_was_made_last(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"version": 2}})
    finish(tables, "0002-b", {1: {"version": 2, "is_retracted": True}})
    finish(tables, "0003-c", {1: {"version": 1}})
    assert [number for number, _, _, _, _ in rows(released(tables, day(1)))] == [1]
    assert released_panels(tables.data_root) == {}


@pytest.mark.slow
def test_the_same_package_that_is_retracted_no_more_is_published_again_in_a_newer_version(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    finish(tables, "0002-b", {1: {"is_retracted": True}})
    released(tables, day(1))
    finish(tables, "0003-c", {1: {"version": 2}})
    assert rows(released(tables, day(2))) == [(1, RETRACTED, day(1), day(2), [])]
    assert published(tables) == [1]


@pytest.mark.slow  # two releases
def test_who_is_the_same_article_as_a_retracted_one_goes_with_it(tables: Tables) -> None:
    title = "Serous macular detachment secondary to an optic pit"
    finish(tables, "0001-a", {1: {"doi": "10.1/x", "title": title}})
    released(tables, day(1))
    finish(tables, "0002-b", {LOCAL: {"doi": "10.1/x", "title": title, "is_retracted": True}})
    noted = released(tables, day(2))
    assert [(row[0], row[1]) for row in rows(noted)] == [(1, RETRACTED), (LOCAL, RETRACTED)]
    assert rows(noted)[0][4] == ["p_1_f1_0"]
    assert released_panels(tables.data_root) == {}


def test_a_removed_batch_brings_no_retracted_article_back(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}}, facts_only=True)
    finish(tables, "0002-b", {3: {"is_retracted": True}}, facts_only=True)
    listing = PackageListing(3, "n3", 1, "CC BY", True, None, None, (), "d")
    manifest = checked(ArticleBatch, manifest_rows([listing], "file:///x"))
    tables.data_root.write("manifests/0002-b.parquet", parquet_bytes(manifest))

    def noted(on: date) -> list[tuple[object, ...]]:
        return rows(write_retractions(tables, select_articles(tables), on))

    assert noted(day(1)) == [(3, RETRACTED, day(1), None, [])]
    remove_batch(tables.data_root, "0002-b")
    assert noted(day(2)) == [(3, RETRACTED, day(1), None, [])]
    restore_batch(tables.data_root, "0002-b")
    assert noted(day(3)) == [(3, RETRACTED, day(1), None, [])]
    remove_batch(tables.data_root, "0002-b")
    finish(tables, "0003-c", {3: {}}, facts_only=True)
    tables.data_root.write("manifests/0003-c.parquet", parquet_bytes(manifest.with_columns(is_retracted=False)))
    assert noted(day(4)) == [(3, RETRACTED, day(1), day(4), [])], "another batch has it, not retracted"


# what is remembered


@pytest.mark.slow  # two releases
def test_what_left_is_noted_before_the_release_is_replaced(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    released(tables, day(1))
    finish(tables, "0002-b", {1: {"is_retracted": True}})
    write_retractions(tables, select_articles(tables), day(2))  # and the release is killed
    assert set(released_panels(tables.data_root)) == {1}
    assert rows(released(tables, day(4))) == [(1, RETRACTED, day(2), None, ["p_1_f1_0"])], "it is noted once"
    assert rows(released(tables, day(9))) == [(1, RETRACTED, day(2), None, ["p_1_f1_0"])]


@pytest.mark.slow  # three releases
def test_a_second_retraction_after_a_restoration_is_a_second_row(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    released(tables, day(1))
    finish(tables, "0002-b", {1: {"is_retracted": True}})
    released(tables, day(2))
    finish(tables, "0003-c", {1: {"version": 2}})
    released(tables, day(3))
    finish(tables, "0004-d", {1: {"version": 2, "is_retracted": True}})
    assert rows(released(tables, day(4))) == [
        (1, RETRACTED, day(2), day(3), ["p_1_f1_0"]),
        (1, RETRACTED, day(4), None, ["p_1_f1_0"]),
    ]


def test_out_and_back_on_one_day_is_one_row(tables: Tables) -> None:
    noted = read_retractions(tables.data_root)
    out, held = [Gone(1, "PMC1.1", RETRACTED, "somebody")], {1: ["a"]}
    for is_out in (True, False, True):
        noted = renewed_retractions(noted, out if is_out else [], held, day(1))
    assert rows(noted) == [(1, RETRACTED, day(1), None, ["a"])]


def test_a_retracted_article_that_is_removed_as_well_has_not_come_back(tables: Tables) -> None:
    noted = read_retractions(tables.data_root)
    noted = renewed_retractions(noted, [Gone(1, "PMC1.1", RETRACTED, "somebody")], {1: ["a"]}, day(1))
    noted = renewed_retractions(noted, [Gone(1, "PMC1.1", REMOVED, "PMC")], {}, day(2))
    assert [row[:4] for row in rows(noted)] == [(1, RETRACTED, day(1), None), (1, REMOVED, day(2), None)]


def test_without_pmc_and_without_a_release_nothing_is_noted(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    assert rows(write_retractions(tables, select_articles(tables), day(1))) == []
    assert tables.data_root.exists(RETRACTIONS_KEY)
    assert not tables.data_root.exists(RELEASE_KEY)
