"""How the register fares with very many batches: the UI's pages, the sensors, `pmo batches list`, planning a release.

    python benchmarks/scale_register.py WORK [--batches 1000] [--only list|sensors|release|pages]

A sample batch is processed by `pmo run`; its tables are repeated under new article numbers, 200 articles a batch, and
the events of its run under new runs, as if every batch had been processed, one every ten minutes: facts only, no
pictures. WORK is made, and kept for a second run with the same code: other code makes batches stale. Times are what a
person waits for; `pmo batches list` includes the start of Python. Peak memory (resident) is that of a process that
plans the release: which articles and packages count, which panels look the same.

The pages need Chromium (Debian: apt-get install chromium), and Playwright (extra `dev`).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import dagster as dg
import numpy as np
import polars as pl
from dagster._core.events.log import EventLogEntry
from dagster._serdes import deserialize_value, serialize_value

from pmo_assets.defs.instance import workspace
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.cli.command_line import command
from pmo_assets_tests.refresh_days.programs import kill
from pmo_assets_tests.ui.deployment import free_port

ARTICLES_PER_BATCH: Final = 200
FIRST_NUMBER: Final = 1_000_000_000

_KEPT_EVENTS: Final = frozenset(
    {
        "ASSET_MATERIALIZATION_PLANNED", "ASSET_MATERIALIZATION", "ASSET_CHECK_EVALUATION_PLANNED",
        "ASSET_CHECK_EVALUATION", "PIPELINE_START", "PIPELINE_SUCCESS", "STEP_START", "STEP_SUCCESS",
    }
)  # fmt: skip
"""Of a run: what pages and sensors ask for. The rest is its log, which is read run by run."""


@dataclass(frozen=True)
class Place:
    """A folder with a data root and its Dagster home."""

    folder: Path

    @property
    def data_root(self) -> DataRoot:
        return DataRoot(str(self.folder / "data"))

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
        return {
            **kept,
            "PMO_DATA_ROOT": str(self.folder / "data"),
            "DAGSTER_HOME": str(self.folder / "home"),
            "PMO_WORKERS": "2",
        }

    def pmo(self, *arguments: str | Path) -> None:
        subprocess.run(command(*arguments), env=self.environment, cwd=self.folder, check=True)

    @contextlib.contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        with dg.DagsterInstance.from_config(str(self.folder / "home")) as instance:
            yield instance


def make_template(place: Place) -> str:
    """Process the sample articles as one batch and return its key."""
    if not list((place.folder / "data" / "tables" / "rejections").glob("*.parquet")):
        place.folder.mkdir(parents=True, exist_ok=True)
        place.pmo("samples", "articles")
        place.pmo("batches", "add", "--source", "articles/articles")
        place.pmo("run", "--no-release")
    return BatchRegistry(place.data_root).batches()[0]


def repeat_tables(template: Place, key: str, place: Place, count: int) -> list[str]:
    """Write manifests, claims and tables of so many batches; return their keys."""
    tables = Tables(template.data_root)
    names = sorted(path.name for path in (template.folder / "data" / "tables").iterdir())
    sources = {name: tables.read(name, key) for name in names}
    manifest = read_parquet(template.data_root, f"manifests/{key}.parquet")
    rejections = {name: tables.read_rejections([name], key) for name in names}
    templates = manifest["article_id"].sort().to_list()
    keys = []
    for sequence in range(1, count + 1):
        batch = f"{sequence:04d}-{sequence:08x}"
        first = FIRST_NUMBER + (sequence - 1) * ARTICLES_PER_BATCH
        numbers = range(first, first + ARTICLES_PER_BATCH)
        made = pl.DataFrame({"number": numbers, "article_id": [templates[i % len(templates)] for i in numbers]})
        content = parquet_bytes(renumbered(manifest, made), metadata={"pmo/batch": batch})
        written(place, f"claims/{sequence:04d}.parquet", content)
        written(place, f"manifests/{batch}.parquet", content)
        for name, table in sources.items():
            written(place, f"tables/{name}/{batch}.parquet", parquet_bytes(renumbered(table, made)))
            lost = renumbered(rejections[name], made)
            written(place, f"rejections/{name}/{batch}.parquet", parquet_bytes(lost))
        keys.append(batch)
        if sequence % 100 == 0:
            print(f"tables of {sequence} batches", flush=True)
    return keys


def written(place: Place, key: str, content: bytes) -> None:
    path = place.folder / "data" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def renumbered(table: pl.DataFrame, made: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the templates' articles under their new numbers; their panels look like no others."""
    if "article_id" not in table.columns:
        return table
    joined = made.join(table, on="article_id", how="inner", maintain_order="left")
    new = pl.col("number").cast(pl.String)
    random = np.random.default_rng()
    changed: dict[str, Any] = {}
    if "panel_id" in table.columns:
        changed["panel_id"] = pl.concat_str(pl.lit("p_"), new, pl.col("panel_id").str.slice(2 + 10))
    for name in ("perceptual_hash", "picture_sha256"):
        if name in table.columns:
            changed[name] = pl.Series([random.bytes(32).hex() for _ in range(joined.height)], dtype=pl.String)
    changed.update({name: new for name in ("doi", "name") if name in table.columns})
    if "pdf" in table.columns:
        changed["pdf"] = pl.concat_str(pl.lit("objects/aa/"), new, pl.lit(".pdf"))
    if "pmcid" in table.columns:
        changed["pmcid"] = pl.lit(None, dtype=pl.Int64)
    return joined.with_columns(**changed).with_columns(article_id="number").select(table.columns)


