"""Facts of a JATS article's `<front>`: ids, title, authors, journal, year, licence, keywords, retraction.

`meta` is the `<article-meta>` element, `journal` the `<journal-meta>`; an empty element gives empty facts.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lxml import etree

from pmo_assets.pipeline.articles.credit import citation_text
from pmo_assets.pipeline.articles.jats_text import NOT_TEXT, plain_text
from pmo_assets.pipeline.articles.licences import agreed_code, license_code, license_url, states_terms

_YEAR: Final = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
_DATE_ORDER: Final = ("ppub", "collection", "epub-ppub", "epub", "pub", "issue-ppub", "")
"""Kinds of `<pub-date>` by preference: that of the issue is what a citation gives."""

_RETRACTED_TITLE: Final = re.compile(
    r"\W{0,3}(?:RETRACTED\b|WITHDRAWN\b\W|Retracted(?:\s+article)?\s*[:\]]|Retract(?:ed|ion)\s*\Z|Retraction\s*[:\]]"
    r"|Retraction\s+(?i:note|notice|statement)\b|Retraction\s+(?:to|of)\s*[:“\"'‘])",
)
"""Titles such as "RETRACTED: …" and "Retraction: …"; "Retraction of the upper eyelid in …" is an article."""


def title(meta: etree._Element) -> str:
    """Return the title, with its subtitle behind a colon."""
    # A cross-reference in a title is the sign of a footnote.
    without = NOT_TEXT | {"xref"}
    titles = (plain_text(meta.find(f"title-group/{tag}"), without=without) for tag in ("article-title", "subtitle"))
    return ": ".join(filter(None, titles))


def author_names(meta: etree._Element) -> tuple[str, ...]:
    """Return the authors, given names first; the members of a group named as an author are cut from the tree."""
    names = []
    for contributor in meta.iterfind("contrib-group/contrib"):
        if contributor.get("contrib-type", "author") != "author":
            continue
        name = contributor.find("name")
        if name is None:
            name = contributor.find("name-alternatives/name")
        if name is not None:
            parts = (plain_text(name.find(tag)) for tag in ("given-names", "surname", "suffix"))
            names.append(" ".join(filter(None, parts)))
        else:
            other = contributor.find("string-name")
            other = contributor.find("collab") if other is None else other
            if other is not None:
                for nested in list(other.iterfind("contrib-group")):
                    other.remove(nested)
            names.append(plain_text(other))
    return tuple(filter(None, names))


def publication_year(meta: etree._Element) -> int | None:
    """Return the year of the issue, else of another publication date, else of the copyright."""
    dates: dict[str, int] = {}
    for date in meta.iterfind("pub-date"):
        kind = date.get("pub-type") or date.get("date-type") or ""
        if kind == "pub" and date.get("publication-format") == "print":
            kind = "ppub"
        found = _YEAR.search(plain_text(date.find("year")))
        if found:
            dates.setdefault(kind, int(found.group()))
    for kind in _DATE_ORDER:
        if kind in dates:
            return dates[kind]
    found = _YEAR.search(plain_text(meta.find("permissions/copyright-year")))
    return next(iter(dates.values()), int(found.group()) if found else None)


def citation(journal: str, year: int | None, meta: etree._Element) -> str:
    """Return "Journal. Year; volume(issue): pages" as far as known."""
    volume, issue = plain_text(meta.find("volume")), plain_text(meta.find("issue"))
    first, last = plain_text(meta.find("fpage")), plain_text(meta.find("lpage"))
    pages = plain_text(meta.find("page-range")) or (f"{first}-{last}" if first and last and last != first else first)
    pages = pages or plain_text(meta.find("elocation-id"))
    return citation_text(journal, year, volume + (f"({issue})" if issue else ""), pages)


_OTHER_USE: Final = re.compile(r"tdm|text-?mining|\bam\b|\bstm-asf\b", re.IGNORECASE)
"""Uses and versions that a reference may be for: mining only, or the accepted manuscript instead of the article."""

_PMC_CONTENT_TYPE: Final = re.compile(r"cc\w*licen[sc]e\Z", re.IGNORECASE)


def _license_references(element: etree._Element) -> list[str]:
    """The article's licences by `<ali:license_ref>`: address, and the code that PMC adds.

    A publisher's reference "for text mining" is a licence to mine. PMC's own, of content type "ccbylicense" and the
    like, is the article's licence although it bears the same label.
    """
    found = []
    for reference in element.iterfind("license_ref"):
        kind = reference.get("content-type", "")
        use = f"{reference.get('specific-use', '')} {reference.get('applies_to', '')} {plain_text(reference)}"
        if _PMC_CONTENT_TYPE.match(kind) or not _OTHER_USE.search(use):
            found += [plain_text(reference), kind]
    return found


def _curated_licence(meta: etree._Element) -> str | None:
    """The code that PMC states in its XML (`pmc-license-ref`); None where it states none."""
    for custom in meta.iterfind("custom-meta-group/custom-meta"):
        if plain_text(custom.find("meta-name")).lower() == "pmc-license-ref":
            return plain_text(custom.find("meta-value")) or None
    return None


@dataclass(frozen=True, slots=True)
class StatedLicence:
    """The licence that an XML states for its article.

    Attributes:
        code: of all statements together; None where nothing is stated, or not all is understood.
        text: the statement; "" where there is none.
        deed: its address in the stated version.
        statements: everything that is stated, PMC's own code first.
    """

    code: str | None
    text: str
    deed: str | None
    statements: tuple[str, ...]


def licence(meta: etree._Element) -> StatedLicence:
    """Return the licence that an article's metadata element states.

    The conditions of all statements hold together, because the address of one licence may stand beside the name of
    another. PMC's own code is believed where nothing contradicts it; one that names no licence ("NO-CC CODE") leaves
    none. What is stated at a figure or a section is not the article's.
    """
    stated: list[str] = []
    texts: list[str] = []
    for statement in meta.iterfind("permissions/license"):
        if _OTHER_USE.search(statement.get("license-type", "")):
            continue  # it lets others mine the text besides
        references = list(filter(None, [statement.get("href", ""), *_license_references(statement)]))
        links = (link.get("href", "") for link in statement.iter("ext-link", "uri", "graphic", "inline-graphic"))
        wording = " ".join([plain_text(statement, without=NOT_TEXT | {"license_ref"}), *links])
        stated += [*references, wording, statement.get("license-type", "")]
        body = " ".join(filter(None, (plain_text(part) for part in statement.iter("license-p", "p"))))
        texts.append(body or next(iter(references), ""))
    for parent in (*meta.iterfind("permissions/free_to_read"), *meta.iterfind("permissions")):
        references = _license_references(parent)
        stated += references
        texts += references[:1]
    for old in (*meta.iterfind("permissions/copyright-statement"), *meta.iterfind("copyright-statement")):
        notice = plain_text(old)
        if states_terms(notice):
            stated.append(notice)
            texts.append(notice)
    curated = _curated_licence(meta)
    stated = list(filter(None, stated))
    # The bar keeps the end of one statement from being read with the beginning of the next.
    code = license_code(" | ".join(stated)) if curated is None else agreed_code(curated, *stated)
    statements = tuple(filter(None, [curated, *stated]))
    return StatedLicence(code, next(filter(None, texts), ""), license_url(code, *stated), statements)


def is_retracted_title(title: str | None) -> bool:
    """Say whether a title is that of a retracted article or of a retraction notice."""
    return title is not None and _RETRACTED_TITLE.match(title) is not None


def is_retracted(article: etree._Element, meta: etree._Element, title: str) -> bool:
    """Say whether type, related articles or title tell that an article is retracted, or retracts another."""
    if article.get("article-type", "").lower() in ("retraction", "retracted-article"):
        return True
    related = (element.get("related-article-type", "").lower() for element in meta.iterfind("related-article"))
    return any(kind.startswith("retract") for kind in related) or is_retracted_title(title)


def terms(meta: etree._Element) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return keywords (with the publisher's subjects) and MeSH headings, each once."""
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
        target.extend(plain_text(element) for element in elements)
    return tuple(filter(None, dict.fromkeys(keywords))), tuple(filter(None, dict.fromkeys(mesh)))


