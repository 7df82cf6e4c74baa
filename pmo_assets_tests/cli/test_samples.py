"""`pmo demo`: everything in one command."""

from __future__ import annotations

import json
from pathlib import Path

from pmo_assets_tests.cli.command_line import Pmo
from pmo_assets_tests.viewing.gallery_figures import registered


def test_the_demo_goes_through_and_what_is_reported_in_its_gallery_becomes_a_task(pmo: Pmo, tmp_path: Path) -> None:
    result = pmo("demo", tmp_path / "demo")
    assert result.returncode == 0, result.stderr
    for name in ("pubmed_ophtha.parquet", "gallery/index.html", "report.html"):
        assert (tmp_path / "data" / "release" / name).is_file()
        assert name in result.stdout
    assert "pmo dev" in result.stdout
    gallery = tmp_path / "data" / "release" / "gallery"
    article = int(registered((gallery / "data" / "catalogue.js").read_bytes())["articles"].split()[0])
    figure = registered((gallery / "data" / "ids" / "0" / "0.js").read_bytes())["clusters"][0]
    reports = [
        {"article_id": article, "figure": figure, "mistake": "type", "panel": "b", "remark": "It is an OCT."},
        {"article_id": article, "figure": "gone", "mistake": "subcaption"},
    ]
    file = tmp_path / "pmo_reports.json"
    file.write_text(json.dumps({"pmo_reports": 1, "reports": reports}))
    result = pmo("annotate", "export", tmp_path / "tasks", "--reports", file)
    assert result.returncode == 0, result.stderr
    (task,) = json.loads((tmp_path / "tasks" / "boxes" / "tasks.json").read_text())
    assert task["data"]["pmo"]["figure"] == figure
    assert task["data"]["title"].endswith("reported: panel b: an image type is wrong (It is an OCT.)")
    assert f"{article} gone" in " ".join((result.stdout + result.stderr).split())