def repeat_runs(template: Place, key: str, place: Place, batches: list[str]) -> None:
    """Write a run per batch with the events of the template's run."""
    with template.instance() as instance:
        run = instance.get_runs(dg.RunsFilter(job_name="process_batch"))[0]
        plan = instance.get_execution_plan_snapshot(str(run.execution_plan_snapshot_id))
        job = instance.get_job_snapshot(str(run.job_snapshot_id))
        entries = [
            serialize_value(entry)
            for entry in instance.all_logs(run.run_id)
            if entry.is_dagster_event and entry.get_dagster_event().event_type_value in _KEPT_EVENTS
        ]
        text = serialize_value(run)
    print(f"{len(entries)} events a run, {sum(map(len, entries)) / 1e3:.0f} kB", flush=True)
    place.pmo("batches", "list")  # makes the home
    with place.instance() as instance:
        instance.add_dynamic_partitions("article_batch", batches)
        instance.run_storage.add_job_snapshot(job)
        instance.run_storage.add_execution_plan_snapshot(plan)
        first = str(uuid.uuid4())

        def changed(value: str) -> str:
            return value.replace(run.run_id, first).replace(key, batches[0])

        instance.add_run(deserialize_value(changed(text), dg.DagsterRun))
        for entry in entries:
            instance.event_log_storage.store_event(deserialize_value(changed(entry), EventLogEntry))
    others = [(str(uuid.uuid4()), batch) for batch in batches[1:]]
    history = place.folder / "home" / "history"
    copy_rows(history / "runs.db", first, batches[0], others)
    spread_runs(history / "runs.db")
    copy_rows(history / "runs" / "index.db", first, batches[0], others)
    for new, batch in others:
        shutil.copyfile(history / "runs" / f"{first}.db", history / "runs" / f"{new}.db")
        with sqlite3.connect(history / "runs" / f"{new}.db") as database:
            database.execute("PRAGMA synchronous = OFF")
            change = (first, new, batches[0], batch)
            database.execute("UPDATE event_logs SET event = replace(replace(event, ?, ?), ?, ?)", change)
            database.execute("UPDATE event_logs SET partition = ? WHERE partition = ?", (batch, batches[0]))
            database.execute("UPDATE event_logs SET run_id = ?", (new,))