def article_ids(meta: etree._Element) -> dict[str, str]:
    """Return the article's ids by their kind ("doi", "pmid", "pmcid"); the first of a kind counts."""
    return {element.get("pub-id-type", ""): plain_text(element) for element in reversed(meta.findall("article-id"))}


def pmcid(ids: Mapping[str, str]) -> int | None:
    """Return the number in PubMed Central, without "PMC" and version."""
    for kind in ("pmcid", "pmc"):
        found = re.fullmatch(r"(?:PMC)?(\d{1,12})(?:\.\d+)?", ids.get(kind, ""), re.ASCII | re.IGNORECASE)
        if found:
            return int(found.group(1))
    return None


def journal_names(journal: etree._Element) -> tuple[str, str]:
    """Return the journal's title, and the short form that citations use (NLM's title abbreviation)."""
    title = journal.find("journal-title-group/journal-title")
    name = plain_text(journal.find("journal-title") if title is None else title)
    short = {element.get("journal-id-type"): plain_text(element) for element in journal.iterfind("journal-id")}
    abbreviation = short.get("nlm-ta") or short.get("iso-abbrev") or ""
    return name or abbreviation, abbreviation or name


_LICENCE_ELEMENT = re.compile(r"<(?:\w+:)?license\b([^<>]{0,2000})>(.{0,20000}?)</(?:\w+:)?license\s*>", re.S | re.I)
_ADDRESS = re.compile(r"""href\s*=\s*["']([^"'<>]{1,500})["']""", re.I)
_MARKUP = re.compile(r"<[^<>]{0,2000}>")


def licences_of_damaged_xml(xml: bytes) -> tuple[str, ...]:
    """Return the licence statements, addresses and wording, that can be seen in an XML that cannot be read.

    It can only restrict what others state: who knows what else stands there.

    Args:
        xml: the file; its first megabyte is looked through, since an article's permissions stand at its beginning.
    """
    found: list[str] = []
    for attributes, inside in _LICENCE_ELEMENT.findall(xml[:1_000_000].decode("utf-8", "replace")):
        links = _ADDRESS.findall(attributes + inside)
        found += [*links, " ".join(html.unescape(_MARKUP.sub(" ", inside)).split())]
    return tuple(dict.fromkeys(filter(None, found)))
