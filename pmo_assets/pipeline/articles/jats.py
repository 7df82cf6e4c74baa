"""JATS XML read into an `Article`, with hostile files refused.

The reader knows every flavour that PubMed Central holds: NLM 1-3, JATS 1.x (archiving, publishing), with or without
namespaces and document type, inside `<pmc-articleset>` or an OAI-PMH record, and BioMed Central's `<art>`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html.entities import html5
from typing import Any, Final, cast

from lxml import etree

from pmo_assets.pipeline.articles.biomed_central import jats_from_art
from pmo_assets.pipeline.articles.credit import citation_text
from pmo_assets.pipeline.articles.licences import license_code, license_url
from pmo_assets.pipeline.articles.mentions import ReferringParagraph, mentions_of_figures
from pmo_assets.records.article import Article, PackageFigure
from pmo_assets.records.rejections import ArticleError

MAX_MARKUP: Final = 4_000_000
"""Most tags and attributes ("<" and "=") of a file: libxml2 spends about 120 bytes on each, so half a gigabyte at most.
The largest articles, with their tables, have some 500,000."""

MAX_ENTITY_LENGTH: Final = 64
"""Longest replacement text of an entity: what a declared name for a character needs. More is an expansion attack."""

MAX_ID_LENGTH: Final = 200
"""Longest `image_cluster_id`: it becomes part of file names."""


class MalformedXml(ArticleError):
    """The XML is not well-formed, or is no article."""


class UnsafeXml(ArticleError):
    """The XML is too large, nested too deeply, or declares entities that expand or read files."""


# parsing

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
    """What a named entity stands for: HTML's names hold the ISO sets that JATS uses; U+FFFD for unknown ones."""
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


def _article_element(xml: bytes, max_bytes: int) -> etree._Element:
    """The `<article>` with tags and attributes free of namespaces.

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


# text

_NOT_TEXT: Final = frozenset((
    "tex-math", "annotation", "annotation-xml", "alt-text", "long-desc", "graphic", "inline-graphic", "media",
    "object-id", "index-term", "fn", "private-char", "glyph-data", "fig", "fig-group", "table-wrap",
    "table-wrap-group", "supplementary-material", "boxed-text",
))  # fmt: skip
"""Elements whose content is no part of the text around them: sources of formulas, pictures, notes, floats."""

_BLOCKS: Final = frozenset((
    "p", "title", "list", "list-item", "def-item", "def", "term", "disp-formula", "disp-formula-group",
    "disp-quote", "sec", "break", "tr", "td", "th", "mtr", "mtd", "mspace", "label", "verse-line", "speech",
    "statement", "caption", "attrib", "subject", "kwd",
))  # fmt: skip
"""Elements that are set apart by white space."""

_INVISIBLE: Final = str.maketrans(dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f"))


def _plain(text: str) -> str:
    return " ".join(text.translate(_INVISIBLE).split())


class _Text:
    """The text of elements in pieces, with the places of cross-references to figures."""

    def __init__(self, *, without: frozenset[str] = _NOT_TEXT) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.references: list[tuple[int, str]] = []
        self.without = without

    def add(self, text: str | None) -> None:
        if text:
            self.pieces.append(text)
            self.length += len(text)

    def walk(self, element: etree._Element) -> None:
        """Add an element's content; recursion is bounded by the parser's limit on depth."""
        self.add(element.text)
        for child in element:
            self.visit(child)
            self.add(child.tail)

    def visit(self, child: etree._Element) -> None:
        tag = child.tag
        if tag in self.without:
            self.add(" " if tag in ("fig", "table-wrap", "boxed-text") else None)
        elif tag == "alternatives":
            # Forms of one formula or picture: MathML before plain text before anything else.
            forms = [form for form in child if form.tag not in self.without]
            for form in [form for form in forms if form.tag == "math"][:1] or forms[:1]:
                self.visit(form)
        elif tag == "mfrac" and len(child) == 2:
            self.walk_joined(child, "/")
        elif tag == "mfenced":
            self.add(child.get("open", "("))
            self.walk_joined(child, child.get("separators", ",")[:1])
            self.add(child.get("close", ")"))
        else:
            if tag == "xref" and child.get("ref-type") == "fig":
                self.references.extend((self.length, target) for target in child.get("rid", "").split()[:50])
            spaced = tag in _BLOCKS
            self.add(" " if spaced else "√" if tag == "msqrt" else None)
            self.walk(child)
            self.add(" " if spaced else None)

    def walk_joined(self, element: etree._Element, separator: str) -> None:
        """Add the children's content with a separator between them."""
        for n, child in enumerate(element):
            self.add(separator if n else None)
            self.visit(child)

    def plain(self) -> str:
        return _plain("".join(self.pieces))

    def paragraph(self) -> ReferringParagraph:
        """The text with white space collapsed and the references moved along."""
        raw = "".join(self.pieces)
        if not self.references:
            return ReferringParagraph(_plain(raw))
        tokens: list[str] = []
        ends: list[int] = []
        offsets: list[int] = []
        offset = 0
        for match in re.finditer(r"\S+", raw):
            token = match.group().translate(_INVISIBLE)
            if token:
                tokens.append(token)
                ends.append(match.end())
                offsets.append(offset)
                offset += len(token) + 1
        # A reference lies in the token that holds its first character, or in the next one.
        places = [(min(bisect_left(ends, at + 1), len(ends) - 1), target) for at, target in self.references]
        return ReferringParagraph(" ".join(tokens), tuple((offsets[n], target) for n, target in places if n >= 0))


