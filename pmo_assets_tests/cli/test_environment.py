"""What is wrong with settings or the machine is said at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo, command, environment


def test_a_data_root_of_an_unknown_kind_is_refused(pmo: Pmo) -> None:
    result = pmo("batches", "list", PMO_DATA_ROOT="gs://bucket/prefix")
    assert result.returncode == 1
    assert "PMO_DATA_ROOT" in result.stderr


def test_a_wrong_setting_is_named(pmo: Pmo) -> None:
    result = pmo("settings", PMO_BATCH_SIZE="many")
    assert result.returncode == 1
    assert "PMO_BATCH_SIZE" in result.stderr


def test_settings_are_listed_for_programs_with_their_types_and_no_secret(pmo: Pmo) -> None:
    result = pmo("settings", "--json", PMO_BATCH_SIZE="7", PMO_ENTREZ_API_KEY="not-for-others")
    assert result.returncode == 0, result.stderr
    said = {item["variable"]: item for item in json.loads(result.stdout)}
    assert (said["PMO_BATCH_SIZE"]["value"], said["PMO_BATCH_SIZE"]["set_in"]) == (7, "environment")
    assert (said["PMO_LLM_MODEL"]["value"], said["PMO_LLM_MODEL"]["set_in"]) == (None, None)
    assert "not-for-others" not in result.stdout


def test_in_a_pipe_a_table_s_lines_are_whole(pmo: Pmo) -> None:
    variables = [item["variable"] for item in json.loads(pmo("settings", "--json").stdout)]
    lines = [line for line in pmo("settings").stdout.splitlines() if "│" in line]
    assert [line.split("│")[1].strip() for line in lines] == variables


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as on Linux")
def test_an_address_space_too_small_for_the_libraries_is_refused(tmp_path: Path) -> None:
    quoted = " ".join(f"'{part}'" for part in command("settings"))
    result = subprocess.run(
        ["bash", "-c", f"ulimit -v 2000000; exec {quoted}"],
        env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert "limited to 1953 MiB" in result.stderr
    assert "ulimit -v unlimited" in result.stderr
