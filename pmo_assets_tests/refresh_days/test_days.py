"""Two days of PubMed Central, through Dagster's own sensor and run queue, with a fifth of all requests failing.

The bucket and the search are real servers on loopback; `dagster-daemon` runs with its code server and run workers as it
does on a server. On the second day the same work is done once more by `pmo refresh`, whole and killed at random.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import dagster as dg
import polars as pl
import pytest

from pmo_assets.storage.tables import Tables
from pmo_assets_tests.loopback import Faults, LoopbackPmc
from pmo_assets_tests.refresh_days.plan import (
    ON_FIRST_DAY,
    Plan,
    begin_first_day,
    begin_second_day,
    belongs_into_release,
    name_of,
    two_days,
)
from pmo_assets_tests.refresh_days.programs import (
    DAY_LIMIT,
    Place,
    end,
    hurry,
    kill,
    runs_of,
    succeeded,
    wait_for_release,
    where_it_was,
)

pytestmark = [pytest.mark.refresh, pytest.mark.skipif(sys.platform != "linux", reason="kills processes as on Linux")]

FAULTS: Final = Faults(share=0.2, seed=12, slow_seconds=1.0, in_a_row=4)
CONCURRENCY: Final = 8
"""Requests at once (PMO_PMC_CONCURRENCY): so many answers at most are on their way when a program is killed."""


@dataclass
class Day:
    """What a day has left.

    Attributes:
        seconds: that it took.
        release: names of the versions in the release.
        panels: ids of the release's rows, by article number.
        sent: how often each object was sent whole.
        held: digest of each object that the bucket holds, by key.
        requests: how many there were.
        faults: of them those that failed, by kind.
    """

    seconds: float
    release: set[str]
    panels: dict[int, set[str]]
    sent: Counter[str]
    held: dict[str, str]
    requests: int
    faults: Counter[str]


@dataclass
class Days:
    """Both days as the daemon lived them, and what is needed to live the second one again."""

    pmc: LoopbackPmc
    plan: Plan
    place: Place
    evening: Place
    days: list[Day] = field(default_factory=list)


def released(place: Place) -> pl.DataFrame:
    """Return the panels of the release as the Hub would get them; the published file has the same ones."""
    release = place.folder / "data" / "release"
    columns = ["panel_id", "article_id", "title"]
    panels = pl.concat(
        pl.read_parquet(path, columns=columns) for path in sorted((release / "hub" / "data" / "panels").iterdir())
    )
    assert set(pl.read_parquet(release / "pubmed_ophtha.parquet")["panel_id"]) == set(panels["panel_id"])
    return panels


def names(release: pl.DataFrame) -> set[str]:
    return {name_of(number, title) for number, title in release.select("article_id", "title").unique().iter_rows()}


def lived(days: Days, seconds: float) -> Day:
    """Return what the day has left, and empty the log of requests."""
    pmc, release = days.pmc, released(days.place)
    panels: dict[int, set[str]] = {}
    for number, panel in release.select("article_id", "panel_id").iter_rows():
        panels.setdefault(number, set()).add(panel)
    requests = pmc.requests
    day = Day(
        seconds, names(release), panels, pmc.get_counts(),
        {key: hashlib.md5(pmc.object(key)).hexdigest() for key in pmc.object_keys()},
        len(requests), Counter(request.fault for request in requests if request.fault is not None),
    )  # fmt: skip
    pmc.forget_requests()
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(day.faults.items())) or "no faults"
    print(f"\nday {len(days.days) + 1}: {seconds:.0f} s, {day.requests} requests, {words}, {release.height} rows")
    return day


def corpus() -> Path | None:
    shared = Path(os.environ.get("PMO_CORPUS") or Path(__file__).resolve().parents[3] / "shared")
    return shared / "corpus" if (shared / "corpus").is_dir() else None


@pytest.fixture(scope="session")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    """Two days under the sensor `new_articles`; between them the daemon is stopped and its data are copied."""
    folder = tmp_path_factory.mktemp("days")
    now = datetime.datetime.now(datetime.UTC)
    plan = two_days(corpus(), now.date())
    with LoopbackPmc() as pmc:
        begin_first_day(pmc, plan, now)
        (folder / "place").mkdir()
        place = Place(folder / "place", pmc.environment)
        place.make_home()
        place.sensor("start")
        daemon = place.begin_daemon()
        try:
            first = wait_for_release(place, daemon, releases=1)
        finally:
            end(daemon)
        days = Days(pmc, plan, place, place.copied(folder / "evening"))
        days.days.append(lived(days, first))
        begin_second_day(pmc, plan, now)
        pmc.faults = FAULTS
        daemon = place.begin_daemon()
        try:
            second = wait_for_release(place, daemon, releases=2)
        finally:
            end(daemon)
        days.days.append(lived(days, second))
        yield days


@dataclass
class Unbroken:
    """The second day by `pmo refresh`, which nobody killed; another one was begun beside it.

    Attributes:
        seconds: that it took.
        made: see `outcome`.
        codes: exit status of the two commands.
        said: what the one that did not work printed.
        at_work: process number of the other one.
    """

    seconds: float
    made: dict[str, str]
    codes: list[int]
    said: str
    at_work: int


@pytest.fixture(scope="session")
def unbroken(days: Days, tmp_path_factory: pytest.TempPathFactory) -> Unbroken:
    days.pmc.faults = FAULTS
    place = days.evening.copied(tmp_path_factory.mktemp("unbroken") / "place")
    began = time.monotonic()
    logs = ("one.log", "other.log")
    processes = [place.begin_refresh(log) for log in logs]
    codes = [process.wait(DAY_LIMIT) for process in processes]
    seconds = time.monotonic() - began
    print(f"\nday 2 by `pmo refresh`: {seconds:.0f} s")
    assert 0 in codes, place.log(logs[0])
    said = " ".join(place.log(logs[codes[0] == 0]).split())
    days.pmc.forget_requests()
    return Unbroken(seconds, outcome(place), codes, said, processes[codes.index(0)].pid)


def outcome(place: Place) -> dict[str, str]:
    """Return the digest of each file that a refresh is about: releases, manifests, rows."""
    root = place.folder / "data"
    found = {"release/pubmed_ophtha.parquet", "release/hub/SHA256SUMS", "release/retractions.parquet"}
    found.add("release/hub/duplicate_articles.parquet")
    for part in ("manifests", "claims", "tables/dataset_rows"):
        found |= {str(path.relative_to(root)) for path in (root / part).glob("*.parquet")}
    return {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in sorted(found)}


def test_the_release_holds_exactly_what_it_should(days: Days) -> None:
    batches = days.evening.registry.batches()
    assert sum(days.evening.registry.manifest(batch).height for batch in batches) == ON_FIRST_DAY
    first, second = days.days
    assert first.release == belongs_into_release(days.plan.first)
    assert second.release == belongs_into_release(days.plan.second)
    came, went = second.release - first.release, first.release - second.release
    assert len(came) == 5 + 2 + 2, "new, changed, published"
    assert len(went) == 2 + 2 + 1 + 1, "changed, manuscripts, retracted, removed"
    assert {int(name.split(".")[0]) for name in came} == days.plan.new | days.plan.changed | days.plan.superseded


def test_requests_failed(days: Days) -> None:
    """What is shown here would be worth nothing if the faults had not reached the program."""
    first, second = days.days
    assert not first.faults
    assert set(second.faults) == {"500", "503", "reset", "slow"}
    assert 0.12 < second.faults.total() / second.requests < 0.28


def test_the_article_with_the_wrong_md5_is_a_rejection(days: Days) -> None:
    tables, number = Tables(days.place.data_root), days.plan.damaged
    found = [
        row
        for batch in days.place.registry.batches()
        for row in tables.read("rejections", batch).filter(article_id=number, stage="article_packages").to_dicts()
    ]
    assert [row["error_class"] for row in found] == ["ChecksumMismatch"]
    assert f"PMC{number}.1.pdf is not what the source's metadata states" in found[0]["message"]


def test_the_release_says_what_left_it(days: Days) -> None:
    first, plan = days.days[0], days.plan
    table = pl.read_parquet(days.place.folder / "data" / "release" / "retractions.parquet")
    gone = {row["article_id"]: row for row in table.to_dicts()}
    assert {number: row["reason"] for number, row in gone.items()} == {
        plan.retracted: "retracted", plan.removed: "removed",
    }  # fmt: skip
    assert {number: set(row["panels"]) for number, row in gone.items()} == {
        number: first.panels[number] for number in (plan.retracted, plan.removed)
    }


def test_nothing_is_downloaded_twice(days: Days) -> None:
    first, second = days.days
    assert max(first.sent.values()) == 1
    assert max(second.sent.values()) == 1
    again = {key for key in first.sent.keys() & second.sent.keys() if first.held[key] == second.held.get(key)}
    assert again == set(), "an object that has not changed was sent on both days"
    pdfs = {key for key in first.sent if key.endswith(".pdf")}
    assert len(pdfs) > ON_FIRST_DAY / 2, "the log is of real downloads"


def test_no_run_is_a_duplicate(days: Days) -> None:
    registry = days.place.registry
    batches = registry.batches()
    with days.place.instance() as instance:
        processed = [run.tags["dagster/partition"] for run in runs_of(instance, "process_batch")]
        assert Counter(processed) == dict.fromkeys(batches, 1), processed
        assert len(succeeded(instance, "process_batch")) == len(batches)
        assert len(runs_of(instance, "release")) == len(succeeded(instance, "release")) == 2
        finds = runs_of(instance, "refresh")
        assert all(run.status is dg.DagsterRunStatus.SUCCESS for run in finds)
    held = [row for batch in batches for row in registry.manifest(batch).select("name", "digest").iter_rows()]
    assert len(held) == len(set(held)), "the same package is in two batches"
    sizes = [registry.manifest(batch).height for batch in batches]
    assert max(sizes) == 10
    registered = {name for name, _ in held}
    assert {f"PMC{number}.1" for number in (*days.plan.new, days.plan.damaged)} <= registered


def test_the_command_makes_what_the_sensor_makes(days: Days, unbroken: Unbroken) -> None:
    assert unbroken.made == outcome(days.place)


def test_of_two_refreshes_at_once_one_works(unbroken: Unbroken) -> None:
    assert sorted(unbroken.codes) == [0, 1], unbroken.said
    assert f"is at work (process {unbroken.at_work} on" in unbroken.said


KILLS: Final = 8
"""Of `pmo refresh`; the daemon is killed twice more."""


def test_kills_of_the_command_change_nothing(
    days: Days, unbroken: Unbroken, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Kill `pmo refresh` at random moments of the second day, begin again each time, and compare."""
    chance, killed, trial = random.Random(4), 0, 0
    while killed < KILLS:
        trial += 1
        place = days.evening.copied(tmp_path_factory.mktemp("killed") / "place")
        days.pmc.faults = FAULTS
        days.pmc.forget_requests()
        kills = 0
        while True:
            process = place.begin_refresh()
            began, moment = time.monotonic(), chance.uniform(2.0, unbroken.seconds)
            while process.poll() is None and time.monotonic() - began < (moment if killed < KILLS else DAY_LIMIT):
                time.sleep(0.02)
            if process.poll() is not None:
                assert process.returncode == 0, place.log("refresh.log")
                break
            kill(process)
            kills, killed = kills + 1, killed + 1
            print(f"\nkill {killed} (day {trial}) after {moment:.1f} s: {where_it_was(place)}")
        assert outcome(place) == unbroken.made
        sent = days.pmc.get_counts()
        again = {key: count for key, count in sent.items() if count > 1}
        assert sum(again.values()) - len(again) <= kills * CONCURRENCY, again
        if trial == 1:
            place.refresh()
            assert outcome(place) == unbroken.made, "one more refresh finds nothing to do"


