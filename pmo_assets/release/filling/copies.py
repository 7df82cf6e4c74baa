"""Places of copies of articles: the data root at hand, a folder of packages, PMC's bucket.

A copy counts when its PDF and its XML are, byte for byte, those that the release was made of. Each kind is small
enough to travel to worker processes; `places` does the costly search once, before.
"""

from __future__ import annotations

import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol

from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.records.memory_stores import MemoryObjects
from pmo_assets.records.packages import (
    DERIVED_ID_BASE,
    ArticleSource,
    FileMissing,
    PackageListing,
    SourceError,
    article_id_and_version,
)
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.step_output import Row
from pmo_assets.records.stores import ObjectStore
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import has_document, list_package
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.sources.source_files import entries_inside
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore, content_digest
from pmo_assets.storage.tables import Tables


class NoCopy(ArticleError):
    """There is no copy of the article."""


class OtherCopy(ArticleError):
    """The copy of the article is not the one that the release was made of."""


@dataclass(frozen=True, slots=True)
class ArticleFiles:
    """Number, package and digests of a wanted copy of an article.

    Attributes:
        article_id: its number.
        name: of its package, e.g. PMC10009416.1.
        pdf_sha256: of the PDF.
        xml_sha256: of the XML; None where the release was made without.
    """

    article_id: int
    name: str
    pdf_sha256: str | None
    xml_sha256: str | None


@dataclass(frozen=True)
class ArticleCopy:
    """A copy of an article: its row of `article_packages`, its files, and what of it could not be read."""

    package: Row
    objects: ObjectStore
    left_out: Sequence[str] = ()


class ArticleCopies(Protocol):
    """Copies of articles."""

    def places(self, articles: Iterable[ArticleFiles]) -> Mapping[int, tuple[str, ...]]:
        """Return where each article may be, by its number; an article that is not in it is looked for by its name.

        Raises:
            SourceError, StorageError: if the copies cannot be read at all.
        """
        ...

    def copy(self, article: ArticleFiles, places: Sequence[str]) -> ArticleCopy:
        """Return the copy of an article, as it is: `checked_copy` holds it against what is wanted.

        Raises:
            ArticleError: if there is none.
            SourceError, StorageError: if the copies cannot be read at all.
        """
        ...


def checked_copy(copies: ArticleCopies, article: ArticleFiles, places: Sequence[str]) -> ArticleCopy:
    """Return the copy of an article, PDF and XML verified; without an XML where the release was made without.

    Raises:
        NoCopy: if there is none.
        OtherCopy: if it is another one.
        ArticleError: if it cannot be read.
    """
    copy = copies.copy(article, places)
    package = {**copy.package, "article_id": article.article_id, "name": article.name}
    for role, wanted in (("pdf", article.pdf_sha256), ("xml", article.xml_sha256)):
        if wanted is None:
            package[role] = None
            continue
        if package[role] is None:
            reasons = f" ({'; '.join(copy.left_out)})" if copy.left_out else ""
            raise NoCopy(f"{article.name}: the copy here has no {role.upper()}{reasons}: {_ADVICE}")
        found = hashlib.sha256(copy.objects.get(package[role])).hexdigest()
        if found != wanted:
            raise OtherCopy(
                f"{article.name}: its {role.upper()} here is another file (SHA-256 {found[:12]}…) than the one that "
                f"the release was made of ({wanted[:12]}…): {_ADVICE}"
            )
    return ArticleCopy(package, copy.objects, copy.left_out)


_ADVICE: Final = "give another --source (a folder with this version, pmc, or the data root of the release)"


@dataclass(frozen=True)
class DataRootCopies:
    """Copies that a data root keeps of the articles that it processed."""

    data_root: DataRoot

    def places(self, articles: Iterable[ArticleFiles]) -> dict[int, tuple[str, ...]]:
        """Return the batch that has each article's PDF and XML; another one that has the article if none does."""
        wanted = {article.article_id: article for article in articles}
        tables = Tables(self.data_root)
        found: dict[int, tuple[bool, str]] = {}
        for batch in tables.batches("article_packages"):
            packages = tables.read("article_packages", batch, ["article_id", "pdf", "xml"])
            for number, pdf, xml in packages.iter_rows():
                article = wanted.get(number)
                if article is not None:
                    same = _is(pdf, article.pdf_sha256) and _is(xml, article.xml_sha256)
                    found[number] = max(found.get(number, (False, "")), (same, batch))
        return {number: (batch,) for number, (_, batch) in found.items()}

    def copy(self, article: ArticleFiles, places: Sequence[str]) -> ArticleCopy:
        """Return the package as the data root has it."""
        if not places:
            raise NoCopy(f"{article.name} is not below {self.data_root.root}: {_ADVICE}")
        table = Tables(self.data_root).read("article_packages", places[0])
        rows = [row for row in table.iter_rows(named=True) if row["article_id"] == article.article_id]
        return ArticleCopy(rows[0], ContentStore(self.data_root))


