"""`pmo demo`: everything in one command."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import command, environment
from pmo_assets_tests.viewing.gallery_figures import registered


@pytest.mark.slow
def test_the_demo_goes_through_is_finished_and_a_mistake_reported_in_its_gallery_becomes_a_task(tmp_path: Path) -> None:
    kept = {name: value for name, value in environment(tmp_path).items() if not name.startswith("PMO_")}

    def pmo(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `pmo` where nothing is set but where the data are, if that."""
        env = {**kept, "PMO_WORKERS": "2", "COLUMNS": "200", **variables}
        return subprocess.run(
            command(*arguments), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )

    result = pmo("demo")
    assert result.returncode == 0, result.stderr
    release, root = tmp_path / "demo" / "data" / "release", "demo/data"
    for name in ("pubmed_ophtha.parquet", "gallery/index.html", "report.html"):
        assert (release / name).is_file()
        assert name in result.stdout
    assert "pmo dev" in result.stdout
    # its Dagster home lies with it, and what the demo sets for itself makes nothing stale
    assert (tmp_path / root / ".dagster" / "history" / "runs.db").is_file()
    assert not (tmp_path / ".dagster").exists()
    listed = pmo("batches", "list", PMO_DATA_ROOT=root).stdout
    assert listed.count("up to date") == 2, listed
    told = json.loads(pmo("report", "--json", PMO_DATA_ROOT=root).stdout)
    (version,) = json.loads(pmo("release", "list", "--json", PMO_DATA_ROOT=root).stdout)
    assert told["released"]["panels"] == version["panels"] > 0
    assert {item["stage"] for item in told["rejections"]} >= {"articles", "pdf_figures"}
    assert f"no batches yet below {tmp_path / 'data'} (PMO_DATA_ROOT)" in pmo("batches", "list").stdout
    gallery = release / "gallery"
    article = int(registered((gallery / "data" / "catalogue.js").read_bytes())["articles"].split()[0])
    figure = registered((gallery / "data" / "ids" / "0" / "0.js").read_bytes())["clusters"][0]
    reports = [
        {"article_id": article, "figure": figure, "mistake": "type", "panel": "b", "remark": "It is an OCT."},
        {"article_id": article, "figure": "gone", "mistake": "subcaption"},
    ]
    file = tmp_path / "pmo_reports.json"
    file.write_text(json.dumps({"pmo_reports": 1, "reports": reports}))
    result = pmo("annotate", "export", tmp_path / "tasks", "--reports", file, PMO_DATA_ROOT=root)
    assert result.returncode == 0, result.stderr
    assert f"{tmp_path / 'tasks' / 'boxes' / 'tasks.json'} imported" in result.stderr, "what comes next"
    (task,) = json.loads((tmp_path / "tasks" / "boxes" / "tasks.json").read_text())
    assert task["data"]["pmo"]["figure"] == figure
    assert task["data"]["title"].endswith("reported: panel b: an image type is wrong (It is an OCT.)")
    assert f"{article} gone" in " ".join((result.stdout + result.stderr).split())
    batch = json.loads(pmo("batches", "list", "--json", PMO_DATA_ROOT=root).stdout)[0]["batch"]
    said = pmo("batches", "remove", batch, PMO_DATA_ROOT=root).stdout
    leaving = re.search(rf"of release {version['version']}, which keeps them, (\d+) panels of \d+ articles", said)
    assert leaving is not None, said
    assert 0 < int(leaving[1]) < version["panels"]
    assert pmo("batches", "restore", batch, PMO_DATA_ROOT=root).returncode == 0
    assert pmo("batches", "list", PMO_DATA_ROOT=root).stdout == listed
