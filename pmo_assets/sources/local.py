"""Article sources: a local folder of packages."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from pmo_assets.pipeline.articles.fetching import FetchLimits
from pmo_assets.records.faults import is_exhausted, raise_fault
from pmo_assets.records.packages import (
    REGISTRATION_STAGE,
    FileMissing,
    PackageListing,
    Skipped,
    SourceError,
    UnreadableFile,
    article_id_and_version,
)
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.sources.package_folders import (
    has_document,
    has_suffix,
    list_loose_article,
    list_package,
    loose_articles,
)
from pmo_assets.sources.source_files import (
    Entry,
    entries_inside,
    printable,
    read_inside,
)

NO_DOCUMENT: Final = "a folder without a PDF or XML"
BESIDE_PACKAGES: Final = "a file beside the folders of packages"
"""Why something of a source is passed over."""


class NoArticle(ArticleError):
    """A file of a source that belongs to no article."""


@dataclass(frozen=True)
class LocalFolder:
    """Packages in the subfolders of a folder (`sources.package_folders`), one package, or loose documents.

    Attributes:
        folder: where they are.
        limits: files that are larger are not listed; all are if None, and those too large are not fetched.
    """

    folder: Path
    limits: FetchLimits | None = None

    @property
    def uri(self) -> str:
        """The folder as a `file://` URL."""
        return Path(os.path.abspath(self.folder)).as_uri()

    def listings(self) -> Iterator[PackageListing | Rejection | Skipped]:
        """Yield every package below the folder by name; a folder that is itself a package yields that one.

        Then come the documents that belong to no package, and what else is passed over.
        """
        if not self.folder.is_dir():
            raise SourceError(f"{self.folder} is not a folder: give one whose subfolders are article packages")
        folder = Path(os.path.abspath(self.folder))  # not resolve(): a link's own name is the package's name
        entries = self._entries()
        alone = has_document(entries)
        found = False
        taken: set[str] = set()
        for entry in entries:
            if not _may_be_package(entry, alone):
                continue
            outcome = self._outcome(folder / entry.name, folder)
            if outcome is not None:
                found = True
                taken.add(entry.name)
                yield outcome
        if found:
            yield from _beside_packages([entry for entry in entries if entry.name not in taken])
        loose = loose_articles(entries, folder.name) if not found else []
        for stem in loose:
            listed = functools.partial(list_loose_article, stem, folder, self.limits)
            if (outcome := self._outcome(folder / stem, folder, listed)) is not None:
                found = True
                yield outcome
        if loose:
            yield from self._left_out(entries, loose)
        if not found and alone and (outcome := self._outcome(folder, folder)) is not None:
            found = True
            yield outcome
        if not found:
            raise SourceError(
                f"{self.folder} holds no article package: expected subfolders with article.pdf and/or article.xml, "
                "or PMC Cloud folders such as PMC10009416.1/"
            )

    def read(self, path: str, max_bytes: int | None = None) -> bytes:
        """Return a file's bytes; see `ArticleSource`."""
        try:
            return read_inside(self.folder, path, max_bytes)
        except OSError as error:
            self._must_be_there(error)
            # Not caused by `error`: on the way from a sound source it is this file's, whatever it would be elsewhere.
            if isinstance(error, FileNotFoundError):
                raise FileMissing(f"{path} is gone from {self.folder} since the batch was registered") from None
            raise UnreadableFile(f"{self.folder / path} cannot be read: {error.strerror or error}") from None

    def _entries(self) -> list[Entry]:
        try:
            return entries_inside(self.folder, ".")
        except (OSError, ArticleError) as error:
            raise SourceError(f"cannot list {self.folder}: {error}; is the source folder still there?") from error

    def _left_out(self, entries: Sequence[Entry], loose: Collection[str]) -> Iterator[Rejection | Skipped]:
        """Yield the entries among loose documents that belong to no article: none is passed over in silence."""
        for entry in entries:
            name = printable(entry.name)
            used = PurePosixPath(entry.name).stem in loose and has_suffix(entry.name, ".pdf", ".xml", ".json")
            if entry.name.startswith(".") or (used and entry.kind != "folder"):
                continue
            if entry.kind == "folder":
                yield Skipped(name, NO_DOCUMENT)
                continue
            error = NoArticle(
                f"{name} belongs to no article of a folder of loose documents, where an article's files are named "
                "alike (.pdf, .xml, .json): give an article with pictures a folder of its own"
            )
            yield _not_registered(error, name)

    def _outcome(
        self, place: Path, root: Path, listed: Callable[[], PackageListing] | None = None
    ) -> PackageListing | Rejection | None:
        """List a package; whatever is wrong with it is its rejection, unless the source as a whole is gone."""
        try:
            return listed() if listed is not None else list_package(place, root, self.limits)
        except Exception as error:
            self._must_be_there(error)
            if not isinstance(error, OSError):
                raise_fault(error)
            name = printable(place.name)
            rejection = _not_registered(error, name)
            if rejection.message.startswith(name):
                return rejection
            return replace(rejection, message=f"{name}: {rejection.message}")

    def _must_be_there(self, error: Exception) -> None:
        """Raise SourceError when a file could not be read because of the source or the machine, not of the file."""
        if isinstance(error, OSError) and is_exhausted(error):
            raise SourceError(f"cannot read {self.folder}: {error}") from error
        try:
            with os.scandir(self.folder) as found:
                empty = next(found, None) is None
        except OSError as fault:
            raise SourceError(f"{self.folder} is gone ({fault.strerror or fault}): is its disk mounted?") from error
        if empty:
            raise SourceError(f"{self.folder} is gone or empty: is its disk mounted?") from error


def _not_registered(error: BaseException, name: str) -> Rejection:
    number = article_id_and_version(name, {})[0]
    return replace(rejection_from(error, stage=REGISTRATION_STAGE, unit_id=number), owner=name)


def _beside_packages(entries: Sequence[Entry]) -> Iterator[Rejection | Skipped]:
    """Yield the entries beside the folders of packages: a document may be meant as an article, others are skipped."""
    for entry in entries:
        name = printable(entry.name)
        if entry.name.startswith("."):
            continue
        if entry.kind == "folder":
            yield Skipped(name, NO_DOCUMENT)
        elif has_suffix(name, ".pdf", ".xml"):
            error = NoArticle(f"{name} lies beside the folders of packages and in none: give it a folder of its own")
            yield _not_registered(error, name)
        else:
            yield Skipped(name, BESIDE_PACKAGES)


def _may_be_package(entry: Entry, alone: bool) -> bool:
    """Say whether an entry of the source is to be looked at; `alone`: the source may itself be a package."""
    if entry.name.startswith("."):
        return False  # a program's: `.git`, or what a download that was killed left behind
    if entry.kind == "folder":
        return not (alone and entry.name == "figures")
    # A link that leads nowhere was meant to be a package, unless it is one of a package's files.
    return entry.kind == "broken" and not alone
