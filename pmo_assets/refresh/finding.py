"""Finding the articles of a search, and their present state in PMC's bucket.

The search says which articles are wanted, the inventory which of them changed since they were looked at. New, changed
or missing ones are looked at in the bucket itself, so that a damaged inventory removes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

import polars as pl

from pmo_assets.records.candidates import Candidate, CandidateState, KnownVersion, with_event
from pmo_assets.records.packages import FileMissing, SourceError
from pmo_assets.records.rejections import ArticleError
from pmo_assets.sources.pmc_cloud import ArticleVersion, PmcCloud
from pmo_assets.sources.pmc_inventory import versions_of
from pmo_assets.storage.candidates import Candidates, waiting
from pmo_assets.tables.pmc import VERSION_COLUMNS, PmcCandidates
from pmo_assets.tables.schemas import empty_table

OVERLAP: Final = timedelta(days=14)
"""Time that a search goes back behind the last one: records appear days after the date that they bear."""

COMPLETE_EVERY: Final = timedelta(days=30)
"""Interval at which all articles are searched for: one that becomes open access, or gets MeSH headings, long after PMC
released it keeps the date of its release, and a search that goes on from the last one never finds it."""

OUTDATED: Final = timedelta(days=7)
"""An inventory that is older says nothing about now: PMC makes one a day, unless it has ceased to or changed them."""

MANY_REMOVED: Final = 10
"""So many articles that vanish at once are looked into when they are a large share of all (`SHARE_REMOVED`)."""

SHARE_REMOVED: Final = 0.25
"""PMC removes single articles; a quarter is gone when the bucket is another one, or a mirror is half filled."""

PATIENCE: Final = timedelta(days=60)
"""Time for which an article that a search found and the bucket does not hold is looked for, without an inventory."""


class Search(Protocol):
    """A search for articles (`sources.entrez`)."""

    def article_numbers(
        self,
        query: str,
        released_from: date | None = None,
        released_to: date | None = None,
        progress: Callable[[int, int], None] = ...,
    ) -> list[int]:
        """Return the numbers of the articles that PMC released between two days (None: no limit), sorted."""
        ...


@dataclass(frozen=True)
class Inventoried:
    """The newest inventory of the bucket: its Parquet file, and the time at which it was made (UTC)."""

    file: Path
    made_at: datetime


@dataclass(frozen=True)
class Found:
    """Result of a search and a look at the bucket.

    Attributes:
        candidates: state of the candidates now.
        since: articles were searched for that PMC released on this day or later; None for all.
        searched: number of articles that the search returned.
        added: of them the number that no search had returned before.
        looked_at: candidates that were looked at in the bucket.
        events: number of events, by kind.
        notes: sentences for people.
    """

    candidates: Candidates
    since: date | None
    searched: int
    added: int
    looked_at: tuple[int, ...]
    events: Mapping[str, int]
    notes: tuple[str, ...] = ()


def search_from(before: Candidates, query: str, released_from: date | None, today: date) -> date | None:
    """Return the day from which on articles are searched for; None for all.

    It is `OVERLAP` before the last search. All are searched for when the query or the limit is another one, every
    `COMPLETE_EVERY`, or when the last search lies in the future: then the clock was wrong at that time, and what it
    missed is not known.
    """
    known = before.searched_on
    if known is None or known > today or is_another_search(before, query, released_from):
        return released_from
    if before.complete_on is not None and today - before.complete_on >= COMPLETE_EVERY:
        return released_from
    since = known - OVERLAP
    return max(since, released_from) if released_from is not None else since


def is_another_search(before: Candidates, query: str, released_from: date | None) -> bool:
    """Say whether the articles that are known were found by another query, or within another limit of days."""
    return before.query != query or before.searched_from != released_from


def still_wanted(before: Candidates, numbers: Sequence[int], registered: Iterable[tuple[int, int]]) -> Candidates:
    """Return the candidates without the articles that only another search wanted.

    Articles of batches are followed further, and retracted or removed ones are remembered.

    Args:
        before: the candidates, by another query or limit.
        numbers: article numbers that the present search found, of all.
        registered: (article number, version) of the articles of batches.
    """
    wanted = pl.Series([*numbers, *(article for article, _ in registered)], dtype=pl.Int64)
    gone = pl.col("versions").list.eval(~pl.element().struct.field("present")).list.any()
    remembered = (
        (pl.col("state") == CandidateState.REMOVED.value) | pl.col("is_retracted").fill_null(value=False) | gone
    )
    return replace(before, table=before.table.filter(pl.col("article_id").is_in(wanted.implode()) | remembered))


def found_rows(
    before: Candidates, numbers: Iterable[int], registered: Iterable[tuple[int, int]], now: datetime
) -> pl.DataFrame:
    """Return rows (`PmcCandidates`) of the article numbers that are not among those known.

    Columns, no records: a search without a filter has millions.

    Args:
        before: the candidates.
        numbers: article numbers that a search found.
        registered: (article number, version) of the articles of batches: an article is followed as long as rows are
            made of it, and these versions were there once, so that their removal shows also when the table was deleted.
        now: the time, UTC.
    """
    schema = empty_table(PmcCandidates).schema
    held = pl.DataFrame(
        list(registered), schema={"article_id": pl.Int64, "version": pl.Int64}, orient="row"
    ).with_columns(etag=pl.lit(""), last_modified=pl.lit(_UNKNOWN_TIME), present=pl.lit(value=True))
    versions = (
        held.sort("article_id", "version")
        .group_by("article_id", maintain_order=True)
        .agg(pl.struct(*VERSION_COLUMNS).alias("versions").cast(schema["versions"].inner))  # type: ignore[attr-defined]
    )
    wanted = pl.concat([pl.Series("article_id", numbers, pl.Int64), versions["article_id"]]).unique().sort().to_frame()
    return (
        wanted.join(before.table.select("article_id"), on="article_id", how="anti", maintain_order="left")
        .join(versions, on="article_id", how="left", maintain_order="left")
        .with_columns(
            pl.col("versions").fill_null([]),
            state=pl.lit(CandidateState.FOUND.value),
            found_at=pl.lit(now),
        )
        .select(
            (pl.col(name) if name in _FOUND_COLUMNS else pl.lit(None)).cast(kind).alias(name)
            for name, kind in schema.items()
        )
    )


_FOUND_COLUMNS: Final = ("article_id", "state", "found_at", "versions")

_UNKNOWN_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)


def suspects(candidates: Candidates, inventory: Inventoried) -> list[int]:
    """Return the articles of which an inventory differs from the state seen last, sorted.

    It differs by a version that is new, was changed after it was seen, or is missing although it is older than the
    inventory. Articles that were not found in the bucket are looked up as well.
    """
    states = (CandidateState.AVAILABLE, CandidateState.REMOVED, CandidateState.ABSENT, CandidateState.UNUSABLE)
    followed = candidates.numbers(*states)
    if followed.is_empty():
        return []
    listed = versions_of(inventory.file, followed).select(
        pl.col("article_id").cast(pl.Int64),
        pl.col("version").cast(pl.Int64),
        pl.col("etag").alias("listed_etag"),
        pl.col("last_modified").cast(pl.Datetime("us", "UTC")).alias("listed_at"),
    )
    seen = (
        candidates.table.filter(pl.col("article_id").is_in(followed.implode()))
        .select("article_id", "versions")
        .explode("versions", empty_as_null=False)
        .unnest("versions")
        .filter("present")
    )
    both = seen.join(listed, on=["article_id", "version"], how="full", coalesce=True)
    unseen = pl.col("etag").is_null()
    # an inventory without dates cannot say that it is older than what was seen, nor can one of the same second
    later = (pl.col("listed_at") >= pl.col("last_modified")).fill_null(value=True)
    changed = (pl.col("etag") != pl.col("listed_etag")) & later
    missing = pl.col("listed_etag").is_null() & (pl.col("last_modified") < inventory.made_at)
    return both.filter(unseen | changed | missing)["article_id"].unique().sort().to_list()


def without_inventory(candidates: Candidates, now: datetime) -> list[int]:
    """Return the articles that are looked at when there is no inventory: all, but absent ones not for ever."""
    seen = candidates.numbers(CandidateState.AVAILABLE, CandidateState.UNUSABLE, CandidateState.REMOVED)
    absent = candidates.table.filter(
        pl.col("state") == CandidateState.ABSENT.value, pl.col("found_at") > now - PATIENCE
    )["article_id"]
    return [*seen, *absent]


def looked_at(candidate: Candidate, cloud: PmcCloud, now: datetime) -> Candidate:
    """Return a candidate as the bucket has it now.

    Metadata that cannot be read makes no candidate unusable that was usable: it stays as it was, with the problem, and
    is looked at again.

    Raises:
        SourceError: if the bucket cannot be read.
    """
    try:
        versions = cloud.versions(candidate.article_id)
        if not versions:
            return with_event(candidate, _gone(candidate), now)
        listing = cloud.best_of(versions)
    except ArticleError as error:
        # also what was removed between the listing and the reading: the next look will see
        removed = isinstance(error, FileMissing)
        state = CandidateState.UNUSABLE if candidate.listing is None else candidate.state
        return replace(
            candidate, state=state, problem="its metadata was removed while it was read" if removed else str(error)
        )
    after = replace(
        candidate,
        state=CandidateState.AVAILABLE,
        versions=_seen(candidate.versions, versions),
        listing=listing,
        problem=None,
    )
    return with_event(candidate, after, now)


def _gone(candidate: Candidate) -> Candidate:
    if candidate.listing is None and not candidate.versions:
        return replace(candidate, state=CandidateState.ABSENT, problem="PMC's bucket does not hold it (yet)")
    versions = tuple(replace(version, present=False) for version in candidate.versions)
    return replace(
        candidate, state=CandidateState.REMOVED, versions=versions, problem="PMC's bucket no longer holds it"
    )


def _seen(before: Sequence[KnownVersion], now: Sequence[ArticleVersion]) -> tuple[KnownVersion, ...]:
    present = {item.version: KnownVersion(item.version, item.etag, item.last_modified.astimezone(UTC)) for item in now}
    gone = {item.version: replace(item, present=False) for item in before if item.version not in present}
    return tuple(value for _, value in sorted({**gone, **present}.items()))


def find(
    before: Candidates,
    search: Search,
    cloud: PmcCloud,
    *,
    query: str,
    inventory: Inventoried | None,
    registered: Mapping[tuple[int, int], str],
    limit: int,
    now: datetime,
    released_from: date | None = None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Found:
    """Search PMC, look at new and changed articles in the bucket, and return the renewed candidates.

    Args:
        before: the candidates of the last time.
        search: finds article numbers.
        cloud: the bucket.
        query: the search's query.
        inventory: the bucket's newest inventory; without one, or if it is `OUTDATED`, every candidate is looked at.
        registered: digest by (article number, version) of the articles of batches.
        limit: so many articles at most wait to be registered for the first time; further ones are looked at later.
        now: the time, UTC.
        released_from: articles that PMC released earlier are not searched for.
        progress: told of (what is done, how much of it, of how many).

    Raises:
        SourceError: if PMC cannot be searched or read. Metadata that was read by then is kept by `cloud.objects`.
    """
    notes: list[str] = []
    since = search_from(before, query, released_from, now.date())
    numbers = search.article_numbers(query, since, None, lambda done, total: progress("search", done, total))
    if since == released_from and is_another_search(before, query, released_from):
        before = still_wanted(before, numbers, registered)
    complete_on = now.date() if since == released_from else before.complete_on
    fresh = found_rows(before, numbers, registered, now)
    known = replace(
        before.with_rows(fresh),
        query=query,
        searched_on=now.date(),
        searched_from=released_from,
        complete_on=complete_on,
    )
    if inventory is not None and now - inventory.made_at < OUTDATED:
        again = suspects(known, inventory)
        with_problem = known.table.filter(pl.col("problem").is_not_null(), pl.col("state").is_in(_READABLE))
        again += with_problem["article_id"].to_list()
    else:
        again = without_inventory(known, now)
        if again:
            reason = "no inventory that can be read"
            if inventory is not None:
                reason = f"no inventory that is newer than {inventory.made_at:%Y-%m-%d}"
            notes.append(f"the bucket has {reason}: all {len(again)} articles were looked at")
    # What is in batches and was not looked at, because the table was deleted, is nothing new that a limit holds back.
    found = known.numbers(CandidateState.FOUND)
    held = pl.Series([article for article, _ in registered], dtype=pl.Int64).unique()
    again += found.filter(found.is_in(held.implode())).to_list()
    room = max(0, limit - waiting(known, registered).filter(~pl.col("held")).height)
    backlog = found.filter(~found.is_in(held.implode())).sort(descending=True)
    chosen = sorted({*again, *backlog.head(room)})
    if backlog.len() > room:
        notes.append(f"{backlog.len() - room} further articles wait: a refresh takes in {limit} at most")
    candidates = list(_looked_at(known.rows(chosen), cloud, now, progress))
    _must_be_plausible(known, candidates, cloud)
    happened = [item.event for item in candidates if item.event is not None and item.event_at == now]
    return Found(
        candidates=known.updated(candidates),
        since=since,
        searched=len(numbers),
        added=fresh.height,
        looked_at=tuple(item.article_id for item in candidates),
        events=Counter(str(event) for event in happened),
        notes=tuple(notes),
    )


_READABLE: Final = [CandidateState.AVAILABLE.value, CandidateState.UNUSABLE.value]
"""States in which a problem is one of the metadata, which may be mended."""


def _must_be_plausible(before: Candidates, after: Sequence[Candidate], cloud: PmcCloud) -> None:
    """Refuse to believe that a large share of the articles was removed at once.

    Raises:
        SourceError: if so.
    """
    available = set(before.numbers(CandidateState.AVAILABLE))
    gone = sum(item.state is CandidateState.REMOVED and item.article_id in available for item in after)
    if gone >= MANY_REMOVED and gone > SHARE_REMOVED * len(available):
        raise SourceError(
            f"{gone} of {len(available)} articles that {cloud.uri} held are no longer there: see that PMO_PMC_BUCKET "
            "and PMO_PMC_ENDPOINT are right and a mirror is complete; nothing was changed. If they are really gone, "
            "delete pmc/candidates.parquet below the data root and refresh again: then it is believed"
        )


def _looked_at(
    candidates: Sequence[Candidate], cloud: PmcCloud, now: datetime, progress: Callable[[str, int, int], None]
) -> Iterator[Candidate]:
    with ThreadPoolExecutor(cloud.bucket.options.concurrency) as pool:
        futures = [pool.submit(looked_at, candidate, cloud, now) for candidate in candidates]
        try:
            for done, future in enumerate(futures, start=1):
                yield future.result()
                progress("look", done, len(candidates))
        except BaseException as error:
            if not isinstance(error, Exception):  # who interrupts need not wait for the repetitions of requests
                cloud.bucket.stop()
            raise
        finally:
            for future in futures:
                future.cancel()
