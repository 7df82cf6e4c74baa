"""`pmo quality`: numbers and pages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo


@pytest.mark.slow
def test_quality_needs_ground_truth_and_processed_batches(pmo: Pmo, sample_folder: Path) -> None:
    done = pmo("quality")
    assert done.returncode == 1
    assert "PMO_ANNOTATIONS" in done.stderr
    done = pmo("quality", "--annotations", sample_folder / "truth")
    assert done.returncode == 1
    assert "run `pmo run`" in done.stderr


@pytest.mark.slow
def test_quality_prints_the_numbers_and_where_the_pages_are(pmo: Pmo, sample_folder: Path, tmp_path: Path) -> None:
    for name in ("PMC9000000001", "PMC9000000002"):
        shutil.copytree(sample_folder / "articles" / name, tmp_path / "articles" / name)
    assert pmo("batches", "add", "--source", tmp_path / "articles").returncode == 0
    assert pmo("run", "--no-release").returncode == 0
    truth = tmp_path / "truth"
    shutil.copytree(sample_folder / "truth", truth)
    (truth / "broken.json").write_text("{")
    done = pmo("quality", "--annotations", truth, COLUMNS="120")
    assert done.returncode == 0, done.stderr
    assert "not usable broken.json" in done.stderr
    for text in ("figure recall", "mean average sentence BLEU", "mAP", "panels assigned", "at 0.75"):
        assert text in done.stdout
    page = tmp_path / "data" / "quality" / "detection_quality.html"
    assert str(page) in done.stdout
    assert page.is_file()

    (truth / "broken.json").unlink()
    for path in truth.glob("PMC900000000[12].json"):
        path.unlink()
    done = pmo("quality", PMO_ANNOTATIONS=str(truth))
    assert done.returncode == 1
    assert "nothing to score" in done.stderr
