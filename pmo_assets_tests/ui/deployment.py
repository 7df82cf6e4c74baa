"""`pmo dev` as a person starts it: a folder, a port, real processes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx2
import psutil

from pmo_assets.samples import ArticleSpec, sample_specs, typeset
from pmo_assets.samples.packages import write_package
from pmo_assets_tests.cli.command_line import command

START_LIMIT: Final = 180.0
"""Seconds in which the UI must be there, on a machine that is busy."""

_NOTICE: Final = 7
"""Place of the retraction notice among the sample articles: it has no figures and is not of the specialty."""


def free_port() -> int:
    """Return a port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def retinal_specs(count: int) -> list[ArticleSpec]:
    """Return specifications of articles that are of the specialty, whole, and have figures with panels."""
    return list(sample_specs()[:count])


def short_specs(count: int) -> list[ArticleSpec]:
    """Return specifications of articles that a batch is soon done with: no figures, not of the specialty."""
    notice = sample_specs()[_NOTICE]
    return [replace(notice, number=9_300_000_001 + i, seed=500 + i) for i in range(count)]


def broken_specs() -> list[ArticleSpec]:
    """Return the specification of an article whose download broke off."""
    return [spec for spec in sample_specs() if spec.damage == "truncated_pdf"]


@dataclass
class Deployment:
    """A folder with a data root and articles, and the UI over it.

    Attributes:
        folder: working directory of every command; its `.env` is read.
        port: of the UI.
    """

    folder: Path
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
        return {**kept, "PMO_WORKERS": "1", "PMO_BATCH_SIZE": "1"}

    def pmo(self, *arguments: str | Path) -> str:
        """Run a command in the folder to its end and return what it printed.

        Raises:
            AssertionError: if it failed.
        """
        ran = subprocess.run(
            command(*arguments), cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def register(self, name: str, specs: Sequence[ArticleSpec]) -> list[str]:
        """Typeset articles into a folder of their own and register them; return the new batches, one per article."""
        for spec in specs:
            article = typeset(spec)
            write_package(self.folder / name / f"PMC{spec.number}", article)
        before = self.batches()
        self.pmo("batches", "add", "--source", name)
        return [batch for batch in self.batches() if batch not in before]

    def batch(self) -> str:
        """Return the batch of a whole article, registered if nothing is."""
        known = self.batches()
        return known[0] if known else self.register("first", retinal_specs(1))[0]

    def batches(self) -> list[str]:
        """Return the registered batches, the oldest first."""
        return sorted(path.stem for path in (self.folder / "data" / "manifests").glob("*.parquet"))

    def set(self, **settings: str) -> None:
        """Write the `.env` of the folder."""
        lines = (f"PMO_{name.upper()}={value}\n" for name, value in settings.items())
        (self.folder / ".env").write_text("".join(lines), "utf-8")

    def start(self) -> None:
        """Start `pmo dev` and wait until its code location has loaded and it has said where UI and pages are.

        Raises:
            AssertionError: if it ended, or nothing came in `START_LIMIT`.
        """
        log = (self.folder / "dev.log").open("ab")
        self._process = subprocess.Popen(
            command("dev", "--port", str(self.port)),
            cwd=self.folder, env=self.environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline:
            assert self._process.poll() is None, self.log()
            with contextlib.suppress(httpx2.HTTPError, KeyError, AssertionError):
                if self.location() and self.pages():
                    return
            time.sleep(1)
        raise AssertionError(f"no UI after {START_LIMIT:.0f} s\n{self.log()}")

    def location(self) -> str:
        """Return the name of the code location as the UI shows it; "" while it loads."""
        query = "{ repositoriesOrError { ... on RepositoryConnection { nodes { location { name } } } } }"
        nodes = self.ask(query)["repositoriesOrError"].get("nodes") or [{"location": {"name": ""}}]
        return str(nodes[0]["location"]["name"])

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Return what the UI's GraphQL says: for what a test waits for, not for what it claims."""
        body = {"query": query, "variables": variables}
        answer = httpx2.post(f"{self.url}/graphql", json=body, timeout=30).json()
        assert "data" in answer, answer
        return dict(answer["data"])

    def unfinished_runs(self) -> int:
        """Return how many runs wait or are at work."""
        statuses = "[QUEUED, NOT_STARTED, STARTING, STARTED, CANCELING]"
        found = self.ask(f"{{ runsOrError(filter: {{statuses: {statuses}}}) {{ ... on Runs {{ count }} }} }}")
        return int(found["runsOrError"]["count"])

    def made_last(self, asset: str) -> float:
        """Return when an asset was last materialised, in seconds since 1970; 0 if it never was."""
        query = """query($path: [String!]!) { assetOrError(assetKey: {path: $path}) {
          ... on Asset { assetMaterializations(limit: 1) { timestamp } } } }"""
        found = self.ask(query, path=[asset])["assetOrError"].get("assetMaterializations") or [{"timestamp": 0}]
        return float(found[0]["timestamp"]) / 1000

    def wait_for(self, what: str, has_come: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so.

        Raises:
            AssertionError: if it is not in that time.
        """
        deadline = time.monotonic() + seconds
        while not has_come():
            assert time.monotonic() < deadline, f"{what}: not after {seconds:.0f} s\n{self.log()}"
            time.sleep(2)

    def wait_for_backfills(self, seconds: float) -> None:
        """Wait until no backfill waits or is at work.

        Raises:
            AssertionError: if one does after so many seconds.
        """
        query = "{ partitionBackfillsOrError { ... on PartitionBackfills { results { status } } } }"
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.ask(query)["partitionBackfillsOrError"]["results"]
            if not any(item["status"] in ("REQUESTED", "CANCELING") for item in found):
                return
            time.sleep(2)
        raise AssertionError(f"a backfill has not ended after {seconds:.0f} s\n{self.log()}")

    def pages(self) -> str:
        """Return the address of gallery, report and quality pages, as `pmo dev` printed it.

        Raises:
            AssertionError: if it has not.
        """
        said = re.search(r"pages (http://[^;\s]+);", (self.folder / "dev.log").read_text("utf-8", "replace"))
        assert said is not None, self.log()
        return said[1]

    def log(self) -> str:
        """Return the end of what `pmo dev` printed."""
        return (self.folder / "dev.log").read_text("utf-8", "replace")[-6000:]

    def stop(self) -> list[psutil.Process]:
        """End `pmo dev` as a service manager does (SIGTERM); return the processes that it left behind, killed."""
        if self._process is None:
            return []
        family = psutil.Process(self._process.pid).children(recursive=True)
        self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        left = [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if self._process.poll() is None:
            left.append(psutil.Process(self._process.pid))
            self._process.kill()
        self._process.wait(10)
        self._process = None
        return left


@contextlib.contextmanager
def deployed(folder: Path) -> Iterator[Deployment]:
    """Give a deployment, which is ended afterwards whatever happened."""
    deployment = Deployment(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield deployment
    finally:
        deployment.stop()
