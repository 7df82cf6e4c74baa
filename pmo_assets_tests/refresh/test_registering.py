"""Registering: what waits becomes batches, each article once, whoever else registers and whenever one is killed."""

from __future__ import annotations

import collections
import subprocess
import sys
from pathlib import Path

import pytest

from pmo_assets.records.candidates import CandidateState
from pmo_assets.refresh.registering import chosen_rows, register_candidates, rejections
from pmo_assets.storage.candidates import Candidates, write_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.storage.test_candidates import candidate, listing

SOURCE = "pmc://pmc-oa-opendata"
SEVEN = Candidates().updated([candidate(number=number) for number in range(1, 8)])


@pytest.fixture
def registry(tmp_path: Path) -> BatchRegistry:
    return BatchRegistry(DataRoot(str(tmp_path / "data")))


def articles_of(registry: BatchRegistry) -> list[list[int]]:
    return [registry.manifest(key)["article_id"].to_list() for key in registry.batches()]


def test_batches_have_the_usual_size_and_their_articles_in_order(registry: BatchRegistry) -> None:
    added = register_candidates(registry, SEVEN, SOURCE, size=3, limit=100)
    assert articles_of(registry) == [[1, 2, 3], [4, 5, 6], [7]]
    assert [count for _, count in added] == [3, 3, 1]
    assert registry.manifest(added[0][0])["source"].unique().to_list() == [SOURCE]
    assert registry.manifest(added[0][0])["files"][0][0]["md5"] == "0" * 32


def test_registering_again_adds_nothing(registry: BatchRegistry) -> None:
    register_candidates(registry, SEVEN, SOURCE, size=3, limit=100)
    assert register_candidates(registry, SEVEN, SOURCE, size=2, limit=100) == []


def test_the_newest_come_first_and_the_limit_holds_for_new_ones_only(registry: BatchRegistry) -> None:
    register_candidates(registry, SEVEN, SOURCE, size=100, limit=2)
    assert articles_of(registry) == [[6, 7]]
    changed = SEVEN.updated([candidate(number=number, stated=listing(number, digest="d2")) for number in (6, 7)])
    register_candidates(registry, changed, SOURCE, size=100, limit=1)
    assert articles_of(registry)[1:] == [[5, 6, 7]]


def test_a_change_that_is_taken_back_is_registered_as_well(registry: BatchRegistry) -> None:
    one = Candidates().updated([candidate(number=1)])
    other = Candidates().updated([candidate(number=1, stated=listing(1, digest="d2"))])
    for known in (one, other, other, one):
        register_candidates(registry, known, SOURCE, size=100, limit=100)
    assert articles_of(registry) == [[1]] * 3


def test_a_batch_of_a_folder_says_nothing_about_an_article_of_pmc(registry: BatchRegistry) -> None:
    registry.add_listings("file:///articles", [listing(1)], 100)
    register_candidates(registry, Candidates().updated([candidate(number=1)]), SOURCE, size=100, limit=100)
    assert articles_of(registry) == [[1], [1]]


def test_what_cannot_be_registered_is_said_with_its_reason() -> None:
    known = SEVEN.updated(
        [
            candidate(CandidateState.UNUSABLE, number=1, problem="no JSON"),
            candidate(number=2, problem="cannot be read any more"),
            candidate(CandidateState.ABSENT, number=3, problem="not there"),
            candidate(CandidateState.REMOVED, listing(4), number=4, problem="gone"),
        ]
    )
    assert [(item.unit_id, item.message) for item in rejections(known)] == [
        (1, "PMC1: no JSON"),
        (2, "PMC2: cannot be read any more"),
    ]
    assert chosen_rows(known, {}, 100)["article_id"].to_list() == [2, 5, 6, 7]


REGISTER = """
import os, sys, time
from pathlib import Path
from pmo_assets.storage.candidates import read_candidates
from pmo_assets.refresh.registering import register_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
root, barrier, number, dies_after = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
claimed, written = DataRoot.create, 0
def counted(self, key, content):
    global written
    if written == dies_after:
        os._exit(9)
    written += 1
    return claimed(self, key, content)
DataRoot.create = counted
candidates = read_candidates(DataRoot(root))
(barrier / number).touch()
while not (barrier / "go").exists():
    time.sleep(0.001)
register_candidates(BatchRegistry(DataRoot(root)), candidates, "pmc://pmc-oa-opendata", size=2, limit=6)
"""


def registering(root: DataRoot, barrier: Path, dies_after: list[int]) -> list[int]:
    """Register by several processes at once, and return how they ended; one dies before it takes so many places."""
    barrier.mkdir()
    processes = [
        subprocess.Popen([sys.executable, "-c", REGISTER, root.root, str(barrier), str(number), str(deadly)])
        for number, deadly in enumerate(dies_after)
    ]
    while len(list(barrier.iterdir())) < len(processes):
        assert all(process.poll() is None for process in processes)
    (barrier / "go").touch()
    return [process.wait(60) for process in processes]


@pytest.mark.slow  # processes
def test_two_processes_register_each_article_once(registry: BatchRegistry, tmp_path: Path) -> None:
    write_candidates(registry.data_root, SEVEN)
    assert registering(registry.data_root, tmp_path / "barrier", [99, 99]) == [0, 0]
    held = collections.Counter(number for numbers in articles_of(registry) for number in numbers)
    assert set(held.values()) == {1}
    assert set(held) >= {2, 3, 4, 5, 6, 7}


@pytest.mark.slow
def test_who_is_killed_between_two_batches_goes_on_where_it_was(registry: BatchRegistry, tmp_path: Path) -> None:
    write_candidates(registry.data_root, SEVEN)
    assert registering(registry.data_root, tmp_path / "barrier", [2]) == [9]
    assert articles_of(registry) == [[2, 3], [4, 5]]
    register_candidates(registry, SEVEN, SOURCE, size=2, limit=2)
    assert articles_of(registry) == [[2, 3], [4, 5], [6, 7]], "nothing that was begun is lost, none is there twice"
