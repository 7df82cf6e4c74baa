"""Which package of each article counts, and what else is said of it: by newer manifests, other sources and PMC.

Of an article that several batches hold, the newest version counts. Batches that are not finished give no rows, but
their manifests say what is retracted and under which licence: that takes effect at once (`release.statements`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import Any, Final

import polars as pl

from pmo_assets.pipeline.articles.jats_front_matter import is_retracted_title
from pmo_assets.pipeline.articles.licences import license_code, most_restrictive
from pmo_assets.pipeline.dataset.identity import (
    RETRACTION,
    SAME_ARTICLE,
    ArticlePackage,
    Conflict,
    claim_order,
    confirm,
    contradict,
)
from pmo_assets.records.stores import StorageError
from pmo_assets.release.evidence import PackageEvidence, articles_of, files_of, is_trusted_source, known_package
from pmo_assets.release.statements import AT_PMC, Rank, Statement, Word, narrowed, word_of
from pmo_assets.release.versions import read_version_table, released_versions
from pmo_assets.storage.candidates import KnownOfPmc, known_of_pmc, stated_at_pmc
from pmo_assets.storage.manifests import in_sequence, manifest_key
from pmo_assets.storage.parquet import read_columns
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables

_MANIFEST: Final = (
    "article_id", "name", "version", "is_manuscript", "source", "license_code", "license_unknown", "is_retracted",
    "title", "digest",
)  # fmt: skip
_PACKAGE: Final = ("article_id", "name", "version", "is_manuscript", "license_code", "license_unknown", "is_retracted")
_AT_PMC_BUCKET: Final = "pmc://"
_VERSIONED: Final = r"(?i)^(PMC[0-9]+)\.[0-9]+$"


@dataclass(frozen=True, slots=True)
class Restriction:
    """A licence that holds for an article's rows in place of the one under which they were made.

    Attributes:
        code: of the licence; None if it is unknown.
        made_under: code of the licence under which they were made.
        why: the source that says so, in a sentence.
    """

    code: str | None
    made_under: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A retraction that the batch with the article's rows does not know of.

    Attributes:
        name: of the package that has the rows.
        why: the source that says so, in a sentence.
        is_trusted: it counts for other packages of the article.
    """

    name: str
    why: str
    is_trusted: bool


@dataclass(frozen=True)
class Standing:
    """Which package of each article counts, and what else is said of it.

    Attributes:
        current: for every finished batch the articles whose rows count, in order.
        retracted: retractions that the batch with the rows does not know of, by article number.
        licences: licences that are narrower than that of the rows, by article number.
        conflicts: what packages with the number of another one say, and what is not believed.
        unheld: retracted articles of which no finished batch has a package: what is the same article goes with them.
        sources: source of each batch, as far as it is known.
        batches: all batches, in order of registration: `ArticlePackage.batch` is a place in it.
    """

    current: dict[str, list[int]]
    retracted: Mapping[int, Withdrawal] = field(default_factory=dict)
    licences: Mapping[int, Restriction] = field(default_factory=dict)
    conflicts: Sequence[Conflict] = ()
    unheld: Sequence[ArticlePackage] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    batches: Sequence[str] = ()


