"""Article packages at their source: what a source lists, and how a folder of files is read as a package.

Two folder shapes are understood:

* a package folder: `article.pdf`, optional `article.xml`, optional `figures/` with pictures, optional `metadata.json`;
* the PMC Cloud Service's: `PMC10009416.1/` with `PMC10009416.1.pdf`, `.xml`, `.json` and the media files beside them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pmo_assets.pipeline.articles.dois import clean_doi
from pmo_assets.records.faults import is_exhausted
from pmo_assets.records.packages import (
    PICTURE_SUFFIXES,
    InvalidMetadata,
    PackageFile,
    PackageListing,
    PackageProblem,
    SourceError,
    UnreadableFile,
    UnreadableMetadata,
    UnreadableName,
    article_id_and_version,
)
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError
from pmo_assets.sources.metadata import (
    MAX_METADATA_BYTES,
    MetadataReading,
    StatedMetadata,
    read_metadata,
    unreadable,
)
from pmo_assets.sources.source_files import (
    Entry,
    NotAFile,
    OutsideSource,
    entries_inside,
    printable,
    read_inside,
    size_and_sha256,
)


def package_digest(
    files: Sequence[PackageFile], stated: Mapping[str, Any], problems: Sequence[PackageProblem] = ()
) -> str:
    """Return the SHA-256 over names and contents of the files, the stated facts and what was left out.

    It is the same wherever the package lies, as long as its source states the same kind of checksum.
    """
    lines = sorted(f"{file.role} {PurePosixPath(file.path).name} {file.sha256 or f'md5:{file.md5}'}" for file in files)
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


def one_line(value: str | None) -> str | None:
    """Return text as one line that every table can hold; None for nothing."""
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
        "license_code": None if reading.license_unknown else one_line(metadata.license_code),
        "is_retracted": metadata.is_retracted,
        "title": one_line(metadata.title),
        "citation": one_line(metadata.citation),
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
        doi=clean_doi(one_line(metadata.doi)),
    )
