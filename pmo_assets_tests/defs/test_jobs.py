"""What people want done is a job with that name, and makes what follows from it."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.assets.quality import QUALITY_ASSETS
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.jobs import JOBS
from pmo_assets.defs.loading import all_assets, jobs_of_groups

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


def test_all_jobs_load_together(defs: dg.Definitions) -> None:
    """Names of ops are unique over a whole code location; nothing else finds that out before the UI does."""
    assert {job.name for job in defs.get_repository_def().get_all_jobs()} >= {*MADE, *OPS}
