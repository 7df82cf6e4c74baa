"""Text of JATS elements: plain text with one space between words, and the paragraphs of an article's running text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from lxml import etree

from pmo_assets.pipeline.articles.mentions import ReferringParagraph
from pmo_assets.pipeline.articles.references import is_of_another_publication
from pmo_assets.pipeline.articles.sections import section_class
from pmo_assets.records.context import SectionClass

NOT_TEXT: Final = frozenset((
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

MAX_TARGETS: Final = 50
"""Figures of one cross-reference that are read: articles name one or a few, a hostile file any number."""

_INVISIBLE: Final = str.maketrans(dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f"))


def collapsed(text: str) -> str:
    """Return a text without invisible characters, with single spaces and none at its ends."""
    return " ".join(text.translate(_INVISIBLE).split())


class _Text:
    """The text of elements in pieces, with the places of cross-references to figures.

    Attributes:
        references: (offset in the joined pieces, id of the figure).
        without: tags of elements whose content is left out.
    """

    def __init__(self, *, without: frozenset[str] = NOT_TEXT) -> None:
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
                self.references.extend((self.length, target) for target in child.get("rid", "").split()[:MAX_TARGETS])
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
        return collapsed("".join(self.pieces))

    def paragraph(self) -> ReferringParagraph:
        """The text with white space collapsed and the references moved along."""
        raw = "".join(self.pieces)
        if not self.references:
            return ReferringParagraph(collapsed(raw))
        tokens: list[str] = []
        matches: list[re.Match[str]] = []
        offsets: list[int] = []
        offset = 0
        for match in re.finditer(r"\S+", raw):
            token = match.group().translate(_INVISIBLE)
            if token:
                tokens.append(token)
                matches.append(match)
                offsets.append(offset)
                offset += len(token) + 1
        ends = [match.end() for match in matches]
        places: list[tuple[int, str]] = []
        for at, target in self.references if tokens else ():
            # A reference lies in the token that holds its first character, or begins the next one.
            n = min(bisect_left(ends, at + 1), len(ends) - 1)
            begun = raw[matches[n].start() : at].translate(_INVISIBLE) if at < ends[n] else ""
            places.append((offsets[n] + len(begun), target))
        text = " ".join(tokens)
        # Some link "Fig 1 in [73]", which is another publication's, to their own Figure 1.
        own = (place for place in places if not is_of_another_publication(text, place[0]))
        return ReferringParagraph(text, tuple(own))


def plain_text(element: etree._Element | None, *, without: frozenset[str] = NOT_TEXT) -> str:
    """Return an element's text as it is read, "" without an element; `without`: tags whose content is left out."""
    if element is None:
        return ""
    text = _Text(without=without)
    text.walk(element)
    return text.plain()


_NOT_RUNNING: Final = frozenset((
    "fig", "fig-group", "table-wrap", "table-wrap-group", "supplementary-material", "ref-list", "fn", "fn-group",
    "ack", "glossary", "notes", "bio", "author-notes", "sub-article", "response", "table", "tex-math", "caption",
    "trans-abstract", "front-stub",
))  # fmt: skip
"""Elements whose paragraphs are no running text of the article."""

GRAPHICAL_ABSTRACT: Final = re.compile(r"graphical|teaser|\btoc\b|(?:visual|video)[\s_-]?abstract", re.IGNORECASE)
"""Kinds of abstracts, sections and figures that are pictures for the table of contents."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The section around an element: class, None outside of all, and the innermost title."""

    kind: SectionClass | None = None
    title: str | None = None


_SECTIONS: Final = frozenset({"sec", "app", "abstract"})


def _section(element: etree._Element, around: _Section) -> _Section:
    """The section that an element is."""
    title = plain_text(element.find("title")) or None
    if element.tag != "sec":
        return _Section("abstract" if element.tag == "abstract" else "appendix", title)
    kind = section_class(title, kind=element.get("sec-type", ""), parent=around.kind)
    return _Section(kind, title or around.title)


def _blocks(element: etree._Element) -> Iterator[tuple[etree._Element, _Section]]:
    """Paragraphs and titles below an element in document order with their section, those inside paragraphs included."""
    section = _section(element, _Section()) if element.tag in _SECTIONS else _Section()
    stack = [(child, section) for child in reversed(element)]
    while stack:
        child, around = stack.pop()
        if child.tag not in _NOT_RUNNING:
            if child.tag in ("p", "title", "verse-line"):
                yield child, around
            own = _section(child, around) if child.tag in _SECTIONS else around
            stack.extend((inner, own) for inner in reversed(child))


_NO_PARAGRAPH: Final = NOT_TEXT | {"p", "title"}


def running_paragraphs(article: etree._Element) -> list[ReferringParagraph]:
    """Return abstract, body and appendices; text inside a nested paragraph belongs to that alone."""
    parts = [
        abstract
        for abstract in article.iterfind("front/article-meta/abstract")
        if not GRAPHICAL_ABSTRACT.search(abstract.get("abstract-type", ""))
    ]
    parts.extend(article.iterfind("body"))
    parts.extend(article.iterfind("back/app-group"))
    parts.extend(article.iterfind("back/app"))
    parts.extend(article.iterfind("back/sec"))
    found = []
    for part in parts:
        for block, section in _blocks(part):
            text = _Text(without=_NO_PARAGRAPH)
            text.walk(block)
            paragraph = text.paragraph()
            if paragraph.text:
                is_title = block.tag == "title"
                kind = section.kind or "other"
                found.append(replace(paragraph, section=kind, section_title=section.title, is_title=is_title))
    return found
