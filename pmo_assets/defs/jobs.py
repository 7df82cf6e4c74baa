"""Jobs: one for each thing that people want done, named after it. What they select follows from the graph.

Those of groups that only a job makes (`train`, `evaluate`) are declared there (`job_assets`).

None names an executor: all have the code location's (`PMO_EXECUTOR`), in-process unless set. Starting a process for
each step would cost more than most steps take; the work is in the workers.
"""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

from pmo_assets.defs.graph import BATCH_TAG
from pmo_assets.defs.renewing import renewal
from pmo_assets.records.units import ARTICLE, Unit

_OF_BATCHES = dg.AssetSelection.tag(BATCH_TAG, ARTICLE.name)


def _job(name: str, selection: dg.AssetSelection, description: str) -> dg.UnresolvedAssetJobDefinition:
    return dg.define_asset_job(name, selection=selection, description=description)


def _from_here_on(*assets: str) -> dg.AssetSelection:
    """Select assets with everything of a batch that follows from them."""
    return dg.AssetSelection.assets(*assets).downstream() & _OF_BATCHES


REFRESH = _job(
    "refresh",
    dg.AssetSelection.assets("pmc_inventory", "pmc_candidates", "pmc_batches"),
    "Search PMC for the specialty's articles, and make batches of what is new, changed or retracted. Needs "
    "PMO_ENTREZ_EMAIL. The sensor new_articles does it every day, processes the batches and makes the release.",
)

FETCH_PACKAGES = _job(
    "fetch_packages",
    dg.AssetSelection.assets("article_batch", "article_packages"),
    "Download a batch's files ahead of processing; what was downloaded is not downloaded again.",
)

PROCESS_BATCH = _job(
    "process_batch",
    _OF_BATCHES,
    "Take a batch from its manifest to dataset rows, everything anew. The sensor registered_batches does it for every "
    "batch that is registered.",
)


def job_of_unit(unit: Unit) -> str:
    """Return the name of the job that processes a unit's batches."""
    return PROCESS_BATCH.name if unit == ARTICLE else f"process_{unit.batch}"


def jobs_of_units(units: Iterable[Unit]) -> dict[Unit, dg.UnresolvedAssetJobDefinition]:
    """Return for each of the units but articles the job that takes its batches from the manifest to the last table."""
    return {
        unit: _job(
            job_of_unit(unit),
            dg.AssetSelection.tag(BATCH_TAG, unit.name),
            f"Take a batch of {unit.names} from its manifest to its last table, everything anew.",
        )
        for unit in units
        if unit != ARTICLE
    }


RESPLIT = _job(
    "resplit",
    _from_here_on("subcaptions"),
    "Split the captions of a batch anew, and make what follows: for another language model or prompt. Articles and "
    "figures stay as they are.",
)

REDETECT = _job(
    "redetect",
    _from_here_on("panel_detections"),
    "Look for panels and images of a batch anew, and make what follows: for other detectors, weights or thresholds. "
    "Figures and subcaptions stay as they are.",
)

REASSEMBLE = _job(
    "reassemble",
    _from_here_on("panel_captions", "panel_assembly"),
    "Decide anew which subcaption each panel of a batch has, and make what follows: for another vision model, or after "
    "people decided. Panels and subcaptions stay as they are; images are looked for again, because the words count.",
)

RELEASE = _job(
    "release",
    dg.AssetSelection.assets("retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report"),
    "Make a release of all batches: the published file, the folder for the Hub, gallery and report. While a sensor is "
    "on, it follows by itself.",
)

RENEW = renewal.to_job(
    "renew",
    executor_def=dg.in_process_executor,
    description="Make exactly what is stale: assets of batches that were made with other code or settings than are in "
    "force, that failed or are missing, and what follows from them; as a backfill (Runs → Backfills). One click: "
    "Launchpad → Launch run.",
)

JOBS = (REFRESH, FETCH_PACKAGES, PROCESS_BATCH, RESPLIT, REDETECT, REASSEMBLE, RELEASE, RENEW)
