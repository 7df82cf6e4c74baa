"""Sensors and schedule, without a daemon: what they ask for, when, and that they ask for it once."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.jobs import jobs_of_units
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.defs.release_state import WITHDRAWN, release_is_due, withdrawn_digest
from pmo_assets.defs.schedules import release_of_the_week
from pmo_assets.defs.sensors import (
    batches_to_begin,
    batches_to_repeat,
    new_articles,
    next_search,
    registered_batches_of,
    release_request,
    started_again,
)
from pmo_assets.records.candidates import Candidate, CandidateState, KnownVersion
from pmo_assets.records.units import ARTICLE, VIDEO
from pmo_assets.records.videos import VIDEO_INSTRUCTIONS
from pmo_assets.refresh.lock import sole_refresh
from pmo_assets.settings import Settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.video_folders import LocalVideos, video_listings
from pmo_assets.storage.candidates import Candidates, write_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.removed import bring_article_back, take_article_out
from pmo_assets_tests.defs.conftest import settings_below, statements

registered_batches = registered_batches_of({})
"""The sensor where no batch of lecture videos was registered when the code location was loaded."""

HOUR = timedelta(hours=1)
EMAIL = "tests@example.org"


class Keeping(logging.Handler):
    """Keeps the errors that are logged."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@dataclass
class Room:
    """A data root and an instance in which runs end as the test says."""

    folder: Path
    instance: dg.DagsterInstance
    settings: Settings

    def __post_init__(self) -> None:
        self.data_root = DataRoot(self.settings.data_root)
        self.registry = BatchRegistry(self.data_root)
        self.defs = build_defs(self.settings)
        self.logged: list[str] = []

    def with_options(self, **options: Any) -> Room:
        other = Room(self.folder, self.instance, self.settings.model_copy(update=options))
        other.logged = self.logged
        return other

    def register(self, *numbers: int) -> list[str]:
        """Make one batch of new packages and return its key in a list."""
        source = self.folder / f"source{numbers[0]}"
        for number in numbers:
            (source / f"PMC{number}").mkdir(parents=True)
            (source / f"PMC{number}" / "article.pdf").write_bytes(f"%PDF {number}".encode())
        return [key for key, _ in self.registry.add(LocalFolder(source), size=100)]

    def tick(self, sensor: dg.SensorDefinition = new_articles) -> tuple[list[dg.RunRequest], str]:
        """Evaluate a sensor; add the partitions that it asks for, and return its run requests and why it skips."""
        resources = {"registry": self.registry, "data_root": self.data_root, "settings": self.settings}
        given = {name: value for name, value in resources.items() if name in sensor.required_resource_keys}
        with dg.build_sensor_context(self.instance, resources=given) as context:
            context.log.addHandler(Keeping(self.logged))
            found = sensor(context)
        if isinstance(found, dg.SkipReason):
            return [], str(found.skip_message)
        assert isinstance(found, dg.SensorResult)
        for request in found.dynamic_partitions_requests or []:
            assert isinstance(request, dg.AddDynamicPartitionsRequest)
            self.instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        return list(found.run_requests or []), ""

    def week(self) -> dg.RunRequest | dg.SkipReason:
        return release_of_the_week(self.instance, self.data_root)

    def begin(self, request: dg.RunRequest, **tags: str) -> dg.DagsterRun:
        """Let the run of a request be at work."""
        job = self.defs.resolve_job_def(str(request.job_name))
        partition = {"dagster/partition": request.partition_key} if request.partition_key else {}
        return self.instance.create_run_for_job(
            job, status=dg.DagsterRunStatus.STARTED, tags={**request.tags, **partition, **tags}
        )

    def fail(self, request: dg.RunRequest, **tags: str) -> dg.DagsterRun:
        run = self.begin(request, **tags)
        self.instance.report_run_failed(run)
        return run

    def succeed(self, request: dg.RunRequest, *assets: str, metadata: dict[str, str] | None = None) -> None:
        """Let a run succeed that made assets."""
        run = self.begin(request)
        for asset in assets:
            made = dg.AssetMaterialization(asset, partition=request.partition_key, metadata=metadata)
            self.instance.report_runless_asset_event(made)
        self.instance.report_dagster_event(
            dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, str(request.job_name)), run.run_id
        )

    def process(self, request: dg.RunRequest) -> None:
        self.succeed(request, "articles", "dataset_rows", "rejections")

    def release(self, request: dg.RunRequest) -> None:
        self.succeed(request, "pubmed_ophtha", metadata={WITHDRAWN: withdrawn_digest(self.data_root)})


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Room(tmp_path, instance, settings_below(tmp_path, entrez_email=EMAIL, refresh_hours=24.0))


