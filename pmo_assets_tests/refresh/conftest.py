"""A PMC on loopback that a test fills, and refreshes of it with a clock of the test's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.records.candidates import CandidateState
from pmo_assets.refresh.finding import Found, find
from pmo_assets.refresh.inventory import newest_inventory, renew_inventory
from pmo_assets.refresh.registering import register_candidates
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.storage.candidates import Candidates, read_candidates, write_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.loopback import CloudArticle, Faults, LoopbackPmc

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def article(number: int, version: int = 1, **facts: Any) -> CloudArticle:
    return CloudArticle(number, version, **{"xml": b"<article/>", "pdf": f"%PDF {number}.{version}".encode(), **facts})


@dataclass
class FixedSearch:
    """A search that returns what it is told to, and notes since when it was asked."""

    numbers: Sequence[int] = ()
    asked: list[date | None] = field(default_factory=list)

    def article_numbers(
        self, query: str, released_from: date | None = None, released_to: date | None = None, progress: Any = None
    ) -> list[int]:
        self.asked.append(released_from)
        return sorted(self.numbers)


@dataclass
class Refreshes:
    """A data root that is refreshed from a PMC on loopback."""

    pmc: LoopbackPmc
    root: DataRoot
    bucket: PmcBucket
    search: FixedSearch = field(default_factory=FixedSearch)

    @property
    def registry(self) -> BatchRegistry:
        return BatchRegistry(self.root)

    @property
    def candidates(self) -> Candidates:
        return read_candidates(self.root)

    @property
    def registered(self) -> dict[tuple[int, int], str]:
        return self.registry.registered("pmc://x")

    def put(self, *articles: CloudArticle) -> None:
        """Put articles into the bucket, and let the search find them."""
        self.pmc.put(*articles)
        self.search.numbers = sorted({*self.search.numbers, *(item.number for item in articles)})

    def inventory(self, at: datetime, **options: Any) -> None:
        """Let the bucket make an inventory, and fetch it."""
        self.pmc.write_inventory(at, **options)
        renew_inventory(self.root, self.bucket, self.candidates.numbers())

    def find(self, now: datetime = NOW, **options: Any) -> Found:
        """Search, look, and keep what is known then."""
        with newest_inventory(self.root) as inventory:
            found = find(
                self.candidates,
                self.search,
                PmcCloud(self.bucket, ContentStore(self.root)),
                **{
                    "query": "eye",
                    "inventory": inventory,
                    "registered": self.registered,
                    "limit": 100,
                    "now": now,
                    **options,
                },
            )
        write_candidates(self.root, found.candidates)
        return found

    def register(self, *, size: int = 100, limit: int = 100) -> list[list[int]]:
        """Make batches, and return the articles of each."""
        added = register_candidates(self.registry, self.candidates, "pmc://pmc-oa-opendata", size=size, limit=limit)
        return [self.registry.manifest(key)["article_id"].to_list() for key, _ in added]

    def state(self, number: int) -> CandidateState:
        (found,) = self.candidates.rows([number])
        return found.state


@pytest.fixture(scope="package")
def loopback() -> Iterator[LoopbackPmc]:
    with LoopbackPmc() as server:
        yield server


@pytest.fixture(scope="package")
def bucket(loopback: LoopbackPmc) -> PmcBucket:
    return bucket_of(loopback)


def bucket_of(pmc: LoopbackPmc) -> PmcBucket:
    return PmcBucket(PmcOptions(endpoint=pmc.endpoint, pause=0.002, read_timeout=5, concurrency=4))


@pytest.fixture
def refreshes(loopback: LoopbackPmc, bucket: PmcBucket, tmp_path: Path) -> Iterator[Refreshes]:
    yield Refreshes(loopback, DataRoot(str(tmp_path / "data")), bucket)
    for key in loopback.object_keys():
        loopback.delete_object(key)
    for number in {number for number, _ in loopback.articles}:
        loopback.delete(number)
    loopback._traffic.answers.clear()
    loopback.faults = Faults()
    loopback.forget_requests()
