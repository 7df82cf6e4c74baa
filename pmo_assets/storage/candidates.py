"""The table of candidates below the data root: one row for every article that a search of PMC ever found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.records.candidates import Candidate, CandidateState, Event, KnownVersion
from pmo_assets.records.packages import PackageListing
from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.tables.pmc import PmcCandidates
from pmo_assets.tables.rows import record_of
from pmo_assets.tables.schemas import checked, empty_table

CANDIDATES_KEY = "pmc/candidates.parquet"

_STATE = "pmo/search"
"""Key of the Parquet metadata that hold the state of the search: table and state are written at once."""

_DAYS = ("searched_on", "searched_from", "complete_on")
"""Attributes of `Candidates` that the metadata hold as dates, beside the query."""

_ROWS_AT_ONCE = 200_000
"""Rows whose nested columns are worked on in one go: of millions that takes gigabytes."""

_HAS_PDF = pl.col("files").list.eval(pl.element().struct.field("role") == "pdf").list.any()

_LISTING_COLUMNS = tuple(item.name for item in fields(PackageListing) if item.name != "article_id")


@dataclass(frozen=True)
class Candidates:
    """Candidates among PMC's articles, and the state of the search for them.

    Attributes:
        table: one row per article (`PmcCandidates`).
        query: the search that found them; another one begins anew.
        searched_on: day (UTC) of the last search: the next one goes on from there.
        searched_from: articles that PMC released before this day were not searched for; None if all were.
        complete_on: day (UTC) of the last search that did not only go on from the one before.
    """

    table: pl.DataFrame = field(default_factory=lambda: empty_table(PmcCandidates))
    query: str = ""
    searched_on: date | None = None
    searched_from: date | None = None
    complete_on: date | None = None

    def numbers(self, *states: CandidateState) -> pl.Series:
        """Return the article numbers of the candidates, or of those in some states."""
        table = self.table.filter(pl.col("state").is_in([state.value for state in states])) if states else self.table
        return table["article_id"]

    def rows(self, articles: Iterable[int]) -> list[Candidate]:
        """Return some articles' candidates, in the table's order."""
        return candidates_of(self.table.filter(pl.col("article_id").is_in(list(articles))))

    def updated(self, candidates: Sequence[Candidate]) -> Candidates:
        """Return the table with some candidates' rows replaced or added."""
        return self.with_rows(checked(PmcCandidates, [_row(item) for item in candidates]))

    def with_rows(self, rows: pl.DataFrame) -> Candidates:
        """Return the table with some rows (`PmcCandidates`) replaced or added.

        Slice by slice, and only where something changes: sorting millions of rows with nested columns takes gigabytes.
        """
        parts: list[pl.DataFrame] = []
        left = rows
        for part in self.table.iter_slices(_ROWS_AT_ONCE):
            inside = pl.col("article_id") <= part["article_id"][-1]
            parts.append(_merged(part, left.filter(inside)))
            left = left.filter(~inside)
        return replace(self, table=pl.concat([*parts, left.sort("article_id")], rechunk=False))