def lectures(room: Room) -> list[str]:
    """Register a batch of one lecture video and return its key in a list."""
    folder = room.folder / "lectures"
    folder.mkdir()
    (folder / "OCT of the macula.mp4").write_bytes(b"no video, and not opened")
    rows = [row for row in video_listings(LocalVideos(folder)) if isinstance(row, dict)]
    return [key for key, _ in Manifests(room.data_root, VIDEO).add(rows, 100)]


def only(requests: list[dg.RunRequest], job: str) -> dg.RunRequest:
    assert [request.job_name for request in requests] == [job]
    return requests[0]


def test_without_an_address_nothing_is_asked_for(room: Room) -> None:
    room.register(1)
    requests, skipped = room.with_options(entrez_email=None).tick()
    assert requests == []
    assert "PMO_ENTREZ_EMAIL" in skipped
    assert [line for line in room.logged if "PMO_ENTREZ_EMAIL" in line], "in the tick's log, too"


def test_a_search_that_failed_stands_in_the_log_of_the_ticks_that_wait(room: Room) -> None:
    room.fail(only(room.tick()[0], "refresh"))
    assert not room.logged
    assert "PMC is searched next at" in room.tick()[1]
    assert "the last search of PMC failed: open run" in room.logged[0]


def test_pmc_is_searched_once_in_the_time_that_is_set(room: Room) -> None:
    first = only(room.tick()[0], "refresh")
    run = room.begin(first)
    assert "1 runs are waiting or at work" in room.tick()[1]
    room.instance.report_run_canceled(run)
    assert room.tick()[0] == [], "a search that ended just now is not repeated"

    soon = room.with_options(refresh_hours=1e-6)
    second = only(soon.tick()[0], "refresh")
    assert second.run_key != first.run_key
    assert only(soon.tick()[0], "refresh").run_key == second.run_key, "asked for twice, it is one search"
    soon.succeed(second)
    assert "PMC is searched next at" in room.tick()[1]
    assert only(soon.tick()[0], "refresh").run_key not in (first.run_key, second.run_key)


def test_a_search_that_failed_is_repeated_after_an_hour(room: Room) -> None:
    room.fail(only(room.tick()[0], "refresh"))
    now = datetime.now(UTC)
    assert timedelta(minutes=59) < next_search(room.instance, room.data_root, 24.0, now) - now <= HOUR
    assert next_search(room.instance, room.data_root, 0.5, now) - now <= HOUR / 2


def test_a_search_that_lies_in_the_future_does_not_count(room: Room) -> None:
    """A clock that was wrong, or is wrong now, must not stop the refresh for years."""
    room.succeed(only(room.tick()[0], "refresh"))
    past = datetime.now(UTC) - timedelta(days=1000)
    assert next_search(room.instance, room.data_root, 24.0, past) == past


def test_candidates_that_wait_are_taken_in_without_a_pause(room: Room) -> None:
    room.succeed(only(room.tick()[0], "refresh"))
    assert room.tick()[0] == []
    waiting = Candidate(1, CandidateState.FOUND, datetime.now(UTC))
    write_candidates(room.data_root, Candidates().updated([waiting]))
    only(room.tick()[0], "refresh")


