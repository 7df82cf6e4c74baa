"""Article packages at their source: listings of packages, and the reading of a folder of files as a package.

Three folder shapes are understood:

* a package folder: `article.pdf`, optional `article.xml`, optional `figures/` with pictures, optional `metadata.json`;
* a folder of loose documents, an article for each name: `a.pdf`, optional `a.xml`, optional `a.json`;
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
from pmo_assets.pipeline.articles.fetching import FetchLimits
from pmo_assets.records.faults import is_exhausted
from pmo_assets.records.packages import (
    PICTURE_SUFFIXES,
    FileTooLarge,
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
    """Return the SHA-256 over names and contents of the files, the stated facts and the files left out.

    It is the same wherever the package lies, as long as its source states the same kind of checksum.
    """
    lines = sorted(f"{file.role} {PurePosixPath(file.path).name} {file.sha256 or f'md5:{file.md5}'}" for file in files)
    lines += sorted(f"{problem.error_class} {PurePosixPath(problem.path).name}" for problem in problems)
    lines.append(json.dumps(stated, sort_keys=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class UnclearDocuments(ArticleError):
    """A package with several PDFs or XMLs of which nothing says which is the article's."""


def _named(entries: Sequence[Entry], suffix: str) -> list[str]:
    return [entry.name for entry in entries if entry.kind != "folder" and _suffix(entry.name) == suffix]


def _stem(name: str) -> str:
    return PurePosixPath(name).stem.lower()


def _documents(entries: Sequence[Entry], folder_name: str) -> tuple[dict[str, str], list[str]]:
    """Return the article's PDF and XML by role, and the names of documents that are left out.

    A document is the article's by its name: `article.*`, the folder's, or that of the other document (paper.xml and
    paper.pdf); or because it is the only one of its kind. What lies beside a document named `article` or like the
    folder are the article's supplements, as in PMC's packages, and no word is lost about them.

    Raises:
        UnclearDocuments: if several are left to choose from: the first by name may be another article's.
    """
    pdfs, xmls = _named(entries, ".pdf"), _named(entries, ".xml")
    chosen: dict[str, str] = {}
    for role, names in (("pdf", pdfs), ("xml", xmls)):
        for wanted in ("article", folder_name.lower()):
            if role not in chosen and (found := sorted(name for name in names if _stem(name) == wanted)):
                chosen[role] = found[0]
    usual = set(chosen)
    for role, names, others in (("xml", xmls, pdfs), ("pdf", pdfs, xmls)):
        if role in chosen or not names:
            continue
        partner = chosen.get("pdf" if role == "xml" else "xml")
        stems = {_stem(partner)} if partner else {_stem(name) for name in others}
        paired = sorted(name for name in names if _stem(name) in stems)
        left = paired if len(paired) == 1 else names
        if len(left) > 1:
            raise UnclearDocuments(
                f"{folder_name} holds {len(names)} {role.upper()}s ({', '.join(sorted(names)[:3])} …) and nothing says "
                f"which is the article's: call it article.{role}, or give each article a folder of its own"
            )
        chosen[role] = left[0]
    pairs = (("pdf", pdfs), ("xml", xmls))
    spare = [name for role, names in pairs if role not in usual for name in names if name != chosen.get(role)]
    return chosen, sorted(spare)