def _text(element: etree._Element | None, *, without: frozenset[str] = _NOT_TEXT) -> str:
    if element is None:
        return ""
    text = _Text(without=without)
    text.walk(element)
    return text.plain()


# running text

_NOT_RUNNING: Final = frozenset((
    "fig", "fig-group", "table-wrap", "table-wrap-group", "supplementary-material", "ref-list", "fn", "fn-group",
    "ack", "glossary", "notes", "bio", "author-notes", "sub-article", "response", "table", "tex-math", "caption",
    "trans-abstract", "front-stub",
))  # fmt: skip
"""Elements whose paragraphs are no running text of the article."""

_GRAPHICAL: Final = re.compile(r"graphical|teaser|\btoc\b|(?:visual|video)[\s_-]?abstract", re.IGNORECASE)


def _blocks(element: etree._Element) -> Iterator[etree._Element]:
    """Paragraphs and titles below an element in document order, those inside paragraphs included."""
    stack = list(reversed(element))
    while stack:
        child = stack.pop()
        if child.tag not in _NOT_RUNNING:
            if child.tag in ("p", "title", "verse-line"):
                yield child
            stack.extend(reversed(child))


_NO_PARAGRAPH: Final = _NOT_TEXT | {"p", "title"}


def _paragraphs(article: etree._Element) -> list[ReferringParagraph]:
    """Abstract, body and appendices; text inside a nested paragraph belongs to that alone."""
    parts = [
        abstract
        for abstract in article.iterfind("front/article-meta/abstract")
        if not _GRAPHICAL.search(abstract.get("abstract-type", ""))
    ]
    parts.extend(article.iterfind("body"))
    parts.extend(article.iterfind("back/app-group"))
    parts.extend(article.iterfind("back/app"))
    parts.extend(article.iterfind("back/sec"))
    found = []
    for part in parts:
        for block in _blocks(part):
            text = _Text(without=_NO_PARAGRAPH)
            text.walk(block)
            paragraph = text.paragraph()
            if paragraph.text:
                found.append(paragraph)
    return found


# figures

_NO_FIGURES: Final = frozenset((
    "front", "table-wrap", "table-wrap-group", "supplementary-material", "sub-article", "response", "bio",
    "author-notes", "contrib", "ack", "ref-list", "notes", "fn", "glossary",
))  # fmt: skip
"""Elements whose figures are author photos, graphical abstracts, parts of tables or supplements."""