def article_standing(tables: Tables, trusted: Collection[str], finished: str = "dataset_rows") -> Standing:
    """Return which package of each article counts, and what manifests and PMC say of it.

    A batch is finished when it has a table of the asset `finished`. A published version counts before an author
    manuscript, then the highest, of one version a retracted package, then a trusted source's, then the latest batch. A
    version that PMC no longer holds does not count, and one that it passes over for a lower one only as long as no
    batch has that.

    Memory: the facts of a manifest for every registered package; packages that were registered once are looked at as
    columns only.

    Args:
        tables: the tables below the data root.
        trusted: see `is_trusted_source`.
        finished: asset of which a finished batch has a table.
    """
    done = tables.batches(finished)
    if not done:
        return Standing({})
    registered = _registered(tables)
    order = in_sequence({*done, *registered["batch"].unique().to_list()})
    place = {batch: number for number, batch in enumerate(order)}
    held = pl.concat(
        tables.read("article_packages", batch, _PACKAGE).with_columns(place=pl.lit(place[batch], pl.Int32))
        for batch in done
    )
    at_pmc = known_of_pmc(tables.data_root)
    stated = stated_at_pmc(tables.data_root, held["article_id"].unique())
    statements = _statements(registered, held, stated, place, at_pmc)
    sources = dict(registered.select("batch", "source").unique("batch", keep="first").iter_rows())
    several = _more_to_say(statements, held, stated)
    withdrawn = _versions(at_pmc.withdrawn)
    once = held.join(withdrawn, on=["article_id", "version"], how="anti").filter(
        ~pl.col("article_id").is_in(several.implode())
    )
    chosen = [once.select("place", "article_id")]
    decided = _Decisions(tables, order, trusted, statements.filter(pl.col("article_id").is_in(several.implode())))
    picked = list(decided.made())
    chosen.append(pl.DataFrame(picked, schema=chosen[0].schema, orient="row"))
    current: dict[str, list[int]] = {batch: [] for batch in done}
    grouped = pl.concat(chosen).sort("place", "article_id").group_by("place", maintain_order=True).agg("article_id")
    for at, numbers in grouped.iter_rows():
        current[order[at]] = numbers
    return Standing(
        current=current,
        retracted=decided.retracted,
        licences=decided.licences,
        conflicts=decided.conflicts,
        unheld=_unheld(tables, registered, held, at_pmc, trusted),
        sources=sources,
        batches=order,
    )


def _registered(tables: Tables, batches: Collection[str] | None = None) -> pl.DataFrame:
    """Return the rows of the manifests of all batches, or of some, with column `batch`."""
    registry = BatchRegistry(tables.data_root)
    keys = [key for key in registry.batches() if batches is None or key in batches]
    if not keys:
        return pl.DataFrame(schema={"batch": pl.String, **_STATED})
    files = {key: manifest_key(key) for key in keys}
    try:
        found = read_columns(tables.data_root, files, _MANIFEST).rename({"file": "batch"})
    except StorageError:  # manifests of earlier versions have fewer columns
        parts = [registry.manifest(key).select(pl.lit(key).alias("batch"), *_MANIFEST) for key in keys]
        found = pl.concat(parts)
    return found.select(
        pl.col("batch").cast(pl.String),
        *(pl.col(name).cast(kind) for name, kind in _STATED.items() if name not in ("digest", "retracted_title")),
        digest=pl.col("digest").hash(),  # compared, never shown: an eighth of the memory
        retracted_title=_retracted_titles(found["title"]),
    ).select("batch", *_STATED)


def _retracted_titles(titles: pl.Series) -> pl.Series:
    """Say of each title whether it is that of a retracted article; few are looked at closely."""
    found = {
        title for title in titles.filter(titles.str.contains("(?i)retract|withdrawn")) if is_retracted_title(title)
    }
    return titles.is_in(list(found)).fill_null(value=False)


_STATED: Final = {
    "article_id": pl.Int64, "name": pl.String, "version": pl.Int64, "is_manuscript": pl.Boolean, "source": pl.String,
    "license_code": pl.String, "license_unknown": pl.Boolean, "is_retracted": pl.Boolean,
    "retracted_title": pl.Boolean, "digest": pl.UInt64,
}  # fmt: skip
"""Columns that are kept of a manifest."""


def _versions(of_articles: Iterable[tuple[int, int]]) -> pl.DataFrame:
    """Return (article, version) pairs as a table."""
    return pl.DataFrame(sorted(of_articles), schema={"article_id": pl.Int64, "version": pl.Int64}, orient="row")


