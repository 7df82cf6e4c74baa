"""Tables of the group `pmc`: what PMC's bucket holds, and the articles of it that a specialty follows."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.records.candidates import CandidateState, Event
from pmo_assets.tables.articles import FILE_COLUMNS, PROBLEM_COLUMNS
from pmo_assets.tables.columns import ArticleKey

VERSION_COLUMNS: dict[str, dy.Column] = {
    "version": dy.Int64(),
    "etag": dy.String(),
    "last_modified": dy.Datetime(time_unit="us", time_zone="UTC"),
    "present": dy.Bool(),
}
"""A version of an article (`records.candidates.KnownVersion`)."""


class PmcInventory(dy.Schema):
    """Every version of every article that PMC's bucket holds, as its newest daily inventory lists them."""

    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    version = dy.Int64(min=1, description="Version of the article")
    etag = dy.String(description="ETag of the version's metadata file, which names the MD5 of every file")
    last_modified = dy.Datetime(time_unit="us", time_zone="UTC", description="When the metadata file was changed last")


class PmcCandidates(ArticleKey):
    """The articles that a search of PMC found for the specialty, and the version of each that counts."""

    state = dy.Enum(
        [state.value for state in CandidateState],
        description="found: not looked at yet; absent: the bucket does not hold it (yet); available: it can be "
        "registered; unusable: its metadata cannot be read; removed: the bucket no longer holds it",
    )
    found_at = dy.Datetime(time_unit="us", time_zone="UTC", description="When a search found it first")
    event = dy.Enum(
        [event.value for event in Event],
        nullable=True,
        description="What happened to it last: new, changed, superseded (another version counts), retracted, restored, "
        "removed; null as long as nothing did",
    )
    event_at = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="When that was noticed")
    problem = dy.String(nullable=True, description="Why it cannot be registered")
    versions = dy.List(
        dy.Struct(VERSION_COLUMNS),
        description="Every version that was ever seen: ETag and time of its metadata file, whether it is still there",
    )
    name = dy.String(nullable=True, description="Version that counts, e.g. PMC10009416.1; null when there is none")
    version = dy.Int64(nullable=True, min=1, description="Its number")
    digest = dy.String(nullable=True, description="SHA-256 over its file names, checksums and stated metadata")
    license_code = dy.String(nullable=True, description="Licence code the metadata states")
    is_retracted = dy.Bool(nullable=True, description="A version's metadata says the article is retracted")
    is_manuscript = dy.Bool(nullable=True, description="Author manuscript")
    title = dy.String(nullable=True, description="Title")
    citation = dy.String(nullable=True, description="Citation")
    doi = dy.String(nullable=True, description="Digital object identifier")
    license_unknown = dy.Bool(nullable=True, description="The metadata cannot be read and may state a licence")
    files = dy.List(dy.Struct(FILE_COLUMNS), nullable=True, description="PDF, XML and pictures with their MD5")
    problems = dy.List(dy.Struct(PROBLEM_COLUMNS), nullable=True, description="Files that are left out")


SCHEMAS: dict[str, type[dy.Schema]] = {
    "pmc_inventory": PmcInventory,
    "pmc_candidates": PmcCandidates,
}
"""The schema of each asset of the group that is a table."""