class OtherDocument(ArticleError):
    """A PDF or XML beside the article's that was left out."""


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def has_suffix(name: str, *suffixes: str) -> bool:
    """Say whether a file's name ends in one of these, in whatever case."""
    return _suffix(name) in suffixes


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
    limits: FetchLimits | None = None
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
        """Take a file into the listing, unless its name or kind forbids it.

        Raises:
            UnreadableFile: if it cannot be read. The package is not registered without it, because the fault may pass,
                and what is registered supersedes what was registered before.
        """
        try:
            if printable(str(path)) != str(path):
                raise UnreadableName(f"{printable(str(path))}: the name is not UTF-8: rename the file")
            limit = self.limits.of(role) if self.limits is not None else None
            size, sha256 = size_and_sha256(self.root, str(path), limit)
        except (OutsideSource, NotAFile, UnreadableName, FileTooLarge) as error:
            self.leave_out(path, error)
        except OSError as error:
            raise _unreadable_file(path, error) from error
        else:
            self.files.append(PackageFile(role, str(path), size, sha256))

    def metadata(self, paths: Sequence[PurePosixPath]) -> MetadataReading:
        """Read the metadata; whatever is wrong with it is a problem of the package.

        The first of two files counts; should the second state another licence or a retraction, the safe one of both.
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


def loose_articles(entries: Sequence[Entry], folder_name: str) -> list[str]:
    """Return the stems of the articles in a folder of loose documents; none if it is one article's folder.

    It is a folder of loose documents if they have several names, none is `article` or the folder's, and they are not
    one article's XML with its PDF and other PDFs.
    """
    pdfs, xmls = _named(entries, ".pdf"), _named(entries, ".xml")
    stems = {PurePosixPath(name).stem for name in (*pdfs, *xmls)}
    if len(stems) < 2 or {stem.lower() for stem in stems} & {"article", folder_name.lower()}:
        return []
    one = len(xmls) == 1 and _stem(xmls[0]) in {_stem(name) for name in pdfs}
    return [] if one else sorted(stems)


def list_loose_article(stem: str, folder: Path, limits: FetchLimits | None = None) -> PackageListing:
    """Return the listing of an article in a folder of loose documents: the files `stem`.pdf, .xml and .json.

    Raises:
        ArticleError: if it cannot be registered, as `list_package`; `UnclearDocuments` for `a.pdf` beside `a.PDF`.
        SourceError: if it is not the article's fault.
    """
    reader = _PackageReader(folder, limits)
    entries = [entry for entry in reader.entries(PurePosixPath(".")) if PurePosixPath(entry.name).stem == stem]
    for role in ("pdf", "xml"):
        names = _named(entries, f".{role}")
        if len(names) > 1:
            raise UnclearDocuments(f"{stem} has {len(names)} {role.upper()}s ({', '.join(names)}): rename all but one")
        for name in names:
            reader.add(role, PurePosixPath(name))
    if not reader.files:
        raise reader.refusals[0]
    described = [PurePosixPath(entry.name) for entry in entries if _suffix(entry.name) == ".json"]
    return _listing(stem, reader, described)


def list_package(folder: Path, root: Path, limits: FetchLimits | None = None) -> PackageListing | None:
    """Return the listing of a package folder, `root` or a folder below it; None when the folder is no package.

    A file that leads out of the source, is no file or larger than the limits is left out, unread, and named in
    `PackageListing.problems`, and so is metadata that cannot be used.

    Raises:
        ArticleError: if the package cannot be registered: `OutsideSource`, `NotAFile`, `UnreadableFile`,
            `UnreadableName`.
        SourceError: if it is not the package's fault.
    """
    place = PurePosixPath(folder.relative_to(root).as_posix())
    reader = _PackageReader(root, limits)
    entries = reader.entries(place)
    if not has_document(entries):
        return None
    if printable(folder.name) != folder.name:
        raise UnreadableName(f"{printable(folder.name)}: the name is not UTF-8: rename the folder")
    documents, spare = _documents(entries, folder.name)
    for role in ("pdf", "xml"):
        if role in documents:
            reader.add(role, place / documents[role])
    if not reader.files:
        raise reader.refusals[0]
    for name in spare:
        said = f"{place / name} is left out: the article's documents are {', '.join(sorted(documents.values()))}"
        reader.leave_out(place / name, OtherDocument(said))
    pictures = _pictures(entries, place)
    if any(entry.name == "figures" and entry.kind != "file" for entry in entries):
        try:
            pictures += _pictures(reader.entries(place / "figures"), place / "figures")
        except (OutsideSource, NotAFile) as error:
            reader.leave_out(place / "figures", error)
    for role, path in sorted(pictures):
        reader.add(role, path)
    names = {entry.name for entry in entries}
    described = [place / name for name in dict.fromkeys(("metadata.json", f"{folder.name}.json")) if name in names]
    return _listing(folder.name, reader, described, _ignored(reader, entries, place, described))


def _ignored(
    reader: _PackageReader, entries: Sequence[Entry], place: PurePosixPath, described: Sequence[PurePosixPath]
) -> tuple[str, ...]:
    """Return the paths in a package's folder that are neither used nor named as left out: documents, media, folders."""
    paths = [place / entry.name for entry in entries if not entry.name.startswith(".")]
    if place / "figures" in paths and str(place / "figures") not in {problem.path for problem in reader.problems}:
        inside = next(entry for entry in entries if entry.name == "figures")
        if inside.kind != "file":
            paths.remove(place / "figures")
            listed = reader.entries(place / "figures")
            paths += [place / "figures" / entry.name for entry in listed if not entry.name.startswith(".")]
    accounted = {file.path for file in reader.files} | {problem.path for problem in reader.problems}
    accounted |= {str(path) for path in described}
    return tuple(sorted(printable(str(path)) for path in paths if printable(str(path)) not in accounted))


def _listing(
    package: str, reader: _PackageReader, described: Sequence[PurePosixPath], ignored: tuple[str, ...] = ()
) -> PackageListing:
    """Return the listing of a package whose files were read, with the facts of its metadata files."""
    reading = reader.metadata(described)
    metadata = reading.stated
    article_id, version = article_id_and_version(package, {"pmcid": metadata.pmcid, "version": metadata.version})
    stated: dict[str, Any] = {
        "license_code": None if reading.license_unknown else one_line(metadata.license_code),
        "is_retracted": metadata.is_retracted,
        "title": one_line(metadata.title),
        "citation": one_line(metadata.citation),
    }
    return PackageListing(
        article_id=article_id,
        name=package,
        version=version,
        **stated,
        files=tuple(reader.files),
        digest=package_digest(reader.files, stated, reader.problems),
        is_manuscript=metadata.is_manuscript,
        problems=tuple(reader.problems),
        license_unknown=reading.license_unknown,
        described=tuple(map(str, described)),
        ignored=ignored,
        doi=clean_doi(one_line(metadata.doi)),
    )
