"""Article packages: their listings by a source, and their numbers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pmo_assets.records.rejections import ArticleError, Rejection
from pmo_assets.records.stores import SystemicError

PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".tif", ".tiff"})
"""Pictures a PMC package may hold."""


DERIVED_ID_BASE = 10**12
"""Articles without a PMC number are numbered from here: PMC numbers have eight digits, so none can collide."""


_PMC_NAME = re.compile(r"^PMC([0-9]{1,11})(?:\.([0-9]{1,6}))?$", re.IGNORECASE)
"""At most eleven digits, so that every number lies below `DERIVED_ID_BASE`."""


class SourceError(SystemicError):
    """The article source cannot be reached or holds no article."""


class FileMissing(ArticleError):
    """A file that the manifest lists is no longer at its source."""


class ChecksumMismatch(ArticleError):
    """A file differs from the checksum that its manifest or metadata states."""


class UnreadableFile(ArticleError):
    """A file or folder of a package cannot be read."""


class UnreadableName(ArticleError):
    """A name is not UTF-8, so that no table can hold it."""


class UnreadableMetadata(ArticleError):
    """The metadata may have stated a retraction or a licence, and cannot be read."""


class InvalidMetadata(ArticleError):
    """Fields of the metadata have a wrong type; neither the licence nor the retraction is among them."""


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of a package.

    Attributes:
        role: `pdf`, `xml` or `figure`.
        path: below the source's root.
        size: bytes; None where the source states none.
        sha256: of its content; None where the source states no SHA-256.
        md5: of its content, as the source states it (PMC does); it finds the file among those fetched before.
    """

    role: str
    path: str
    size: int | None
    sha256: str | None
    md5: str | None = None


@dataclass(frozen=True, slots=True)
class PackageProblem:
    """A file that a package goes on without: path below the source's root, error class, what is wrong."""

    path: str
    error_class: str
    message: str


@dataclass(frozen=True, slots=True)
class PackageListing:
    """Description of a package by its source before it is fetched: a row of a batch's manifest.

    Attributes:
        article_id: PMC number, or a derived one (`derived_article_id`).
        name: the package's name at the source.
        version: version of the article within PMC, from 1.
        license_code: as the source's metadata states it.
        is_retracted: as the source's metadata states it.
        is_manuscript: author manuscript; a published version is preferred over it.
        doi: as the source's metadata states it.
        digest: SHA-256 over names and contents of the files and over what the metadata states, so that a change in
            any of them (also a retraction that leaves the files as they are) shows. Of a folder's package
            `is_manuscript` and `doi` are not part of it, in which they never were.
        problems: files that were left out.
        license_unknown: the metadata cannot be read and may have stated a retraction or a licence: whatever the
            article's own files say, its licence counts as unknown.
        described: metadata files of the package, below the source's root.
        ignored: other files in the package's folder, below the source's root, of no kind that articles have.
    """

    article_id: int
    name: str
    version: int
    license_code: str | None
    is_retracted: bool
    title: str | None
    citation: str | None
    files: tuple[PackageFile, ...]
    digest: str
    is_manuscript: bool = field(default=False, compare=False)
    doi: str | None = field(default=None, compare=False)
    problems: tuple[PackageProblem, ...] = ()
    license_unknown: bool = False
    described: tuple[str, ...] = field(default=(), compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """File or folder that a source passes over.

    Attributes:
        path: below the source's root.
        reason: in a few words, the same for all that is passed over for it.
    """

    path: str
    reason: str


class ArticleSource(Protocol):
    """Source of article packages."""

    @property
    def uri(self) -> str:
        """URI that identifies the source in a manifest; `open_source` gives the source back."""
        ...

    def listings(self) -> Iterator[PackageListing | Rejection | Skipped]:
        """Yield every package, in a stable order, or its rejection if it cannot be registered, and all passed over.

        Raises:
            SourceError: if the source cannot be read.
        """
        ...

    def read(self, path: str, max_bytes: int | None = None) -> bytes:
        """Return a file of a package.

        Raises:
            ArticleError: if the source can be read, but not this file: `FileMissing`, `UnreadableFile`,
                `OutsideSource`, `NotAFile`, `FileTooLarge` (more than `max_bytes`).
            SourceError: if the source cannot be read.
        """
        ...


def is_pmc_number(article_id: int) -> bool:
    """Say whether PMC can have given this number: derived numbers and the samples' have ten digits or more."""
    return article_id < 10**9


def article_words(article_id: int, package: str | None) -> str:
    """Return the name of an article for people: its PMC number, or its package with the number that is none of PMC's.

    >>> article_words(4736323, "PMC4736323.1"), article_words(9000000001, "sample_01"), article_words(7, "downloaded")
    ('PMC4736323', 'sample_01 (9000000001)', 'downloaded (PMC7)')
    """
    number = f"PMC{article_id}" if is_pmc_number(article_id) else str(article_id)
    named = _PMC_NAME.match(package or "")
    if package is None or (named is not None and int(named[1]) == article_id):
        return number
    return f"{package} ({number})"


def derived_article_id(name: str) -> int:
    """Return the number of a package that has no PMC number: stable, and outside PMC's range.

    It is 10^12 plus the first 40 bits of the SHA-256 of the name.
    """
    return DERIVED_ID_BASE + int.from_bytes(hashlib.sha256(name.encode()).digest()[:5], "big")


def article_id_and_version(name: str, metadata: dict[str, Any]) -> tuple[int, int]:
    """Return article number and version from a package's name (`PMC123`, `PMC123.2`) or its metadata."""
    match = _PMC_NAME.match(name) or _PMC_NAME.match(str(metadata.get("pmcid") or ""))
    stated = str(metadata.get("version"))
    version = int(stated) if re.fullmatch(r"[0-9]{1,6}", stated) else 0
    if match is None or int(match[1]) == 0:
        return derived_article_id(name), max(version, 1)
    return int(match[1]), max(int(match[2]) if match[2] else version, 1)


class FileTooLarge(ArticleError):
    """A file is larger than the limit."""


REGISTRATION_STAGE = "registration"
"""Stage of the rejections of packages that could not be registered."""
