"""Numbers of packages that PMC has given none: the same for the same article, never one for two articles.

What a package is comes from what its source states and from its files; its name is the last resort. A number is derived
from the name alone as long as nothing else bears that name, so that it is the same in every data root; of a second
article of the same name it is derived from source and name, and the package says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pmo_assets.records.packages import (
    DERIVED_ID_BASE,
    PackageFile,
    PackageListing,
    PackageProblem,
    derived_article_id,
)
from pmo_assets.records.rejections import ArticleError


class SameName(ArticleError):
    """Another article is registered under the package's name, so that its number is derived from its source, too."""


@dataclass(frozen=True, slots=True)
class RegisteredPackage:
    """Identity of a package in a manifest.

    Attributes:
        article_id: its number.
        version: of the article, from 1.
        digest: of its content and metadata.
        name: at its source.
        source: URI of the source.
        doi: as its metadata state it; None when they do not.
        content: role, name and checksum of each file.
    """

    article_id: int
    version: int
    digest: str
    name: str
    source: str
    doi: str | None
    content: frozenset[tuple[str, str, str]]


def content_of(files: Iterable[PackageFile | Mapping[str, Any]]) -> frozenset[tuple[str, str, str]]:
    """Return role, file name and checksum of the files of a package."""
    read = (file if isinstance(file, PackageFile) else PackageFile(**file) for file in files)
    return frozenset((file.role, file.path.rpartition("/")[2], file.sha256 or f"md5:{file.md5}") for file in read)


def registered_package(row: Mapping[str, Any]) -> RegisteredPackage:
    """Return the identity of the package in a row of a manifest (`ArticleBatch`)."""
    stated = {name: row[name] for name in ("article_id", "version", "digest", "name", "source")}
    return RegisteredPackage(**stated, doi=row.get("doi"), content=content_of(row["files"]))


_DOCUMENTS: Final = ("pdf", "xml")


def is_same_article(package: PackageListing, other: RegisteredPackage) -> bool:
    """Say whether something shows that two packages are one article: the DOI; without two DOIs, a document of both."""
    if package.doi and other.doi:
        return package.doi.casefold() == other.doi.casefold()
    documents = {item for item in content_of(package.files) if item[0] in _DOCUMENTS}
    return package.digest == other.digest or any(
        (role, checksum) == (item[0], item[2]) for role, _, checksum in documents for item in other.content
    )


def _is_other_article(package: PackageListing, other: RegisteredPackage) -> bool:
    return bool(package.doi and other.doi) and not is_same_article(package, other)


def _candidates(package: PackageListing, source: str) -> Iterator[int]:
    yield derived_article_id(package.name)
    yield derived_article_id(f"{source}\n{package.name}")
    for place in itertools.count(2):
        yield derived_article_id(f"{source}\n{package.name}\n{place}")


def _number(
    package: PackageListing, source: str, holders: Mapping[int, Sequence[RegisteredPackage]]
) -> tuple[int, RegisteredPackage | None]:
    """Return the package's number and, if that is not its name's own, who has that one."""
    first: RegisteredPackage | None = None
    for number in _candidates(package, source):
        held = holders.get(number, ())
        own = [item for item in held if (item.source, item.name) == (source, package.name)]
        if any(item.digest == package.digest for item in own):
            return number, first
        contradicted = any(_is_other_article(package, item) for item in held)
        if not held or (not contradicted and (own or any(is_same_article(package, item) for item in held))):
            return number, first
        first = first or held[-1]
    raise AssertionError("the candidates are without end")


def numbered(
    listings: Iterable[PackageListing], source: str, registered: Iterable[RegisteredPackage]
) -> list[PackageListing]:
    """Return packages with numbers that no other article has; PMC's numbers stay.

    A package that is registered from the same source under the same name keeps its number, unless another DOI says
    that it is another article now. Whether packages of one number of PMC are one article, is the release's question.

    Args:
        listings: packages that a source lists.
        source: its URI.
        registered: the packages of all manifests, oldest first.
    """
    holders: dict[int, list[RegisteredPackage]] = {}
    for item in registered:
        if item.article_id >= DERIVED_ID_BASE:
            holders.setdefault(item.article_id, []).append(item)
    found: list[PackageListing] = []
    for package in listings:
        if package.article_id < DERIVED_ID_BASE:
            found.append(package)
            continue
        number, other = _number(package, source, holders)
        if other is not None:
            error = SameName(
                f"{package.name} has the name of another article ({other.name} in {other.source}, number "
                f"{other.article_id}), and nothing shows that it is the same: it is number {number}"
            )
            problem = PackageProblem(package.name, type(error).__name__, str(error))
            package = replace(package, article_id=number, problems=(*package.problems, problem))
        holders.setdefault(number, []).append(
            RegisteredPackage(
                number, package.version, package.digest, package.name, source, package.doi, content_of(package.files)
            )
        )
        found.append(package)
    return found
