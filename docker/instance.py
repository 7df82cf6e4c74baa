"""Entry point of the images: writes DAGSTER_HOME/dagster.yaml, then becomes the command that was given.

    python instance.py COMMAND [ARGUMENT …]

The file is the project's `dagster.yaml`, where pools, retention and monitoring have their one home, with what
`instance.yaml` says besides, and with DAGSTER_MAX_CONCURRENT_RUNS, which Dagster itself does not read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from pmo_assets.system.aside import write_text

FOLDER = Path(__file__).resolve().parent


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two configurations as one; where both say something of the same thing, `above` wins."""
    result = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def instance_config(project: str, besides: str, max_concurrent_runs: str = "") -> dict[str, Any]:
    """Return the configuration of the containers' instance.

    Args:
        project: text of the project's `dagster.yaml`.
        besides: text of `instance.yaml`.
        max_concurrent_runs: how many runs work at once; the project's number if "".

    Raises:
        ValueError: if that is no number.
    """
    config = merged(yaml.safe_load(project), yaml.safe_load(besides))
    if max_concurrent_runs:
        if not max_concurrent_runs.isdigit():
            raise ValueError(f"DAGSTER_MAX_CONCURRENT_RUNS is to be a number, not {max_concurrent_runs!r}")
        config = merged(config, {"concurrency": {"runs": _runs_at_once(config, int(max_concurrent_runs))}})
    return config


def _runs_at_once(config: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return the limits with so many runs at once, each of which may be one of a batch."""
    limits = config["concurrency"]["runs"]["tag_concurrency_limits"]
    return {
        "max_concurrent_runs": count,
        "tag_concurrency_limits": [limit if "value" in limit else {**limit, "limit": count} for limit in limits],
    }


def _project_file() -> Path:
    """Return the project's `dagster.yaml`: beside this file in an image, a folder up in the repository."""
    return next(path for path in (FOLDER / "dagster.yaml", FOLDER.parent / "dagster.yaml") if path.is_file())


def main() -> None:
    """Write the file whole, and become the command."""
    if len(sys.argv) < 2:
        sys.exit("error: no command was given (python instance.py COMMAND …)")
    try:
        config = instance_config(
            _project_file().read_text("utf-8"),
            (FOLDER / "instance.yaml").read_text("utf-8"),
            os.environ.get("DAGSTER_MAX_CONCURRENT_RUNS", "").strip(),
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    write_text(Path(os.environ["DAGSTER_HOME"]) / "dagster.yaml", yaml.safe_dump(config))
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