_PICTURE_SUFFIX: Final = re.compile(r"\.(?:jpe?g|jpe|tiff?|gif|png|eps|bmp|svg|webp|jp2|emf|wmf)\Z", re.IGNORECASE)
_LABEL_WORD: Final = re.compile(r"(?:e?fig(?:ure|s|ures)?|scheme|plate|chart)\b", re.IGNORECASE)
_TABLE_LABEL: Final = re.compile(r"(?:supplement\w*\s+)?tab(?:le|\.)", re.IGNORECASE)
_NOT_A_FIGURE: Final = re.compile(
    r"graphical\s+abstract|visual\s+abstract|abstract\s+image|(?:online\s+)?(?:video|movie|audio)\b", re.IGNORECASE
)
_PORTRAIT: Final = re.compile(r"portrait|author[\s_-]?(?:photo|picture|image)", re.IGNORECASE)
_SUPPLEMENT: Final = re.compile(r"suppl(?:\.|ement)", re.IGNORECASE)
_CAPTION_LABEL: Final = re.compile(
    r"((?:Fig(?:ure|\.)?|FIG(?:URE|\.)?|Scheme|Plate|Chart)\s*[A-Z]?\d{1,3})(?:\s*[.:|]\s*|\s+(?=[A-Z(])|\s*[–—-]\s+|\Z)"
)


@dataclass(frozen=True)
class _Figure:
    """A figure before ids are made unique and mentions are added."""

    ids: tuple[str, ...]
    label: str
    caption: str
    graphics: tuple[str, ...]


def _figure_elements(article: etree._Element) -> Iterator[etree._Element]:
    """Outermost `<fig>` and `<fig-group>` of the body, the back matter and the floats, in document order."""
    stack = list(reversed(article))
    while stack:
        element = stack.pop()
        if element.tag in _NO_FIGURES or "supplementary" in element.get("sec-type", ""):
            continue
        if _GRAPHICAL.search(element.get("abstract-type", "") or element.get("sec-type", "")):
            continue
        if element.tag in ("fig", "fig-group"):
            yield element
        else:
            stack.extend(reversed(element))


def _hrefs(figure: etree._Element) -> list[str]:
    """References to the figure's pictures; thumbnails only where there is nothing else."""
    pictures: list[str] = []
    thumbnails: list[str] = []
    inline: list[str] = []
    for graphic in figure.iter("graphic", "inline-graphic", "media"):
        href = (graphic.get("href") or "").strip()
        if not href or (graphic.tag == "media" and graphic.get("mimetype") != "image"):
            continue
        kind = f"{graphic.get('specific-use', '')} {graphic.get('content-type', '')}".lower()
        if graphic.tag == "inline-graphic":
            inline.append(href)
        else:
            (thumbnails if "thumb" in kind else pictures).append(href)
    return list(dict.fromkeys(pictures or thumbnails or inline))


def _caption_text(figure: etree._Element) -> str:
    return " ".join(filter(None, (_text(caption) for caption in figure.iterfind("caption"))))


def _label_and_caption(element: etree._Element) -> tuple[str, str]:
    """The label without its end mark, and the caption without the label; a label set in the caption is found there."""
    label = _text(element.find("label")).rstrip(" .:;,|–—-")
    caption = _caption_text(element)
    if label:
        rest = caption[len(label) :]
        if caption[: len(label)].lower() == label.lower() and not rest[:1].isalnum() and rest[:1] != "(":
            caption = rest.lstrip(" .:;|–—-")
    else:
        found = _CAPTION_LABEL.match(caption)
        if found:
            label, caption = found.group(1), caption[found.end() :]
    return label, caption


def _is_wanted(element: etree._Element, label: str, caption: str, graphics: Sequence[str]) -> bool:
    kind = f"{element.get('fig-type', '')} {element.get('content-type', '')}"
    if _GRAPHICAL.search(kind) or _PORTRAIT.search(kind):
        return False
    if _NOT_A_FIGURE.match(label) or (not label and _NOT_A_FIGURE.match(caption)):
        return False
    if _SUPPLEMENT.search(label) or _TABLE_LABEL.match(label):
        return False
    # Without pictures, a figure of media is a video; without a caption too, it is an empty element.
    return bool(graphics) or (caption != "" and next(element.iter("media"), None) is None)


def _single(element: etree._Element) -> _Figure | None:
    label, caption = _label_and_caption(element)
    graphics = tuple(_hrefs(element))
    if not _is_wanted(element, label, caption, graphics):
        return None
    return _Figure(tuple(filter(None, [element.get("id")])), label, caption, graphics)


