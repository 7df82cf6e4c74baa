"""A PDF's metadata: XMP and document information, as publishers fill them in.

Nothing here is believed yet: templates leave another article's title, type-setting programs their file names.
`front_page` decides which of it is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Final

import pymupdf
from lxml import etree

from pmo_assets.records.faults import raise_fault

MAX_XMP: Final = 1 << 20
"""Longest XMP packet in characters; publishers' have some 12,000. Larger ones hold thumbnails or edit histories."""

MAX_AUTHORS: Final = 5000
"""Authors that are read at most; the longest lists of papers have some three thousand."""


@dataclass(frozen=True, slots=True)
class PdfMetadata:
    """Statements of a PDF's metadata, each with where it stands, e.g. ("XMP prism:doi", "10.1000/1").

    Attributes:
        titles: of the document.
        authors: lists of names, as written.
        dois: identifiers or links that may hold a DOI.
        journals: names of the publication.
        dates: of publication, beginning with the year.
        volumes: of the publication.
        pages: first page or article number.
        licences: links and texts.
        subjects: free text, in which publishers put the citation.
    """

    titles: tuple[tuple[str, str], ...] = ()
    authors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    dois: tuple[tuple[str, str], ...] = ()
    journals: tuple[tuple[str, str], ...] = ()
    dates: tuple[tuple[str, str], ...] = ()
    volumes: tuple[tuple[str, str], ...] = ()
    pages: tuple[tuple[str, str], ...] = ()
    licences: tuple[tuple[str, str], ...] = ()
    subjects: tuple[tuple[str, str], ...] = ()


_TITLES: Final = ("dc:title",)
_AUTHORS: Final = ("dc:creator",)
_DOIS: Final = ("prism:doi", "pdfx:doi", "crossmark:doi", "dc:identifier", "prism:url")
_JOURNALS: Final = ("prism:publicationname",)
_DATES: Final = ("prism:coverdate", "prism:publicationdate", "prism:publishdate")
_VOLUMES: Final = ("prism:volume",)
_PAGES: Final = ("prism:pagerange", "prism:articlenumber", "prism:startingpage")
_LICENCES: Final = (
    "cc:license",
    "xmprights:webstatement",
    "xmprights:usageterms",
    "ali:license_ref",
    "ali:uri",
    "dc:rights",
)
_SUBJECTS: Final = ("dc:description",)

_NAMESPACES: Final[tuple[tuple[str, str], ...]] = (
    ("prism", "prismstandard.org/namespaces"),
    ("dc", "purl.org/dc/"),
    ("pdfx", "ns.adobe.com/pdfx/"),
    ("crossmark", "crossref.org/crossmark"),
    ("cc", "creativecommons.org/ns"),
    ("cc", "web.resource.org/cc"),
    ("xmprights", "ns.adobe.com/xap/1.0/rights"),
    ("ali", "niso.org/schemas/ali"),
)
"""Prefix that this module uses, and what the namespace contains: its version and scheme differ between writers."""


def _name(qualified: str) -> str:
    """The name of an element or attribute as "prefix:name" in lower case, whatever prefix the file declares."""
    if not qualified.startswith("{"):
        return qualified.lower()
    name = etree.QName(qualified)
    prefix = next((prefix for prefix, part in _NAMESPACES if part in (name.namespace or "")), "")
    return f"{prefix}:{name.localname}".lower()


def _plain(text: str | None) -> str:
    # "&amp;#xc7;": publishers' systems escape characters twice
    return " ".join(unescape(text or "").replace("\x00", "").split())