def _statements(
    registered: pl.DataFrame, held: pl.DataFrame, stated: pl.DataFrame, place: Mapping[str, int], at_pmc: KnownOfPmc
) -> pl.DataFrame:
    """Return the statements about every article of which a finished batch has a package, by article and place.

    Packages whose batch has no manifest speak for themselves, as a source that is not known.
    """
    numbers = held["article_id"].unique().implode()
    orders = {str(batch): number for batch, number in place.items()}
    of_manifests = registered.filter(pl.col("article_id").is_in(numbers)).with_columns(
        place=pl.col("batch").replace_strict(orders, default=None, return_dtype=pl.Int32)
    )
    names = {number: batch for batch, number in place.items()}
    without = held.join(of_manifests, on=["article_id", "place"], how="anti").with_columns(
        batch=pl.col("place").replace_strict(names, return_dtype=pl.String),
        source=pl.lit(""),
        retracted_title=pl.lit(value=False),
        digest=pl.lit(None, pl.UInt64),
    )
    now = stated.with_columns(
        pl.col("license_unknown", "is_retracted").fill_null(value=False),
        batch=pl.lit(AT_PMC),
        place=pl.lit(len(place), pl.Int32),
        source=pl.lit(_AT_PMC_BUCKET),
        retracted_title=pl.lit(value=False),
        digest=pl.lit(None, pl.UInt64),
    )
    columns = ("batch", "place", *_STATED)
    is_done = held.select("article_id", "place", known_retracted="is_retracted", is_done=pl.lit(value=True))
    package = pl.col("name").str.replace(_VERSIONED, "${1}")
    speaker = pl.when(pl.col("source").str.starts_with(_AT_PMC_BUCKET)).then(pl.lit(_AT_PMC_BUCKET)).otherwise("source")
    return (
        pl.concat([part.select(columns) for part in (of_manifests, without, now)])
        .join(_versions(at_pmc.withdrawn), on=["article_id", "version"], how="anti")
        .join(is_done, on=["article_id", "place"], how="left")
        .join(
            _versions(at_pmc.passed_over).with_columns(passed_over=pl.lit(value=True)),
            on=["article_id", "version"],
            how="left",
        )
        .with_columns(
            pl.col("is_done", "known_retracted", "passed_over", "is_manuscript").fill_null(value=False),
            speaker=pl.concat_str(speaker, pl.lit("|"), package),
        )
    )


def _more_to_say(statements: pl.DataFrame, held: pl.DataFrame, stated: pl.DataFrame) -> pl.Series:
    """Return the articles of which more is said than their only package: registered again, or another word of PMC."""
    again = statements.filter(pl.col("batch") != AT_PMC).group_by("article_id").len().filter(pl.col("len") > 1)
    both = stated.join(held.select("article_id", made_under="license_code"), on="article_id", how="inner")
    other = both.filter(
        pl.col("is_retracted").fill_null(value=False)
        | pl.col("license_unknown").fill_null(value=False)
        | pl.col("license_code").ne_missing(pl.col("made_under"))
    )
    return pl.concat([again["article_id"], other["article_id"]]).unique()


@lru_cache(maxsize=4096)
def _code(statement: str) -> str | None:
    return license_code(statement)


class _Decisions:
    """Decides which package of an article counts, of those of which more than one thing is said."""

    def __init__(self, tables: Tables, order: Sequence[str], trusted: Collection[str], rows: pl.DataFrame) -> None:
        self.retracted: dict[int, Withdrawal] = {}
        self.licences: dict[int, Restriction] = {}
        self.conflicts: list[Conflict] = []
        self._order = order
        self._trusted = trusted
        self._rows = rows.join(_made(tables, order, rows), on=["article_id", "place"], how="left").sort(
            "article_id", "place"
        )
        counted = rows.group_by("article_id").agg(pl.col("speaker").n_unique()).filter(pl.col("speaker") > 1)
        contested = self._rows.filter(pl.col("article_id").is_in(counted["article_id"].implode()))
        self._evidence = PackageEvidence(tables, order, trusted, contested)

    def made(self) -> Iterator[tuple[int, int]]:
        """Yield (place of the batch, article number) of the packages that count."""
        rows = self._rows.iter_rows(named=True)
        for number, of_article in groupby(rows, key=lambda row: row["article_id"]):
            place = self._decided(int(number), list(of_article))
            if place is not None:
                yield place, int(number)

    def _decided(self, number: int, rows: Sequence[Mapping[str, Any]]) -> int | None:
        said: dict[str, list[Statement]] = {}
        for row in rows:
            said.setdefault(row["speaker"], []).append(self._statement(row))
        words = {speaker: word_of(statements) for speaker, statements in said.items()}
        counting = [
            item
            for speaker, found in said.items()
            for item in found
            if item.is_done and item.place >= words[speaker].since
        ]
        if not counting:
            return None
        contest = _Contest(number, said, counting, self._evidence)
        chosen = contest.chosen()
        self._note(number, chosen, words, contest)
        self.conflicts += contest.conflicts
        return chosen.place

    def _statement(self, row: Mapping[str, Any]) -> Statement:
        is_made, text = row["is_made"] is True, row["license_code"]
        codes = [_code(text)] if text is not None else []
        codes += [row["made_code"]] if is_made else []
        rank: Rank = (not row["passed_over"], not row["is_manuscript"], row["version"])
        return Statement(
            speaker=row["speaker"],
            place=row["place"],
            batch=row["batch"],
            name=row["name"],
            rank=rank,
            code=most_restrictive(codes) if codes else None,
            states_licence=bool(codes),
            is_unreadable=bool(row["license_unknown"]),
            is_retracted=bool(
                row["is_retracted"]
                or row["known_retracted"]
                or (row["made_retracted"] if is_made else row["retracted_title"])
            ),
            is_done=row["is_done"],
            is_trusted=is_trusted_source(row["source"], (*self._trusted, *(() if row["batch"] else (_AT_PMC_BUCKET,)))),
            digest=row["digest"],
            is_made=is_made,
            made_code=row["made_code"],
        )

    def _note(self, number: int, chosen: Statement, words: Mapping[str, Word], contest: _Contest) -> None:
        """Note what is said of the package that counts and its batch does not know."""
        if not chosen.is_retracted:
            retraction = contest.retraction_of(chosen, words)
            if retraction is not None:
                why = retraction.of_retraction()
                self.retracted[number] = Withdrawal(chosen.name, why, retraction.is_trusted)
        if chosen.is_made:
            code, by = narrowed(chosen.made_code, contest.licences_of(chosen, words))
            if by is not None:
                why = by.of_licence() + ("; what was said before takes nothing back" if by.place < chosen.place else "")
                self.licences[number] = Restriction(code, chosen.made_code, why)


