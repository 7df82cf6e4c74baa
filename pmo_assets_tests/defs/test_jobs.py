"""What people want done is a job with that name, and makes what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.assets.quality import QUALITY_ASSETS
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.jobs import JOBS
from pmo_assets.defs.loading import all_assets, jobs_of_groups, units_at_work
from pmo_assets.defs.partitions import batches_of
from pmo_assets.pipeline.graph import declared_units
from pmo_assets.records.units import ARTICLE, VIDEO
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.defs.conftest import settings_below

BATCH_ASSETS = set(batch_graph(all_assets()).stages)

BEFORE_CAPTIONS = {
    *("article_batch", "article_packages", "articles", "package_figures", "biomedica_figures", "biomedica_matches"),
    *("pdf_figures", "figure_matches", "figures"),
}

MADE: Mapping[str, set[str]] = {
    "refresh": {"pmc_inventory", "pmc_candidates", "pmc_batches"},
    "fetch_packages": {"article_batch", "article_packages"},
    "process_batch": BATCH_ASSETS,
    "resplit": BATCH_ASSETS - BEFORE_CAPTIONS,
    "redetect": BATCH_ASSETS - BEFORE_CAPTIONS - {"subcaptions"},
    "reassemble": BATCH_ASSETS - BEFORE_CAPTIONS - {"subcaptions", "panel_detections"},
    "release": {"retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report"},
}

OPS: Mapping[str, set[str]] = {
    "evaluate": {*QUALITY_ASSETS, "annotation_quality"},
    "train": {"synthetic_figures", "figure_network", "mark_classifier", "image_type_network"},
    "encode": {"dual_encoder", "release_embeddings"},
    "renew": {"renew_what_is_stale"},
}


@pytest.fixture(scope="module")
def defs() -> dg.Definitions:
    return build_defs()


def test_there_is_a_job_for_each_thing_that_people_want_done() -> None:
    jobs = [*JOBS, *jobs_of_groups()]
    assert {job.name for job in jobs} == {*MADE, *OPS}
    assert all(job.description for job in jobs)


@pytest.mark.parametrize("job", MADE)
def test_a_job_makes_what_its_name_says_and_all_that_follows(defs: dg.Definitions, job: str) -> None:
    selected = defs.resolve_job_def(job).asset_layer.selected_asset_keys
    assert {key.path[-1] for key in selected} == MADE[job]


@pytest.mark.parametrize("job", OPS)
def test_what_only_its_job_makes_has_an_op_for_it(defs: dg.Definitions, job: str) -> None:
    assert {op.name for op in defs.resolve_job_def(job).all_node_defs if isinstance(op, dg.OpDefinition)} == OPS[job]


def test_materialize_all_lets_people_choose_batches_until_there_are_two_kinds_of_them(tmp_path: Path) -> None:
    """The UI asks for partitions of a selection whose assets have those of one unit (its roots, as Dagster has it)."""
    settings = settings_below(tmp_path)
    alone = build_defs(settings).resolve_asset_graph()
    made = {alone.get(key).partitions_def for key in alone.materializable_asset_keys} - {None}
    assert made == {batches_of(ARTICLE)}
    DataRoot(settings.data_root).write(f"{VIDEO.folder}manifests/0001-a.parquet", b"")
    both = build_defs(settings)
    graph = both.resolve_asset_graph()
    selected = both.resolve_job_def("process_video_batch").asset_layer.selected_asset_keys
    assert selected == {
        key for key in graph.materializable_asset_keys if graph.get(key).partitions_def == batches_of(VIDEO)
    }
    assert set(graph.get_all_asset_keys()) == set(alone.get_all_asset_keys())


@pytest.mark.slow  # the S3 client tries again
def test_a_data_root_that_cannot_be_asked_hides_nothing(tmp_path: Path) -> None:
    settings = settings_below(tmp_path).model_copy(
        update={"data_root": "s3://bucket/root", "s3_endpoint": "http://127.0.0.1:1"}
    )
    assert units_at_work(settings) == list(declared_units())


def test_all_jobs_load_together(defs: dg.Definitions) -> None:
    """Names of ops are unique over a whole code location; nothing else finds that out before the UI does."""
    assert {job.name for job in defs.get_repository_def().get_all_jobs()} >= {*MADE, *OPS}
