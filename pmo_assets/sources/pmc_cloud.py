"""The PMC Cloud Service as an article source: versions of an article, their metadata, their files.

Each version of an article has a folder `PMC<number>.<version>/` and a file `metadata/PMC<number>.<version>.json`, which
states licence, retraction and, with its MD5, each file (https://pmc.ncbi.nlm.nih.gov/tools/pmcaws/). What a version
states becomes a `PackageListing`; its files are fetched later, by the step that makes `article_packages`.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from pmo_assets.pipeline.articles.dois import clean_doi
from pmo_assets.records.packages import (
    PICTURE_SUFFIXES,
    REGISTRATION_STAGE,
    FileMissing,
    InvalidMetadata,
    PackageFile,
    PackageListing,
    PackageProblem,
    UnreadableMetadata,
)
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.stores import ObjectStore, StorageError
from pmo_assets.sources.metadata import MAX_METADATA_BYTES, read_metadata
from pmo_assets.sources.package_folders import one_line, package_digest
from pmo_assets.sources.pmc_bucket import DEFAULT_BUCKET, PmcBucket, md5_of
from pmo_assets.sources.source_files import OutsideSource
from pmo_assets.storage.batches import newest_versions

SCHEME: Final = "pmc"
"""Scheme of the source's URI in a manifest: `pmc://pmc-oa-opendata`. The server is a setting: mirrors hold the bucket
too."""

METADATA_FOLDER: Final = "metadata/"

METADATA_KEY: Final = re.compile(r"metadata/PMC([1-9][0-9]{0,10})\.([1-9][0-9]{0,5})\.json")
"""Key of a version's metadata file."""

_MD5: Final = re.compile(r"[0-9a-f]{32}")

MAX_FILES: Final = 5000
"""Files of one article that are listed; real ones have some dozens."""


@dataclass(frozen=True, slots=True)
class ArticleVersion:
    """A version of an article, as the bucket or its inventory lists it.

    Attributes:
        article_id: PMC number.
        version: from 1; a higher one is not always the better one (`newest_versions`).
        etag: of the metadata file, which holds the MD5 of every file: it changes when anything of the version does.
        last_modified: of the metadata file.
    """

    article_id: int
    version: int
    etag: str
    last_modified: datetime

    @property
    def name(self) -> str:
        """The version's name and folder, e.g. `PMC10009416.1`."""
        return f"PMC{self.article_id}.{self.version}"


MAX_KEY_BYTES: Final = 1024
"""Most bytes of an object's key in S3; a longer one is refused as a wrong request, which looks like a fault of all."""

MAX_NAME_BYTES: Final = 255
"""Most bytes of a file's name on usual disks."""


class NoFiles(ArticleError):
    """The metadata lists neither a PDF nor an XML."""


