"""Finding: everything that happens at PMC is seen, nothing that did not happen is believed, nothing is lost."""

from __future__ import annotations

import dataclasses
import time
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from pmo_assets.records.candidates import CandidateState, KnownVersion
from pmo_assets.records.packages import SourceError
from pmo_assets.refresh import finding
from pmo_assets.refresh.finding import MANY_REMOVED, OVERLAP, PATIENCE, Inventoried, found_rows, search_from, suspects
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.sources.pmc_inventory_files import INVENTORY_SCHEMA
from pmo_assets.storage.candidates import (
    CANDIDATES_KEY,
    Candidates,
    candidates_of,
    known_of_pmc,
    write_candidates,
)
from pmo_assets_tests.loopback import Answer, Faults
from pmo_assets_tests.refresh.conftest import NOW, Refreshes, article
from pmo_assets_tests.storage.test_candidates import candidate

ABSENT, AVAILABLE, UNUSABLE, REMOVED = list(CandidateState)[1:]
TODAY = NOW.date()


def days(number: float) -> datetime:
    return NOW + timedelta(days=number)


# since when is searched

SEARCHED = Candidates(query="eye", searched_on=date(2026, 1, 10))


@pytest.mark.parametrize(
    ("before", "query", "released_from", "since"),
    [
        (Candidates(), "eye", None, None),
        (Candidates(), "eye", date(2025, 1, 1), date(2025, 1, 1)),
        (SEARCHED, "eye", None, date(2026, 1, 10) - OVERLAP),
        (SEARCHED, "eye or retina", None, None),
        (SEARCHED, "eye", date(2025, 1, 1), date(2025, 1, 1)),
        (dataclasses.replace(SEARCHED, searched_from=date(2025, 1, 1)), "eye", None, None),
        (
            dataclasses.replace(SEARCHED, searched_from=date(2025, 1, 1)),
            "eye",
            date(2025, 1, 1),
            date(2026, 1, 10) - OVERLAP,
        ),
        (
            dataclasses.replace(SEARCHED, searched_from=date(2026, 1, 5)),
            "eye",
            date(2026, 1, 5),
            date(2026, 1, 5),
        ),
        (dataclasses.replace(SEARCHED, searched_on=TODAY), "eye", None, TODAY - OVERLAP),
        (dataclasses.replace(SEARCHED, searched_on=TODAY + timedelta(days=1)), "eye", None, None),
    ],
)
def test_a_search_goes_on_from_the_last_one_unless_that_says_nothing_about_this_one(
    before: Candidates, query: str, released_from: date | None, since: date | None
) -> None:
    assert search_from(before, query, released_from, TODAY) == since


def test_a_clock_that_was_wrong_loses_nothing(refreshes: Refreshes) -> None:
    refreshes.find(datetime(2031, 1, 1, tzinfo=UTC))
    refreshes.find(NOW)
    refreshes.find(days(1))
    assert refreshes.search.asked == [None, None, TODAY - OVERLAP]


def test_all_are_searched_for_from_time_to_time(refreshes: Refreshes) -> None:
    """What becomes open access later keeps the date at which PMC released it."""
    asked = [refreshes.find(NOW + timedelta(days=day)).since for day in (0, 10, 20, 29, 30, 31)]
    assert [since is None for since in asked] == [True, False, False, False, True, False]


def test_another_search_forgets_what_only_the_last_one_wanted(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 7)))
    refreshes.put(article(7, is_retracted=True))
    refreshes.find(limit=3)
    refreshes.register(limit=2)
    refreshes.search.numbers = [1]
    found = refreshes.find(query="ear")
    assert list(found.candidates.numbers()) == [1, 5, 6, 7], "batches hold 5 and 6, 7 is retracted"
    assert refreshes.register() == [[1]]


def test_the_same_search_forgets_nothing_that_it_does_not_return_again(refreshes: Refreshes) -> None:
    refreshes.put(article(1), article(2))
    refreshes.find(limit=1)
    refreshes.search.numbers = []
    assert list(refreshes.find(NOW + timedelta(days=31)).candidates.numbers()) == [1, 2]


