"""A package from its source into the object store, checksums verified: a row of `article_packages`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pmo_assets.records.defaults import MAX_PDF_MB
from pmo_assets.records.packages import PICTURE_SUFFIXES, ArticleSource, ChecksumMismatch, FileTooLarge
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import ObjectStore

STAGE = "article_packages"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of size above which a file is not fetched.

    Attributes:
        max_pdf_bytes: largest PDF.
        max_xml_bytes: largest XML; JATS articles have a few megabytes at most.
        max_picture_bytes: largest package picture.
    """

    max_pdf_bytes: int = int(MAX_PDF_MB * 2**20)
    max_xml_bytes: int = 64 * 2**20
    max_picture_bytes: int = 64 * 2**20

    def of(self, role: str) -> int:
        """Return the limit of a role (`pdf`, `xml`, `figure`)."""
        return {"pdf": self.max_pdf_bytes, "xml": self.max_xml_bytes}.get(role, self.max_picture_bytes)


def fetch_package(
    manifest_row: Mapping[str, Any], source: ArticleSource, objects: ObjectStore, limits: FetchLimits
) -> StepOutput:
    """Copy a package's files into the object store.

    A file that is too large, differs from its checksum or cannot be read is left out and rejected, and so is one that
    was left out when the package was registered; the article goes on with the rest.

    Args:
        manifest_row: row of `article_batch`.
        source: where the files are.
        objects: store that they go into.
        limits: limits of size above which a file is not fetched.

    Raises:
        SourceError: if the source cannot be read.
        StorageError: if the store cannot be written.
    """
    output = StepOutput(rejections=[_left_out(problem, manifest_row) for problem in manifest_row["problems"]])
    keys: dict[str, str] = {}
    pictures: list[dict[str, str]] = []
    for file in manifest_row["files"]:
        path = PurePosixPath(file["path"])
        try:
            key = _stored(file, path, source, objects, limits)
        except ArticleError as error:
            article_id, figure = manifest_row["article_id"], _figure(path)
            output.rejections.append(rejection_from(error, stage=STAGE, unit_id=article_id, part=figure))
            continue
        if file["role"] == "figure":
            pictures.append({"name": path.name, "key": key})
        else:
            keys[file["role"]] = key
    if not keys and output.rejections and not manifest_row["is_retracted"]:
        return output  # nothing of it could be fetched: there is no article to go on with; a retraction holds without
    known = (
        "article_id", "name", "version", "license_code", "is_retracted", "title", "citation", "license_unknown",
    )  # fmt: skip
    # manifests of earlier versions do not have these
    added = {name: manifest_row.get(name) for name in ("doi", "is_manuscript")}
    output.rows.append(
        {
            **{name: manifest_row[name] for name in known},
            **added,
            "pdf": keys.get("pdf"),
            "xml": keys.get("xml"),
            "figure_files": pictures,
        }
    )
    return output


def _figure(path: PurePosixPath) -> str | None:
    """Return the figure that a file of a package shows; None for the article's own files."""
    return path.stem if path.suffix.lower() in PICTURE_SUFFIXES else None


def _left_out(problem: Mapping[str, str], manifest_row: Mapping[str, Any]) -> Rejection:
    return Rejection(
        stage=STAGE,
        unit_id=manifest_row["article_id"],
        part=_figure(PurePosixPath(problem["path"])),
        error_class=problem["error_class"],
        message=problem["message"],
    )


def _stored(
    file: Mapping[str, Any], path: PurePosixPath, source: ArticleSource, objects: ObjectStore, limits: FetchLimits
) -> str:
    limit, suffix, md5 = limits.of(file["role"]), path.suffix.lower(), file.get("md5")
    if file["size"] is not None and file["size"] > limit:
        raise _too_large(path, file["size"], limit)
    if md5 is not None and (key := objects.find(md5, suffix)) is not None:
        if (size := objects.size(key)) > limit:  # it was fetched under another limit
            raise _too_large(path, size, limit)
        return key
    content = source.read(file["path"], limit)
    if file["sha256"] is not None and hashlib.sha256(content).hexdigest() != file["sha256"]:
        raise ChecksumMismatch(f"{path.name} has changed since the batch was registered: register the source again")
    if md5 is not None and hashlib.md5(content, usedforsecurity=False).hexdigest() != md5:
        raise ChecksumMismatch(
            f"{path.name} is not what the source's metadata states (MD5 {md5}): it was damaged on the way, or has "
            "changed since the batch was registered"
        )
    return objects.put(content, suffix, md5)


def _too_large(path: PurePosixPath, size: int, limit: int) -> FileTooLarge:
    return FileTooLarge(f"{path.name} has {size / 2**20:.0f} MiB, the limit is {limit / 2**20:.0f} MiB")
