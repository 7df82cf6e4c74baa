"""Jobs: one finds articles at PMC, one takes a batch through the whole chain, one makes a release of all batches."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs.article_table import BATCH_TAG
from pmo_assets.defs.assets.quality import PEOPLE_ASSETS, QUALITY_ASSETS

# In-process: starting a process for each step would cost more than most steps take; the work is in the workers.
PROCESS_BATCH = dg.define_asset_job(
    "process_batch",
    selection=dg.AssetSelection.tag(BATCH_TAG, ""),
    executor_def=dg.in_process_executor,
    description="Take one article batch from its manifest to dataset rows.",
)

MEASURE_QUALITY = dg.define_asset_job(
    "measure_quality",
    selection=dg.AssetSelection.assets(*QUALITY_ASSETS, *PEOPLE_ASSETS),
    executor_def=dg.in_process_executor,
    description="Compare what the pipeline found with annotated articles (PMO_ANNOTATIONS).",
)

MAKE_RELEASE = dg.define_asset_job(
    "make_release",
    selection=dg.AssetSelection.assets("retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report"),
    executor_def=dg.in_process_executor,
    description="Make a release of all batches: the published file, the folder for the Hub, gallery and report.",
)

FIND_ARTICLES = dg.define_asset_job(
    "find_articles",
    selection=dg.AssetSelection.assets("pmc_inventory", "pmc_candidates", "pmc_batches"),
    executor_def=dg.in_process_executor,
    description="Search PMC for the specialty's articles, and make batches of what is new, changed or retracted.",
)

FETCH_PACKAGES = dg.define_asset_job(
    "fetch_packages",
    selection=dg.AssetSelection.assets("article_batch", "article_packages"),
    executor_def=dg.in_process_executor,
    description="Download a batch's files ahead of processing; what was downloaded is not downloaded again.",
)