def _merged(kept: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    if rows.is_empty():
        return kept
    kept = kept.join(rows.select("article_id"), on="article_id", how="anti")
    return pl.concat([kept, rows]).sort("article_id")


def _row(candidate: Candidate) -> dict[str, Any]:
    row: dict[str, Any] = {
        "article_id": candidate.article_id,
        "state": candidate.state.value,
        "found_at": candidate.found_at,
        "event": candidate.event.value if candidate.event is not None else None,
        "event_at": candidate.event_at,
        "problem": candidate.problem,
        "versions": [asdict(version) for version in candidate.versions],
    }
    if candidate.listing is not None:
        listing = asdict(candidate.listing)
        row |= {name: listing[name] for name in _LISTING_COLUMNS}
        row |= {"files": list(row["files"]), "problems": list(row["problems"])}
    return row


def candidates_of(table: pl.DataFrame) -> list[Candidate]:
    """Return the rows of a table `PmcCandidates` as records."""
    return [
        Candidate(
            article_id=row["article_id"],
            state=CandidateState(row["state"]),
            found_at=row["found_at"],
            versions=tuple(KnownVersion(**version) for version in row["versions"]),
            listing=record_of(PackageListing, row) if row["name"] is not None else None,
            event=Event(row["event"]) if row["event"] is not None else None,
            event_at=row["event_at"],
            problem=row["problem"],
        )
        for row in table.iter_rows(named=True)
    ]


def read_candidates(data_root: DataRoot) -> Candidates:
    """Return the candidates below a data root; none before the first refresh.

    Raises:
        StorageError: if the table is damaged or of another version.
    """
    table, stated = _read(data_root, list(PmcCandidates.columns()))
    if stated is None:
        return Candidates()
    state = json.loads(stated)
    days = {name: date.fromisoformat(state[name]) if state.get(name) else None for name in _DAYS}
    return Candidates(table, state["query"], **days)


_ANEW = "delete it and run `pmo refresh`: what is in batches is found again and not registered twice"


def _read(data_root: DataRoot, columns: list[str]) -> tuple[pl.DataFrame, bytes | None]:
    """Return some columns of the table, and how far the search has come; None before the first refresh."""
    if not data_root.exists(CANDIDATES_KEY):
        return empty_table(PmcCandidates).select(columns), None
    try:
        with data_root.open_random(CANDIDATES_KEY) as file:
            footer = pq.read_metadata(file)
    except pa.ArrowInvalid as error:
        raise StorageError(f"{data_root.uri(CANDIDATES_KEY)} is damaged ({error}): {_ANEW}") from error
    stated = (footer.metadata or {}).get(_STATE.encode())
    known = empty_table(PmcCandidates).schema
    table = (
        read_parquet(data_root, CANDIDATES_KEY, columns)
        if set(columns) <= set(footer.schema.to_arrow_schema().names)
        else None
    )
    if stated is None or table is None or dict(table.schema) != {name: known[name] for name in columns}:
        raise StorageError(f"{data_root.uri(CANDIDATES_KEY)} was written by another version: {_ANEW}")
    return table, stated


def has_backlog(data_root: DataRoot) -> bool:
    """Say whether a search found articles that nobody has looked at yet."""
    table, _ = _read(data_root, ["state"])
    return (table["state"] == CandidateState.FOUND.value).any()


def write_candidates(data_root: DataRoot, candidates: Candidates) -> None:
    """Replace the table, with how far the search has come, whole or not at all."""
    state = {
        "query": candidates.query,
        **{name: day.isoformat() if (day := getattr(candidates, name)) else None for name in _DAYS},
    }
    for part in candidates.table.iter_slices(_ROWS_AT_ONCE):
        checked(PmcCandidates, part)
    data_root.write(CANDIDATES_KEY, parquet_bytes(candidates.table, metadata={_STATE: json.dumps(state)}))


@dataclass(frozen=True)
class KnownOfPmc:
    """Facts of PMC that a release must know and that its batches may not hold yet, or not any more.

    Attributes:
        withdrawn: (article number, version) of packages that the bucket held once and no longer does.
        passed_over: (article number, version) of packages in the bucket that do not count, although their version is
            higher than the one that does.
        retracted: numbers of retracted articles.
        changed: (article number, version, licence) of those whose metadata were changed, or superseded, since they were
            found; the licence is "" where none can be read.
    """

    withdrawn: frozenset[tuple[int, int]]
    passed_over: frozenset[tuple[int, int]]
    retracted: frozenset[int]
    changed: frozenset[tuple[int, int, str]] = frozenset()


def known_of_pmc(data_root: DataRoot) -> KnownOfPmc:
    """Return the facts of PMC among the candidates; none before the first refresh."""
    columns = ["article_id", "version", "is_retracted", "versions", "event", "license_code", "license_unknown"]
    table, _ = _read(data_root, columns)
    seen = table.select("article_id", "versions", counts="version")
    seen = seen.explode("versions", empty_as_null=False).unnest("versions")
    key = ["article_id", "version"]
    changed = table.filter(pl.col("event").is_in([Event.CHANGED.value, Event.SUPERSEDED.value]))
    code = pl.when("license_unknown").then(pl.lit("")).otherwise(pl.col("license_code").fill_null(""))
    return KnownOfPmc(
        withdrawn=frozenset(seen.filter(~pl.col("present")).select(key).iter_rows()),
        passed_over=frozenset(seen.filter("present", pl.col("version") > pl.col("counts")).select(key).iter_rows()),
        retracted=frozenset(table.filter("is_retracted")["article_id"]),
        changed=frozenset(changed.select(*key, code).iter_rows()),
    )


_STATED = (
    "article_id", "name", "version", "is_manuscript", "license_code", "license_unknown", "is_retracted", "title", "doi"
)  # fmt: skip


def stated_at_pmc(data_root: DataRoot, articles: pl.Series) -> pl.DataFrame:
    """Return PMC's metadata of articles in the version that counts, as the last refresh saw them.

    Args:
        data_root: where the candidates are.
        articles: their numbers.

    Returns:
        Article number, name, version, licence, retraction, title and DOI, by article; only of those whose metadata
        were ever read.
    """
    table, _ = _read(data_root, list(_STATED))
    return table.filter(pl.col("article_id").is_in(articles.implode()), pl.col("name").is_not_null())


def waiting(candidates: Candidates, registered: Mapping[tuple[int, int], str]) -> pl.DataFrame:
    """Return the rows of candidates that can be registered and that no batch holds as they are now.

    An article that no batch holds is not wanted while it is retracted, or without a PDF, from which figures are taken.

    Args:
        candidates: the candidates.
        registered: digests of the packages in batches, by (article number, version) (`BatchRegistry.registered`).
    """
    known = pl.DataFrame(
        [(article, version, digest) for (article, version), digest in registered.items()],
        schema={"article_id": pl.Int64, "version": pl.Int64, "registered_digest": pl.String},
        orient="row",
    )
    available = candidates.table.filter(pl.col("state") == CandidateState.AVAILABLE.value)
    joined = available.join(known, on=["article_id", "version"], how="left", maintain_order="left")
    held = pl.col("article_id").is_in(known["article_id"].unique().to_list())
    return joined.filter(
        pl.col("registered_digest").is_null() | (pl.col("registered_digest") != pl.col("digest")),
        held | (~pl.col("is_retracted") & _HAS_PDF),
    ).with_columns(held.alias("held"))


def without_pdf(candidates: Candidates) -> int:
    """Return how many available articles PMC passes on without a PDF (author manuscripts, text-mining licences)."""
    return candidates.table.filter(pl.col("state") == CandidateState.AVAILABLE.value, ~_HAS_PDF).height


def left_out(candidates: Candidates) -> pl.Series:
    """Return the numbers of the available articles that are not taken in: retracted, or without a PDF."""
    available = candidates.table.filter(pl.col("state") == CandidateState.AVAILABLE.value)
    return available.filter(pl.col("is_retracted") | ~_HAS_PDF)["article_id"]


def seconds_on_the_way(data_root: DataRoot, articles: Iterable[int], now: datetime) -> pl.DataFrame:
    """Return how long ago articles were found, for those that came from PMC: article_id, name, found_at, seconds.

    An article that a batch holds anew was found when its change was noticed.

    Args:
        data_root: where the candidates are.
        articles: numbers, of rows that were made just now.
        now: the time, UTC.
    """
    table, _ = _read(data_root, ["article_id", "name", "event", "event_at", "found_at"])
    known = table.filter(pl.col("article_id").is_in(list(articles)), pl.col("name").is_not_null())
    begun = pl.when(pl.col("event") == Event.NEW.value).then("found_at").otherwise(pl.coalesce("event_at", "found_at"))
    seconds = (pl.lit(now) - pl.col("found_at")).dt.total_milliseconds() / 1000
    return known.select("article_id", "name", begun.alias("found_at")).with_columns(seconds.alias("seconds"))