def _joined_caption(own: str, parts: Iterable[etree._Element]) -> str:
    """A group's caption followed by those of its members, each behind its label in brackets."""
    texts = [own]
    for part in parts:
        label, caption = _text(part.find("label")), _caption_text(part)
        if not caption:
            continue
        bare = label.strip("()[].: ")
        texts.append(f"({bare}) {caption}" if bare and not caption.lower().startswith(f"({bare.lower()})") else caption)
    return " ".join(filter(None, texts))


def _of_group(group: etree._Element) -> list[_Figure]:
    """The figures of a `<fig-group>`.

    A group with a label or caption of its own is one figure whose members are panels, unless every member is a
    numbered figure. Otherwise a numbered or captioned member starts a figure and the others continue it.
    """
    members = [element for element in group.iter("fig") if next(element.iterancestors("fig"), None) is None]
    label, caption = _label_and_caption(group)
    numbered = [bool(_LABEL_WORD.match(_text(member.find("label")))) for member in members]
    if (label or caption) and not (all(numbered) and members):
        graphics = tuple(_hrefs(group))
        if not _is_wanted(group, label, caption, graphics):
            return []
        ids = [group.get("id"), *(member.get("id") for member in members)]
        return [_Figure(tuple(filter(None, ids)), label, _joined_caption(caption, members), graphics)]
    found: list[_Figure] = []
    for member, has_number in zip(members, numbered, strict=True):
        has_label = _text(member.find("label")) != ""
        starts = has_number or not found or (not has_label and _caption_text(member) != "")
        if starts:
            single = _single(member)
            if single is not None:
                found.append(single)
        else:
            last = found[-1]
            found[-1] = replace(
                last,
                ids=(*last.ids, *filter(None, [member.get("id")])),
                caption=_joined_caption(last.caption, [member]),
                graphics=tuple(dict.fromkeys((*last.graphics, *_hrefs(member)))),
            )
    return found


def _figures(article: etree._Element) -> list[_Figure]:
    found: list[_Figure] = []
    for element in _figure_elements(article):
        if element.tag == "fig-group":
            found.extend(_of_group(element))
        else:
            single = _single(element)
            found.extend([single] if single else [])
    return found


def image_cluster_id(href: str) -> str:
    """Return a graphic's name without folder and picture extension; "" where nothing is left.

    PMC's names may have no extension but dots: "CRIOPM2016-4567840.001" stays as it is.
    """
    name = _plain(re.split(r"[/\\]", href.strip().rstrip("/\\"))[-1])
    name = _PICTURE_SUFFIX.sub("", name)[:MAX_ID_LENGTH]
    return "" if name.strip(". ") == "" else name


def _unique_ids(figures: list[_Figure]) -> list[str]:
    """An id per figure: its first graphic's, else `@id`, else its number in the article; suffixed where taken."""
    wanted = [image_cluster_id(figure.graphics[0]) if figure.graphics else "" for figure in figures]
    # A figure without a graphic must not take the name of another's graphic.
    taken = set(wanted) - {""}
    given: set[str] = set()
    counts: dict[str, int] = {}
    result = []
    for number, (figure, name) in enumerate(zip(figures, wanted, strict=True), start=1):
        if name and name not in given:
            unique = name
        else:
            own = image_cluster_id(figure.ids[0]) if figure.ids else ""
            base = unique = f"{name}-{own or number}" if name else own or f"fig-{number}"
            while unique in given or unique in taken:
                counts[base] = counts.get(base, 1) + 1
                unique = f"{base}-{counts[base]}"
        given.add(unique)
        result.append(unique)
    return result


def _package_figures(article: etree._Element, paragraphs: list[ReferringParagraph]) -> tuple[PackageFigure, ...]:
    figures = _figures(article)
    mentions = mentions_of_figures(
        paragraphs, ids=[figure.ids for figure in figures], labels=[figure.label for figure in figures]
    )
    return tuple(
        PackageFigure(name, figure.label, figure.caption, figure.graphics, own)
        for name, figure, own in zip(_unique_ids(figures), figures, mentions, strict=True)
    )


def _table_captions(article: etree._Element) -> tuple[str, ...]:
    captions = [
        _label_and_caption(table)[1]
        for table in article.iter("table-wrap", "fig")
        if (table.tag == "table-wrap" or _TABLE_LABEL.match(_text(table.find("label"))))
        and not any(ancestor.tag in ("sub-article", "response") for ancestor in table.iterancestors())
    ]
    return tuple(filter(None, captions))