def _shown(text: str) -> str:
    """Return text of the metadata as every table and terminal can hold it."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _listed_file(url: object, role: str, version: ArticleVersion, bucket: str) -> PackageFile:
    """Return a file from its URL in the metadata, `s3://BUCKET/PMC1.1/name.pdf?md5=…`.

    Raises:
        InvalidMetadata: if it is no such URL.
        OutsideSource: if it leads out of the version's folder.
    """
    if not isinstance(url, str):
        raise InvalidMetadata(f"{version.name}: the URL of a file is {type(url).__name__}, no text")
    shown = _shown(url)
    # no urlsplit: names may hold "#", "?" and "%", which S3 keys carry as they are
    place, _, md5 = url.rpartition("?md5=") if "?md5=" in url else (url, "", "")
    # a mirror under another name holds the same metadata, which names PMC's own bucket
    prefix = next((f"s3://{name}/" for name in (bucket, DEFAULT_BUCKET) if place.startswith(f"s3://{name}/")), None)
    if prefix is None:
        raise OutsideSource(f"{version.name}: {shown[:200]} does not lie in s3://{bucket}")
    key = place.removeprefix(prefix)
    if not key.startswith(f"{version.name}/") or ".." in PurePosixPath(key).parts or key.endswith("/"):
        raise OutsideSource(f"{version.name}: {shown[:200]} does not lie in the folder of the article's version")
    name = PurePosixPath(key).name
    if shown != url:
        raise InvalidMetadata(f"{version.name}: the URL of a file has characters that no name has ({shown[:200]})")
    if len(key.encode()) > MAX_KEY_BYTES or len(name.encode()) > MAX_NAME_BYTES:
        raise InvalidMetadata(f"{version.name}: {shown[:200]} … is longer than the name of a file can be")
    if role != "figure" and PurePosixPath(name).suffix.lower() != f".{role}":
        raise InvalidMetadata(f"{version.name}: {shown[:200]} is stated as {role.upper()} and named otherwise")
    if md5 and _MD5.fullmatch(md5.lower()) is None:
        raise InvalidMetadata(f"{version.name}: {shown[:200]} states no MD5 but {md5[:40]!r}")
    return PackageFile(role, key, None, None, md5.lower() or None)


def _files(
    fields: dict[str, Any], version: ArticleVersion, bucket: str
) -> tuple[list[PackageFile], list[PackageProblem]]:
    """Return the PDF, XML and pictures that the metadata lists, and the problems of those that cannot be used."""
    media = fields.get("media_urls") or []
    wanted: list[tuple[str, object]] = [
        (role, fields[f"{role}_url"]) for role in ("pdf", "xml") if fields.get(f"{role}_url")
    ]
    problems: list[PackageProblem] = []
    if not isinstance(media, list) or len(media) > MAX_FILES:
        message = f"{version.name}: media_urls is no list of at most {MAX_FILES} URLs: pictures are left out"
        problems.append(PackageProblem(f"{METADATA_FOLDER}{version.name}.json", InvalidMetadata.__name__, message))
        media = []
    wanted += [("figure", url) for url in media]
    files: dict[str, PackageFile] = {}
    for role, url in wanted:
        try:
            file = _listed_file(url, role, version, bucket)
        except ArticleError as error:
            shown = _shown(url if isinstance(url, str) else type(url).__name__)[:200]
            problems.append(PackageProblem(shown, type(error).__name__, str(error)))
            continue
        name = PurePosixPath(file.path).name
        if role != "figure" or PurePosixPath(name).suffix.lower() in PICTURE_SUFFIXES:
            first = files.setdefault(name, file)
            if first.path != file.path:
                message = f"{version.name}: {file.path} is left out: {first.path} has the same name"
                problems.append(PackageProblem(file.path, InvalidMetadata.__name__, message))
    return list(files.values()), problems


def listing_from_metadata(content: bytes, version: ArticleVersion, bucket: str) -> PackageListing:
    """Return the package listing that a version's metadata file states.

    A field of a wrong type, or a file that lies elsewhere, is left out and named in `PackageListing.problems`.

    Args:
        content: the metadata file; untrusted.
        version: the version that the file describes.
        bucket: the bucket in which its files must lie; a mirror's may be said to lie in PMC's own.

    Raises:
        UnreadableMetadata: if it is no metadata file, or that of another article.
        NoFiles: if it lists neither PDF nor XML, and states no retraction.
    """
    place = f"{METADATA_FOLDER}{version.name}.json"
    reading = read_metadata(content)
    try:
        fields = json.loads(content)  # also of a file whose licence counts as unknown: its files are listed
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise UnreadableMetadata(f"{place} cannot be used: {reading.problem}")
    metadata = reading.stated
    number = re.fullmatch(r"\s*(?:PMC)?0{0,20}([0-9]{1,11})(?:\.[0-9]+)?\s*", metadata.pmcid or "", re.IGNORECASE)
    if metadata.pmcid and (number is None or int(number[1]) != version.article_id):
        raise UnreadableMetadata(f"{place} is that of another article ({(one_line(metadata.pmcid) or '')[:40]})")
    files, problems = _files(fields, version, bucket)
    if reading.problem is not None:
        kind = UnreadableMetadata if reading.license_unknown else InvalidMetadata
        problems.append(
            PackageProblem(place, kind.__name__, f"{place} is used without its wrong fields ({reading.problem})")
        )
    # what is retracted may have lost its files: the retraction counts all the same
    if not metadata.is_retracted and not any(file.role in ("pdf", "xml") for file in files):
        raise NoFiles(f"{place} lists neither a PDF nor an XML" + (f": {problems[0].message}" if problems else ""))
    stated: dict[str, Any] = {
        "license_code": None if reading.license_unknown else one_line(metadata.license_code),
        "is_retracted": metadata.is_retracted,
        "title": one_line(metadata.title),
        "citation": one_line(metadata.citation),
    }
    others: dict[str, Any] = {"is_manuscript": metadata.is_manuscript, "doi": clean_doi(one_line(metadata.doi))}
    return PackageListing(
        article_id=version.article_id,
        name=version.name,
        version=version.version,
        **stated,
        files=tuple(files),
        digest=package_digest(files, stated | others, problems),
        **others,
        problems=tuple(problems),
        license_unknown=reading.license_unknown,
    )


def best_listing(listings: Sequence[PackageListing]) -> PackageListing:
    """Return the listing of the version that counts: published before author manuscript, then the highest.

    A retraction that any version states holds for the article.
    """
    (best,) = newest_versions(listings)
    if best.is_retracted or not any(item.is_retracted for item in listings):
        return best
    return replace(best, is_retracted=True, digest=package_digest(best.files, {"is_retracted": True}, best.problems))


@dataclass(frozen=True)
class PmcCloud:
    """Articles of PMC by number; see the module docstring.

    Attributes:
        bucket: where they are.
        objects: where metadata files are kept, so that none is fetched twice; None to keep none.
        articles: the numbers that `listings` lists; reading needs none.
    """

    bucket: PmcBucket
    objects: ObjectStore | None = None
    articles: Sequence[int] = ()

    @property
    def uri(self) -> str:
        """The bucket as `pmc://NAME`."""
        return self.uri_of(self.bucket.name)

    @staticmethod
    def uri_of(bucket: str) -> str:
        """Return the URI of a bucket by its name."""
        return f"{SCHEME}://{bucket}"

    def versions(self, article_id: int) -> list[ArticleVersion]:
        """Return the versions of an article that the bucket holds now, in order; empty if it holds none.

        Raises:
            SourceError: if the bucket cannot be listed.
        """
        found = []
        for item in self.bucket.objects(f"{METADATA_FOLDER}PMC{article_id}."):
            match = METADATA_KEY.fullmatch(item.key)
            if match is not None and int(match[1]) == article_id:
                found.append(ArticleVersion(article_id, int(match[2]), item.etag, item.last_modified))
        return sorted(found, key=lambda version: version.version)

    def metadata(self, version: ArticleVersion) -> bytes:
        """Return a version's metadata file; one that was read before is not fetched again.

        Raises:
            FileMissing: if it is gone.
            SourceError: if the bucket cannot be read.
        """
        md5 = version.etag if _MD5.fullmatch(version.etag) else None
        if self.objects is not None and md5 is not None and (key := self.objects.find(md5, ".json")) is not None:
            # what was damaged on the disk since then is fetched again
            with contextlib.suppress(StorageError):
                return self.objects.get(key)
        content = self.bucket.read(f"{METADATA_FOLDER}{version.name}.json", MAX_METADATA_BYTES)
        if self.objects is not None:
            self.objects.put(content, ".json", md5_of(content))
        return content

    def listing(self, version: ArticleVersion) -> PackageListing:
        """Return the package listing that a version's metadata states.

        Raises:
            ArticleError: `FileMissing`, `FileTooLarge`, `UnreadableMetadata` or `NoFiles`.
            SourceError: if the bucket cannot be read.
        """
        return listing_from_metadata(self.metadata(version), version, self.bucket.name)

    def listings(self) -> Iterator[PackageListing | Rejection]:
        """Yield the version that counts of each of `articles`, or why there is none."""
        for article_id in self.articles:
            try:
                yield self.best(article_id)
            except ArticleError as error:
                yield rejection_from(error, stage=REGISTRATION_STAGE, unit_id=article_id)

    def best(self, article_id: int) -> PackageListing:
        """Return the listing of the version of an article that counts.

        Raises:
            ArticleError: if there is none, or one of them cannot be read: it may state a retraction.
            SourceError: if the bucket cannot be read.
        """
        versions = self.versions(article_id)
        if not versions:
            raise FileMissing(
                f"PMC{article_id} is not in {self.uri}: is the number right, and the article open access?"
            )
        return self.best_of(versions)

    def best_of(self, versions: Sequence[ArticleVersion]) -> PackageListing:
        """Return the listing of the version that counts of an article's; see `best` for the errors."""
        listings: list[PackageListing] = []
        empty: NoFiles | None = None
        for version in versions:
            try:
                listings.append(self.listing(version))
            except NoFiles as error:
                empty = error
        if not listings and empty is not None:
            raise empty
        return best_listing(listings)

    def read(self, path: str, max_bytes: int | None = None) -> bytes:
        """Return a file's bytes; see `ArticleSource`."""
        return self.bucket.read(path, max_bytes)
