"""One article registered under three names, taken through the graph: published once, the others listed."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.defs.conftest import settings_below


def three_names(samples: Path, source: Path) -> Path:
    """Copy a sample article under its number, under another name, and under a third one without its XML."""
    name = sorted(path.name for path in (samples / "articles").iterdir())[0]
    shutil.copytree(samples / "articles" / name, source / name)
    shutil.copytree(samples / "articles" / name, source / "author_2024")
    for copy in (source / "author_2024").iterdir():
        if copy.stem == name:
            copy.rename(copy.with_name("article" + copy.suffix))
    pdf = next((source / name).glob("*.pdf"))
    (source / "scan").mkdir()
    shutil.copy(pdf, source / "scan" / "article.pdf")
    for metadata in source.glob("*/metadata.json"):
        metadata.unlink()
    return source


@pytest.mark.slow
def test_an_article_under_three_names_is_published_once_and_its_retraction_takes_it_out(
    sample_folder: Path, tmp_path: Path
) -> None:
    source = three_names(sample_folder, tmp_path / "articles")
    settings = settings_below(tmp_path, specialty="everything")
    defs, registry = build_defs(settings), BatchRegistry(DataRoot(settings.data_root))
    root = registry.data_root

    def release() -> tuple[pl.DataFrame, pl.DataFrame]:
        register_partitions(instance, registry.batches())
        run_job(defs, instance, "process_batch", batch=registry.batches()[-1])
        run_job(defs, instance, "release")
        return (
            pl.read_parquet(io.BytesIO(root.read("release/pubmed_ophtha.parquet"))),
            pl.read_parquet(io.BytesIO(root.read("release/hub/duplicate_articles.parquet"))),
        )

    with dg.DagsterInstance.ephemeral() as instance:
        registry.add(LocalFolder(source), size=9)
        rows, listing = release()
        assert rows.height > 0
        assert rows["article_id"].n_unique() == 1
        assert rows["panel_id"].is_unique().all()
        assert listing.height == 2
        assert set(listing["identifier"]) == {"DOI"}, "the scan's DOI is read from its front page"
        report = root.read("release/report.html").decode()
        assert all(name in report for name in listing["name"])

        (source / "scan" / "metadata.json").write_text(json.dumps({"is_retracted": True}))
        registry.add(LocalFolder(source), size=9)
        rows, listing = release()
        assert rows.height == 0, "the retraction under one name is the article's"
        assert listing["duplicate_of_name"].unique().to_list() == ["scan"]
        assert listing["is_retracted"].all()
