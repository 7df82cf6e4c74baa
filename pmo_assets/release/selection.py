"""Which articles a release takes, from which batch, and under which licence.

Of an article that several batches hold, the newest version counts (highest version, then latest batch), also when
that version was retracted or rejected: then none of its rows is in the release. Of several packages that are the same
article under different names (`pipeline.dataset.identity`) one is published; the others are listed beside the release.
What a newer manifest or PMC says takes effect before its batch is processed (`release.standing`): a retraction leaves
the article out, a narrower licence holds for its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from pmo_assets.pipeline.articles.licences import commercial_use, most_restrictive
from pmo_assets.pipeline.dataset.identity import (
    ArticlePackage,
    Conflict,
    Duplicate,
    KnownIdentifiers,
    judged,
)
from pmo_assets.records.defaults import TRUSTED_SOURCES
from pmo_assets.release.evidence import ARTICLE_COLUMNS, is_trusted_source, known_package, with_own_titles
from pmo_assets.release.standing import Restriction, Standing, Withdrawal, article_standing
from pmo_assets.storage.removed import articles_taken_out
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import DuplicateArticles, IdentityConflicts, NarrowedLicences
from pmo_assets.tables.schemas import checked


@dataclass(frozen=True)
class Selection:
    """Selection of articles of the finished batches that a release takes.

    Attributes:
        current: for every finished batch the articles that it holds in their newest version and that are published
            from it, in order.
        duplicates: packages that are not published because another one is the same article.
        batches: batch of every package in `duplicates`, by its number.
        retracted: by the number of every article that a newer manifest, another source or PMC says is retracted, and
            its batch does not: its rows are left out.
        licences: by article number, licences that hold in place of the one under which the rows were made.
        taken_out: numbers of articles that people took out (`pmo articles remove`).
        conflicts: statements of packages about other ones that are not believed.
        order: all batches in order of registration; the place of a package's batch in it is `ArticlePackage.batch`.
    """

    current: dict[str, list[int]]
    duplicates: tuple[Duplicate, ...] = ()
    batches: Mapping[int, str] = field(default_factory=dict)
    retracted: Mapping[int, Withdrawal] = field(default_factory=dict)
    licences: Mapping[int, Restriction] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    order: Sequence[str] = ()
    taken_out: frozenset[int] = frozenset()

    def listing(self) -> pl.DataFrame:
        """Return the duplicates as a table (`DuplicateArticles`)."""
        rows = [
            {
                "article_id": item.package.article_id,
                "name": item.package.name,
                "batch": self.batches[item.package.article_id],
                "duplicate_of": item.published.article_id,
                "duplicate_of_name": item.published.name,
                "identifier": item.identifier,
                "value": item.value,
                "shared_with": item.shared_with.name,
                "is_retracted": item.published.is_retracted,
            }
            for item in self.duplicates
        ]
        return checked(DuplicateArticles, rows)

    def conflict_listing(self) -> pl.DataFrame:
        """Return the statements that are not believed as a table (`IdentityConflicts`)."""
        rows = [
            {
                "article_id": item.package.article_id,
                "name": item.package.name,
                "batch": self._batch(item.package),
                "title": item.package.title,
                "other_article_id": item.other.article_id,
                "other_name": item.other.name,
                "other_batch": self._batch(item.other),
                "other_title": item.other.title,
                "identifier": item.identifier,
                "value": item.value,
                "claim": item.claim,
            }
            for item in self.conflicts
        ]
        return checked(IdentityConflicts, rows)

    def _batch(self, package: ArticlePackage) -> str | None:
        return self.order[package.batch] if 0 <= package.batch < len(self.order) else None

    def licence_listing(self) -> pl.DataFrame:
        """Return the licences that hold in place of those under which rows were made (`NarrowedLicences`)."""
        batches = {number: batch for batch, numbers in self.current.items() for number in numbers}
        rows = [
            {
                "article_id": number,
                "batch": batches[number],
                "made_under": item.made_under,
                "license": item.code,
                "why": item.why,
            }
            for number, item in sorted(self.licences.items())
            if number in batches
        ]
        return checked(NarrowedLicences, rows)


def current_articles(
    tables: Tables, finished: str = "dataset_rows", trusted: Collection[str] = TRUSTED_SOURCES
) -> dict[str, list[int]]:
    """Return for every finished batch the articles whose newest version it holds, in order; see `article_standing`."""
    return article_standing(tables, trusted, finished).current


_PACKAGE_COLUMNS: Final = (
    "article_id", "name", "version", "doi", "title", "pdf", "xml", "is_manuscript", "is_retracted"
)  # fmt: skip


def _packages(
    tables: Tables, batch: str, place: int, articles: Collection[int], *, is_trusted: bool
) -> Iterator[tuple[ArticlePackage, str | None]]:
    """Yield the identity, as far as it is known, of some of a batch's current articles, and the key of its XML."""
    read = {row["article_id"]: row for row in tables.read("articles", batch, ARTICLE_COLUMNS).iter_rows(named=True)}
    counted = dict(tables.read("dataset_rows", batch, ("article_id",)).group_by("article_id").len().iter_rows())
    current = set(articles)
    for package in tables.read("article_packages", batch, _PACKAGE_COLUMNS).iter_rows(named=True):
        number = package["article_id"]
        if number in current:
            # An article on which a worker died has no row of `articles`; its package still has a name and a PDF.
            article, rows = read.get(number, {}), counted.get(number, 0)
            yield known_package(package, article, place, is_trusted=is_trusted, rows=rows), package["xml"]


