"""Batches that are registered, processed or not: manifests as sources state them, and PMC's word beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pmo_assets.records.candidates import Candidate, CandidateState, KnownVersion
from pmo_assets.records.packages import PackageFile, PackageListing
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.storage.candidates import Candidates, read_candidates, write_candidates
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.articles import ArticleBatch
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.release.finished import finish

PMC: Final = "pmc://pmc-oa-opendata"
FOLDER: Final = "file:///articles"
NOW: Final = datetime(2026, 1, 15, tzinfo=UTC)


def listing(number: int, facts: Mapping[str, Any]) -> PackageListing:
    """Return what a source lists of a package; "code" is its licence, "pdf" the digest of its PDF."""
    pdf = str(facts.get("pdf", number))
    rights = (facts.get("code", "CC BY"), facts.get("is_retracted", False), facts.get("license_unknown", False))
    return PackageListing(
        article_id=number,
        name=facts.get("name", f"n{number}"),
        version=facts.get("version", 1),
        license_code=rights[0],
        is_retracted=rights[1],
        title=facts.get("stated_title"),
        citation=None,
        files=(PackageFile("pdf", f"{number}/article.pdf", 1, pdf),),
        digest=facts.get("digest", f"{rights} {pdf} {facts.get('version', 1)}"),
        is_manuscript=facts.get("is_manuscript", False),
        doi=facts.get("doi"),
        license_unknown=rights[2],
    )


def register(tables: Tables, batch: str, packages: Mapping[int, Mapping[str, Any]], source: str = PMC) -> None:
    """Write the manifest of a batch that nobody has processed."""
    rows = manifest_rows([listing(number, facts) for number, facts in packages.items()], source)
    tables.data_root.write(f"manifests/{batch}.parquet", parquet_bytes(checked(ArticleBatch, rows)))


def process(tables: Tables, batch: str, packages: Mapping[int, Mapping[str, Any]], source: str = PMC) -> None:
    """Write the manifest of a batch, and what choosing the articles of a release reads of it."""
    register(tables, batch, packages, source)
    finish(tables, batch, packages, facts_only=True)


def process_whole(tables: Tables, batch: str, packages: Mapping[int, Mapping[str, Any]], source: str = PMC) -> None:
    """Write the manifest of a batch, and all that comes of it, with pictures."""
    register(tables, batch, packages, source)
    finish(tables, batch, packages)


def at_pmc(tables: Tables, number: int, **facts: Any) -> None:
    """Let PMC state something of an article, as the last refresh saw it."""
    stated = dataclasses.replace(listing(number, facts), name=f"PMC{number}.{facts.get('version', 1)}")
    versions = (KnownVersion(stated.version, "e", NOW),)
    known = Candidate(number, CandidateState.AVAILABLE, NOW, versions=versions, listing=stated)
    write_candidates(tables.data_root, _known(tables).updated([known]))


def _known(tables: Tables) -> Candidates:
    return read_candidates(tables.data_root)
