"""How articles and inventories lie in PMC's bucket: packages in, objects (key to bytes) out. Nothing here serves them.

One prefix per version of an article, `PMC10009416.1/`, with its XML, text, metadata and, where the licence permits, PDF
and media files; the metadata once more below `metadata/`; reports of an S3 Inventory over `metadata/` below
`inventory-reports/`.
"""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.records.article import Article, PackageFigure
from pmo_assets.records.packages import DERIVED_ID_BASE, PICTURE_SUFFIXES, article_id_and_version
from pmo_assets.records.rejections import ArticleError
from pmo_assets.samples import TypesetArticle

BUCKET: Final = "pmc-oa-opendata"
METADATA_PREFIX: Final = "metadata/"
INVENTORY_PREFIX: Final = f"inventory-reports/{BUCKET}/metadata/"
TEXT_MINING_ONLY: Final = "TDM"
"""Licence of author manuscripts: text may be mined, PDF and media are not in the bucket."""
INVENTORY_FIELDS: Final = ("Bucket", "Key", "LastModifiedDate", "ETag")

InventoryDamage = Literal["no_manifest", "missing_file", "truncated_gzip", "extra_columns", "shuffled_rows"]
"""What is wrong with an inventory: data without manifest (still being written), a manifest that names a file which is
not there, a file that breaks off, columns more and in another order, rows in another order than by key."""

UNNUMBERED: Final = 9_100_000_001
"""Articles without a PMC number are numbered from here: above PMC's numbers and those of sample articles."""

_DEFAULT_RELEASED: Final = datetime.date(2026, 1, 14)


@dataclass(frozen=True)
class CloudArticle:
    """One version of an article, as PMC would hold it.

    Attributes:
        number: PMC number, at most eleven digits.
        version: from 1.
        xml, pdf, text: its documents; None if it has none.
        media: file name to bytes: figure JPEGs, supplements.
        facts: what the metadata states besides what the other attributes say: pmid, doi, title, citation, and whatever
            a test wants to state otherwise; a value of `...` leaves the field out.
        license_code: "CC BY", "CC0", …, or `TEXT_MINING_ONLY`, with which PDF and media stay out of the bucket.
        is_retracted, is_manuscript, is_open_access: as the metadata states them.
        released: date of release in PMC (`pmcrdat`).
    """

    number: int
    version: int = 1
    xml: bytes | None = field(default=None, repr=False)
    pdf: bytes | None = field(default=None, repr=False)
    text: bytes | None = field(default=None, repr=False)
    media: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    license_code: str | None = "CC BY"
    is_retracted: bool = False
    is_manuscript: bool = False
    is_open_access: bool = True
    released: datetime.date = _DEFAULT_RELEASED

    @property
    def stem(self) -> str:
        """Name of the version, "PMC10009416.1"."""
        return f"PMC{self.number}.{self.version}"

    @property
    def prefix(self) -> str:
        """Prefix of its objects, with the slash."""
        return f"{self.stem}/"

    @property
    def metadata_key(self) -> str:
        """Key of its metadata below `metadata/`."""
        return f"{METADATA_PREFIX}{self.stem}.json"

    def key(self, name: str) -> str:
        """Return the key of a document ("pdf", "xml", "txt", "json") or of a media file (by its name)."""
        return self.prefix + (name if "." in name else f"{self.stem}.{name}")


# articles


def article_from_sample(sample: TypesetArticle, *, version: int = 1, **changes: Any) -> CloudArticle:
    """Return a sample article; `changes` are attributes of `CloudArticle`."""
    documents = (sample.xml, sample.pdf, sample.text.encode())
    return _article(sample.article_id, version, documents, sample.figures, sample.metadata, changes)


