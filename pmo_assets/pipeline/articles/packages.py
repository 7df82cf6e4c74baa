"""Article packages at their source: what a source lists, and how a folder of files is read as a package.

Two folder shapes are understood:

* a package folder: `article.pdf`, optional `article.xml`, optional `figures/` with pictures, optional `metadata.json`;
* the PMC Cloud Service's: `PMC10009416.1/` with `PMC10009416.1.pdf`, `.xml`, `.json` and the media files beside them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from pmo_assets.pipeline.articles.dois import clean_doi
from pmo_assets.pipeline.articles.metadata import (
    MAX_METADATA_BYTES,
    MetadataReading,
    StatedMetadata,
    read_metadata,
    unreadable,
)
from pmo_assets.pipeline.articles.source_files import (
    Entry,
    NotAFile,
    OutsideSource,
    entries_inside,
    printable,
    read_inside,
    size_and_sha256,
)
from pmo_assets.pipeline.faults import is_exhausted
from pmo_assets.pipeline.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.pipeline.stores import SystemicError

PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".tif", ".tiff"})
"""Pictures a PMC package may hold."""

DERIVED_ID_BASE = 10**12
"""Articles without a PMC number are numbered from here: PMC numbers have eight digits, so none can collide."""

REGISTRATION_STAGE = "registration"
"""Stage of the rejections of packages that could not be registered."""

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
    """A file of a package: its role (`pdf`, `xml` or `figure`), path below the source's root, bytes, SHA-256."""

    role: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackageProblem:
    """A file that a package goes on without: path below the source's root, error class, what is wrong."""

    path: str
    error_class: str
    message: str


@dataclass(frozen=True, slots=True)
class PackageListing:
    """What a source knows of a package before it is fetched: a row of a batch's manifest.

    Attributes:
        article_id: PMC number, or a derived one (`derived_article_id`).
        name: the package's name at the source.
        version: version of the article within PMC, from 1.
        license_code: as the source's metadata states it.
        is_retracted: as the source's metadata states it.
        is_manuscript: author manuscript; a published version is preferred over it.
        doi: as the source's metadata states it; not part of the digest, in which it never was.
        digest: SHA-256 over names and contents of the files and over what the metadata states, so that a change in
            any of them (also a retraction that leaves the files as they are) shows.
        problems: files that were left out.
        license_unknown: the metadata cannot be read and may have stated a retraction or a licence: whatever the
            article's own files say, its licence counts as unknown.
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


class ArticleSource(Protocol):
    """Where article packages come from."""

    @property
    def uri(self) -> str:
        """What identifies the source in a manifest; `open_source` gives the source back."""
        ...

    def listings(self) -> Iterator[PackageListing | Rejection]:
        """Yield every package, in a stable order, or why it cannot be registered.

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


