"""Runs that can go: old ones, but none that the UI needs to know what is done."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.defs.instance import opened_home
from pmo_assets.defs.retention import delete_run, old_runs

BATCHES = dg.DynamicPartitionsDefinition(name="batches")
FUTURE = 4e9


@dg.asset(partitions_def=BATCHES)
def packages(context: dg.AssetExecutionContext) -> None:
    """Fail for one of the batches."""
    context.log.info("at work")
    if context.partition_key == "bad":
        raise dg.Failure("no", allow_retries=False)


@dg.asset
def release() -> None:
    """Be one for all batches."""


DEFS = dg.Definitions(
    assets=[packages, release],
    jobs=[
        dg.define_asset_job("make", [packages], partitions_def=BATCHES),
        dg.define_asset_job("release_job", [release]),
    ],
    executor=dg.in_process_executor,
)


def run(instance: dg.DagsterInstance, job: str, batch: str | None = None) -> str:
    made = DEFS.resolve_job_def(job).execute_in_process(instance=instance, partition_key=batch, raise_on_error=False)
    return made.run_id


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    with opened_home(home) as opened:
        opened.add_dynamic_partitions("batches", ["good", "bad"])
        yield opened


@pytest.mark.slow  # whole runs
def test_a_run_stays_while_it_holds_the_latest_word_on_a_partition(instance: dg.DagsterInstance) -> None:
    first, failed, second = run(instance, "make", "good"), run(instance, "make", "bad"), run(instance, "make", "good")
    old_release, new_release = run(instance, "release_job"), run(instance, "release_job")
    needed = {item.run_id: item.needed for item in old_runs(instance, FUTURE)}
    assert needed == {first: False, failed: True, second: True, old_release: False, new_release: True}


@pytest.mark.slow  # whole runs
def test_after_deleting_everything_that_can_go_the_ui_knows_the_same(instance: dg.DagsterInstance, home: Path) -> None:
    def known() -> tuple[object, ...]:
        key = packages.key
        status = instance.get_status_by_partition(key, ["good", "bad"], BATCHES)
        release_made = instance.get_latest_materialization_event(release.key)
        assert release_made is not None
        return instance.get_materialized_partitions(key), status, release_made.run_id

    first = run(instance, "make", "good")
    for job, batch in (("make", "bad"), ("make", "good"), ("release_job", None), ("release_job", None)):
        run(instance, job, batch)
    before = known()
    for item in list(old_runs(instance, FUTURE)):
        delete_run(instance, item)
    assert known() == before
    assert len(instance.get_runs()) == 3
    assert not instance.has_run(first)
    assert not (home / "storage" / first).exists()
    assert not list((home / "history" / "runs").glob(f"{first}.db"))


def test_young_runs_and_runs_at_work_stay(instance: dg.DagsterInstance) -> None:
    run(instance, "make", "good")
    run(instance, "make", "good")
    instance.create_run_for_job(DEFS.resolve_job_def("make"), status=dg.DagsterRunStatus.STARTED)
    assert list(old_runs(instance, 1e9)) == []
    assert len(list(old_runs(instance, FUTURE))) == 2