def article_from_package(
    folder: Path, *, version: int | None = None, otherwise: int | None = None, **changes: Any
) -> CloudArticle:
    """Return the article of a package folder: `article.{pdf,xml}`, `figures/`, `metadata.json`, or PMC's own shape.

    What `metadata.json` does not state comes from the XML. `changes` are attributes of `CloudArticle`,
    `otherwise` is the number of an article that has none.

    Raises:
        ValueError: if neither the folder's name nor its metadata gives a PMC number.
        OSError: if a file cannot be read.
    """
    names = {path.suffix.lower(): path for path in sorted(folder.iterdir()) if path.stem in ("article", folder.name)}
    described = next((path for path in (folder / "metadata.json", names.get(".json")) if path and path.is_file()), None)
    stated: dict[str, Any] = json.loads(described.read_bytes()) if described else {}
    number, found_version = article_id_and_version(folder.name, stated)
    if number >= DERIVED_ID_BASE:
        if otherwise is None:
            raise ValueError(f"{folder} has no PMC number: name it like PMC10009416, or state pmcid in metadata.json")
        number = otherwise
    xml, pdf, text = (names[suffix].read_bytes() if suffix in names else None for suffix in (".xml", ".pdf", ".txt"))
    pictures = [*folder.iterdir(), *(folder / "figures").glob("*")]
    media = {path.name: path.read_bytes() for path in sorted(pictures) if path.suffix.lower() in PICTURE_SUFFIXES}
    if xml is not None:
        facts, body = _facts_of_xml(xml)
        stated = facts | stated
        text = body if text is None else text
    return _article(number, version or found_version, (xml, pdf, text), media, stated, changes)


def articles_from_folder(folder: Path) -> list[CloudArticle]:
    """Return the articles of all packages below a folder, by name; those without a PMC number get one of `UNNUMBERED`.

    Raises:
        OSError: if a file cannot be read.
    """
    packages = sorted(path for path in folder.iterdir() if path.is_dir() and _is_package(path))
    numbers = count(UNNUMBERED)
    return [article_from_package(package, otherwise=next(numbers)) for package in packages]


def _is_package(folder: Path) -> bool:
    return any(path.suffix.lower() in (".xml", ".pdf") for path in folder.iterdir())


def facts_of(article: CloudArticle) -> Article:
    """Return what a search engine has of an article; one whose XML cannot be read has its text, also as a caption."""
    try:
        return parse_jats(article.xml or b"")
    except ArticleError:
        text = (article.text or b"").decode(errors="replace")
        return replace(parse_jats(b"<article/>"), text=text, figures=(PackageFigure("", "", text),))


def _facts_of_xml(xml: bytes) -> tuple[dict[str, Any], bytes]:
    """Return what PMC states from the XML, and the text; nothing where it cannot be read."""
    try:
        article = parse_jats(xml)
    except ArticleError:
        return {}, b""
    facts = {
        "pmid": article.pmid and int(article.pmid) if (article.pmid or "0").isdigit() else None,
        "doi": article.doi,
        "title": article.title,
        "citation": article.citation,
        "license_code": article.license_code,
        "is_retracted": article.is_retracted,
    }
    return facts, article.text.encode()