def _xmp(packet: str) -> dict[str, list[str]]:
    """Values by name; of language alternatives the default one or the first, of lists every item."""
    if not packet.strip() or len(packet) > MAX_XMP or "<!ENTITY" in packet:
        return {}
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(packet.strip().lstrip("\ufeff").encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return {}
    if root is None:
        return {}
    found: dict[str, list[str]] = {}
    for element in root.iter(etree.Element):
        for attribute, value in element.attrib.items():
            if _plain(str(value)):
                found.setdefault(_name(str(attribute)), []).append(_plain(str(value)))
        name = _name(element.tag)
        if ":" in name and not name.startswith(":"):
            found.setdefault(name, []).extend(filter(None, _items(element)))
    return found


def _items(element: etree._Element) -> Iterator[str]:
    containers = [child for child in element if isinstance(child.tag, str)]
    if not containers:
        yield _plain(element.text)
    for container in containers:
        items = [item for item in container if isinstance(item.tag, str) and item.tag.endswith("}li")]
        if container.tag.endswith("}Alt"):
            default = [item for item in items if item.get("{http://www.w3.org/XML/1998/namespace}lang") == "x-default"]
            items = (default or items)[:1]
        for item in items[:MAX_AUTHORS]:
            yield _plain("".join(item.itertext()))


def _under(found: Mapping[str, list[str]], names: Iterable[str]) -> list[tuple[str, str]]:
    return [(f"XMP {name}", value) for name in names for value in found.get(name, ())]


_SPACED_AND: Final = re.compile(r"\s+(?:and|&)\s+|\s*;\s*")


def author_names(written: Iterable[str]) -> tuple[str, ...]:
    """Return authors as single names, given names first: "Cevher, Selim" and "A. Author, B. Author and C. Author"."""
    items = [part for item in written for part in _SPACED_AND.split(item) if part.strip()]
    names: list[str] = []
    for item in items:
        parts = [part.strip() for part in item.split(",") if part.strip()]
        # Of two parts the first is a surname if it is one word or the second has no surname of its own.
        if len(parts) == 2 and (" " not in parts[0] or " " not in parts[1]):
            names.append(f"{parts[1]} {parts[0]}")
        else:
            names.extend(parts)
    return tuple(_plain(name) for name in names[:MAX_AUTHORS])


def pdf_metadata(document: pymupdf.Document) -> PdfMetadata:
    """Return the statements of XMP and document information; those that cannot be read count as not made.

    Raises:
        BaseException: exhausted memory and other faults of the machinery (see `raise_fault`).
    """
    try:
        packet, info = document.get_xml_metadata() or "", document.metadata or {}
    except Exception as error:  # MuPDF's error classes are not documented; a PDF with damaged metadata is an article
        raise_fault(error)
        packet, info = "", {}
    found = _xmp(packet)
    stated = {key: _plain(info.get(key)) for key in ("title", "author", "subject")}
    titles, subjects = _under(found, _TITLES), _under(found, _SUBJECTS)
    authors = [("XMP dc:creator", author_names(found[name])) for name in _AUTHORS if found.get(name)]
    if stated["title"]:
        titles.append(("document information", stated["title"]))
    if stated["author"]:
        authors.append(("document information", author_names([stated["author"]])))
    if stated["subject"]:
        subjects.append(("document information", stated["subject"]))
    return PdfMetadata(
        titles=tuple(titles),
        authors=tuple((place, names) for place, names in authors if names),
        dois=tuple(_under(found, _DOIS)),
        journals=tuple(_under(found, _JOURNALS)),
        dates=tuple(_under(found, _DATES)),
        volumes=tuple(_under(found, _VOLUMES)),
        pages=tuple(_under(found, _PAGES)),
        licences=tuple(_under(found, _LICENCES)),
        subjects=tuple(subjects),
    )


def carrier(place: str) -> str:
    """Return the metadata ("XMP", "document information") that hold a fact, by its place; "" when it is printed."""
    return next((name for name in ("XMP", "document information") if place.startswith(name)), "")


def counts(place: str, believed: frozenset[str]) -> bool:
    """Say whether a fact at a place counts: it is printed, or in metadata that are believed (by `carrier`)."""
    return carrier(place) in ("", *believed)