@pytest.mark.parametrize("sensor", [new_articles, registered_batches])
def test_a_batch_is_requested_once_and_becomes_a_partition(room: Room, sensor: dg.SensorDefinition) -> None:
    (key,) = room.register(1, 2)
    request = only(room.tick(sensor)[0], "process_batch")
    assert (request.run_key, request.partition_key) == (key, key)
    assert room.instance.get_dynamic_partitions(str(ARTICLE_BATCHES.name)) == [key]

    room.begin(request)
    assert room.tick(new_articles)[0] == room.tick(registered_batches)[0] == [], "each knows what the other asked for"
    (other,) = room.register(3)
    assert only(room.tick(sensor)[0], "process_batch").partition_key == other


def test_a_batch_whose_files_were_fetched_ahead_is_still_to_be_processed(room: Room) -> None:
    (key,) = room.register(1)
    fetched = dg.RunRequest(job_name="fetch_packages", partition_key=key)
    room.instance.add_dynamic_partitions(str(ARTICLE_BATCHES.name), [key])
    room.succeed(fetched, "article_batch", "article_packages")
    assert only(room.tick()[0], "process_batch").partition_key == key


def test_a_batch_that_fails_is_tried_three_times(room: Room) -> None:
    (key,) = room.register(1)
    soon = room.with_options(refresh_hours=1e-6)
    run_keys = []
    for _ in range(3):
        assert [run.job_name for run in soon.tick()[0]] == ["process_batch"]
        request = only(soon.tick()[0], "process_batch")
        run_keys.append(request.run_key)
        room.fail(request)
        assert [item.job_name for item in room.tick()[0]] == ["refresh"], "the pause is PMO_REFRESH_HOURS"
    assert run_keys == [key, f"{key}-2", f"{key}-3"]
    only(soon.tick()[0], "refresh")
    assert soon.tick(registered_batches)[0] == []


@pytest.mark.slow  # whole runs
@pytest.mark.parametrize("job", ["refresh", "process_batch", "release"])
def test_what_dagster_starts_again_itself_is_waited_for(room: Room, job: str) -> None:
    """Otherwise the sensor would request it as well, or make a release of half a refresh."""
    soon = room.with_options(refresh_hours=1e-6)
    run = room.fail(dg.RunRequest(job_name=job), **{"dagster/will_retry": "true"})
    assert "1 runs are waiting or at work" in soon.tick()[1]

    now = datetime.now(UTC)
    assert started_again(room.instance, now + HOUR / 2)
    assert started_again(room.instance, now + 2 * HOUR) == [], "Dagster has not done it: the sensor goes on"
    room.instance.add_run_tags(run.run_id, {"dagster/auto_retry_run_id": "another"})
    assert started_again(room.instance, now + HOUR / 2) == []
    only(soon.tick()[0], "refresh")


def test_runs_that_dagster_started_again_belong_to_one_request(room: Room) -> None:
    (key,) = room.register(1)
    first = room.fail(only(room.tick()[0], "process_batch"))
    again = dg.RunRequest(job_name="process_batch", partition_key=key)
    for _ in range(2):
        room.fail(again, **{"dagster/parent_run_id": first.run_id})
    assert batches_to_repeat(room.instance, [key], HOUR, datetime.now(UTC) + 2 * HOUR) == {key: 1}


def test_the_instance_is_asked_as_often_for_many_batches_as_for_few(room: Room) -> None:
    failed = [key for number in range(1, 6) for key in room.register(number)]
    for request in room.tick()[0]:
        room.fail(request)
    asked = []
    for count in (1, 5):
        new = [f"{number:04d}-new" for number in range(20 * count)]
        with statements() as found:
            assert batches_to_begin(room.instance, [*failed[:count], *new]) == new
            again = batches_to_repeat(room.instance, [*failed[:count], *new], HOUR, datetime.now(UTC) + 2 * HOUR)
        assert again == dict.fromkeys(failed[:count], 1)
        asked.append(len(found))
    assert asked[0] == asked[1]