def _is(key: str | None, digest: str | None) -> bool:
    return digest is None or (key is not None and content_digest(key) == digest)


@dataclass(frozen=True)
class FolderCopies:
    """Article packages in a folder, as `pmo batches add` takes them: subfolders, or one package.

    Attributes:
        folder: absolute.
        limits: what is not read.
    """

    folder: Path
    limits: FetchLimits

    def places(self, articles: Iterable[ArticleFiles]) -> dict[int, tuple[str, ...]]:
        """Return the subfolders that may hold each article, the one with its package's name first."""
        wanted = {article.article_id: article.name for article in articles}
        try:
            entries = entries_inside(self.folder, ".")
        except (OSError, ArticleError) as error:
            raise SourceError(f"cannot list {self.folder}: {error}") from error
        names = [entry.name for entry in entries if entry.kind == "folder" and not entry.name.startswith(".")]
        found: dict[int, list[str]] = defaultdict(list)
        if has_document(entries):
            found[article_id_and_version(self.folder.name, {})[0]].append(".")
        for name in names:
            found[article_id_and_version(name, {})[0]].append(name)
        return {
            number: tuple(sorted(places, key=lambda place: (place != wanted[number], place)))
            for number, places in found.items()
            if number in wanted
        }

    def copy(self, article: ArticleFiles, places: Sequence[str]) -> ArticleCopy:
        """Return the first package whose PDF is the wanted one, else the first."""
        # a package with another name than its number's states the number in its metadata
        named = (article.name,) if "/" not in article.name and article.name not in ("", ".", "..") else ()
        source = LocalFolder(self.folder)
        listings: list[PackageListing] = []
        for place in places or tuple(name for name in named if (self.folder / name).is_dir()):
            listing = list_package(self.folder / place, self.folder)
            if listing is not None:
                listings.append(listing)
        if not listings:
            raise NoCopy(f"{article.name} is not in {self.folder}: {_ADVICE}")

        def has_wanted_pdf(listing: PackageListing) -> bool:
            return any(file.role == "pdf" and file.sha256 == article.pdf_sha256 for file in listing.files)

        return _fetched(next(filter(has_wanted_pdf, listings), listings[0]), source, self.limits)


@dataclass(frozen=True)
class PmcCopies:
    """PMC's bucket, or a mirror of it.

    Attributes:
        options: how it is reached.
        limits: what is not fetched.
    """

    options: PmcOptions
    limits: FetchLimits

    def places(self, articles: Iterable[ArticleFiles]) -> dict[int, tuple[str, ...]]:
        """Return nothing: the bucket is asked article by article."""
        return {}

    def copy(self, article: ArticleFiles, places: Sequence[str]) -> ArticleCopy:
        """Fetch the version of the package's name, or the one that counts where the name tells none."""
        if article.article_id >= DERIVED_ID_BASE:
            raise NoCopy(f"{article.name} is no article of PMC: give the folder that has it as --source")
        cloud = _cloud(self.options)
        versions = cloud.versions(article.article_id)
        named = [version for version in versions if version.name.lower() == article.name.lower()]
        if not versions or ("." in article.name and not named):
            held = ", ".join(version.name for version in versions) or "no version of it"
            raise NoCopy(f"{article.name} is not in {cloud.uri}, which has {held}: {_ADVICE}")
        try:
            listing = cloud.listing(named[0]) if named else cloud.best_of(versions)
        except FileMissing as error:
            raise NoCopy(f"{article.name}: {error}") from error
        return _fetched(listing, cloud, self.limits)


@functools.lru_cache(maxsize=1)
def _cloud(options: PmcOptions) -> PmcCloud:
    """Return this process's connection to the bucket."""
    return PmcCloud(PmcBucket(options))


def _fetched(listing: PackageListing, source: ArticleSource, limits: FetchLimits) -> ArticleCopy:
    objects = MemoryObjects({})
    output = fetch_package(asdict(listing), source, objects, limits)
    left_out = [item.message for item in output.rejections]
    if not output.rows:
        raise NoCopy(f"{listing.name}: {'; '.join(left_out)}")
    return ArticleCopy(output.rows[0], objects, left_out)
