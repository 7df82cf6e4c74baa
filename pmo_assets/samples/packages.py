"""Sample articles written to disk: as plain folders, and in the layout of the PMC Cloud Service."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pmo_assets.samples.samples import sample_specs
from pmo_assets.samples.spec import Expected, TypesetArticle
from pmo_assets.samples.typesetter import typeset

BUCKET = "pmc-oa-opendata"
"""The public bucket whose layout is imitated."""
INVENTORY_DATE = "2026-01-08T01-00Z"
_MODIFIED = "2026-01-07T11:47:59.000Z"


@dataclass(frozen=True, slots=True)
class WrittenSample:
    """One article on disk.

    Attributes:
        name: "PMC9000000001".
        article_id: the number without "PMC".
        folder: its files; for the PMC Cloud layout the version's prefix.
        truth: the annotation file; None if the PDF is not readable, or in the PMC Cloud layout.
        expected: what a correct pipeline finds out.
    """

    name: str
    article_id: int
    folder: Path
    truth: Path | None
    expected: Expected


def sample_articles(
    seed: int = 0, copies: int = 1, features: Collection[str] | None = None
) -> Iterator[TypesetArticle]:
    """Typeset the standard set `copies` times, each time with another seed and with the following numbers.

    With `features`, only the articles that show at least one of them are made; they keep their numbers.
    """
    for copy in range(copies):
        specs = sample_specs(seed + copy)
        for spec in specs:
            if features is not None and not set(features) & set(spec.features):
                continue
            yield typeset(replace(spec, number=spec.number + copy * len(specs)))


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def write_package(home: Path, article: TypesetArticle) -> None:
    """Write an article's files: `article.pdf`, `article.xml`, `metadata.json`, `figures/*.jpg`, what it has of them.

    Args:
        home: the package's folder, is made if missing; files of the same names are overwritten.
        article: what is written.
    """
    home.mkdir(parents=True, exist_ok=True)
    if article.pdf is not None:
        (home / "article.pdf").write_bytes(article.pdf)
    if article.xml is not None:
        (home / "article.xml").write_bytes(article.xml)
    (home / "metadata.json").write_bytes(_json_bytes(article.metadata))
    if article.figures:
        (home / "figures").mkdir(exist_ok=True)
    for name, jpeg in article.figures.items():
        (home / "figures" / name).write_bytes(jpeg)


def write_sample_articles(
    folder: Path, *, seed: int = 0, copies: int = 1, features: Collection[str] | None = None
) -> list[WrittenSample]:
    """Write the standard set.

    Files: `<folder>/articles/<name>/{article.pdf,article.xml,metadata.json,figures/*.jpg}` and, for articles with a
    readable PDF, `<folder>/truth/<name>.json` in the format of the annotation guide.

    Args:
        folder: is made if missing; files of the same names are overwritten.
        seed: of pictures and running text.
        copies: how often the set is repeated, with other seeds and other article numbers.
        features: write only articles that show at least one of these; None writes all.
    """
    written = []
    truth_folder = folder / "truth"
    truth_folder.mkdir(parents=True, exist_ok=True)
    for article in sample_articles(seed, copies, features):
        home = folder / "articles" / article.name
        write_package(home, article)
        truth = None
        if article.expected.pdf_readable:
            truth = truth_folder / f"{article.name}.json"
            truth.write_bytes(_json_bytes(article.truth))
        written.append(WrittenSample(article.name, article.article_id, home, truth, article.expected))
    return written


def pmc_cloud_objects(article: TypesetArticle, version: int = 1) -> dict[str, bytes]:
    """Return the article's objects in the PMC Cloud Service: key to bytes, the metadata JSON under both its keys."""
    stem = f"{article.name}.{version}"
    files = {f"{stem}.txt": article.text.encode()}
    if article.xml is not None:
        files[f"{stem}.xml"] = article.xml
    if article.pdf is not None:
        files[f"{stem}.pdf"] = article.pdf
    files |= article.figures

    def url(name: str) -> str | None:
        if name not in files:
            return None
        return f"s3://{BUCKET}/{stem}/{name}?md5={hashlib.md5(files[name], usedforsecurity=False).hexdigest()}"

    metadata = {
        **article.metadata,
        "version": version,
        "xml_url": url(f"{stem}.xml"),
        "pdf_url": url(f"{stem}.pdf"),
        "media_urls": [url(name) for name in article.figures],
        "text_url": url(f"{stem}.txt"),
    }
    record = _json_bytes(metadata)
    objects = {f"{stem}/{name}": data for name, data in files.items()}
    return {**objects, f"{stem}/{stem}.json": record, f"metadata/{stem}.json": record}


def _inventory_objects(records: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return an S3 Inventory of metadata keys: manifest and one compressed CSV file."""
    rows = [
        f'"{BUCKET}","{key}","{_MODIFIED}","{hashlib.md5(data, usedforsecurity=False).hexdigest()}"\n'
        for key, data in sorted(records.items())
    ]
    table = gzip.compress("".join(rows).encode(), mtime=0)
    digest = hashlib.md5(table, usedforsecurity=False).hexdigest()
    root = f"inventory-reports/{BUCKET}/metadata"
    key = f"{root}/data/{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}.csv.gz"
    manifest = {
        "sourceBucket": BUCKET,
        "destinationBucket": f"arn:aws:s3:::{BUCKET}",
        "version": "2016-11-30",
        "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, LastModifiedDate, ETag",
        "files": [{"key": key, "size": len(table), "MD5checksum": digest}],
    }
    return {f"{root}/{INVENTORY_DATE}/manifest.json": _json_bytes(manifest), key: table}


def write_pmc_cloud_layout(
    folder: Path, *, seed: int = 0, copies: int = 1, features: Collection[str] | None = None, inventory: bool = True
) -> list[WrittenSample]:
    """Write the standard set as the objects of the PMC Cloud Service, one file per object key below `folder`.

    Keys: `PMC9000000001.1/PMC9000000001.1.{xml,pdf,txt,json}` and media files in the same prefix,
    `metadata/PMC9000000001.1.json`, and with `inventory` an S3 Inventory report over the metadata. URLs in the metadata
    carry the MD5 digest of their object.
    """
    written = []
    records: dict[str, bytes] = {}
    for article in sample_articles(seed, copies, features):
        objects = pmc_cloud_objects(article)
        _write_objects(folder, objects)
        records |= {key: data for key, data in objects.items() if key.startswith("metadata/")}
        home = folder / f"{article.name}.1"
        written.append(WrittenSample(article.name, article.article_id, home, None, article.expected))
    if inventory:
        _write_objects(folder, _inventory_objects(records))
    return written


def _write_objects(folder: Path, objects: Mapping[str, bytes]) -> None:
    for key, data in objects.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