@pytest.mark.slow
def test_very_many_batches_are_requested_some_at_a_time(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pmo_assets.defs.sensors.AT_ONCE", 2)
    registered = [key for number in range(1, 6) for key in room.register(number)]
    requested = []
    while requests := room.tick(registered_batches)[0]:
        assert len(requests) <= 2
        for request in requests:
            room.begin(request)
        requested += [request.partition_key for request in requests]
    assert requested == registered


def test_a_failure_in_the_future_does_not_hold_a_batch_up(room: Room) -> None:
    (key,) = room.register(1)
    room.fail(only(room.tick()[0], "process_batch"))
    assert batches_to_repeat(room.instance, [key], HOUR, datetime.now(UTC) - timedelta(days=9)) == {key: 1}


def test_a_run_whose_process_was_killed_does_not_stop_the_sensor(room: Room) -> None:
    dead = '{"host": "localhost", "socket": "/nowhere/socket"}'
    run = room.begin(only(room.tick()[0], "refresh"), **{".dagster/grpc_info": dead})
    room.instance.report_dagster_event(dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, "refresh"), run.run_id)
    only(room.with_options(refresh_hours=1e-6).tick()[0], "refresh")
    after = room.instance.get_run_by_id(run.run_id)
    assert after is not None
    assert after.status is dg.DagsterRunStatus.FAILURE


def test_a_refresh_on_the_command_line_is_left_alone(room: Room) -> None:
    room.register(1)
    with sole_refresh(room.data_root):
        requests, skipped = room.tick()
    assert requests == []
    assert f"process {os.getpid()}" in skipped
    only(room.tick()[0], "process_batch")


@pytest.mark.slow
def test_a_release_is_requested_when_it_is_due_and_only_then(room: Room) -> None:
    room.register(1)
    room.succeed(only(room.tick()[0], "process_batch"), "articles")
    assert [item.job_name for item in room.tick()[0]] == ["refresh"], "no rows, no release"
    assert isinstance(room.week(), dg.SkipReason)

    room.register(2)
    room.process(only(room.tick()[0], "process_batch"))
    release = only(room.tick()[0], "release")
    assert only(room.tick()[0], "release").run_key == release.run_key
    assert isinstance(room.week(), dg.RunRequest)
    room.begin(release)
    assert isinstance(room.week(), dg.SkipReason), "one is being made"


def released(room: Room) -> None:
    room.register(1)
    room.process(only(room.tick()[0], "process_batch"))
    room.release(only(room.tick()[0], "release"))


def test_a_release_is_not_made_again_of_the_same(room: Room) -> None:
    released(room)
    assert [item.job_name for item in room.tick()[0]] == ["refresh"]
    week = room.week()
    assert isinstance(week, dg.SkipReason)
    assert "nothing has changed" in str(week.skip_message)


def test_a_backlog_is_taken_in_before_it_is_released_again(room: Room) -> None:
    waiting = Candidate(7, CandidateState.FOUND, datetime.now(UTC))
    write_candidates(room.data_root, Candidates().updated([waiting]))
    released(room)
    room.register(2)
    room.process(only(room.tick()[0], "process_batch"))
    only(room.tick()[0], "refresh")
    only(room.with_options(refresh_hours=1e-9).tick()[0], "release")


def test_an_article_that_pmc_removes_makes_a_release_due(room: Room) -> None:
    released(room)
    seen = KnownVersion(1, "etag", datetime.now(UTC), present=False)
    gone = Candidate(1, CandidateState.REMOVED, datetime.now(UTC), versions=(seen,))
    write_candidates(room.data_root, Candidates().updated([gone]))
    assert isinstance(room.week(), dg.RunRequest)
    room.release(only(room.tick()[0], "release"))
    assert isinstance(room.week(), dg.SkipReason)


