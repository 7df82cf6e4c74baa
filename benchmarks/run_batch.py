"""Take a folder of article packages through the whole graph and print throughput and peak memory.

    python benchmarks/run_batch.py [--source ../shared/corpus] [--specialty everything]

Runs `pmo batches add` and `pmo run` in processes of their own, in a temporary data root. Peak memory is that of the
largest single process, as the operating system reports it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PMO = [sys.executable, "-c", "from pmo_assets.cli.main import main; main()"]


def main() -> None:
    """Run the batch and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "corpus")
    parser.add_argument("--specialty", default="everything")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = {"PMO_DATA_ROOT": f"{folder}/data", "PMO_DAGSTER_HOME": f"{folder}/dagster"}
        environment = {**os.environ, **places, "PMO_SPECIALTY": arguments.specialty}
        environment.pop("DAGSTER_HOME", None)
        for command in (["batches", "add", "--source", str(arguments.source)], ["run"], ["report"]):
            subprocess.run([*PMO, *command], env=environment, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"peak memory of the largest process: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
