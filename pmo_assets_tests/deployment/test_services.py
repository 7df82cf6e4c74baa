"""What the containers run, run: PostgreSQL, S3, code location, webserver, daemon and pages, from articles to a release.

One story, in the order of the file: batches are registered, the sensor is switched on by the UI's API, the daemon has
them processed and released; the code container loses its power meanwhile; what comes out is what one process makes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from pmo_assets_tests.deployment.containers import Image, Machine
from pmo_assets_tests.deployment.stack import PASSWORDS, Stack

pytestmark = pytest.mark.deployment

LIMIT: Final = 900.0
"""Seconds within which runs end, on a machine with two cores that does other things."""

REPOSITORY: Final = {"repositoryName": "__repository__", "repositoryLocationName": "pmo_assets"}

_RUNS: Final = """query($filter: RunsFilter) { runsOrError(filter: $filter) { ... on Runs { results {
  runId jobName status tags { key value } } } } }"""


def runs(stack: Stack, job: str) -> list[dict[str, Any]]:
    """Return the runs of a job, the newest first."""
    found: list[dict[str, Any]] = stack.query(_RUNS, filter={"pipelineName": job})["runsOrError"]["results"]
    return found


def succeeded(stack: Stack, job: str) -> set[str]:
    """Return the partitions of a job that a run took to its end; "" for a job without."""
    done = [run for run in runs(stack, job) if run["status"] == "SUCCESS"]
    tags = [{tag["key"]: tag["value"] for tag in run["tags"]} for run in done]
    return {tag.get("dagster/partition", "") for tag in tags}


def wait(stack: Stack, what: str, is_so: Callable[[], bool]) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: if it takes too long, or a service ends.
    """
    began = time.monotonic()
    while not is_so():
        ended = [name for name, one in stack.containers.items() if name != "migrate" and not one.is_running]
        assert not ended, f"{ended} ended\n{stack.containers[ended[0]].said()}"
        states = [(run["jobName"], run["status"]) for job in ("process_batch", "release") for run in runs(stack, job)]
        assert time.monotonic() - began < LIMIT, f"{what}: {states}\n{stack.containers['daemon'].said()}"
        time.sleep(2)


