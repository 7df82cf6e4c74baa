"""The release: dataset rows of all batches with their pictures, licences applied, streamed into one Parquet file.

Of an article that several batches hold, the newest version counts (highest version, then latest batch), also when
that version was retracted or rejected: then none of its rows is in the release. Of several packages that are the same
article under different names (`pipeline.dataset.identity`) one is published; the others are listed beside the release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
import pyarrow as pa

from pmo_assets import __version__
from pmo_assets.pipeline.articles.credit import pmc_number
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.card import LICENSE_FILE, ReleaseFacts, dataset_card, license_file
from pmo_assets.pipeline.dataset.identity import ArticlePackage, Duplicate, duplicates
from pmo_assets.pipeline.dataset.licensing import withheld, withheld_columns
from pmo_assets.records.stores import StorageError
from pmo_assets.refresh.candidates import known_of_pmc, read_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import content_digest
from pmo_assets.storage.parquet import parquet_bytes, stream_release
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import RELEASE_COLUMNS, DatasetRows, Duplicates, PubmedOphtha, release_arrow_schema
from pmo_assets.tables.schemas import checked, column_descriptions, empty_table

RELEASE_KEY = "release/pubmed_ophtha.parquet"
CARD_KEY = "release/README.md"
LICENSE_KEY = f"release/{LICENSE_FILE}"
DUPLICATES_KEY = "release/duplicates.parquet"

ROW_GROUP_ROWS = 200
"""Rows per row group: with panel pictures some 50 MB, which viewers and streaming readers like."""


@dataclass(frozen=True)
class Release:
    """What a release holds."""

    key: str
    card_key: str
    rows: int
    expected: int
    articles: int
    batches: int
    withheld: int
    duplicates: int
    duplicates_key: str
    digest: str
    panel_ids: pl.Series = field(repr=False)


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
        """Return the duplicates as a table (`Duplicates`)."""
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
        return checked(Duplicates, rows)


def current_articles(tables: Tables, finished: str = "dataset_rows") -> dict[str, list[int]]:
    """Return for every finished batch the articles whose newest version it holds, in order.

    A batch is finished when it has a table of the asset `finished`. A published version counts before an author
    manuscript, then the highest, of one version a retracted package, then the latest batch; only the same package,
    registered again, takes its retraction back. A version that PMC no longer holds does not count, and one that it
    passes over for a lower one only as long as no batch has that.
    """
    batches = tables.batches(finished)
    at_pmc = known_of_pmc(tables.data_root)
    latest: dict[int, dict[tuple[int, str], tuple[bool, bool, int, bool, int]]] = {}
    for place, batch in enumerate(batches):
        packages = tables.read("article_packages", batch).select(
            "article_id", "version", "name", "is_manuscript", "is_retracted"
        )
        for article_id, version, name, manuscript, retracted in packages.iter_rows():
            if (article_id, version) not in at_pmc.withdrawn:
                counts = (article_id, version) not in at_pmc.passed_over
                preference = (counts, not manuscript, version, retracted, place)
                latest.setdefault(article_id, {})[version, name] = preference
    owners = {article_id: max(packages.values())[-1] for article_id, packages in latest.items()}
    return {
        batch: sorted(article_id for article_id, owner in owners.items() if owner == place)
        for place, batch in enumerate(batches)
    }


def _packages(tables: Tables, batch: str, place: int, articles: Sequence[int]) -> Iterator[ArticlePackage]:
    """Yield what is known of the identity of a batch's current articles."""
    read = {row["article_id"]: row for row in tables.read("articles", batch).iter_rows(named=True)}
    counted = dict(tables.read("dataset_rows", batch).group_by("article_id").len().iter_rows())
    current = set(articles)
    for package in tables.read("article_packages", batch).iter_rows(named=True):
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
    packages = [
        package
        for place, (batch, articles) in enumerate(newest.items())
        for package in _packages(tables, batch, place, articles)
    ]
    at_pmc = known_of_pmc(tables.data_root).retracted
    retracted = {item.article_id: item.name for item in packages if item.article_id in at_pmc and not item.is_retracted}
    packages = [replace(item, is_retracted=item.is_retracted or item.article_id in retracted) for item in packages]
    found = duplicates(packages)
    names = list(newest)
    batches = {item.package.article_id: names[item.package.batch] for item in found}
    retracted = {number: name for number, name in retracted.items() if number not in batches}
    out = {*batches, *retracted}
    current = {batch: [number for number in articles if number not in out] for batch, articles in newest.items()}
    return Selection(current, tuple(found), batches, retracted)


def current_rows(tables: Tables, batch: str, articles: Sequence[int]) -> pl.DataFrame:
    """Return a batch's dataset rows of the articles that it holds in their newest version, ordered by figure."""
    rows = tables.read("dataset_rows", batch)
    return rows.filter(pl.col("article_id").is_in(list(articles))).sort("article_id", "image_cluster_id", "panel_id")


def without_forbidden(rows: pl.DataFrame, license_code: str | None) -> pl.DataFrame:
    """Return rows of articles under a licence with nulls in the columns that it does not let a release publish."""
    return rows.with_columns(
        pl.lit(None, dtype=rows.schema[name]).alias(name) for name in withheld_columns(license_code, rows.columns)
    )