class _Contest:
    """Which of the packages that bear one number counts, and whose word counts for it."""

    def __init__(
        self,
        number: int,
        said: Mapping[str, Sequence[Statement]],
        counting: Sequence[Statement],
        evidence: PackageEvidence,
    ) -> None:
        self.conflicts: list[Conflict] = []
        self._number = number
        self._said = said
        self._counting = counting
        self._evidence = evidence
        self._unheard: set[str] = set()

    def chosen(self) -> Statement:
        """Return the statement of the package that counts."""
        ordered = sorted(self._counting, key=_preference, reverse=True)
        if len(self._said) == 1:
            return ordered[0]
        best = self._believed()
        for speaker in self._said.keys() - {best}:
            if not self._is_trusted(speaker) and contradict(self._face(speaker), self._face(best)):
                self._refuse(speaker, best)
        for item in ordered:
            if item.speaker == best:
                return item
            if item.speaker in self._unheard:
                continue
            must_be_shown = item.is_retracted or self._is_trusted(best)
            if self._is_trusted(item.speaker) or not must_be_shown or self._confirmed(item.speaker, best):
                return item
            self._refuse(item.speaker, best)
        raise AssertionError("the believed package is among those that count")

    def retraction_of(self, chosen: Statement, words: Mapping[str, Word]) -> Statement | None:
        """Return the statement that the article is retracted, also another source's where that counts."""
        own = words[chosen.speaker].retraction
        if own is not None:
            return own
        for speaker in sorted(words.keys() - {chosen.speaker}):
            other = words[speaker].retraction
            if other is None or speaker in self._unheard or other.rank < chosen.rank:
                continue
            if other.is_trusted or self._confirmed(speaker, chosen.speaker):
                return other
            self._refuse(speaker, chosen.speaker)
        return None

    def licences_of(self, chosen: Statement, words: Mapping[str, Word]) -> list[Statement]:
        """Return the statements of licences that count for the package, its own source's last."""
        found: list[Statement] = []
        for speaker in sorted(words.keys() - {chosen.speaker}):
            more = [item for item in words[speaker].licences if item.rank >= chosen.rank]
            if not more or speaker in self._unheard:
                continue
            narrows = narrowed(chosen.code, more)[1] is not None
            is_heard = self._is_trusted(speaker) or not self._is_trusted(chosen.speaker)
            if narrows and (is_heard or self._confirmed(speaker, chosen.speaker)):
                found += more
        return [*found, *words[chosen.speaker].licences]

    def _believed(self) -> str:
        """Return the speaker that is believed where packages of one number contradict each other."""
        holders = sorted({item.speaker for item in self._counting})
        faces = [self._face(speaker) for speaker in holders]
        in_doubt = any(contradict(one, other) for one in faces for other in faces)

        def key(speaker: str) -> tuple[object, ...]:
            face = self._face(speaker)
            shown = in_doubt and not face.is_trusted and self._evidence.states_number(face)
            trusted, *others = claim_order(face)
            return trusted, not shown, *others

        return min(holders, key=key)

    def _is_trusted(self, speaker: str) -> bool:
        return any(item.is_trusted for item in self._said[speaker])

    def _face(self, speaker: str) -> ArticlePackage:
        found = self._said[speaker]
        latest = next((item for item in reversed(found) if item.is_done), found[-1])
        return self._evidence.package(latest.place, self._number)

    def _confirmed(self, speaker: str, other: str) -> bool:
        one, two = self._face(speaker), self._face(other)
        return confirm(one, two) or confirm(self._evidence.read(one), self._evidence.read(two))

    def _refuse(self, speaker: str, other: str) -> None:
        self._unheard.add(speaker)
        claim = RETRACTION if any(item.is_retracted for item in self._said[speaker]) else SAME_ARTICLE
        found = Conflict(self._face(speaker), self._face(other), "PMC number", f"{self._number}", claim)
        self.conflicts.append(found)