def copy_rows(path: Path, run: str, batch: str, others: list[tuple[str, str]]) -> None:
    """Repeat all rows of a run and its batch in a database, for other runs and batches; events keep their order."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA synchronous = OFF")
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in sorted(names, key=lambda name: name == "event_logs"):
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')]
            if name == "asset_event_tags":  # by their event alone
                mine = "event_id IN (SELECT id FROM event_logs WHERE run_id = ?)"
            elif "run_id" in columns and not name.startswith(("concurrency", "pending")):
                mine = "run_id = ?"
            else:
                continue
            rows = database.execute(f'SELECT * FROM "{name}" WHERE {mine}', (run,)).fetchall()
            if not rows:
                continue
            # Only rows of the first run are there, so that numbers of events, wherever they stand, move together.
            step = database.execute("SELECT max(id) FROM event_logs").fetchone()[0] if "event_logs" in names else 0
            events = {"event_id", "evaluation_event_storage_id", "materialization_event_storage_id"}
            events |= {"id"} if name == "event_logs" else set()
            kept = [column for column in columns if column != "id" or column in events]
            database.executemany(
                f'INSERT INTO "{name}" ({", ".join(kept)}) VALUES ({", ".join("?" * len(kept))})',
                [
                    [
                        value + step * number
                        if column in events and value is not None
                        else value.replace(run, new).replace(batch, other)
                        if isinstance(value, str)
                        else value
                        for column, value in zip(columns, row, strict=True)
                        if column in kept
                    ]
                    for number, (new, other) in enumerate(others, start=1)
                    for row in rows
                ],
            )


def spread_runs(path: Path) -> None:
    """Let runs have ended one every ten minutes, the last one just now: pages show runs of the last hours."""
    with sqlite3.connect(path) as database:
        database.execute("UPDATE runs SET end_time = ? - 600.0 * ((SELECT max(id) FROM runs) - id)", (time.time(),))
        database.execute("UPDATE runs SET start_time = end_time - 500.0")
        for column, moment in {"create_timestamp": "start_time", "update_timestamp": "end_time"}.items():
            # As SQLAlchemy writes it.
            database.execute(f"UPDATE runs SET {column} = strftime('%Y-%m-%d %H:%M:%f000', {moment}, 'unixepoch')")


def generate(work: Path, count: int) -> Place:
    """Return a place with so many processed batches, made if it is not there."""
    place, template = Place(work / f"{count}"), Place(work / "template")
    key = make_template(template)
    if not (place.folder / "complete").exists():
        shutil.rmtree(place.folder, ignore_errors=True)
        place.folder.mkdir(parents=True)
        batches = repeat_tables(template, key, place, count)
        repeat_runs(template, key, place, batches)
        (place.folder / "complete").touch()
    return place


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def list_batches(place: Place) -> None:
    """Time `pmo batches list` as a process of its own."""

    def listed() -> None:
        made = subprocess.run(
            command("batches", "list"),
            env=place.environment,
            cwd=place.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        fresh = made.stdout.count("up to date")
        assert fresh == len(BatchRegistry(place.data_root).batches()), made.stdout[:2000]

    times = [timed(listed) for _ in range(3)]
    print(f"pmo batches list                 {min(times):7.2f} s (of three)", flush=True)
    start = min(
        timed(lambda: subprocess.run(command("--version"), env=place.environment, check=True)) for _ in range(2)
    )
    print(f"  of them the start of `pmo`     {start:7.2f} s", flush=True)


def tick_sensors(place: Place) -> None:
    """Time ticks when nothing is to be done, when a setting has changed, and when no batch was begun; and renewing."""
    os.environ.update(place.environment)
    from pmo_assets.defs.partitions import register_partitions
    from pmo_assets.defs.renewing import begin_renewal
    from pmo_assets.settings import Settings

    os.environ["PMO_ENTREZ_EMAIL"] = "scale@example.org"
    settings = Settings()
    with place.instance() as instance:
        tick_all("all processed", instance, settings)
        changed = settings.model_copy(update={"max_dpi": 150})
        tick_all("all stale", instance, changed)
        print(f"job renew, all stale{timed(lambda: begin_renewal(instance, changed)):28.2f} s", flush=True)
    with (
        tempfile.TemporaryDirectory() as home,
        dg.DagsterInstance.local_temp(home) as instance,
        dg.partition_loading_context(dynamic_partitions_store=instance),
    ):
        register_partitions(instance, BatchRegistry(place.data_root).batches())
        tick_all("none begun", instance, settings)


def tick_all(situation: str, instance: dg.DagsterInstance, settings: Any) -> None:
    """Time a tick of every sensor and schedule of the code location."""
    from pmo_assets.definitions import build_defs

    definitions = build_defs(settings)
    repository, resources = definitions.get_repository_def(), definitions.resources or {}
    automations: list[dg.SensorDefinition | dg.ScheduleDefinition]
    automations = [*repository.sensor_defs, *repository.schedule_defs]
    for automation in automations:

        def tick(found: dg.SensorDefinition | dg.ScheduleDefinition = automation) -> None:
            given: Any = {key: resources[key] for key in found.required_resource_keys}
            if isinstance(found, dg.SensorDefinition):
                with dg.build_sensor_context(instance, repository_def=repository, resources=given) as context:
                    found.evaluate_tick(context)
            else:
                with dg.build_schedule_context(instance, repository_def=repository, resources=given) as scheduled:
                    found.evaluate_tick(scheduled)

        print(f"{situation}, tick of {automation.name:25s}{timed(tick):7.2f} s", flush=True)


_PLAN: Final = """
import re, sys, time
from pathlib import Path
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.release.panel_duplicates import find_panel_duplicates
from pmo_assets.release.selection import select_articles
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables

def highest():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)) / 1024