def _released(rows: pl.DataFrame, pixels: ParquetPixels) -> Iterator[pl.DataFrame]:
    """Yield a batch's rows with their pictures, article by article, nulls where the licence forbids redistribution."""
    for (article_id,), part in rows.group_by("article_id", maintain_order=True):
        pictures = pixels.read(int(str(article_id)))
        forbidden = withheld(part["license"][0])
        if not forbidden and (missing := [key for key in part["panel_id"] if key not in pictures]):
            raise StorageError(
                f"batch {pixels.batch} has dataset rows without a picture ({missing[0]} …): its panels were made again "
                "and the run ended before its dataset rows were; run `pmo run` or materialise the batch in the UI"
            )
        images = [None if forbidden else pictures[key].png for key in part["panel_id"]]
        whole = part.with_columns(pl.Series("panel_image_bytes", images, dtype=pl.Binary))
        yield without_forbidden(whole.select(RELEASE_COLUMNS), part["license"][0])


def _row_groups(parts: Iterator[pl.DataFrame], digest: Callable[[pl.DataFrame], None]) -> Iterator[pa.Table]:
    waiting: list[pl.DataFrame] = []
    for part in parts:
        digest(part)
        waiting.append(part)
        if sum(item.height for item in waiting) >= ROW_GROUP_ROWS:
            yield pl.concat(waiting).to_arrow(compat_level=pl.CompatLevel.oldest())
            waiting = []
    if waiting:
        yield pl.concat(waiting).to_arrow(compat_level=pl.CompatLevel.oldest())


def write_release(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    *,
    specialty: Specialty,
    say: Callable[[str], None],
) -> Release:
    """Write `pubmed_ophtha.parquet` and what lies beside it: card, licences, duplicates.

    Of the pictures, memory holds one row group at a time.

    Args:
        data_root: where tables, pictures and the release are.
        tables: the tables below it.
        selection: see `select_articles`.
        specialty: what the dataset is about, for the card.
        say: told of progress, batch by batch.
    """
    rows = {batch: current_rows(tables, batch, articles) for batch, articles in selection.current.items()}
    facts = pl.concat([empty_table(DatasetRows), *rows.values()])
    checksum = hashlib.sha256()

    def parts() -> Iterator[pl.DataFrame]:
        for number, (batch, table) in enumerate(rows.items(), start=1):
            say(f"release: batch {number} of {len(rows)} ({batch}, {table.height} rows)")
            yield from _released(table, ParquetPixels(data_root, "panels", batch))

    def digest(part: pl.DataFrame) -> None:
        for panel_id, png in part.select("panel_id", "panel_image_bytes").iter_rows():
            checksum.update(panel_id.encode() + hashlib.sha256(png or b"").digest())

    metadata = {b"pmo-assets": __version__.encode(), b"specialty": specialty.name.encode()}
    written = stream_release(data_root, RELEASE_KEY, release_arrow_schema(), _row_groups(parts(), digest), metadata)
    checksum.update(facts.drop("subcaption_segments", "in_text_mention", "authors").write_csv().encode())
    withheld_rows = sum(withheld(code) for code in facts["license"])
    listing = selection.listing()
    checksum.update(listing.write_csv().encode())
    data_root.write(DUPLICATES_KEY, parquet_bytes(listing))
    release = ReleaseFacts(
        rows=written,
        withheld=withheld_rows,
        articles=facts["article_id"].n_unique(),
        figures=facts.select("article_id", "image_cluster_id").n_unique(),
        licences=_counts(facts["license"].fill_null("none stated")),
        contains={
            name.removeprefix("contains_"): int(facts[name].sum())
            for name in RELEASE_COLUMNS
            if name.startswith("contains_")
        },
        assembly=_counts(facts["assembly"]),
        columns=[row for name in RELEASE_COLUMNS for row in column_descriptions(PubmedOphtha) if row[0] == name],
        specialty=specialty,
        version=__version__,
        deeds=[
            (code, url, count)
            for code, url, count in facts.group_by("license", "license_url")
            .len()
            .sort("len", "license", "license_url", descending=[True, False, False])
            .iter_rows()
        ],
        duplicates=len(selection.duplicates),
        searched_on=read_candidates(data_root).searched_on,
    )
    data_root.write(LICENSE_KEY, license_file(release).encode())
    data_root.write(CARD_KEY, dataset_card(release).encode())
    return Release(
        key=RELEASE_KEY,
        card_key=CARD_KEY,
        rows=written,
        expected=facts.height,
        articles=facts["article_id"].n_unique(),
        batches=len(rows),
        withheld=withheld_rows,
        duplicates=len(selection.duplicates),
        duplicates_key=DUPLICATES_KEY,
        digest=checksum.hexdigest()[:16],
        panel_ids=facts["panel_id"],
    )


def _counts(values: pl.Series) -> dict[str, int]:
    return dict(values.value_counts().sort("count", values.name, descending=[True, False]).iter_rows())