@pytest.mark.slow  # millions of rows
def test_millions_of_articles_are_found_in_little_time_and_memory(refreshes: Refreshes) -> None:
    known = refreshes.find().candidates
    start = time.process_time()
    rows = found_rows(known, range(1, 2_000_001), {(3, 1): "d", (3, 2): "d"}, NOW)
    assert time.process_time() - start < 10
    assert rows.height == 2_000_000
    assert rows.estimated_size("mb") < 300
    (held,) = candidates_of(rows.filter(pl.col("article_id") == 3))
    assert [version.version for version in held.versions] == [1, 2]


def test_a_search_that_fails_changes_nothing(refreshes: Refreshes, monkeypatch: pytest.MonkeyPatch) -> None:
    refreshes.put(article(1))
    refreshes.find()
    before = refreshes.candidates

    def failing(*_: object, **__: object) -> list[int]:
        raise SourceError("PMC cannot be searched")

    monkeypatch.setattr(refreshes.search, "article_numbers", failing)
    with pytest.raises(SourceError):
        refreshes.find(days(20))
    assert refreshes.candidates.searched_on == before.searched_on


def test_a_look_that_fails_keeps_the_day_of_the_search_before(refreshes: Refreshes) -> None:
    refreshes.find()
    refreshes.put(article(1))
    refreshes.pmc.faults = Faults(share=1, kinds=("503",))
    with pytest.raises(SourceError):
        refreshes.find(days(20))
    refreshes.pmc.faults = Faults()
    assert refreshes.candidates.searched_on == TODAY
    assert refreshes.find(days(20)).events == {"new": 1}
    assert refreshes.search.asked[-1] == TODAY - OVERLAP


# what an inventory makes suspicious


def inventory_of(tmp_path: Any, *rows: tuple[int, int, str, datetime | None], made: datetime = NOW) -> Inventoried:
    file = tmp_path / "inventory.parquet"
    pl.DataFrame(list(rows), schema=INVENTORY_SCHEMA, orient="row").write_parquet(file)
    return Inventoried(file, made)


SEEN = Candidates().updated(
    [
        candidate(number=1, versions=(KnownVersion(1, "a", days(-2)), KnownVersion(2, "b", days(-2)))),
        candidate(REMOVED, number=2, versions=(KnownVersion(1, "c", days(-2), present=False),)),
        candidate(ABSENT, number=3),
        candidate(CandidateState.FOUND, number=4),
    ]
)
AS_SEEN = [(1, 1, "a", days(-2)), (1, 2, "b", days(-2))]


@pytest.mark.parametrize(
    ("rows", "made", "expected"),
    [
        (AS_SEEN, NOW, []),
        ([*AS_SEEN, (9, 1, "x", NOW)], NOW, []),
        ([*AS_SEEN, (1, 3, "x", days(-1))], NOW, [1]),
        ([AS_SEEN[0], (1, 2, "changed", days(-1))], NOW, [1]),
        ([AS_SEEN[0], (1, 2, "as it was before", days(-3))], NOW, []),
        ([AS_SEEN[0], (1, 2, "in the same second", days(-2))], NOW, [1]),
        ([AS_SEEN[0], (1, 2, "no date", None)], NOW, [1]),
        ([AS_SEEN[0]], NOW, [1]),
        ([AS_SEEN[0]], days(-3), []),
        ([], NOW, [1]),
        ([*AS_SEEN, (2, 1, "c", days(-2))], NOW, [2]),
        ([*AS_SEEN, (3, 1, "d", days(-2))], NOW, [3]),
        ([*AS_SEEN, (4, 1, "d", days(-2))], NOW, []),
    ],
    ids=str,
)
def test_an_article_is_suspicious_when_a_newer_inventory_says_something_else(
    tmp_path: Any, rows: Any, made: datetime, expected: list[int]
) -> None:
    assert suspects(SEEN, inventory_of(tmp_path, *rows, made=made)) == expected


# what happens to an article


def test_what_is_found_is_looked_at_and_what_is_known_is_left_alone(refreshes: Refreshes) -> None:
    refreshes.put(article(1), article(2))
    refreshes.search.numbers = [1, 2, 3]
    first = refreshes.find()
    assert (first.events, first.added, first.looked_at) == ({"new": 2}, 3, (1, 2, 3))
    assert refreshes.state(3) is ABSENT
    refreshes.inventory(days(0.1))
    refreshes.pmc.forget_requests()
    second = refreshes.find(days(1))
    assert (second.events, second.added, second.looked_at) == ({}, 0, ())
    assert refreshes.pmc.requests == []