def package_digest(
    files: Sequence[PackageFile], stated: Mapping[str, Any], problems: Sequence[PackageProblem] = ()
) -> str:
    """Return the SHA-256 over names and contents of the files, the stated facts and what was left out.

    It is the same wherever the package lies.
    """
    lines = sorted(f"{file.role} {PurePosixPath(file.path).name} {file.sha256}" for file in files)
    lines += sorted(f"{problem.error_class} {PurePosixPath(problem.path).name}" for problem in problems)
    lines.append(json.dumps(stated, sort_keys=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _document(entries: Sequence[Entry], folder_name: str, suffix: str) -> str | None:
    """Return the article's PDF or XML: `article.*`, else named like the folder, else the first by name."""
    found = [entry.name for entry in entries if entry.kind != "folder" and _suffix(entry.name) == suffix]
    wanted = ("article", folder_name.lower())
    return min(found, key=lambda name: (*(PurePosixPath(name).stem.lower() != w for w in wanted), name), default=None)


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def has_document(entries: Sequence[Entry]) -> bool:
    """Say whether a folder's entries hold a PDF or XML, so that it may be a package."""
    return any(entry.kind != "folder" and _suffix(entry.name) in (".pdf", ".xml") for entry in entries)


def _pictures(entries: Sequence[Entry], folder: PurePosixPath) -> list[tuple[str, PurePosixPath]]:
    names = [entry.name for entry in entries if entry.kind != "folder" and _suffix(entry.name) in PICTURE_SUFFIXES]
    return [("figure", folder / name) for name in names]


def _text(value: str | None) -> str | None:
    # JSON may hold halves of surrogate pairs, which no file or table can
    return " ".join((value or "").encode(errors="replace").decode().split()) or None


@dataclass
class _PackageReader:
    """Reads the files of one package, and collects those that it goes on without."""

    root: Path
    files: list[PackageFile] = field(default_factory=list)
    problems: list[PackageProblem] = field(default_factory=list)
    refusals: list[ArticleError] = field(default_factory=list)

    def leave_out(self, path: PurePosixPath, error: ArticleError) -> None:
        self.refusals.append(error)
        self.problems.append(PackageProblem(printable(str(path)), type(error).__name__, str(error)))

    def entries(self, folder: PurePosixPath) -> list[Entry]:
        try:
            return entries_inside(self.root, str(folder))
        except OSError as error:
            raise _unreadable_file(folder, error) from error

    def add(self, role: str, path: PurePosixPath) -> None:
        """Take a file into the listing, unless its name or what it is forbids it.

        Raises:
            UnreadableFile: if it cannot be read. The package is not registered without it, because the fault may pass,
                and what is registered supersedes what was registered before.
        """
        try:
            if printable(str(path)) != str(path):
                raise UnreadableName(f"{printable(str(path))}: the name is not UTF-8: rename the file")
            size, sha256 = size_and_sha256(self.root, str(path))
        except (OutsideSource, NotAFile, UnreadableName) as error:
            self.leave_out(path, error)
        except OSError as error:
            raise _unreadable_file(path, error) from error
        else:
            self.files.append(PackageFile(role, str(path), size, sha256))

    def metadata(self, paths: Sequence[PurePosixPath]) -> MetadataReading:
        """Read the metadata; whatever is wrong with it is a problem of the package.

        Of two files the first counts; should the second state another licence or a retraction, the safe one of both.
        """
        readings = [self._metadata_file(path) for path in paths]
        if not readings:
            return MetadataReading(StatedMetadata())
        reading = readings[0]
        for path, other in zip(paths[1:], readings[1:], strict=True):
            retracted = reading.stated.is_retracted or other.stated.is_retracted
            agrees = other.stated.license_code in (None, reading.stated.license_code) and not other.license_unknown
            if agrees and retracted == reading.stated.is_retracted:
                continue
            self.leave_out(
                path,
                UnreadableMetadata(
                    f"{path} states another licence or retraction than {paths[0]}: the licence counts as unknown until "
                    "one of them is mended or removed and the package registered again"
                ),
            )
            stated = reading.stated.model_copy(update={"is_retracted": retracted})
            reading = replace(reading, stated=stated, license_unknown=True)
        return reading

    def _metadata_file(self, path: PurePosixPath) -> MetadataReading:
        try:
            reading = read_metadata(read_inside(self.root, str(path), MAX_METADATA_BYTES))
        except ArticleError as error:
            reading = unreadable(str(error))
        except OSError as error:
            if is_exhausted(error):
                raise _unreadable_file(path, error) from error
            reading = unreadable(error.strerror or str(error))
        if reading.problem is not None:
            reason: ArticleError = InvalidMetadata(f"{path} is used without its wrong fields ({reading.problem})")
            if reading.license_unknown:
                reason = UnreadableMetadata(
                    f"{path} cannot be used ({reading.problem}): it may have stated a retraction or a licence, so that "
                    "the licence counts as unknown and nothing of the article is passed on until the file is mended "
                    "and registered again"
                )
            self.leave_out(path, reason)
        return reading


def _unreadable_file(path: PurePosixPath, error: OSError) -> ArticleError | SystemicError:
    reason = error.strerror or str(error)
    if is_exhausted(error):
        return SourceError(f"cannot read {path}: {reason}; this machine lacks something, not the package")
    return UnreadableFile(f"{printable(str(path))} cannot be read: {reason}")


def list_package(folder: Path, root: Path) -> PackageListing | None:
    """Return the listing of a package folder, `root` or a folder below it; None when the folder is no package.

    A file that leads out of the source or is no file is left out and named in `PackageListing.problems`, and so is
    metadata that cannot be used.

    Raises:
        ArticleError: if the package cannot be registered: `OutsideSource`, `NotAFile`, `UnreadableFile`,
            `UnreadableName`.
        SourceError: if it is not the package's fault.
    """
    place = PurePosixPath(folder.relative_to(root).as_posix())
    reader = _PackageReader(root)
    entries = reader.entries(place)
    if not has_document(entries):
        return None
    if printable(folder.name) != folder.name:
        raise UnreadableName(f"{printable(folder.name)}: the name is not UTF-8: rename the folder")
    for role in ("pdf", "xml"):
        name = _document(entries, folder.name, f".{role}")
        if name is not None:
            reader.add(role, place / name)
    if not reader.files:
        raise reader.refusals[0]
    pictures = _pictures(entries, place)
    if any(entry.name == "figures" and entry.kind != "file" for entry in entries):
        try:
            pictures += _pictures(reader.entries(place / "figures"), place / "figures")
        except (OutsideSource, NotAFile) as error:
            reader.leave_out(place / "figures", error)
    for role, path in sorted(pictures):
        reader.add(role, path)
    names = {entry.name for entry in entries}
    described = dict.fromkeys(("metadata.json", f"{folder.name}.json"))
    reading = reader.metadata([place / name for name in described if name in names])
    metadata = reading.stated
    article_id, version = article_id_and_version(folder.name, {"pmcid": metadata.pmcid, "version": metadata.version})
    stated: dict[str, Any] = {
        "license_code": None if reading.license_unknown else _text(metadata.license_code),
        "is_retracted": metadata.is_retracted,
        "title": _text(metadata.title),
        "citation": _text(metadata.citation),
    }
    return PackageListing(
        article_id=article_id,
        name=folder.name,
        version=version,
        **stated,
        files=tuple(reader.files),
        digest=package_digest(reader.files, stated, reader.problems),
        is_manuscript=metadata.is_manuscript,
        problems=tuple(reader.problems),
        license_unknown=reading.license_unknown,
        doi=clean_doi(_text(metadata.doi)),
    )


class DuplicatePackage(ArticleError):
    """Another package of the source is the same version of the same article, and counts."""


def duplicate_packages(listings: Sequence[PackageListing]) -> list[Rejection]:
    """Return the packages that `newest_versions` leaves out although they are no older version, by article."""
    kept = {listing.article_id: listing for listing in newest_versions(listings)}
    left_out = [item for item in listings if item.name != kept[item.article_id].name]
    return [
        rejection_from(
            DuplicatePackage(
                f"{item.name} is article {item.article_id} like {kept[item.article_id].name}, which counts: "
                "give one of them another version, or take it away"
            ),
            stage=REGISTRATION_STAGE,
            article_id=item.article_id,
        )
        for item in sorted(left_out, key=lambda item: (item.article_id, item.name))
        if item.version == kept[item.article_id].version and item.is_manuscript == kept[item.article_id].is_manuscript
    ]


def newest_versions(listings: Sequence[PackageListing]) -> list[PackageListing]:
    """Keep one package per article: published before manuscript, then the highest version.

    Of several packages of one version a retracted one counts, because what it says holds for the article; then the one
    that is named by its number.
    """

    def preference(item: PackageListing) -> tuple[object, ...]:
        named = _PMC_NAME.match(item.name) is not None
        return not item.is_manuscript, item.version, item.is_retracted, named, item.name

    best: dict[int, PackageListing] = {}
    for listing in sorted(listings, key=preference):
        best[listing.article_id] = listing
    return [best[article_id] for article_id in sorted(best)]
