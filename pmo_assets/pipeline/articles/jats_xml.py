"""The `<article>` of an XML file, parsed so that a hostile file harms nobody, whatever its flavour.

Entities, document types, namespaces and limits are dealt with here; what the elements mean is read in `jats_text`,
`jats_figures` and `jats_front_matter`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.entities import html5
from typing import Any, Final, cast

from lxml import etree

from pmo_assets.pipeline.articles.biomed_central import jats_from_art
from pmo_assets.records.rejections import ArticleError

MAX_MARKUP: Final = 4_000_000
"""Most tags and attributes ("<" and "=") of a file: libxml2 spends about 120 bytes on each, so half a gigabyte at most.
The largest articles, with their tables, have some 500,000."""

MAX_ENTITY_LENGTH: Final = 64
"""Longest replacement text of an entity: what a declared name for a character needs. More is an expansion attack."""


class MalformedXml(ArticleError):
    """The XML is not well-formed, or is no article."""


class UnsafeXml(ArticleError):
    """The XML is too large, nested too deeply, or declares entities that expand or read files."""


_PREDEFINED: Final = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_NAMED_ENTITY: Final = re.compile(rb"&([A-Za-z][A-Za-z0-9.]{0,31});")
_ENTITY_DECLARATION: Final = re.compile(rb"<!ENTITY\s+([A-Za-z][A-Za-z0-9.]{0,31})\s")
_PARAMETER_ENTITY: Final = re.compile(rb"<!ENTITY\s+%")
_NAMESPACES: Final = {
    b"xlink": b"http://www.w3.org/1999/xlink",
    b"mml": b"http://www.w3.org/1998/Math/MathML",
    b"ali": b"http://www.niso.org/schemas/ali/1.0/",
    b"xsi": b"http://www.w3.org/2001/XMLSchema-instance",
    b"oasis": b"http://www.niso.org/standards/z39-96/ns/oasis-exchange/table",
}
_ROOT_TAG: Final = re.compile(rb"<(?:article|art|pmc-articleset)\b")
_LIMIT_ERRORS: Final = frozenset(
    {etree.ErrorTypes.ERR_RESOURCE_LIMIT, etree.ErrorTypes.ERR_ENTITY_LOOP, etree.ErrorTypes.ERR_NAME_TOO_LONG}
)


def _parse_strictly(xml: bytes) -> etree._Element:
    # Without a DTD and with entities unresolved nothing outside the file is ever opened; `huge_tree=False` keeps
    # libxml2's limits on depth (256), on one text node (10 MB) and on the amplification by entities.
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    return etree.fromstring(xml, parser)


def _parsed(xml: bytes) -> etree._Element:
    """The root element; the usual namespaces are supplied where they are used but not declared.

    Raises:
        MalformedXml: not well-formed.
        UnsafeXml: libxml2 stopped at one of its limits, or parameter entities are declared.
    """
    repaired = False
    while True:
        try:
            return _parse_strictly(xml)
        except etree.XMLSyntaxError as error:
            code = cast("Any", error).code  # not in every set of type stubs
            if code in _LIMIT_ERRORS or _PARAMETER_ENTITY.search(xml, 0, 1 << 20):
                raise UnsafeXml(f"The XML exceeds the limits on entities, depth or text: {error.msg}") from None
            if repaired or code != etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE:
                raise MalformedXml(f"The XML is not well-formed: {error.msg}") from None
            xml, repaired = _with_namespaces(xml), True
        except (ValueError, LookupError, etree.LxmlError) as error:
            raise MalformedXml(f"The XML cannot be read: {error}") from None


def _with_namespaces(xml: bytes) -> bytes:
    """The XML with the usual prefixes declared in the root's start tag where it leaves them out."""
    root = _ROOT_TAG.search(xml)
    if root is None:
        return xml
    attributes = xml[root.end() : max(root.end(), xml.find(b">", root.end()))]
    missing = [item for item in _NAMESPACES.items() if b"xmlns:" + item[0] not in attributes]
    return xml[: root.end()] + b"".join(b' xmlns:%s="%s"' % item for item in missing) + xml[root.end() :]


def _with_characters(xml: bytes, declared: Mapping[str, str], *, without: frozenset[bytes] = _PREDEFINED) -> bytes:
    """The XML with named entities, except those of `without`, written as numbers.

    Their names come from DTDs that are not read, so the parser would refuse them or leave them out.
    """

    def number(match: re.Match[bytes]) -> bytes:
        name = match.group(1)
        if name in without:
            return match.group()
        text = declared.get(name.decode()) or _character(name.decode())
        return "".join(f"&#{ord(character)};" for character in text).encode()

    return _NAMED_ENTITY.sub(number, xml)


def _character(name: str) -> str:
    """Return a named entity's character: HTML's names hold the ISO sets that JATS uses; U+FFFD for unknown ones."""
    return html5.get(f"{name};", "\ufffd")


def _declared_characters(root: etree._Element) -> dict[str, str]:
    """The entities that the file declares itself, as far as they are names of characters.

    Raises:
        UnsafeXml: one reads a file, holds markup or further entities, or is long.
    """
    dtd = root.getroottree().docinfo.internalDTD
    characters: dict[str, str] = {}
    for entity in cast("Any", dtd).iterentities() if dtd is not None else ():  # not in every set of type stubs
        name, content = entity.name or "", entity.content
        if entity.system_url and content is not None:
            continue  # unparsed (NDATA): names a picture, cannot be expanded
        if content is None:
            raise UnsafeXml(f"The XML declares the external entity {name[:40]!r}.")
        if len(content) > MAX_ENTITY_LENGTH or "<" in content or re.search(r"[&%](?!#)\w", content):
            raise UnsafeXml(f"The XML declares the entity {name[:40]!r}, which is more than the name of a character.")
        characters[name] = re.sub(r"&#(?:38|x26);", "&", content)
    return characters


def article_element(xml: bytes, max_bytes: int) -> etree._Element:
    """Return the `<article>` with tags and attributes free of namespaces.

    Raises:
        MalformedXml: not well-formed, or no article inside.
        UnsafeXml: see the class.
    """
    if len(xml) > max_bytes:
        raise UnsafeXml(f"The XML has {len(xml):,} bytes; more than {max_bytes:,} are not read.")
    if xml.count(b"<") + xml.count(b"=") > MAX_MARKUP:
        raise UnsafeXml(f"The XML has more than {MAX_MARKUP:,} tags and attributes.")
    if not xml.strip():
        raise MalformedXml("The XML is empty.")
    names = frozenset(_ENTITY_DECLARATION.findall(xml))
    xml = _with_characters(xml, {}, without=_PREDEFINED | names)
    root = _parsed(xml)
    declared = _declared_characters(root)
    if names:
        root = _parsed(_with_characters(xml, declared))
    etree.strip_elements(root, etree.Entity, with_tail=False)
    for element in root.iter(etree.Element):
        if "{" in element.tag:
            element.tag = etree.QName(element).localname
        for name in [str(name) for name in element.attrib]:
            if name.startswith("{"):
                local = name.rpartition("}")[2]
                if local not in element.attrib:
                    element.set(local, element.attrib[name])
    for element in root.iter("article", "art"):
        return jats_from_art(element) if element.tag == "art" else element
    raise MalformedXml(f"The XML holds no article: its root element is <{root.tag[:40]}>.")