def select_articles(tables: Tables, trusted: Collection[str] = TRUSTED_SOURCES) -> Selection:
    """Return the selection of a release: the newest version of each package, and of each article one package.

    An article that a newer manifest or PMC says is retracted is out, also when the batch that says so is not processed
    yet or has failed, or an older copy of the article was registered after it.

    Args:
        tables: the tables below the data root.
        trusted: URIs of sources whose retractions count for other sources' packages of the article.
    """
    standing = article_standing(tables, trusted)
    unheld = {package.article_id: package for package in standing.unheld}
    identifiers = KnownIdentifiers()
    for package in unheld.values():
        identifiers.add(package)
    for package, _ in _known(tables, standing, trusted, {}):
        identifiers.add(package)
    # Only these can be the same as another one: of all others nothing is kept, however many there are.
    shared = identifiers.shared()
    asked = {batch: shared.intersection(articles) for batch, articles in standing.current.items()}
    packages: list[tuple[ArticlePackage, str | None]]
    packages = [(unheld[number], None) for number in sorted(shared & unheld.keys())]
    packages += list(_known(tables, standing, trusted, asked))
    found, conflicts = judged(with_own_titles(tables, packages))
    found = [item for item in found if item.package.article_id not in unheld]
    batches = {item.package.article_id: standing.batches[item.package.batch] for item in found}
    retracted = {number: item for number, item in standing.retracted.items() if number not in batches}
    taken_out = articles_taken_out(tables.data_root)
    out = {*batches, *retracted, *taken_out}
    return Selection(
        current={
            batch: [number for number in articles if number not in out] for batch, articles in standing.current.items()
        },
        duplicates=tuple(found),
        batches=batches,
        retracted=retracted,
        licences={number: item for number, item in standing.licences.items() if number not in out},
        conflicts=(*standing.conflicts, *conflicts),
        order=standing.batches,
        taken_out=taken_out,
    )


def _known(
    tables: Tables, standing: Standing, trusted: Collection[str], asked: Mapping[str, Collection[int]]
) -> Iterator[tuple[ArticlePackage, str | None]]:
    """Yield the packages that count, retracted where that is said anywhere, or those that are asked for, by batch."""
    places = {batch: place for place, batch in enumerate(standing.batches)}
    for batch, articles in standing.current.items():
        wanted = asked.get(batch, articles)
        if not wanted:
            continue
        is_trusted = is_trusted_source(standing.sources.get(batch, ""), trusted)
        for package, xml in _packages(tables, batch, places[batch], wanted, is_trusted=is_trusted):
            said = standing.retracted.get(package.article_id)
            if said is not None and not package.is_retracted:
                is_heard = package.is_trusted or said.is_trusted
                yield replace(package, is_retracted=True, is_trusted=is_heard), xml
            else:
                yield package, xml


def articles_under(articles: pl.DataFrame, selection: Selection) -> pl.DataFrame:
    """Return rows of the table `articles` under the licences that hold for them: `license_code` and `license_url`."""
    rows = _under(articles.rename({"license_code": "license"}), selection.licences)
    return rows.rename({"license": "license_code"})


_HELD: Final = {
    "article_id": pl.Int64, "license": pl.String, "held": pl.String, "held_commercial_use": pl.Boolean,
    "is_held": pl.Boolean,
}  # fmt: skip


def _under(rows: pl.DataFrame, licences: Mapping[int, Restriction]) -> pl.DataFrame:
    """Return rows under the licences that hold for their articles, and never under a freer one than they were made."""
    codes = {number: licences[number].code for number in rows["article_id"].unique() if number in licences}
    if not codes or "license" not in rows.columns:
        return rows
    of_rows = ("article_id", "license")
    made = rows.filter(pl.col("article_id").is_in(list(codes))).select(of_rows).unique().rows()
    held = [(number, code, most_restrictive([code, codes[number]])) for number, code in made]
    changed = [(*key, code, commercial_use(code)) for *key, code in held if code != key[1]]
    table = pl.DataFrame([(*row, True) for row in changed], schema=_HELD, orient="row")
    joined = rows.join(table, on=of_rows, how="left", nulls_equal=True, maintain_order="left")
    values = {"license": "held", "license_url": None, "commercial_use": "held_commercial_use"}
    return joined.with_columns(
        pl.when("is_held").then(pl.col(value) if value else None).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
        if name in rows.columns
    ).select(rows.columns)


def current_rows(
    tables: Tables, selection: Selection, batch: str, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return a batch's dataset rows of the articles that a release takes of it, in the release's order.

    They are under the licence that holds now: this is the only way by which a release reads rows.

    Args:
        tables: the tables below the data root.
        selection: articles that the release takes.
        batch: a finished batch.
        columns: which ones; all if not given.
    """
    order = ("article_id", "figure_ordinal", "image_cluster_id", "panel_ordinal", "panel_id")
    wanted = None if columns is None else list(dict.fromkeys((*order, *columns)))
    if wanted is not None and selection.licences:
        wanted = list(dict.fromkeys((*wanted, "license")))
    rows = tables.read("dataset_rows", batch, wanted)
    rows = rows.filter(pl.col("article_id").is_in(list(selection.current.get(batch, ())))).sort(order)
    rows = _under(rows, selection.licences)
    return rows if columns is None else rows.select(columns)