# front matter

_YEAR: Final = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
_DATE_ORDER: Final = ("ppub", "collection", "epub-ppub", "epub", "pub", "issue-ppub", "")
"""Kinds of `<pub-date>` by preference: that of the issue is what a citation gives."""

_RETRACTED_TITLE: Final = re.compile(
    r"\W{0,3}(?:RETRACTED\b|WITHDRAWN\b\W|Retracted(?:\s+article)?\s*[:\]]|Retract(?:ed|ion)\s*\Z|Retraction\s*[:\]]"
    r"|Retraction\s+(?i:note|notice|statement)\b|Retraction\s+(?:to|of)\s*[:“\"'‘])",
)
"""Titles such as "RETRACTED: …" and "Retraction: …"; "Retraction of the upper eyelid in …" is an article."""


def _names(meta: etree._Element) -> tuple[str, ...]:
    names = []
    for contributor in meta.iterfind("contrib-group/contrib"):
        if contributor.get("contrib-type", "author") != "author":
            continue
        name = contributor.find("name")
        if name is None:
            name = contributor.find("name-alternatives/name")
        if name is not None:
            parts = (_text(name.find(tag)) for tag in ("given-names", "surname", "suffix"))
            names.append(" ".join(filter(None, parts)))
        else:
            other = contributor.find("string-name")
            other = contributor.find("collab") if other is None else other
            if other is not None:
                for nested in list(other.iterfind("contrib-group")):
                    other.remove(nested)
            names.append(_text(other))
    return tuple(filter(None, names))


def _year(meta: etree._Element) -> int | None:
    dates: dict[str, int] = {}
    for date in meta.iterfind("pub-date"):
        kind = date.get("pub-type") or date.get("date-type") or ""
        if kind == "pub" and date.get("publication-format") == "print":
            kind = "ppub"
        found = _YEAR.search(_text(date.find("year")))
        if found:
            dates.setdefault(kind, int(found.group()))
    for kind in _DATE_ORDER:
        if kind in dates:
            return dates[kind]
    found = _YEAR.search(_text(meta.find("permissions/copyright-year")))
    return next(iter(dates.values()), int(found.group()) if found else None)


def _citation(journal: str, year: int | None, meta: etree._Element) -> str:
    """ "Journal. Year; volume(issue): pages" as far as known."""
    volume, issue = _text(meta.find("volume")), _text(meta.find("issue"))
    first, last = _text(meta.find("fpage")), _text(meta.find("lpage"))
    pages = _text(meta.find("page-range")) or (f"{first}-{last}" if first and last and last != first else first)
    pages = pages or _text(meta.find("elocation-id"))
    return citation_text(journal, year, volume + (f"({issue})" if issue else ""), pages)


def _licence(meta: etree._Element) -> tuple[str | None, str, str | None]:
    """Code, statement and deed of the licence; machine-readable references count before the wording."""
    stated: list[str] = []
    texts: list[str] = []
    for statement in meta.iterfind("permissions/license"):
        references = [statement.get("href", "")]
        references += [
            _text(ref)
            for ref in statement.iterfind("license_ref")
            if not re.search(r"tdm|text-?mining", ref.get("specific-use", ""), re.IGNORECASE)
        ]
        wording = " ".join([_text(statement), *(link.get("href", "") for link in statement.iter("ext-link", "uri"))])
        stated += [*references, wording]
        body = " ".join(filter(None, (_text(part) for part in statement.iter("license-p", "p"))))
        texts.append(body or next(filter(None, references), ""))
    for reference in meta.iterfind("permissions/free_to_read/license_ref"):
        stated.append(_text(reference))
    for reference in meta.iterfind("permissions/license_ref"):
        stated.append(_text(reference))
        texts.append(_text(reference))
    for old in (*meta.iterfind("permissions/copyright-statement"), *meta.iterfind("copyright-statement")):
        stated.append(_text(old))
    code = next(filter(None, map(license_code, stated)), None)
    return code, next(filter(None, texts), ""), license_url(code, *stated)


def is_retracted_title(title: str | None) -> bool:
    """Say whether a title is that of a retracted article or of a retraction notice."""
    return title is not None and _RETRACTED_TITLE.match(title) is not None


