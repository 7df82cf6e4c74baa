"""What happened to an article between two looks, what is kept of it, and what of it is to be registered."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pmo_assets.records.candidates import Candidate, CandidateState, Event, KnownVersion, event_between, with_event
from pmo_assets.records.packages import PackageFile, PackageListing, PackageProblem
from pmo_assets.records.stores import StorageError
from pmo_assets.storage import candidates as candidates_module
from pmo_assets.storage.candidates import (
    CANDIDATES_KEY,
    Candidates,
    candidates_of,
    known_of_pmc,
    read_candidates,
    waiting,
    write_candidates,
)
from pmo_assets.storage.data_root import DataRoot

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 16, 12, tzinfo=UTC)

FOUND, ABSENT, AVAILABLE, UNUSABLE, REMOVED = CandidateState


def listing(number: int = 7, version: int = 1, digest: str = "d1", *, retracted: bool = False) -> PackageListing:
    files = (PackageFile("pdf", f"PMC{number}.{version}/a.pdf", None, None, "0" * 32),)
    return PackageListing(number, f"PMC{number}.{version}", version, "CC BY", retracted, None, None, files, digest)


def candidate(
    state: CandidateState = AVAILABLE, stated: PackageListing | None = None, number: int = 7, **facts: object
) -> Candidate:
    if state is AVAILABLE and stated is None:
        stated = listing(number)
    return dataclasses.replace(Candidate(number, state, NOW, listing=stated), **facts)  # type: ignore[arg-type]


RETRACTED = listing(retracted=True, digest="r")


@pytest.mark.parametrize(
    ("before", "after", "event"),
    [
        (candidate(FOUND), candidate(), Event.NEW),
        (candidate(ABSENT), candidate(), Event.NEW),
        (candidate(UNUSABLE), candidate(), Event.NEW),
        (candidate(FOUND), candidate(stated=RETRACTED), Event.RETRACTED),
        (candidate(FOUND), candidate(ABSENT), None),
        (candidate(FOUND), candidate(UNUSABLE), None),
        (candidate(), candidate(), None),
        (candidate(), candidate(stated=listing(digest="d2")), Event.CHANGED),
        (candidate(), candidate(stated=listing(version=2)), Event.SUPERSEDED),
        (candidate(stated=listing(version=2)), candidate(), Event.SUPERSEDED),
        (candidate(), candidate(stated=RETRACTED), Event.RETRACTED),
        (candidate(), candidate(stated=listing(version=2, retracted=True)), Event.RETRACTED),
        (candidate(stated=RETRACTED), candidate(), Event.RESTORED),
        (candidate(stated=RETRACTED), candidate(stated=RETRACTED), None),
        (candidate(stated=RETRACTED), candidate(stated=listing(digest="r2", retracted=True)), Event.CHANGED),
        (candidate(), candidate(REMOVED, listing()), Event.REMOVED),
        (candidate(stated=RETRACTED), candidate(REMOVED, RETRACTED), Event.REMOVED),
        (candidate(REMOVED, listing()), candidate(REMOVED, listing()), None),
        (candidate(REMOVED, listing()), candidate(), Event.RESTORED),
        (candidate(REMOVED, listing()), candidate(stated=listing(version=2)), Event.RESTORED),
        (candidate(REMOVED, listing()), candidate(stated=RETRACTED), Event.RETRACTED),
        (candidate(FOUND), candidate(REMOVED), Event.REMOVED),
        (candidate(), candidate(problem="unreadable"), None),
    ],
)
def test_what_happened_between_two_looks(before: Candidate, after: Candidate, event: Event | None) -> None:
    assert event_between(before, after) == event


def test_the_last_event_stays_until_another_one_happens() -> None:
    new = with_event(candidate(FOUND), candidate(), NOW)
    same = with_event(new, dataclasses.replace(new, event=None, event_at=None), LATER)
    removed = with_event(same, candidate(REMOVED, listing()), LATER)
    assert (same.event, same.event_at) == (Event.NEW, NOW)
    assert (removed.event, removed.event_at) == (Event.REMOVED, LATER)


# the table

EVERYTHING = [
    candidate(FOUND, number=1),
    candidate(ABSENT, number=2, problem="not there"),
    candidate(UNUSABLE, number=3, problem="no JSON", versions=(KnownVersion(1, "e", NOW),)),
    candidate(REMOVED, listing(4), number=4, versions=(KnownVersion(1, "e", NOW, present=False),)),
    with_event(
        candidate(FOUND, number=5),
        candidate(
            number=5,
            stated=dataclasses.replace(
                listing(5), problems=(PackageProblem("x", "OutsideSource", "no"),), doi="10.1/x"
            ),
            versions=(KnownVersion(1, "e", NOW, present=False), KnownVersion(2, "f", LATER)),
        ),
        LATER,
    ),
]


def test_candidates_come_back_as_they_were_written(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    before = dataclasses.replace(
        Candidates().updated(EVERYTHING), query="eye", searched_on=date(2026, 1, 15), searched_from=date(2020, 1, 1)
    )
    write_candidates(root, before)
    after = read_candidates(root)
    assert candidates_of(after.table) == EVERYTHING
    assert isinstance(candidates_of(after.table)[4].event, Event)
    assert (after.query, after.searched_on, after.searched_from) == ("eye", date(2026, 1, 15), date(2020, 1, 1))
    assert after.updated(candidates_of(after.table)).table.equals(after.table), "and can be written again"


def test_rows_are_replaced_and_added_wherever_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates_module, "_ROWS_AT_ONCE", 3)
    before = Candidates().updated([candidate(number=number) for number in range(10, 90, 10)])
    new = (5, 10, 15, 30, 35, 60, 80, 85, 90)
    after = before.updated([candidate(REMOVED, number=number) for number in new[::-1]])
    assert list(after.numbers()) == sorted({*range(10, 90, 10), *new})
    assert sorted(after.numbers(REMOVED)) == list(new)


def test_who_asks_for_one_column_is_told_of_another_version_too(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    (tmp_path / "pmc").mkdir()
    Candidates().table.drop("versions").write_parquet(tmp_path / CANDIDATES_KEY)
    with pytest.raises(StorageError, match="delete it and run `pmo refresh`"):
        known_of_pmc(root)


def test_the_same_candidates_give_the_same_bytes(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    contents = []
    for order in (EVERYTHING, EVERYTHING[::-1]):
        write_candidates(root, Candidates().updated(order))
        contents.append(root.read(CANDIDATES_KEY))
    assert contents[0] == contents[1]


def test_nothing_is_known_before_the_first_refresh(tmp_path: Path) -> None:
    assert read_candidates(DataRoot(str(tmp_path))).table.is_empty()
    assert known_of_pmc(DataRoot(str(tmp_path))).withdrawn == frozenset()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"<html></html>"])
def test_a_damaged_table_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    root = DataRoot(str(tmp_path))
    root.write(CANDIDATES_KEY, content)
    with pytest.raises(StorageError, match=r"candidates\.parquet"):
        read_candidates(root)


def test_a_table_of_another_version_says_what_to_do(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    (tmp_path / "pmc").mkdir()
    Candidates().table.drop("problem").write_parquet(tmp_path / CANDIDATES_KEY)
    with pytest.raises(StorageError, match="delete it and run `pmo refresh`"):
        read_candidates(root)


def test_withdrawn_is_every_version_that_was_seen_and_is_gone(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    write_candidates(root, Candidates().updated(EVERYTHING))
    assert known_of_pmc(root).withdrawn == {(4, 1), (5, 1)}


# what waits to be registered


def waits(candidates: list[Candidate], registered: dict[tuple[int, int], str]) -> dict[int, bool]:
    rows = waiting(Candidates().updated(candidates), registered)
    return dict(rows.select("article_id", "held").iter_rows())


def test_what_no_batch_holds_as_it_is_waits() -> None:
    some = [candidate(number=number) for number in (1, 2, 3)]
    assert waits(some, {}) == {1: False, 2: False, 3: False}
    assert waits(some, {(1, 1): "d1", (2, 1): "other"}) == {2: True, 3: False}
    assert waits(some, {(1, 2): "d1"}) == {1: True, 2: False, 3: False}


def test_only_what_is_available_waits() -> None:
    assert waits([item for item in EVERYTHING if item.article_id != 5], {}) == {}


def test_without_a_pdf_only_what_a_batch_holds_waits() -> None:
    bare = candidate(stated=dataclasses.replace(listing(), files=()))
    assert waits([bare], {}) == {}
    assert waits([bare], {(7, 1): "other"}) == {7: True}


def test_a_retraction_is_registered_only_of_what_a_batch_holds() -> None:
    retracted = candidate(stated=RETRACTED)
    assert waits([retracted], {}) == {}
    assert waits([retracted], {(7, 1): "d1"}) == {7: True}
    assert waits([retracted], {(7, 1): "r"}) == {}