def test_kills_of_the_daemon_change_nothing(
    days: Days, unbroken: Unbroken, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Kill the daemon, its code server and its run workers twice while runs are at work."""
    chance = random.Random(5)
    days.pmc.faults = FAULTS
    place = days.evening.copied(tmp_path_factory.mktemp("daemon") / "place")
    began = time.monotonic()
    for number, job in enumerate(("refresh", "process_batch"), start=1):
        daemon = place.begin_daemon()
        wait_for_run(place, job)
        time.sleep(chance.uniform(0.0, 4.0))
        kill(daemon)
        print(f"\nkill {number} of the daemon: {where_it_was(place)}")
    daemon = place.begin_daemon()
    try:
        wait_for_release(place, daemon, releases=2)
    finally:
        end(daemon)
    print(f"\nday 2 with two kills of the daemon: {time.monotonic() - began:.0f} s")
    assert outcome(place) == unbroken.made
    with place.instance() as instance:
        processed = Counter(run.tags["dagster/partition"] for run in succeeded(instance, "process_batch"))
        assert processed == dict.fromkeys(place.registry.batches(), 1)
        assert len(succeeded(instance, "release")) == 2


def wait_for_run(place: Place, job: str) -> None:
    """Wait until a run of a job has begun that was not there before."""
    began = time.monotonic()
    with place.instance() as instance:
        while time.monotonic() - began < DAY_LIMIT:
            if runs_of(instance, job, dg.DagsterRunStatus.STARTED):
                return
            if not instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
                hurry(instance)
            time.sleep(0.5)
    raise AssertionError(f"no run of {job} has begun\n{place.log('daemon.log')}")
