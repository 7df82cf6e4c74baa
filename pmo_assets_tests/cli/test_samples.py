"""`pmo demo`: everything in one command."""

from __future__ import annotations

from pathlib import Path

from pmo_assets_tests.cli.command_line import Pmo


def test_the_demo_goes_through_and_says_where_everything_is(pmo: Pmo, tmp_path: Path) -> None:
    result = pmo("demo", tmp_path / "demo")
    assert result.returncode == 0, result.stderr
    for name in ("pubmed_ophtha.parquet", "gallery/index.html", "report.html"):
        assert (tmp_path / "data" / "release" / name).is_file()
        assert name in result.stdout
    assert "pmo dev" in result.stdout