def _article(
    number: int,
    version: int,
    documents: tuple[bytes | None, bytes | None, bytes | None],
    media: Mapping[str, bytes],
    stated: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> CloudArticle:
    xml, pdf, text = documents
    article = CloudArticle(
        number,
        version,
        xml,
        pdf,
        text or b"",
        dict(media),
        facts={name: stated.get(name) for name in ("pmid", "doi", "title", "citation")},
        license_code=stated.get("license_code"),
        is_retracted=bool(stated.get("is_retracted")),
        is_manuscript=bool(stated.get("is_manuscript")),
        is_open_access=bool(stated.get("is_pmc_openaccess", True)),
    )
    return replace(article, **changes)


# objects


def md5(data: bytes) -> str:
    """Return the MD5 digest that URLs and ETags carry."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def metadata_of(article: CloudArticle, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the version's metadata; `files` are the names and bytes below its prefix, without the metadata."""

    def url(name: str) -> str | None:
        return f"s3://{BUCKET}/{article.prefix}{name}?md5={md5(files[name])}" if name in files else None

    facts = dict(article.facts)
    stated: dict[str, Any] = {
        "pmcid": f"PMC{article.number}",
        "version": article.version,
        "pmid": facts.pop("pmid", None),
        "doi": facts.pop("doi", None),
        "title": facts.pop("title", None),
        "citation": facts.pop("citation", None),
        "is_pmc_openaccess": article.is_open_access,
        "is_manuscript": article.is_manuscript,
        "is_historical_ocr": False,
        "is_retracted": article.is_retracted,
        "license_code": article.license_code,
        "xml_url": url(f"{article.stem}.xml"),
        "pdf_url": url(f"{article.stem}.pdf"),
        "media_urls": [url(name) for name in article.media if name in files],
        "text_url": url(f"{article.stem}.txt"),
        **facts,
    }
    return {name: value for name, value in stated.items() if value is not ...}


def objects_of(article: CloudArticle) -> dict[str, bytes]:
    """Return the version's objects: key to bytes."""
    documents = {"txt": article.text, "xml": article.xml}
    media: Mapping[str, bytes] = {}
    if article.license_code != TEXT_MINING_ONLY:
        documents["pdf"] = article.pdf
        media = article.media
    files = {f"{article.stem}.{suffix}": data for suffix, data in documents.items() if data is not None} | dict(media)
    record = _json_bytes(metadata_of(article, files))
    objects = {article.prefix + name: data for name, data in files.items()}
    return {**objects, article.key("json"): record, article.metadata_key: record}


# inventories


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """An object as an inventory lists it: key, time of its last change (UTC), ETag without quotation marks, bytes."""

    key: str
    modified: datetime.datetime
    etag: str
    size: int = 0


def inventory_folder(at: datetime.datetime) -> str:
    """Return the prefix of the report of a time (UTC), with the slash."""
    return f"{INVENTORY_PREFIX}{at:%Y-%m-%dT%H-%MZ}/"


def inventory_objects(
    rows: Sequence[InventoryRow],
    at: datetime.datetime,
    *,
    damage: InventoryDamage | None = None,
    rows_per_file: int = 1_000_000,
) -> dict[str, bytes]:
    """Return the objects of an inventory: `manifest.json`, `manifest.checksum`, `data/<uuid>.csv.gz`.

    Args:
        rows: what it lists.
        at: the time it stands for; names the folder.
        damage: what is wrong with it.
        rows_per_file: rows of one file; more rows make more files.
    """
    fields, lines = _inventory_lines(rows, at, damage)
    parts = [lines[start : start + rows_per_file] for start in range(0, len(lines), rows_per_file)] or [[]]
    objects: dict[str, bytes] = {}
    files = []
    for number, part in enumerate(parts):
        table = gzip.compress("".join(part).encode(), mtime=0)
        name = uuid.uuid5(uuid.NAMESPACE_URL, f"{at.isoformat()} {number} {md5(table)}")
        key = f"{INVENTORY_PREFIX}data/{name}.csv.gz"
        files.append({"key": key, "size": len(table), "MD5checksum": md5(table)})
        objects[key] = table
    last = files[-1]["key"]
    assert isinstance(last, str)
    if damage == "missing_file":
        del objects[last]
    elif damage == "truncated_gzip":
        objects[last] = objects[last][: max(len(objects[last]) * 2 // 3, 12)]
    if damage == "no_manifest":
        return objects
    manifest = _json_bytes({
        "sourceBucket": BUCKET,
        "destinationBucket": f"arn:aws:s3:::{BUCKET}",
        "version": "2016-11-30",
        "creationTimestamp": str(int(at.timestamp() * 1000)),
        "fileFormat": "CSV",
        "fileSchema": ", ".join(fields),
        "files": files,
    })  # fmt: skip
    folder = inventory_folder(at)
    return {
        **objects,
        f"{folder}manifest.json": manifest,
        f"{folder}manifest.checksum": f"{md5(manifest)}\n".encode(),
    }


def _inventory_lines(
    rows: Sequence[InventoryRow], at: datetime.datetime, damage: InventoryDamage | None
) -> tuple[tuple[str, ...], list[str]]:
    fields: tuple[str, ...] = INVENTORY_FIELDS
    if damage == "extra_columns":
        fields = ("Bucket", "Key", "Size", "ETag", "StorageClass", "LastModifiedDate", "ObjectOwner")
    ordered = sorted(rows, key=lambda row: row.key)
    if damage == "shuffled_rows":
        ordered.sort(key=lambda row: md5(f"{at.isoformat()} {row.key}".encode()))
    lines = []
    for row in ordered:
        values = {
            "Bucket": BUCKET,
            "Key": quote(row.key),  # S3 writes keys of an inventory URL-encoded
            "LastModifiedDate": f"{row.modified:%Y-%m-%dT%H:%M:%S}.000Z",
            "ETag": row.etag,
            "Size": str(row.size),
            "StorageClass": "STANDARD",
            "ObjectOwner": "",
        }
        lines.append(",".join(f'"{values[name]}"' for name in fields) + "\n")
    return fields, lines
