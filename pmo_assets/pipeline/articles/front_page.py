"""Title, authors, DOI, journal and year of an article from its PDF, for packages whose XML does not give them.

The PDF's metadata are only believed where the printed page confirms them, because templates leave other articles' facts
and type-setting programs their file names. Title and authors must be printed themselves; DOI, journal, year, volume and
pages count when the same metadata (XMP or document information) state the printed title or DOI; a licence when,
besides, the pages state it or a freer one, or speak of open access and reserve no rights. The printed page by itself is
believed where it is unmistakable: one title in the largest type, one DOI in header, footer or the article's own
citation, a line in a journal's citation format. What is contradicted or ambiguous is left out: a wrong credit is worse
than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pymupdf

from pmo_assets.pipeline.articles.credit import same_article
from pmo_assets.pipeline.articles.dois import clean_doi, doi_key
from pmo_assets.pipeline.articles.front_authors import read_authors
from pmo_assets.pipeline.articles.front_citation import (
    citations_of,
    copyright_years,
    is_plausible_journal,
    is_plausible_year,
)
from pmo_assets.pipeline.articles.front_doi import OwnDois, own_dois, read_doi, stated_dois
from pmo_assets.pipeline.articles.front_lines import upright_lines
from pmo_assets.pipeline.articles.front_title import Heading, read_title
from pmo_assets.pipeline.articles.licence_reading import read_statement
from pmo_assets.pipeline.articles.licences import freedoms, license_code, license_statements, named_code
from pmo_assets.pipeline.articles.pdf_metadata import PdfMetadata, carrier, counts, pdf_metadata
from pmo_assets.pipeline.figures.page import (
    PageContent,
    PageLimits,
    TextLine,
    link_targets,
    loaded_page,
    open_pdf,
    page_text,
)
from pmo_assets.records.faults import raise_fault

FRONT_PAGES: Final = 2
"""Pages that may hold the front matter: platforms put a cover page of their own before the first."""


@dataclass(frozen=True)
class FrontMatter:
    """Facts that a PDF states about its article, each with the place where it was read (`sources`, by the fact's name).

    Attributes:
        title: as printed.
        authors: in order, given names first; empty when not certain to be complete.
        doi: without address or prefix.
        journal: name or abbreviation.
        year: of publication.
        volume: of the journal.
        pages: first page, pages or article number.
        licences: statements of the article's licence, the metadata's first as far as the pages confirm them.
        license_links: the front pages' links to Creative Commons: a statement in words may carry its version there.
        sources: e.g. {"doi": "XMP prism:doi", "title": "page 1"}.
    """

    title: str | None = None
    authors: tuple[str, ...] = ()
    doi: str | None = None
    journal: str | None = None
    year: int | None = None
    volume: str | None = None
    pages: str | None = None
    licences: tuple[str, ...] = ()
    license_links: str = ""
    sources: dict[str, str] = field(default_factory=dict)


def read_front_matter(pdf: bytes, limits: PageLimits | None = None) -> FrontMatter:
    """Return the facts that a PDF states about its article.

    Raises:
        ArticleError: if the PDF cannot be opened (see `open_pdf`).
        BaseException: exhausted memory and other faults of the machinery (see `raise_fault`).
    """
    limits = limits or PageLimits()
    document = open_pdf(pdf, limits)
    try:
        metadata = pdf_metadata(document)
        pages = [page for n in range(min(FRONT_PAGES, document.page_count)) if (page := _page(document, n, limits))]
        return _front_matter(metadata, pages, _links(document))
    finally:
        document.close()


def _page(document: pymupdf.Document, number: int, limits: PageLimits) -> PageContent | None:
    try:
        return page_text(loaded_page(document, number), limits)
    except Exception as error:  # page bombs, and MuPDF's undocumented classes: a page that cannot be read says nothing
        raise_fault(error)
        return None


MAX_LINKS: Final = 1000
"""Links that are read of a page; some pages link every word of an index."""


def _links(document: pymupdf.Document) -> tuple[str, ...]:
    """Return the targets of the front pages' links: a link holds whole what the type breaks or says in words."""
    found: list[str] = []
    for number in range(min(FRONT_PAGES, document.page_count)):
        try:
            found += link_targets(loaded_page(document, number), MAX_LINKS)
        except Exception as error:  # as above
            raise_fault(error)
    return tuple(dict.fromkeys(found))


def _front_matter(metadata: PdfMetadata, pages: Sequence[PageContent], links: Sequence[str]) -> FrontMatter:
    sources: dict[str, str] = {}
    printed = [upright_lines(page) for page in pages]
    citations = citations_of(metadata, pages, printed)
    dois = tuple(dict.fromkeys(doi for link in links if (doi := clean_doi(link))))
    journals = [*(name for _, name in metadata.journals), *(c.journal for c in citations if c.journal)]
    title, place, heading = read_title(metadata, pages, printed, journals)
    if title:
        sources["title"] = place
    authors, place = read_authors(metadata, pages, printed, heading)
    if authors:
        sources["authors"] = place
    own = own_dois(pages, printed, dois)
    believed = _believed(metadata, heading, own)
    doi, place = read_doi(metadata, own, believed)
    if doi:
        sources["doi"] = place
    facts: dict[str, str] = {}
    stated: list[tuple[str, str, str]] = [
        *(("journal", where, name) for where, name in metadata.journals if is_plausible_journal(name)),
        *(("year", where, date[:4]) for where, date in metadata.dates),
        *(("volume", where, value) for where, value in metadata.volumes),
        *(("pages", where, value) for where, value in metadata.pages),
    ]
    for citation in citations:
        stated += [(name, citation.source, getattr(citation, name)) for name in ("journal", "year", "volume", "pages")]
    stated += [("year", where, year) for where, year in copyright_years(printed)]
    for name, where, value in stated:
        value = value.strip(" .,;") if value else value
        if counts(where, believed) and value and name not in facts and (name != "year" or is_plausible_year(value)):
            facts[name], sources[name] = value, where
    return FrontMatter(
        title=title,
        authors=authors,
        doi=doi,
        journal=facts.get("journal"),
        year=int(facts["year"]) if "year" in facts else None,
        volume=facts.get("volume"),
        pages=facts.get("pages"),
        licences=_licences([text for where, text in metadata.licences if counts(where, believed)], printed),
        license_links=" ".join(sorted({link for link in links if license_code(link)})),
        sources=sources,
    )


def _believed(metadata: PdfMetadata, heading: Heading | None, own: OwnDois) -> frozenset[str]:
    """Return the carriers of metadata that speak of this article, not of a template's: its title or DOI is printed.

    The title must be the heading: a letter quotes in its text the article that it is about.
    """
    titled = {
        carrier(place)
        for place, stated in metadata.titles
        if heading is not None and same_article(stated, heading.text)
    }
    return frozenset(titled | {carrier(place) for place, doi in stated_dois(metadata) if doi_key(doi) in own.whole})


_RESERVED: Final = re.compile(r"\ball\s+rights\s+(?:are\s+)?reserved\b", re.I)
_OPEN: Final = re.compile(r"\bcreative\s*commons\b|\bopen[\s-]access\b", re.I)


def _licences(stated: Sequence[str], printed: Sequence[Sequence[TextLine]]) -> tuple[str, ...]:
    """Statements of a licence: the metadata's that the pages confirm, then the pages' own, understood or not.

    Where the pages state a licence, the metadata's counts if it is the same or more restrictive, and also where it
    names Creative Commons and is not understood; where they name none, if they speak of open access or Creative
    Commons, and reserve no rights.
    """
    texts = ["\n".join(line.text for line in lines) for lines in printed]
    # One that is understood and names no licence ("under a Creative Commons licence") leaves it to the metadata.
    own = [found for found in map(license_statements, texts) if license_code(found) or read_statement(found).unread]
    allowed, text = freedoms(license_code(" | ".join(own))), " ".join(texts)

    def is_confirmed(statement: str) -> bool:
        reading = read_statement(statement)
        if named_code(reading) is None:
            return False
        if not own:
            return _OPEN.search(text) is not None and not _RESERVED.search(text)
        return freedoms(license_code(statement)) <= allowed

    return (*filter(is_confirmed, stated), *own)
