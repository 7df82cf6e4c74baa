"""What *Materialize all* in the UI takes: two batches of sample articles, from the click to the finished release.

    python benchmarks/materialize_all.py

`pmo dev` over a new data root, and the same request that the dialog sends. Printed are the runs, with the seconds after
the click at which each was made, began and ended, and the processor seconds of all processes meanwhile.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pmo_assets.samples import sample_specs, typeset
from pmo_assets.samples.packages import write_package
from pmo_assets_tests.ui.deployment import Deployment

BATCH_SIZE = 10
"""As `pmo demo` has it: 10 and 6 articles."""

ASSETS = "{ assetNodes { assetKey { path } isMaterializable partitionDefinition { name } } }"

LAUNCH = """mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""

RUNS = """{ runsOrError { ... on Runs { results {
  runId status creationTime startTime endTime tags { key value } stepStats { stepKey startTime endTime } } } } }"""

BACKFILLS = "{ partitionBackfillsOrError { ... on PartitionBackfills { results { status } } } }"

LIMIT = 900.0
"""Seconds after which the benchmark gives up."""


@dataclass
class Demo(Deployment):
    """The demo's batches, with as many workers as by default."""

    @property
    def environment(self) -> dict[str, str]:
        """Variables of every command."""
        kept = {name: value for name, value in super().environment.items() if name != "PMO_WORKERS"}
        return {**kept, "PMO_BATCH_SIZE": str(BATCH_SIZE)}


def processor_seconds(known: dict[psutil.Process, float]) -> float:
    """Return the processor seconds of all that this process started; what has ended counts as it was seen last."""
    for process in psutil.Process().children(recursive=True):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        known[process] = times.user + times.system
    return sum(known.values())


def main() -> None:
    """Click, wait and print."""
    with tempfile.TemporaryDirectory() as name:
        demo = Demo(Path(name))
        for spec in sample_specs():
            write_package(demo.folder / "articles" / f"PMC{spec.number}", typeset(spec))
        demo.pmo("batches", "add", "--source", "articles")
        batches = demo.batches()
        try:
            demo.start()
            nodes = [node for node in demo.ask(ASSETS)["assetNodes"] if node["isMaterializable"]]
            wanted = [{"path": node["assetKey"]["path"]} for node in nodes]
            seen: dict[psutil.Process, float] = {}
            before, clicked = processor_seconds(seen), time.time()
            print(demo.ask(LAUNCH, params={"assetSelection": wanted, "partitionNames": batches}))
            status = "REQUESTED"
            while status == "REQUESTED" and time.time() < clicked + LIMIT:
                time.sleep(0.5)
                used = processor_seconds(seen) - before
                (status,) = (item["status"] for item in demo.ask(BACKFILLS)["partitionBackfillsOrError"]["results"])
            runs = demo.ask(RUNS)["runsOrError"]["results"]
        finally:
            demo.stop()
    for run in sorted(runs, key=lambda run: run["creationTime"]):
        tags = {tag["key"]: tag["value"] for tag in run["tags"]}
        moments = [f"{run[key] - clicked:7.1f}" for key in ("creationTime", "startTime", "endTime")]
        steps = [step for step in run["stepStats"] if step["endTime"]]
        work = sum(step["endTime"] - step["startTime"] for step in steps)
        print(f"{run['status']:9} made {moments[0]}  began {moments[1]}  ended {moments[2]}", end="  ")
        print(f"{len(steps)} steps, {work:.1f} s in them  {tags.get('dagster/partition', 'release')}")
    ended = max(run["endTime"] for run in runs) - clicked
    print(f"{status}: {len(runs)} runs, {ended:.1f} s to the end of the last, {used:.1f} s of processor time")


if __name__ == "__main__":
    main()