def test_a_release_that_fails_is_tried_three_times_and_then_pmc_is_followed_all_the_same(room: Room) -> None:
    room.register(1)
    room.process(only(room.tick()[0], "process_batch"))
    soon = room.with_options(refresh_hours=1e-6)
    run_keys = set()
    for _ in range(3):
        request = only(soon.tick()[0], "release")
        run_keys.add(request.run_key)
        room.fail(request)
        assert release_request(room.instance, room.data_root, HOUR, datetime.now(UTC)) is None
        assert isinstance(room.week(), dg.RunRequest), "the weekly schedule tries as well"
    assert len(run_keys) == 3
    only(soon.tick()[0], "refresh")

    room.register(2)
    room.process(only(soon.tick()[0], "process_batch"))
    assert only(soon.tick()[0], "release").run_key not in run_keys, "new rows, new attempts"


def test_the_release_follows_registered_batches_by_itself(room: Room) -> None:
    """Nobody waits for Monday: when what was registered is processed, the same sensor asks for the release, once."""
    room.register(1)
    request = only(room.tick(registered_batches)[0], "process_batch")
    run = room.begin(request)
    assert room.tick(registered_batches)[0] == [], "a batch is at work"
    room.instance.report_run_canceled(run)
    room.process(request)
    release = only(room.tick(registered_batches)[0], "release")
    room.begin(release)
    assert room.tick(registered_batches)[0] == room.tick(new_articles)[0] == []
    room.release(release)


@pytest.mark.slow
def test_a_release_of_the_same_is_not_requested_again(room: Room) -> None:
    room.register(1)
    room.process(only(room.tick(registered_batches)[0], "process_batch"))
    room.release(only(room.tick(registered_batches)[0], "release"))
    requests, skipped = room.tick(registered_batches)
    assert requests == []
    assert "up to date" in skipped


def test_a_batch_of_lectures_is_processed_once_and_the_release_waits_for_it(room: Room) -> None:
    (key,) = lectures(room)
    assert room.tick(registered_batches)[0] == []
    assert "the first batch of videos was registered after this code location was loaded: reload" in room.logged[-1]

    loaded = Room(room.folder, room.instance, room.settings)
    sensor = registered_batches_of(jobs_of_units([ARTICLE, VIDEO]))
    request = only(loaded.tick(sensor)[0], "process_video_batch")
    assert request.partition_key == key
    assert room.instance.get_dynamic_partitions("video_batch") == [key]
    run = loaded.begin(request)
    assert "1 runs are waiting or at work" in loaded.tick(sensor)[1]
    room.instance.report_run_canceled(run)
    loaded.succeed(request, "videos", VIDEO_INSTRUCTIONS)
    loaded.release(only(loaded.tick(sensor)[0], "release"))
    assert "up to date" in loaded.tick(sensor)[1]


@pytest.mark.parametrize("table", [VIDEO_INSTRUCTIONS, "verdicts"])
def test_a_release_is_due_when_instructions_about_lectures_or_verdicts_are_new(room: Room, table: str) -> None:
    assert room.tick(registered_batches)[0] == []
    room.instance.report_runless_asset_event(dg.AssetMaterialization(table, partition="0001-v"))
    (release,), _ = room.tick(registered_batches)
    assert release.job_name == "release"


def test_in_a_home_that_knows_no_rows_a_release_is_due_when_people_take_an_article_out_or_bring_it_back(
    room: Room,
) -> None:
    def note_release() -> None:
        said = {WITHDRAWN: withdrawn_digest(room.data_root)}
        room.instance.report_runless_asset_event(dg.AssetMaterialization("pubmed_ophtha", metadata=said))

    assert not release_is_due(room.instance, room.data_root), "nothing was made at all"
    note_release()
    assert not release_is_due(room.instance, room.data_root)
    for change in (take_article_out, bring_article_back):
        change(room.data_root, 7)
        assert release_is_due(room.instance, room.data_root)
        note_release()
        assert not release_is_due(room.instance, room.data_root)