def contents(stack: Stack) -> dict[str, str]:
    """Return the digest of every object in the bucket, by its key below the data root."""
    import boto3

    environment = stack.services["code"]["environment"]
    with stack.machine.network():
        client = boto3.client(
            "s3", endpoint_url="http://127.0.0.1:8333", region_name="us-east-1",
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        )  # fmt: skip
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="pmo", Prefix="data/")
        keys = [item["Key"] for page in pages for item in page.get("Contents", []) if not item["Key"].endswith("/")]
        return {
            key.removeprefix("data/"): _digest(client.get_object(Bucket="pmo", Key=key)["Body"].read()) for key in keys
        }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def start_job(stack: Stack, job: str) -> None:
    """Launch a job, as its button in the UI does."""
    mutation = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) { __typename
      ... on PythonError { message } } }"""
    params = {"selector": {**REPOSITORY, "jobName": job}, "mode": "default", "runConfigData": "{}"}
    assert stack.query(mutation, params=params)["launchRun"]["__typename"] == "LaunchRunSuccess"


def test_services_start_in_their_order_and_are_well(stack: Stack) -> None:
    stack.up("webserver", "daemon", "pages")
    print({name: f"{seconds:.0f} s" for name, seconds in stack.seconds.items()})
    assert b"dagster_webserver_version" in stack.get("http://127.0.0.1:3000/server_info")


def test_the_project_s_processes_have_no_privileges(stack: Stack) -> None:
    assert stack.execute("code", "id", "-u").strip() == "10001"
    for name in ("code", "webserver", "daemon", "pages"):
        written = stack.containers[name].execute(["sh", "-c", "touch /opt/pmo/x /opt/instance/x /usr/x"])
        assert written.returncode != 0, name


def test_settings_of_the_env_file_arrive(stack: Stack) -> None:
    environment = stack.services["code"]["environment"]
    assert (environment["PMO_BATCH_SIZE"], environment["PMO_WORKERS"]) == ("8", "1")


def test_batches_are_registered_in_the_store(stack: Stack) -> None:
    stack.execute("code", "pmo", "batches", "add", "--source", "/files/articles")
    assert len([key for key in contents(stack) if key.startswith("manifests/")]) == 2


def test_the_sensor_has_them_processed_also_when_the_code_container_loses_its_power(stack: Stack) -> None:
    mutation = """mutation($selector: SensorSelector!) { startSensor(sensorSelector: $selector) { __typename
      ... on PythonError { message } } }"""
    selector = {**REPOSITORY, "sensorName": "registered_batches"}
    assert stack.query(mutation, selector=selector)["startSensor"]["__typename"] == "Sensor"
    wait(stack, "a run at work", lambda: any(run["status"] == "STARTED" for run in runs(stack, "process_batch")))
    time.sleep(5)
    stack.containers["code"].kill()
    stack.start("code")
    stack.wait_until_healthy("code")
    wait(stack, "both batches processed", lambda: len(succeeded(stack, "process_batch")) == 2)


def test_the_release_and_its_pages_are_made(stack: Stack) -> None:
    start_job(stack, "release")
    wait(stack, "a release", lambda: bool(succeeded(stack, "release")))
    assert b"gallery" in stack.get("http://127.0.0.1:3001/")
    for page in ("release/gallery/index.html", "release/report.html"):
        assert b"</html>" in stack.get(f"http://127.0.0.1:3001/{page}"), page


def test_what_runs_print_is_seen_in_the_ui(stack: Stack) -> None:
    """The code container writes it, the webserver reads it."""
    run = next(run for run in runs(stack, "release") if run["status"] == "SUCCESS")
    question = """query($run: ID!) { logsForRun(runId: $run) { ... on EventConnection { events {
      ... on LogsCapturedEvent { fileKey } } } } }"""
    events = stack.query(question, run=run["runId"])["logsForRun"]["events"]
    [key] = {event["fileKey"] for event in events if event.get("fileKey")}
    question = "query($key: [String!]!) { capturedLogs(logKey: $key) { stderr } }"
    said = stack.query(question, key=[run["runId"], "compute_logs", key])["capturedLogs"]["stderr"]
    assert said
    assert "pubmed_ophtha" in said


def test_no_password_is_in_a_log_or_the_database(stack: Stack) -> None:
    logs = "".join(container.said(10**9) for container in stack.machine.running)
    dump = stack.execute("postgres", "pg_dump", "--host=/tmp", "--username=dagster", "dagster")
    assert "registered_batches" in dump
    for password in set(PASSWORDS.values()) - {"test"}:
        assert password not in logs
        assert password not in dump


def test_what_came_out_is_what_one_process_makes(stack: Stack, image: Image, files: Path) -> None:
    """`pmo run` with SQLite and a folder, in a container beside the others: the same tables, the same release."""
    made = contents(stack)
    machine: Machine = stack.machine
    data = machine.volume("local", image.user)
    environment = {
        "PMO_DATA_ROOT": "/data",
        "PMO_BATCH_SIZE": "8",
        "PMO_WORKERS": "1",
        "DAGSTER_HOME": "/data/.dagster",
    }
    command = "mkdir -p $DAGSTER_HOME && pmo batches add --source /files/articles && pmo run --release"
    alone = machine.run(
        "alone", image, ["sh", "-c", command], environment=environment,
        binds={"/data": (data, True), "/files": (files, False)},
    )  # fmt: skip
    assert alone.process.wait(LIMIT) == 0, alone.said()
    expected = {
        path.relative_to(data).as_posix(): _digest(path.read_bytes()) for path in data.rglob("*") if path.is_file()
    }
    # Leases tell who worked when, hidden folders are Dagster's.
    expected = {key: value for key, value in expected.items() if not key.startswith((".", "leases/"))}
    made = {key: value for key, value in made.items() if not key.startswith("leases/")}
    assert len(expected) > 150
    assert set(expected) ^ set(made) == set()
    assert sorted(key for key in expected if made[key] != expected[key]) == []


def test_everything_ends_when_it_is_asked_to(stack: Stack) -> None:
    for name in ("pages", "daemon", "webserver", "code", "store", "postgres"):
        print(f"{name} ended after {stack.containers[name].stop():.1f} s")