began, before, tables = time.perf_counter(), highest(), Tables(DataRoot(sys.argv[1]))
selection = select_articles(tables)
selected = highest()
groups = find_panel_duplicates(tables, selection, ReleaseOptions(), SplitOptions())
print(groups.panels, time.perf_counter() - began, before, selected, highest())
"""


def plan_release(place: Place) -> None:
    """Plan releases of a part, and of all of the batches, each in a process of its own."""
    keys = BatchRegistry(place.data_root).batches()
    for share in (0.25, 0.5, 1.0):
        chosen = keys[: max(1, int(len(keys) * share))]
        part = place.folder / "part"
        shutil.rmtree(part, ignore_errors=True)
        for name in ("article_packages", "articles", "dataset_rows"):
            (part / "tables" / name).mkdir(parents=True)
            for key in chosen:
                (part / "tables" / name / f"{key}.parquet").symlink_to(
                    place.folder / "data" / "tables" / name / f"{key}.parquet"
                )
        planned = subprocess.run([sys.executable, "-c", _PLAN, str(part)], capture_output=True, text=True, check=True)
        panels, seconds, before, selected, grouped = map(float, planned.stdout.split())
        articles = len(chosen) * ARTICLES_PER_BATCH
        print(
            f"release of {articles:8,} articles, {panels:9,.0f} panels: {seconds:6.1f} s; memory {before:5.0f} MB, "
            f"{selected:5.0f} MB with the articles chosen, {grouped:5.0f} MB with duplicates and splits",
            flush=True,
        )
        shutil.rmtree(part)


def pages(keys: list[str]) -> Mapping[str, tuple[str, Callable[[Any], Any]]]:
    """Return the UI's pages by name: address, and what must be seen before the page counts as open."""
    batch = re.compile(r"^\d{4}-[0-9a-f]{8}$")
    count = f"Materialized ({len(keys)})"
    return {
        "asset graph": (
            "/asset-groups",
            lambda page: page.get_by_text("dataset", exact=True).locator("visible=true").last,
        ),
        "asset, overview": ("/assets/panels?view=overview", lambda page: page.get_by_text(batch).first),
        "asset, partitions": ("/assets/panels?view=partitions", lambda page: page.get_by_text(count).first),
        "asset, events": ("/assets/panels?view=events", lambda page: page.get_by_text(batch).first),
        "asset, checks": ("/assets/panels?view=checks", lambda page: page.get_by_text("current").first),
        "job, partitions": (
            "/locations/pmo_assets/jobs/process_batch/partitions",
            lambda page: page.get_by_text("Total partitions").first,
        ),
        # Runs that `pmo run` made are of no code location, and not in the timeline.
        "overview": ("/overview", lambda page: page.get_by_text(re.compile("process_batch|No runs or sched")).first),
        "assets": ("/assets", lambda page: page.get_by_text("panels").first),
        "runs": ("/runs", lambda page: page.get_by_text("process_batch").first),
    }


def open_pages(place: Place) -> None:
    """Time the UI's pages in a real browser: the first time, and the slowest of three times after."""
    from playwright.sync_api import sync_playwright

    port = free_port()
    with (place.folder / "webserver.log").open("ab") as log:
        server = subprocess.Popen(
            [
                sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port),
                "-w", str(workspace()),
            ],
            env=place.environment, cwd=place.folder, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    keys = BatchRegistry(place.data_root).batches()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            url = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + 180
            while time.monotonic() < deadline:
                with contextlib.suppress(Exception):
                    page.goto(f"{url}/runs", timeout=5_000)
                    break
                time.sleep(1)
            print(f"{'page':24s} first time   slowest of three after", flush=True)
            for name, (path, seen) in pages(keys).items():
                times = []
                for _ in range(4):
                    page.goto("about:blank")

                    def opened(path: str = path, seen: Callable[[Any], Any] = seen) -> None:
                        page.goto(f"{url}{path}", wait_until="commit")
                        seen(page).wait_for(timeout=60_000)

                    try:
                        times.append(timed(opened))
                    except Exception as error:
                        page.screenshot(path=place.folder / f"{name}.png")
                        print(f"{name:24s} {str(error).splitlines()[0]}", flush=True)
                        break
                else:
                    page.screenshot(path=place.folder / f"{name}.png")
                    print(f"{name:24s} {times[0]:8.2f} s   {max(times[1:]):8.2f} s", flush=True)
            browser.close()
    finally:
        kill(server)


def main() -> None:
    """Generate if needed, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument(
        "--only", choices=("generate", "list", "sensors", "release", "pages"), action="append", help="all if not given"
    )
    arguments = parser.parse_args()
    place = generate(arguments.work.absolute(), arguments.batches)
    databases = sum(path.stat().st_size for path in (place.folder / "home").rglob("*.db"))
    print(f"{arguments.batches} batches, {arguments.batches * ARTICLES_PER_BATCH:,} articles", flush=True)
    print(f"databases of the instance        {databases / 2**20:7.0f} MB", flush=True)
    steps = {"list": list_batches, "sensors": tick_sensors, "release": plan_release, "pages": open_pages}
    for name, step in steps.items():
        if arguments.only is None or name in arguments.only:
            step(place)


if __name__ == "__main__":
    main()
