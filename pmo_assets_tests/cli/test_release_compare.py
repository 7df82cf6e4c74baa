"""`pmo release compare` on a small published file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.main import app
from pmo_assets_tests.release.comparing.published_files import (
    as_others_write,
    dataset_table,
    write_published,
    write_release,
)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A published file of two articles; a release of one of them lies below the data root."""
    release = write_release(tmp_path / "data/release/pubmed_ophtha.parquet", dataset_table([1]))
    rows = [as_others_write(row, number) for number, row in enumerate(pl.read_parquet(release).to_dicts())]
    return write_published(tmp_path / "theirs.parquet", [*rows, {**rows[0], "article_id": 9, "panel_id": "p_gt_9"}])


def said(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["release", "compare", *map(str, arguments)], env={"COLUMNS": "200"})
    if result.exception is not None:
        raise result.exception
    return " ".join(result.output.split())


def test_it_says_what_both_have_and_writes_pairs_and_page(published: Path, tmp_path: Path) -> None:
    pairs, page = tmp_path / "pairs.parquet", tmp_path / "page.html"
    text = said(published, "--data-root", tmp_path / "data", "--out", pairs, "--html", page)
    assert "│ panels │ 6 │ 1 │ 0 │ 85.7 % │ 100.0 % │" in text
    assert "article in no batch" in text, "the data root says why"
    assert pl.read_parquet(pairs).height == 7
    assert "A published file and this release" in page.read_text()


def test_a_release_alone_is_enough_and_a_folder_is_its_file(published: Path, tmp_path: Path) -> None:
    folder = tmp_path / "download"
    folder.mkdir()
    published.rename(folder / "pubmed_ophtha.parquet")
    text = said(folder, "--release", tmp_path / "data/release/pubmed_ophtha.parquet")
    assert "the release has no such article" in text


def test_what_is_not_there_is_said(published: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"there is no file .*nothing\.parquet"):
        said(tmp_path / "nothing.parquet")
    with pytest.raises(CommandError, match="no release at"):
        said(published, "--data-root", tmp_path / "other")
    with pytest.raises(CommandError, match="there is no file"):
        said(published, "--release", tmp_path / "other.parquet")
