"""The programs of a small cluster as real processes: S3 server, Dagster's daemon, Ray, Redis, Celery workers."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import dagster as dg
import psutil
import pyarrow.fs as pafs

from pmo_assets.defs.instance import opened_home, workspace
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import unfinished_runs
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry

LIMIT: Final = 1800.0
"""Seconds after which batches that are not done are a failure."""

ENGINES: Final = Path(__file__).parents[2] / "docker" / "engines"
"""What is appended to `dagster.yaml` for whole runs on an engine."""

COMPARED: Final = ("tables", "rejections", "pixels")
"""What an engine must make byte for byte as one process does."""


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def beside_python(program: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(program))


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: if it does not in that time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"after {seconds:.0f} s still waiting until {what}"
        time.sleep(0.3)


def answers(port: int) -> bool:
    """Say whether somebody listens at a port of loopback."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def family_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return a process and all that it began."""
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    return []


def stop(process: subprocess.Popen[bytes], patience: float = 20.0) -> None:
    """End a program as Ctrl-C does, then whatever it began and did not end."""
    family = family_of(process)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    psutil.wait_procs(family, timeout=10)


@dataclass(frozen=True)
class Site:
    """A data root on S3 with two batches, a Dagster home, and the environment of all programs that work on them."""

    folder: Path
    environment: Mapping[str, str]
    batches: Sequence[str]

    @property
    def data_root(self) -> DataRoot:
        return DataRoot(self.environment["PMO_DATA_ROOT"], self.environment["PMO_S3_ENDPOINT"])

    @contextlib.contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        with dg.DagsterInstance.from_config(self.environment["DAGSTER_HOME"]) as instance:
            yield instance

    def begin(self, *command: str, log: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a program in a session of its own; what it prints goes into a file."""
        with (self.folder / log).open("ab") as stream:
            return subprocess.Popen(
                command, env={**self.environment, **variables}, stdout=stream, stderr=stream, cwd=self.folder,
                start_new_session=True,
            )  # fmt: skip

    @contextlib.contextmanager
    def running(self, *command: str, log: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program as long as the block lasts."""
        process = self.begin(*command, log=log, **variables)
        try:
            yield process
        finally:
            stop(process)

    def daemon(self) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
        """Run Dagster's daemon, which evaluates sensors, starts runs, watches them and starts lost ones again."""
        return self.running(sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace()), log="daemon")

    def switch_sensor_on(self) -> None:
        """Let Dagster process registered batches, as a person does in the UI."""
        arguments = ("-m", "dagster", "sensor", "start", "registered_batches", "-w", str(workspace()))
        made = subprocess.run(
            [sys.executable, *arguments], env=dict(self.environment), capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr

    def log(self, name: str) -> str:
        path = self.folder / name
        return path.read_text("utf-8", "replace")[-5000:] if path.is_file() else ""


def new_site(folder: Path, articles: Path, size: int, s3: str, launcher: str | None = None, **options: str) -> Site:
    """Make a data root with registered batches and a Dagster home.

    Args:
        folder: of the home and the logs; its name is the prefix on S3.
        articles: packages to register.
        size: articles per batch.
        s3: endpoint of the S3 server, with a bucket `bucket`.
        launcher: file below `docker/engines` that says where whole runs go; this machine if None.
        options: settings (`PMO_…`).
    """
    home = folder / "dagster"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
    environment = {
        **kept,
        "PMO_DATA_ROOT": f"s3://bucket/{folder.name}",
        "PMO_S3_ENDPOINT": s3,
        "PMO_WORKERS": "1",
        "OMP_NUM_THREADS": "1",
        "DAGSTER_HOME": str(home),
        "RAY_USAGE_STATS_ENABLED": "0",
        **options,
    }
    registry = BatchRegistry(DataRoot(environment["PMO_DATA_ROOT"], s3))
    registry.add(LocalFolder(articles), size=size)
    with opened_home(home) as instance:
        register_partitions(instance, registry.batches())
    config = home / "dagster.yaml"
    text = config.read_text("utf-8").replace("run_monitoring:\n", "run_monitoring:\n  poll_interval_seconds: 10\n")
    if launcher is not None:
        text += "\n" + (ENGINES / launcher).read_text("utf-8")
    config.write_text(text, "utf-8")
    return Site(folder, environment, registry.batches())


def wait_until_processed(site: Site, daemon: subprocess.Popen[bytes], others: Sequence[str] = ()) -> None:
    """Wait until all batches are processed and no run of them waits or works; a release may follow.

    Raises:
        AssertionError: if the daemon ends, or the batches are not done in time; with the ends of the logs.
    """
    deadline = time.monotonic() + LIMIT
    with site.instance() as instance:
        while time.monotonic() < deadline:
            assert daemon.poll() is None, f"the daemon ended\n{site.log('daemon')}"
            done = instance.get_materialized_partitions(dg.AssetKey("rejections"))
            if done >= set(site.batches) and not unfinished_runs(instance, "process_batch"):
                return
            time.sleep(0.5)
        runs = [(run.tags.get("dagster/partition"), run.status.value) for run in instance.get_runs(limit=20)]
    raise AssertionError("\n".join([f"not done: {runs}", *(site.log(name) for name in ("daemon", *others))]))


def seconds_at_work(site: Site) -> float:
    """Return the seconds from the start of the first run to the end of the last one."""
    with site.instance() as instance:
        records = instance.get_run_records(dg.RunsFilter(job_name="process_batch"))
    return max(record.end_time or 0 for record in records) - min(record.start_time or 0 for record in records)


def seconds_since_asked(site: Site) -> float:
    """Return the seconds from the moment at which the first run was asked for to the end of the last one."""
    with site.instance() as instance:
        records = instance.get_run_records(dg.RunsFilter(job_name="process_batch"))
    first = min(record.create_timestamp.timestamp() for record in records)
    return max(record.end_time or 0 for record in records) - first


def digests(data_root: DataRoot) -> dict[str, str]:
    """Return key -> SHA-256 of everything that batches made."""
    filesystem, base = data_root.filesystem()
    found: dict[str, str] = {}
    for folder in COMPARED:
        selector = pafs.FileSelector(f"{base}/{folder}", recursive=True, allow_not_found=True)
        for info in filesystem.get_file_info(selector):
            if info.is_file:
                with filesystem.open_input_stream(info.path) as stream:
                    found[info.path.removeprefix(base)] = hashlib.sha256(stream.read()).hexdigest()
    return found


def step_begins(site: Site, step: str) -> str | None:
    """Return the id of an unfinished run in which a step has begun and not ended."""
    with site.instance() as instance:
        for run in unfinished_runs(instance, "process_batch"):
            begun = [_kind(entry) for entry in instance.all_logs(run.run_id) if entry.step_key == step]
            if "STEP_START" in begun and "STEP_SUCCESS" not in begun:
                return run.run_id
    return None


def _kind(entry: dg.EventLogEntry) -> str:
    return entry.get_dagster_event().event_type_value if entry.is_dagster_event else ""


def processes_with(*words: str) -> list[psutil.Process]:
    """Return the processes whose command line and environment hold all the words.

    A step on Ray is told what it shall do by its environment: on its command line stands `dagster api execute_step`.
    """
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if line.startswith(("/bin/sh", "bash")):
                continue
            told = "\n".join((line, *process.environ().values()))
            if all(word in told for word in words):
                found.append(process)
    return found


def kill_all(processes: Sequence[psutil.Process]) -> None:
    """Kill processes with everything that they began, as a machine that loses its power."""
    family = list(processes)
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.suspend()  # it begins nothing more while its children are counted
            family += process.children(recursive=True)
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    psutil.wait_procs(family, timeout=10)


@contextlib.contextmanager
def ray_cluster(folder: Path, cpus: int = 2) -> Iterator[str]:
    """Run a Ray head on loopback and give the address of its job server.

    Not with `--block`: that ends all of Ray when its client server, which jobs do not need, is late on a busy machine.
    """
    port = free_port()
    sessions = Path("/tmp") / f"ray-{os.getpid()}"  # its sockets need a short path
    ports = ("--port", "--dashboard-agent-listen-port", "--ray-client-server-port")
    command = (
        beside_python("ray"), "start", "--head", "--node-ip-address", "127.0.0.1",
        "--dashboard-host", "127.0.0.1", "--dashboard-port", str(port),
        *(word for name in ports for word in (name, str(free_port()))),
        "--min-worker-port", "0", "--max-worker-port", "0",
        "--num-cpus", str(cpus), "--object-store-memory", "100000000", "--disable-usage-stats",
        "--temp-dir", str(sessions),
    )  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
    own = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",  # jobs call `dagster`
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_raylet_start_wait_time_s": "180",  # on a busy machine
    }
    try:
        with (folder / "ray.log").open("ab") as stream:
            subprocess.run(command, env={**kept, **own}, stdout=stream, stderr=stream, cwd=folder, check=True)
        wait_until(lambda: answers(port), "Ray's job server answers", 300)
        yield f"http://127.0.0.1:{port}"
    finally:
        kill_all(processes_with(str(sessions)))
        shutil.rmtree(sessions, ignore_errors=True)
