"""Evidence in packages of which article they are: title, authors, PDF, the number in the XML."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from pmo_assets.pipeline.articles.credit import pmc_number
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.dataset.identity import KINDS, ArticlePackage
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.stores import StorageError
from pmo_assets.storage.objects import ContentStore, content_digest
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables


def is_trusted_source(source: str, trusted: Collection[str]) -> bool:
    """Say whether a source's retractions count for other sources' packages of the article.

    Args:
        source: its URI; "" if it is not known.
        trusted: URIs of sources, or what they begin with up to a slash (`pmc://`: every bucket of PMC).
    """
    return bool(source) and any(source == item or source.startswith(f"{item.rstrip('/')}/") for item in trusted)


def articles_of(tables: Tables, batch: str, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame | None:
    """Return columns of a batch's table `articles` for some rows' articles; None if there is none, or an old one."""
    if not tables.exists("articles", batch):
        return None
    try:
        table = tables.read("articles", batch, columns)
    except StorageError:
        if rows["is_done"].any():
            raise
        return None  # of a batch that was left unfinished by an earlier version: its manifest speaks
    return table.filter(pl.col("article_id").is_in(rows["article_id"].implode()))


class PackageEvidence:
    """Title, authors and PDF of packages that bear one number; read for these few alone."""

    def __init__(self, tables: Tables, order: Sequence[str], trusted: Collection[str], rows: pl.DataFrame) -> None:
        self._objects = ContentStore(tables.data_root)
        self._packages: dict[tuple[int, int], ArticlePackage] = {}
        self._xml: dict[tuple[int, int], str] = {}
        for (place,), part in rows.group_by("place"):
            at = int(str(place))
            if at == len(order):
                found = [
                    {**row, "title": None, "doi": None, "pdf": None, "xml": None} for row in part.iter_rows(named=True)
                ]
                articles: dict[int, Mapping[str, Any]] = {}
            else:
                found = list(files_of(tables, order[at], part))
                read = articles_of(tables, order[at], part, ARTICLE_COLUMNS)
                articles = {row["article_id"]: row for row in read.iter_rows(named=True)} if read is not None else {}
            named = {row["article_id"]: row for row in part.iter_rows(named=True)}
            for package in found:
                number = package["article_id"]
                known = {**named[number], **package}
                is_trusted = at == len(order) or is_trusted_source(known["source"], trusted)
                self._packages[at, number] = known_package(known, articles.get(number, {}), at, is_trusted=is_trusted)
                if package["xml"] is not None:
                    self._xml[at, number] = package["xml"]

    def package(self, place: int, number: int) -> ArticlePackage:
        """Return the identity of a package, known without opening its files."""
        return self._packages[place, number]

    def read(self, package: ArticlePackage) -> ArticlePackage:
        """Return a package with the title and authors that its XML states, where only metadata gave a title so far."""
        if package.title_is_own:
            return package
        title, authors, _ = self._stated(package)
        return replace(package, title=title, title_is_own=True, authors=authors) if title else package

    def states_number(self, package: ArticlePackage) -> bool:
        """Say whether the package's own XML states the number that it bears."""
        return self._stated(package)[2] == package.article_id

    def _stated(self, package: ArticlePackage) -> tuple[str | None, tuple[str, ...], int | None]:
        key = self._xml.get((package.batch, package.article_id))
        return stated_by_xml(self._objects, key)


def stated_by_xml(objects: ContentStore, key: str | None) -> tuple[str | None, tuple[str, ...], int | None]:
    """Return title, authors and PMC number that an XML in the object store states; nothing if it cannot be read."""
    if key is None or not objects.data_root.exists(key):
        return None, (), None
    try:
        article = parse_jats(objects.get(key))
    except Exception as error:  # the asset `articles` has rejected it, with the reason
        raise_fault(error)
        return None, (), None
    return article.title or None, article.authors, article.pmcid


def files_of(tables: Tables, batch: str, rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield article_id, title, doi, pdf and xml (object keys) of packages; of the manifest where none was fetched."""
    wanted = pl.col("article_id").is_in(rows["article_id"].implode())
    columns = ("article_id", "title", "doi", "pdf", "xml")
    left = set(rows["article_id"])
    if tables.exists("article_packages", batch):
        with_files = tables.read("article_packages", batch, columns).filter(wanted)
        left -= set(with_files["article_id"])
        yield from with_files.iter_rows(named=True)
    if not left:
        return
    manifest = BatchRegistry(tables.data_root).manifest(batch).filter(pl.col("article_id").is_in(list(left)))
    for row in manifest.iter_rows(named=True):
        keys = {file["role"]: file["sha256"] for file in row["files"] if file["sha256"] is not None}
        named = {
            role: f"objects/{keys[role][:2]}/{keys[role]}.{role}" if role in keys else None for role in ("pdf", "xml")
        }
        yield {"article_id": row["article_id"], "title": row["title"], "doi": row["doi"], **named}


ARTICLE_COLUMNS: Final = (
    "article_id", "pmcid", "doi", "stated_by", "title", "authors", "has_xml", "is_retracted"
)  # fmt: skip


def known_package(
    package: Mapping[str, Any], article: Mapping[str, Any], place: int, *, is_trusted: bool, rows: int = 0
) -> ArticlePackage:
    """Return the identity of a package, as far as it is known.

    Args:
        package: its row of `article_packages`, or the values of its manifest (`pdf` as an object key).
        article: its row of `articles`; empty where a worker died on it, or its batch is not processed.
        place: of its batch.
        is_trusted: its source's word counts for other packages.
        rows: dataset rows that it gave.
    """
    number = package["article_id"]
    sources = {item["fact"]: item["source"] for item in article.get("stated_by", ())}
    title_is_own = bool(article.get("title")) and sources.get("title") != "metadata"
    return ArticlePackage(
        article_id=number,
        name=package["name"],
        pmcid=pmc_number(number, article.get("pmcid")),
        doi=article.get("doi") or package["doi"],
        doi_is_stated=not article.get("doi") or sources.get("doi") in ("metadata", "XML"),
        title=article.get("title") or package["title"],
        title_is_own=title_is_own or is_trusted,
        authors=tuple(article.get("authors") or ()),
        is_trusted=is_trusted,
        pdf_digest=content_digest(package["pdf"]) if package["pdf"] is not None else None,
        version=package["version"],
        batch=place,
        rows=rows,
        has_xml=article.get("has_xml", False),
        is_manuscript=bool(package["is_manuscript"]),
        is_retracted=package["is_retracted"] or article.get("is_retracted", False),
    )


def with_own_titles(tables: Tables, packages: Sequence[tuple[ArticlePackage, str | None]]) -> list[ArticlePackage]:
    """Return packages; of those that a retraction may concern, the title is their XML's, not their metadata's.

    Only a title that stands in the article shows that a package is what another one says is retracted. All others'
    stay as they are: an XML is opened for few.

    Args:
        tables: the tables below the data root.
        packages: with the key of their XML.
    """
    objects = ContentStore(tables.data_root)
    claimed = {
        (kind, value)
        for package, _ in packages
        if package.is_retracted and not package.is_trusted
        for kind in KINDS
        if (value := package.identifier(kind)) is not None
    }
    found = []
    for package, key in packages:
        is_claimed = any((kind, package.identifier(kind)) in claimed for kind in KINDS)
        title, authors, _ = (None, (), None) if package.title_is_own or not is_claimed else stated_by_xml(objects, key)
        found.append(replace(package, title=title, title_is_own=True, authors=authors) if title else package)
    return found
