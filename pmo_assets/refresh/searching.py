"""Search of PMC by the settings, which `pmo refresh`, `pmo pmc find` and the asset `pmc_candidates` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

from pmo_assets.pipeline.articles.relevance import entrez_query, load_specialty
from pmo_assets.records.stores import ObjectStore, SystemicError
from pmo_assets.refresh.finding import Found, find
from pmo_assets.refresh.inventory import latest_inventory, newest_inventory
from pmo_assets.settings import Settings
from pmo_assets.sources.entrez import EntrezOptions, EntrezSearch, pmc_query
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.storage.candidates import Candidates
from pmo_assets.storage.data_root import DataRoot

NO_EMAIL = (
    "set PMO_ENTREZ_EMAIL to your e-mail address: NCBI asks everyone who searches PMC for one, and writes to it "
    "before it blocks anybody; no account is needed"
)


def pmc_options(settings: Settings) -> PmcOptions:
    """Return how PMC's bucket is reached."""
    return PmcOptions(
        bucket=settings.pmc_bucket,
        endpoint=settings.pmc_endpoint,
        concurrency=settings.pmc_concurrency,
        contact=settings.entrez_email,
    )


def entrez_options(settings: Settings) -> EntrezOptions:
    """Return how PMC is searched.

    Raises:
        SystemicError: without an e-mail address.
    """
    if settings.entrez_email is None:
        raise SystemicError(NO_EMAIL)
    key = settings.entrez_api_key
    return EntrezOptions(
        email=settings.entrez_email,
        api_key=key.get_secret_value() if key is not None else None,
        url=settings.entrez_url,
    )


def query_of(settings: Settings) -> str:
    """Return the query for PMC: the specialty's rules, among the articles that the bucket has."""
    return pmc_query(entrez_query(load_specialty(settings.specialty)))


def search_pmc(
    settings: Settings,
    data_root: DataRoot,
    before: Candidates,
    registered: Mapping[tuple[int, int], str],
    objects: ObjectStore | None,
    progress: Callable[[str, int, int], None],
) -> Found:
    """Search PMC as the settings say, look at new and changed articles, and return the renewed candidates; see `find`.

    Raises:
        SystemicError: without an e-mail address, or if PMC cannot be searched or read.
    """
    bucket = PmcBucket(pmc_options(settings))
    cloud = PmcCloud(bucket, objects)
    # Who keeps nothing has not renewed the inventory either.
    inventories = newest_inventory(data_root) if objects is not None else latest_inventory(data_root, bucket)
    with EntrezSearch(entrez_options(settings)) as search, inventories as inventory:
        found = find(
            before,
            search,
            cloud,
            query=query_of(settings),
            inventory=inventory,
            registered=registered,
            limit=settings.refresh_max_articles,
            now=datetime.now(UTC),
            released_from=settings.refresh_from,
            progress=progress,
        )
        return replace(found, notes=(*found.notes, *_narrower(search.warnings)))


def _narrower(warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the note that the query is narrower than it reads, if Entrez said so."""
    if not warnings:
        return ()
    more = f" … and {len(warnings) - _WARNINGS_SHOWN} more" if len(warnings) > _WARNINGS_SHOWN else ""
    return (f"the search is narrower than the specialty reads: {'; '.join(warnings[:_WARNINGS_SHOWN])}{more}",)


_WARNINGS_SHOWN: Final = 10


def released_between(settings: Settings, first: date | None, last: date | None) -> list[int]:
    """Return the numbers of the specialty's articles that PMC released between two days, sorted.

    Raises:
        SystemicError: without an e-mail address, or if PMC cannot be searched.
    """
    with EntrezSearch(entrez_options(settings)) as search:
        return search.article_numbers(query_of(settings), first, last)
