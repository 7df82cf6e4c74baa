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
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from pmo_assets.pipeline.articles.dois import clean_doi
from pmo_assets.pipeline.rejections import ArticleError
from pmo_assets.pipeline.stores import SystemicError

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


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of a package: its role (`pdf`, `xml` or `figure`), path below the source's root, bytes, SHA-256."""

    role: str
    path: str
    size: int
    sha256: str


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


class ArticleSource(Protocol):
    """Where article packages come from."""

    @property
    def uri(self) -> str:
        """What identifies the source in a manifest; `open_source` gives the source back."""
        ...

    def listings(self) -> Iterator[PackageListing]:
        """Yield every package, in a stable order.

        Raises:
            SourceError: if the source cannot be read.
        """
        ...

    def read(self, path: str) -> bytes:
        """Return a file of a package.

        Raises:
            FileMissing: if the source can be read but no longer holds the file.
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


def package_digest(files: Sequence[PackageFile], stated: Mapping[str, Any]) -> str:
    """Return the SHA-256 over the files' names and contents and the stated facts, wherever the package lies."""
    lines = sorted(f"{file.role} {PurePosixPath(file.path).name} {file.sha256}" for file in files)
    lines.append(json.dumps(stated, sort_keys=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _metadata(folder: Path) -> dict[str, Any]:
    for path in (folder / "metadata.json", folder / f"{folder.name}.json"):
        if path.is_file():
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
            except (ValueError, OSError):
                return {}
            return content if isinstance(content, dict) else {}
    return {}


def _document(folder: Path, suffix: str) -> Path | None:
    """Return the article's PDF or XML: `article.*`, else named like the folder, else the first by name."""
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() == suffix and path.is_file())
    wanted = ("article", folder.name.lower())
    return min(found, key=lambda path: (*(path.stem.lower() != name for name in wanted), path.name), default=None)


def package_paths(folder: Path) -> list[tuple[str, Path]]:
    """Return (role, path) of a package folder's files; empty when it holds neither PDF nor XML."""
    pdf, xml = _document(folder, ".pdf"), _document(folder, ".xml")
    if pdf is None and xml is None:
        return []
    places = [folder, folder / "figures"]
    pictures = sorted(
        path
        for place in places
        if place.is_dir()
        for path in place.iterdir()
        if path.suffix.lower() in PICTURE_SUFFIXES and path.is_file()
    )
    documents = [("pdf", pdf), ("xml", xml)]
    return [(role, path) for role, path in documents if path] + [("figure", path) for path in pictures]


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    # JSON may hold halves of surrogate pairs, which no file or table can
    return " ".join(value.encode(errors="replace").decode().split()) or None


def list_package(folder: Path, root: Path) -> PackageListing | None:
    """Return the listing of a package folder below `root`; None when the folder is no package.

    Raises:
        SourceError: if a file cannot be read.
    """
    paths = package_paths(folder)
    if not paths:
        return None
    files = []
    for role, path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error}") from error
        relative = path.relative_to(root).as_posix()
        files.append(PackageFile(role, relative, len(content), hashlib.sha256(content).hexdigest()))
    metadata = _metadata(folder)
    article_id, version = article_id_and_version(folder.name, metadata)
    stated: dict[str, Any] = {
        "license_code": _text(metadata.get("license_code")),
        "is_retracted": metadata.get("is_retracted") is True,
        "title": _text(metadata.get("title")),
        "citation": _text(metadata.get("citation")),
    }
    return PackageListing(
        article_id=article_id,
        name=folder.name,
        version=version,
        **stated,
        files=tuple(files),
        digest=package_digest(files, stated),
        is_manuscript=metadata.get("is_manuscript") is True,
        doi=clean_doi(_text(metadata.get("doi"))),
    )


def newest_versions(listings: Sequence[PackageListing]) -> list[PackageListing]:
    """Keep one package per article: published before manuscript, then the highest version."""
    best: dict[int, PackageListing] = {}
    for listing in sorted(
        listings, key=lambda item: (item.article_id, not item.is_manuscript, item.version, item.name)
    ):
        best[listing.article_id] = listing
    return [best[article_id] for article_id in sorted(best)]