def test_changes_retractions_new_versions_and_removals_are_seen_by_the_inventory(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 7)))
    refreshes.find()
    refreshes.put(
        article(1, pdf=b"%PDF corrected"),
        article(2, is_retracted=True),
        article(3, 2),
        article(4, 2, is_manuscript=True),
    )
    refreshes.pmc.delete(5)
    refreshes.inventory(datetime.now(UTC) + timedelta(hours=1))
    found = refreshes.find(days(1))
    assert found.events == {"changed": 1, "retracted": 1, "superseded": 1, "removed": 1}
    assert found.looked_at == (1, 2, 3, 4, 5)
    assert known_of_pmc(refreshes.root).withdrawn == {(5, 1)}


def test_an_article_that_pmc_does_not_hold_yet_is_taken_when_it_appears(refreshes: Refreshes) -> None:
    refreshes.pmc.put(article(9))
    refreshes.search.numbers = [1]
    refreshes.find()
    refreshes.inventory(days(0.1))
    assert refreshes.find(days(1)).looked_at == ()
    refreshes.put(article(1))
    refreshes.inventory(days(1.1))
    assert refreshes.find(days(2)).events == {"new": 1}


def test_without_an_inventory_all_are_looked_at_but_absent_ones_not_for_ever(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.search.numbers = [1, 2]
    refreshes.find()
    again = refreshes.find(days(1))
    assert again.looked_at == (1, 2)
    assert "no inventory that can be read: all 2 articles were looked at" in again.notes[0]
    assert refreshes.find(NOW + PATIENCE + timedelta(days=1)).looked_at == (1,)


def test_an_old_inventory_does_not_hide_what_happened_since(refreshes: Refreshes) -> None:
    refreshes.put(article(1), article(2))
    refreshes.find()
    refreshes.inventory(days(0.5))
    refreshes.pmc.put(article(1, is_retracted=True))
    assert refreshes.find(days(7)).looked_at == ()
    found = refreshes.find(days(8))
    assert found.looked_at == (1, 2)
    assert found.events == {"retracted": 1}
    assert "no inventory that is newer than 2026-01-16" in found.notes[0]


def test_metadata_that_is_listed_and_never_there_is_said_and_not_new_for_ever(refreshes: Refreshes) -> None:
    """While something is found and not looked at, the sensor searches again at once."""
    refreshes.put(article(1))
    refreshes.pmc.answer("metadata/PMC1.1.json", Answer(b"", status="404 Not Found"))
    refreshes.find()
    assert refreshes.state(1) is CandidateState.UNUSABLE
    refreshes.pmc.answer("metadata/PMC1.1.json", None)
    refreshes.find()
    assert refreshes.state(1) is CandidateState.AVAILABLE


def test_what_was_removed_and_comes_back_is_restored_without_a_new_batch(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    assert refreshes.register() == [[1]]
    refreshes.pmc.delete(1)
    assert refreshes.find(days(1)).events == {"removed": 1}
    assert known_of_pmc(refreshes.root).withdrawn == {(1, 1)}
    refreshes.put(article(1))
    assert refreshes.find(days(2)).events == {"restored": 1}
    assert known_of_pmc(refreshes.root).withdrawn == frozenset()
    assert refreshes.register() == []


def test_when_the_highest_version_goes_the_one_below_counts_again_without_a_new_batch(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    refreshes.register()
    refreshes.put(article(1, 2))
    refreshes.find(days(1))
    assert refreshes.register() == [[1]]
    refreshes.pmc.delete(1, 2)
    assert refreshes.find(days(2)).events == {"superseded": 1}
    assert refreshes.register() == []
    assert known_of_pmc(refreshes.root).withdrawn == {(1, 2)}


def test_a_manuscript_gives_way_to_the_published_version(refreshes: Refreshes) -> None:
    refreshes.put(article(1, 2, is_manuscript=True))
    refreshes.find()
    refreshes.register()
    refreshes.put(article(1, 1))
    assert refreshes.find(days(1)).events == {"superseded": 1}
    assert refreshes.register() == [[1]]


def test_what_was_retracted_before_it_was_ever_registered_never_is(refreshes: Refreshes) -> None:
    refreshes.put(article(1, is_retracted=True), article(2))
    assert refreshes.find().events == {"retracted": 1, "new": 1}
    assert refreshes.register() == [[2]]


def test_a_retraction_of_what_a_batch_holds_makes_a_batch_also_without_files(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    refreshes.register()
    refreshes.put(article(1, xml=None, pdf=None, is_retracted=True))
    assert refreshes.find(days(1)).events == {"retracted": 1}
    assert refreshes.register() == [[1]]


# what is not believed


@pytest.mark.parametrize("damage", ["no_manifest", "missing_file", "truncated_gzip"])
def test_a_damaged_inventory_removes_nothing(refreshes: Refreshes, damage: Any) -> None:
    refreshes.put(article(1), article(2))
    refreshes.find()
    refreshes.inventory(days(0.5), damage=damage)
    assert refreshes.find(days(1)).events == {}


def test_an_inventory_that_lists_far_fewer_articles_removes_nothing(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 31)))
    refreshes.find()
    for number in range(2, 31):
        refreshes.pmc.delete(number)
    refreshes.inventory(datetime.now(UTC) + timedelta(hours=1))
    refreshes.put(*(article(number) for number in range(2, 31)))
    found = refreshes.find(days(1))
    assert len(found.looked_at) == 29, "each is looked up in the bucket itself"
    assert found.events == {}
    assert known_of_pmc(refreshes.root).withdrawn == frozenset()


def test_a_page_of_a_proxy_removes_nothing(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    refreshes.pmc._traffic.answers[f"/{refreshes.pmc.bucket}"] = Answer.html()
    with pytest.raises(SourceError, match="no listing of this bucket"):
        refreshes.find(days(1))
    assert refreshes.state(1) is AVAILABLE


def test_a_bucket_that_is_suddenly_empty_is_not_believed(refreshes: Refreshes) -> None:
    numbers = range(1, 2 * MANY_REMOVED)
    refreshes.put(*(article(number) for number in numbers))
    refreshes.find()
    refreshes.register()
    for number in numbers:
        refreshes.pmc.delete(number)
    with pytest.raises(SourceError, match=r"19 of 19 articles .* are no longer there: see that PMO_PMC_BUCKET"):
        refreshes.find(days(1))
    assert known_of_pmc(refreshes.root).withdrawn == frozenset()
    refreshes.root.delete(CANDIDATES_KEY)
    assert refreshes.find(days(1)).events == {"removed": 19}, "as the message says, whoever insists is believed"
    assert known_of_pmc(refreshes.root).withdrawn == {(number, 1) for number in numbers}


def test_some_removals_are_believed(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 42)))
    refreshes.find()
    for number in range(1, MANY_REMOVED + 1):
        refreshes.pmc.delete(number)
    assert refreshes.find(days(1)).events == {"removed": MANY_REMOVED}


# metadata that cannot be read

BAD = Answer(b'{"pmcid": ')


def test_what_cannot_be_used_is_said_and_taken_once_it_is_mended(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.pmc.answer("metadata/PMC1.1.json", BAD)
    assert refreshes.find().events == {}
    assert refreshes.state(1) is UNUSABLE
    assert refreshes.register() == []
    rejected = refreshes.registry.rejections("pmc://pmc-oa-opendata")
    assert "PMC1: metadata/PMC1.1.json cannot be used" in rejected["message"][0]
    refreshes.pmc.answer("metadata/PMC1.1.json", None)
    refreshes.inventory(days(0.1))
    assert refreshes.find(days(1)).events == {"new": 1}
    assert refreshes.register() == [[1]]
    assert refreshes.registry.rejections("pmc://pmc-oa-opendata").is_empty()


def test_an_article_in_use_stays_as_it_was_while_its_metadata_cannot_be_read(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    refreshes.register()
    refreshes.put(article(1, is_retracted=True))
    refreshes.pmc.answer("metadata/PMC1.1.json", BAD)
    refreshes.inventory(datetime.now(UTC) + timedelta(hours=1))
    assert refreshes.find(days(1)).events == {}
    (kept,) = refreshes.candidates.rows([1])
    assert kept.state is AVAILABLE
    assert kept.problem is not None
    assert kept.listing is not None
    assert not kept.listing.is_retracted
    assert refreshes.register() == []
    assert len(refreshes.registry.rejections("pmc://pmc-oa-opendata")) == 1, "and it is said"
    refreshes.pmc.answer("metadata/PMC1.1.json", None)
    assert refreshes.find(days(2)).events == {"retracted": 1}
    assert refreshes.register() == [[1]]
    assert refreshes.registry.rejections("pmc://pmc-oa-opendata").is_empty()


def test_a_problem_that_passes_leaves_no_trace_though_the_inventory_never_changed(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    refreshes.inventory(datetime.now(UTC) + timedelta(hours=1))
    (known,) = refreshes.candidates.rows([1])
    noted = refreshes.candidates.updated([dataclasses.replace(known, problem="a proxy's page instead of its metadata")])
    write_candidates(refreshes.root, noted)
    assert refreshes.find(days(1)).looked_at == (1,)
    assert refreshes.candidates.rows([1]) == [known]


# the limit


@pytest.mark.slow
def test_a_limit_over_several_refreshes_loses_nothing_and_doubles_nothing(refreshes: Refreshes) -> None:
    numbers = range(1, 12)
    refreshes.put(*(article(number) for number in numbers))
    batches = []
    for day in range(5):
        found = refreshes.find(days(day), limit=3)
        batches += refreshes.register(limit=3)
        waits = max(0, 11 - 3 * (day + 1))
        assert [note for note in found.notes if "wait" in note] == (
            [f"{waits} further articles wait: a refresh takes in 3 at most"] if waits else []
        )
        refreshes.search.numbers = []  # a later search does not return them again
    assert batches == [[9, 10, 11], [6, 7, 8], [3, 4, 5], [1, 2]], "the newest first"


def test_what_waits_to_be_registered_counts_against_the_limit(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 9)))
    refreshes.find(limit=3)
    refreshes.find(days(1), limit=3)  # the first one was killed before it registered
    assert len(refreshes.candidates.numbers(AVAILABLE)) == 3
    assert refreshes.register(limit=3) == [[6, 7, 8]]


def test_changes_of_what_batches_hold_are_no_new_articles(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 5)))
    refreshes.find()
    refreshes.register()
    refreshes.put(*(article(number, 2) for number in range(1, 5)), article(9))
    assert refreshes.find(days(1), limit=1).events == {"superseded": 4, "new": 1}
    assert refreshes.register(limit=1) == [[1, 2, 3, 4, 9]]