def _is_retracted(article: etree._Element, meta: etree._Element, title: str) -> bool:
    if article.get("article-type", "").lower() in ("retraction", "retracted-article"):
        return True
    related = (element.get("related-article-type", "").lower() for element in meta.iterfind("related-article"))
    return any(kind.startswith("retract") for kind in related) or is_retracted_title(title)


def _terms(meta: etree._Element) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keywords (with the publisher's subjects) and MeSH headings, each once."""
    keywords: list[str] = []
    mesh: list[str] = []
    groups = [
        (group.get("kwd-group-type", ""), group.iter("kwd", "compound-kwd")) for group in meta.iterfind("kwd-group")
    ]
    # Subjects of type "heading" are sections of the journal ("Case Report").
    groups += [
        (group.get("subj-group-type", ""), group.iter("subject", "compound-subject"))
        for group in meta.iterfind("article-categories/subj-group")
        if group.get("subj-group-type") not in ("heading", None)
    ]
    for kind, elements in groups:
        if "abbrev" in kind.lower():
            continue
        target = mesh if "mesh" in kind.lower() else keywords
        target.extend(_text(element) for element in elements)
    return tuple(filter(None, dict.fromkeys(keywords))), tuple(filter(None, dict.fromkeys(mesh)))


def _article_ids(meta: etree._Element) -> dict[str, str]:
    return {element.get("pub-id-type", ""): _text(element) for element in reversed(meta.findall("article-id"))}


def _pmcid(ids: Mapping[str, str]) -> int | None:
    for kind in ("pmcid", "pmc"):
        found = re.fullmatch(r"(?:PMC)?(\d{1,12})(?:\.\d+)?", ids.get(kind, ""), re.ASCII | re.IGNORECASE)
        if found:
            return int(found.group(1))
    return None


def _journal(journal: etree._Element) -> tuple[str, str]:
    """Title, and the short form that citations use (NLM's title abbreviation)."""
    title = journal.find("journal-title-group/journal-title")
    name = _text(journal.find("journal-title") if title is None else title)
    short = {element.get("journal-id-type"): _text(element) for element in journal.iterfind("journal-id")}
    abbreviation = short.get("nlm-ta") or short.get("iso-abbrev") or ""
    return name or abbreviation, abbreviation or name


def parse_jats(xml: bytes, *, max_bytes: int = 64 * 2**20) -> Article:
    """Return the facts of an article from its JATS XML.

    Nothing outside the file is read: no DTD, no entity, no network. Entities without a declaration (`&nbsp;`) become
    the characters of that name, undeclared usual namespace prefixes are supplied; anything else must be well-formed.
    Of several articles in one file the first is read.

    Args:
        xml: the file.
        max_bytes: larger files are refused before parsing.

    Raises:
        MalformedXml: not well-formed, or no article.
        UnsafeXml: too large, too deep, or with entities that expand or refer to files.
    """
    article = _article_element(xml, max_bytes)
    meta = article.find("front/article-meta")
    meta = etree.Element("article-meta") if meta is None else meta
    journal_meta = article.find("front/journal-meta")
    journal, journal_short = _journal(etree.Element("journal-meta") if journal_meta is None else journal_meta)
    # A cross-reference in a title is the mark of a footnote.
    without = _NOT_TEXT | {"xref"}
    titles = (_text(meta.find(f"title-group/{tag}"), without=without) for tag in ("article-title", "subtitle"))
    title = ": ".join(filter(None, titles))
    ids = _article_ids(meta)
    year = _year(meta)
    code, statement, deed = _licence(meta)
    keywords, mesh_terms = _terms(meta)
    paragraphs = _paragraphs(article)
    return Article(
        pmcid=_pmcid(ids),
        pmid=ids.get("pmid") or None,
        doi=ids.get("doi") or None,
        title=title,
        journal=journal,
        year=year,
        authors=_names(meta),
        citation=_citation(journal_short, year, meta),
        license_code=code,
        license_text=statement,
        license_url=deed,
        is_retracted=_is_retracted(article, meta, title),
        keywords=keywords,
        mesh_terms=mesh_terms,
        figures=_package_figures(article, paragraphs),
        table_captions=_table_captions(article),
        text="\n".join(paragraph.text for paragraph in paragraphs),
    )
