"""`pmo doctor`: what is missing is said with what to do, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo


def test_all_that_is_wrong_is_found_in_one_go(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PMO_LLM_API_KEY=hush\nPMO_DATAROOT=x\n")
    done = pmo("doctor", "--offline", "--json", PMO_SPECIALTY="dermatology", PMO_MAX_DPI="many")
    assert done.returncode == 1, done.stderr
    found = {item["name"]: item for item in json.loads(done.stdout)}
    failed = {name for name, item in found.items() if item["state"] == "fail"}
    assert failed == {"PMO_SPECIALTY", "PMO_MAX_DPI", "PMO_DATAROOT"}
    assert found["models and PMC"]["state"] == "skipped"
    assert found["code location"]["state"] == "ok"
    assert "hush" not in done.stdout + done.stderr
    assert not (tmp_path / "data").exists(), "it changes nothing"


@pytest.mark.slow
def test_where_nothing_fails_the_status_is_zero(pmo: Pmo) -> None:
    done = pmo("doctor", "--offline", COLUMNS="200")
    assert done.returncode == 0, done.stdout
    assert "nothing stands in the way" in done.stdout
    assert "PMO_ENTREZ_EMAIL" in done.stdout