# a table that was deleted


def test_what_is_in_batches_is_followed_again_at_once_and_not_registered_twice(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 7)))
    refreshes.find()
    refreshes.register()
    refreshes.root.delete(CANDIDATES_KEY)
    refreshes.search.numbers = []
    refreshes.put(article(1, is_retracted=True), article(9))
    refreshes.search.numbers = [9]
    refreshes.pmc.delete(2)
    found = refreshes.find(days(1), limit=1)
    assert found.looked_at == (1, 2, 3, 4, 5, 6, 9), "the limit is for new ones"
    assert (refreshes.state(1), refreshes.state(2)) == (AVAILABLE, REMOVED)
    assert known_of_pmc(refreshes.root).withdrawn == {(2, 1)}
    assert refreshes.register(limit=1) == [[1, 9]]


def test_a_version_of_a_batch_that_went_meanwhile_does_not_count(refreshes: Refreshes) -> None:
    refreshes.put(article(1))
    refreshes.find()
    refreshes.register()
    refreshes.put(article(1, 2))
    refreshes.find(days(1))
    refreshes.register()
    refreshes.root.delete(CANDIDATES_KEY)
    refreshes.pmc.delete(1, 2)
    refreshes.find(days(2))
    assert known_of_pmc(refreshes.root).withdrawn == {(1, 2)}
    assert refreshes.register() == []


# who interrupts


def test_an_interruption_does_not_wait_for_requests_that_are_repeated(refreshes: Refreshes) -> None:
    refreshes.put(*(article(number) for number in range(1, 20)))
    refreshes.pmc.faults = Faults(
        share=1, kinds=("503",), only=lambda path: path.endswith(".json") and "PMC1." not in path
    )
    bucket = PmcBucket(PmcOptions(endpoint=refreshes.pmc.endpoint, pause=20, concurrency=4))

    def interrupted(stage: str, done: int, total: int) -> None:
        if stage == "look":
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        finding.find(
            Candidates(),
            refreshes.search,
            PmcCloud(bucket),
            query="eye",
            inventory=None,
            registered={},
            limit=100,
            now=NOW,
            progress=interrupted,
        )
    assert time.monotonic() - began < 5
