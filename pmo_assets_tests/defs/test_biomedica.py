"""BIOMEDICA through the graph: what its labels change, and that nothing changes without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.samples import sample_articles
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.defs.conftest import Graph, settings_below
from pmo_assets_tests.sources.biomedica_set import SetRow, encoded_again, set_article, write_tar

UP_TO_MATCHES = [
    "article_batch", "article_packages", "biomedica_figures", "articles", "package_figures", "biomedica_matches"
]  # fmt: skip
OCT = ("Clinical Imaging", "optical coherence tomography")


def own_rows(labels: tuple[str, str] = OCT) -> list[SetRow]:
    """Rows of all figures of the sample articles."""
    return [
        SetRow(article.article_id, figure.image_cluster_id, figure.caption,
               encoded_again(article.pictures[figure.image_cluster_id], 75), labels, "", None)
        for article in map(set_article, sample_articles()) if article is not None
        for figure in article.figures if figure.image_cluster_id in article.pictures
    ]  # fmt: skip


def materialised(
    folder: Path, articles: Path, instance: dg.DagsterInstance, **options: Any
) -> tuple[Tables, list[str], dg.Definitions]:
    settings = settings_below(folder, **options)
    registry = BatchRegistry(DataRoot(settings.data_root))
    registry.add(LocalFolder(articles), size=9)
    register_partitions(instance, registry.batches())
    defs = build_defs(settings)
    for batch in registry.batches():
        run_job(defs, instance, "process_batch", batch=batch, assets=UP_TO_MATCHES)
    return Tables(registry.data_root), registry.batches(), defs


def read(tables: Tables, asset: str, batches: list[str]) -> pl.DataFrame:
    return pl.concat([tables.read(asset, batch) for batch in batches])


@pytest.fixture(scope="module")
def tar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tar(tmp_path_factory.mktemp("biomedica") / "000000.tar", own_rows())


@pytest.mark.slow  # whole runs: pipeline/articles/test_biomedica holds the rules
def test_labels_are_matched_and_count_for_relevance(
    tar: Path, sample_folder: Path, tmp_path: Path, graph: Graph
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        tables, batches, defs = materialised(tmp_path, sample_folder / "articles", instance, biomedica=str(tar))
        known = dg.AssetRecordsFilter(asset_key=dg.AssetKey("biomedica_figures"))
        made = [record.asset_materialization for record in instance.fetch_materializations(known, limit=9).records]
        files_read = [item.metadata["files_read"].value for item in made if item]
        assert (len(files_read), sum(value == 1 for value in files_read)) == (len(batches), 1), "by the first batch"
        stale = [stale_assets(defs, instance, tables, batch)[0] for batch in batches]
        assert stale == ["pdf_figures"] * len(batches)
        changed = build_defs(settings_below(tmp_path, biomedica=None))
        assert stale_assets(changed, instance, tables, batches[0])[0] == "biomedica_figures"
    matches, figures = read(tables, "biomedica_matches", batches), read(tables, "package_figures", batches)
    assert matches["accepted"].all()
    assert matches.height == figures.filter(pl.col("file").is_not_null()).height > 10
    assert matches["secondary_labels"].explode(empty_as_null=False).unique().to_list() == [OCT[1]]

    without = read(graph.tables, "articles", graph.batches)
    before = {row["article_id"]: row for row in without.iter_rows(named=True)}
    gained = []
    for row in read(tables, "articles", batches).iter_rows(named=True):
        assert [name for name in row["criteria"] if name != "biomedica"] == before[row["article_id"]]["criteria"]
        if row["relevant"] and not before[row["article_id"]]["relevant"]:
            gained.append(row)
    assert gained, "an article with key terms and no term in its captions"
    assert all({"ii", "biomedica"} <= set(row["criteria"]) for row in gained)


def test_without_the_setting_both_tables_are_empty(graph: Graph) -> None:
    for asset in ("biomedica_figures", "biomedica_matches"):
        assert sum(graph.tables.read(asset, batch).height for batch in graph.batches) == 0
    assert not (Path(graph.settings.data_root) / "biomedica").exists()
    reasons = read(graph.tables, "image_detections", graph.batches)["type_reason"]
    assert len(reasons) > 0
    assert not reasons.str.contains("labelled").any()


def test_a_copy_that_cannot_be_read_fails_the_batch_and_says_why(sample_folder: Path, tmp_path: Path) -> None:
    with (
        dg.DagsterInstance.ephemeral() as instance,
        pytest.raises(RunFailed, match=r"biomedica_figures failed.*absent is no folder"),
    ):
        materialised(tmp_path, sample_folder / "articles", instance, biomedica=str(tmp_path / "absent"))


@pytest.mark.slow  # whole runs
def test_a_malformed_row_of_an_article_is_its_rejection(sample_folder: Path, tmp_path: Path) -> None:
    rows = own_rows()
    path = write_tar(tmp_path / "a.tar", [replace(rows[0], labels=("", "")), *rows[1:]])
    with dg.DagsterInstance.ephemeral() as instance:
        tables, batches, _ = materialised(tmp_path, sample_folder / "articles", instance, biomedica=str(path))
    rejected = pl.concat([tables.read_rejections(["biomedica_figures"], batch) for batch in batches])
    (row,) = rejected.iter_rows(named=True)
    assert (row["article_id"], row["error_class"]) == (rows[0].article_id, "MalformedRow")
    assert "it has no labels" in row["message"]
