"""Whether there is anything new to release: what sensor and schedule ask before they request a release."""

from __future__ import annotations

import hashlib
from typing import Final

import dagster as dg

from pmo_assets.records.videos import VIDEO_INSTRUCTIONS
from pmo_assets.release.standing import waiting_statements
from pmo_assets.storage.candidates import known_of_pmc
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.removed import articles_taken_out, removed_batches
from pmo_assets.storage.tables import Tables

LAST_TABLES: Final = ("dataset_rows", "verdicts", VIDEO_INSTRUCTIONS)
"""Those of a release's tables of batches that are made last: whatever changes before them makes them anew.

What people say of instructions changes `verdicts` alone.
"""

WITHDRAWN = "withdrawn"
"""Metadata of a release under which it says which withdrawn articles it knew of."""

RELEASE_TAG = "pmo/release"
"""Tag of a run that makes a release: what it was to be made of (`release_state`)."""


def withdrawn_digest(data_root: DataRoot) -> str:
    """Return a short hash of what is said about articles without rows being made.

    By PMC: versions that are gone or do not count, retractions, changed licences; and by the manifests of batches that
    are not done: retractions and licences of articles that a release holds. By people: batches and articles
    that they removed.
    """
    known = known_of_pmc(data_root)
    words = [f"{article}.{version}" for article, version in sorted(known.withdrawn)]
    words += [f"passed over {article}.{version}" for article, version in sorted(known.passed_over)]
    words += [f"retracted {article}" for article in sorted(known.retracted)]
    words += [f"stated {article}.{version} {code}" for article, version, code in sorted(known.changed)]
    words += [f"removed {batch}" for batch in sorted(removed_batches(data_root))]
    words += [f"taken out {number}" for number in sorted(articles_taken_out(data_root))]
    words += waiting_statements(Tables(data_root))
    return hashlib.sha256(",".join(words).encode()).hexdigest()[:12]


def _newest(instance: dg.DagsterInstance, asset: str) -> dg.EventLogRecord | None:
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=1).records
    return records[0] if records else None


def _newest_rows(instance: dg.DagsterInstance) -> dg.EventLogRecord | None:
    """Return the newest record of rows that a release is made of: of articles, instructions or lecture videos."""
    found = [record for asset in LAST_TABLES if (record := _newest(instance, asset)) is not None]
    return max(found, key=lambda record: record.storage_id, default=None)


def release_state(instance: dg.DagsterInstance, data_root: DataRoot) -> str:
    """Return a name for what a release would be made of: the newest rows and the articles that are withdrawn."""
    rows = _newest_rows(instance)
    return f"{rows.storage_id if rows is not None else 0}-{withdrawn_digest(data_root)}"


def release_is_due(instance: dg.DagsterInstance, data_root: DataRoot) -> bool:
    """Say whether rows were made, or articles withdrawn or brought back, since the last release.

    A new home knows of no rows that another one made; what is withdrawn counts there all the same.
    """
    rows, release = _newest_rows(instance), _newest(instance, "pubmed_ophtha")
    if release is None:
        return rows is not None
    if rows is not None and release.storage_id < rows.storage_id:
        return True
    made = release.asset_materialization
    known = made.metadata.get(WITHDRAWN) if made is not None else None
    return (known.value if known is not None else withdrawn_digest(data_root)) != withdrawn_digest(data_root)
