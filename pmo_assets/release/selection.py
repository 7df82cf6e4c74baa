"""Which articles a release takes, and from which batch.

Of an article that several batches hold, the newest version counts (highest version, then latest batch), also when
that version was retracted or rejected: then none of its rows is in the release. Of several packages that are the same
article under different names (`pipeline.dataset.identity`) one is published; the others are listed beside the release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from pmo_assets.pipeline.articles.credit import pmc_number
from pmo_assets.pipeline.dataset.identity import ArticlePackage, Duplicate, KnownIdentifiers, duplicates
from pmo_assets.refresh.candidates import known_of_pmc
from pmo_assets.storage.objects import content_digest
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import DuplicateArticles
from pmo_assets.tables.schemas import checked


@dataclass(frozen=True)
class Selection:
    """What a release takes of the finished batches.

    Attributes:
        current: for every finished batch the articles that it holds in their newest version and that are published
            from it, in order.
        duplicates: packages that are not published because another one is the same article.
        batches: batch of every package in `duplicates`, by its number.
        retracted: name of the package by the number of every article that PMC says is retracted, and its batch does
            not: its rows are left out.
    """

    current: dict[str, list[int]]
    duplicates: tuple[Duplicate, ...] = ()
    batches: Mapping[int, str] = field(default_factory=dict)
    retracted: Mapping[int, str] = field(default_factory=dict)

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


def current_articles(tables: Tables, finished: str = "dataset_rows") -> dict[str, list[int]]:
    """Return for every finished batch the articles whose newest version it holds, in order.

    A batch is finished when it has a table of the asset `finished`. A published version counts before an author
    manuscript, then the highest, of one version a retracted package, then the latest batch; only the same package,
    registered again, takes its retraction back. A version that PMC no longer holds does not count, and one that it
    passes over for a lower one only as long as no batch has that.
    """
    batches = tables.batches(finished)
    current: dict[str, list[int]] = {batch: [] for batch in batches}
    if not batches:
        return current
    at_pmc = known_of_pmc(tables.data_root)
    columns = ("article_id", "version", "name", "is_manuscript", "is_retracted")
    packages = pl.concat(
        tables.read("article_packages", batch, columns).with_columns(place=pl.lit(place, pl.Int32))
        for place, batch in enumerate(batches)
    )
    newest = (
        packages.join(_versions(at_pmc.withdrawn), on=["article_id", "version"], how="anti", maintain_order="left")
        .unique(["article_id", "version", "name"], keep="last", maintain_order=True)
        .join(
            _versions(at_pmc.passed_over).with_columns(passed_over=pl.lit(1, pl.Int8)),
            on=["article_id", "version"],
            how="left",
        )
        .select(
            "article_id",
            pl.col("passed_over").is_null(),
            pl.col("is_manuscript").fill_null(False).not_(),
            "version",
            "is_retracted",
            "place",
        )
        .sort("article_id", "passed_over", "is_manuscript", "version", "is_retracted", "place")
        .unique("article_id", keep="last")
        .sort("place", "article_id")
    )
    for place, numbers in newest.group_by("place", maintain_order=True).agg("article_id").iter_rows():
        current[batches[place]] = numbers
    return current


def _versions(of_articles: Iterable[tuple[int, int]]) -> pl.DataFrame:
    """Return (article, version) pairs as a table."""
    return pl.DataFrame(sorted(of_articles), schema={"article_id": pl.Int64, "version": pl.Int64}, orient="row")


_PACKAGE_COLUMNS: Final = (
    "article_id", "name", "version", "doi", "title", "pdf", "is_manuscript", "is_retracted"
)  # fmt: skip
_ARTICLE_COLUMNS: Final = ("article_id", "pmcid", "doi", "stated_by", "title", "has_xml", "is_retracted")


def _packages(tables: Tables, batch: str, place: int, articles: Collection[int]) -> Iterator[ArticlePackage]:
    """Yield what is known of the identity of some of a batch's current articles."""
    read = {row["article_id"]: row for row in tables.read("articles", batch, _ARTICLE_COLUMNS).iter_rows(named=True)}
    counted = dict(tables.read("dataset_rows", batch, ("article_id",)).group_by("article_id").len().iter_rows())
    current = set(articles)
    for package in tables.read("article_packages", batch, _PACKAGE_COLUMNS).iter_rows(named=True):
        number = package["article_id"]
        if number not in current:
            continue
        # An article on which a worker died has no row of `articles`; its package still has a name and a PDF.
        article = read.get(number, {})
        sources = {item["fact"]: item["source"] for item in article.get("stated_by", ())}
        pdf = package["pdf"]
        yield ArticlePackage(
            article_id=number,
            name=package["name"],
            pmcid=pmc_number(number, article.get("pmcid")),
            doi=article.get("doi") or package["doi"],
            doi_is_stated=not article.get("doi") or sources.get("doi") in ("metadata", "XML"),
            title=article.get("title") or package["title"],
            pdf_digest=content_digest(pdf) if pdf is not None else None,
            version=package["version"],
            batch=place,
            rows=counted.get(number, 0),
            has_xml=article.get("has_xml", False),
            is_manuscript=bool(package["is_manuscript"]),
            is_retracted=package["is_retracted"] or article.get("is_retracted", False),
        )


def select_articles(tables: Tables) -> Selection:
    """Return what a release takes: the newest version of each package, and of each article one package.

    What PMC says is retracted is out, also when the batch that says so is not processed yet or has failed, or an older
    copy of the article was registered after it.
    """
    newest = current_articles(tables)
    at_pmc = known_of_pmc(tables.data_root).retracted
    retracted: dict[int, str] = {}
    identifiers = KnownIdentifiers()
    for place, (batch, articles) in enumerate(newest.items()):
        for package in _packages(tables, batch, place, articles):
            identifiers.add(package)
            if package.article_id in at_pmc and not package.is_retracted:
                retracted[package.article_id] = package.name
    # Only these can be the same as another one: of all others nothing is kept, however many there are.
    shared = identifiers.shared()
    packages = [
        replace(package, is_retracted=package.is_retracted or package.article_id in retracted)
        for place, (batch, articles) in enumerate(newest.items())
        if (asked := shared.intersection(articles))
        for package in _packages(tables, batch, place, asked)
    ]
    found = duplicates(packages)
    names = list(newest)
    batches = {item.package.article_id: names[item.package.batch] for item in found}
    retracted = {number: name for number, name in retracted.items() if number not in batches}
    out = {*batches, *retracted}
    current = {batch: [number for number in articles if number not in out] for batch, articles in newest.items()}
    return Selection(current, tuple(found), batches, retracted)


def current_rows(
    tables: Tables, batch: str, articles: Sequence[int], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return a batch's dataset rows of the articles that it holds in their newest version, in the release's order.

    Args:
        tables: the tables below the data root.
        batch: a finished batch.
        articles: what the release takes of it.
        columns: which ones; all if not given.
    """
    order = ("article_id", "figure_ordinal", "image_cluster_id", "panel_ordinal", "panel_id")
    wanted = None if columns is None else list(dict.fromkeys((*order, *columns)))
    rows = tables.read("dataset_rows", batch, wanted)
    rows = rows.filter(pl.col("article_id").is_in(list(articles))).sort(order)
    return rows if columns is None else rows.select(columns)