def _preference(item: Statement) -> tuple[object, ...]:
    return item.rank, item.is_retracted, item.is_trusted, item.place


def _made(tables: Tables, order: Sequence[str], rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rights of packages as the asset `articles` found them: also of batches that went no farther."""
    schema = {"article_id": pl.Int64, "place": pl.Int32, "made_code": pl.String, "made_retracted": pl.Boolean}
    parts = [pl.DataFrame(schema={**schema, "is_made": pl.Boolean})]
    for (place,), part in rows.filter(pl.col("batch") != AT_PMC).group_by("place"):
        table = articles_of(tables, order[int(str(place))], part, ("article_id", "license_code", "is_retracted"))
        if table is not None:
            made = table.rename({"license_code": "made_code", "is_retracted": "made_retracted"})
            parts.append(
                made.with_columns(place=pl.lit(place, pl.Int32), is_made=pl.lit(value=True)).select(*schema, "is_made")
            )
    return pl.concat(parts)


def _unheld(
    tables: Tables, registered: pl.DataFrame, held: pl.DataFrame, at_pmc: KnownOfPmc, trusted: Collection[str]
) -> list[ArticlePackage]:
    """Return the retracted articles of which no finished batch has a package, as packages without rows."""
    known = set(held["article_id"])
    found: dict[int, ArticlePackage] = {}
    waiting = registered.filter(~pl.col("article_id").is_in(held["article_id"].unique().implode()))
    gone = waiting.filter(pl.col("is_retracted") | pl.col("retracted_title"))
    for (batch,), part in gone.group_by("batch", maintain_order=True):
        facts = {row["article_id"]: row for row in part.iter_rows(named=True)}
        for row in files_of(tables, str(batch), part):
            package = {**facts[row["article_id"]], **row, "is_retracted": True}
            is_trusted = is_trusted_source(package["source"], trusted)
            found[row["article_id"]] = known_package(package, {}, -1, is_trusted=is_trusted)
    numbers = pl.Series(sorted(at_pmc.retracted - known), dtype=pl.Int64)
    if not numbers.is_empty():
        for row in stated_at_pmc(tables.data_root, numbers).iter_rows(named=True):
            package = {
                **row,
                "pdf": None,
                "name": row["name"] or f"PMC{row['article_id']}",
                "version": row["version"] or 1,
            }
            found[row["article_id"]] = known_package(package, {}, -1, is_trusted=True)
    return [found[number] for number in sorted(found)]


def waiting_statements(tables: Tables) -> list[str]:
    """Return, in words, what manifests of batches that are not done say of the rights of released articles.

    Only what may take rights away: retractions, metadata that cannot be read, and licences other than the freest.
    """
    versions = released_versions(tables.data_root)
    waiting = set(BatchRegistry(tables.data_root).batches()).difference(tables.batches("dataset_rows"))
    if not versions or not waiting:
        return []
    released = read_version_table(tables.data_root, versions[-1], "articles")["article_id"]
    free = pl.col("license_code").is_null() | pl.col("license_code").is_in(["CC0", "CC BY"])
    said = _registered(tables, waiting).filter(
        pl.col("article_id").is_in(released.implode()),
        pl.col("is_retracted") | pl.col("retracted_title") | pl.col("license_unknown") | ~free,
    )
    rows = said.select("article_id", "version", "license_code", "license_unknown", "is_retracted", "retracted_title")
    return sorted(f"waiting {row}" for row in rows.unique().iter_rows())
