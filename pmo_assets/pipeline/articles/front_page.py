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
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import pymupdf
from rapidfuzz import fuzz

from pmo_assets.pipeline.articles.credit import letters, same_article
from pmo_assets.pipeline.articles.dois import clean_doi, doi_key, dois_in
from pmo_assets.pipeline.articles.licences import license_code, license_statements
from pmo_assets.pipeline.articles.pdf_metadata import PdfMetadata, pdf_metadata
from pmo_assets.pipeline.figures.page import PageContent, PageLimits, TextLine, loaded_page, open_pdf, page_content
from pmo_assets.records.faults import raise_fault

FRONT_PAGES: Final = 2
"""Pages that may hold the front matter: platforms put a cover page of their own before the first."""

MARGIN: Final = 0.16
"""Share of the page's height at top and bottom that counts as header and footer: publishers' lie within 0.05 to 0.13,
first pages' footers with copyright and DOI reach a little higher."""

SUPERSCRIPT: Final = 0.8
"""Characters smaller than this share of their line's type are notes' marks; LaTeX's are 0.7, Word's 0.66 of it."""

SAME_TITLE: Final = 92
"""Similarity (0 to 100, letters and digits only) from which a title in the metadata and one on the page are the same;
what differs is then lost accents and special characters."""


@dataclass(frozen=True)
class FrontMatter:
    """What a PDF says about its article, each fact with where it was read (`sources`, by the fact's name).

    Attributes:
        title: as printed.
        authors: in order, given names first; empty when not certain to be complete.
        doi: without address or prefix.
        journal: name or abbreviation.
        year: of publication.
        volume: of the journal.
        pages: first page, pages or article number.
        licences: statements of the article's licence, the metadata's first as far as the pages confirm them.
        license_links: where the front pages link to Creative Commons: a statement in words may carry its version there.
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
    """Return what a PDF says about its article.

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
        return page_content(loaded_page(document, number), limits)
    except Exception as error:  # page bombs, and MuPDF's undocumented classes: a page that cannot be read says nothing
        raise_fault(error)
        return None


MAX_LINKS: Final = 1000
"""Links that are read of a page; some pages link every word of an index."""


def _links(document: pymupdf.Document) -> tuple[str, ...]:
    """Where the front pages link to: a link holds whole what the type breaks into lines, or says in words."""
    found: list[str] = []
    for number in range(min(FRONT_PAGES, document.page_count)):
        try:
            targets = [link.get("uri") for link in loaded_page(document, number).get_links()]
        except Exception as error:  # as above
            raise_fault(error)
            continue
        found.extend(target for target in targets[:MAX_LINKS] if target)
    return tuple(dict.fromkeys(found))


def _front_matter(metadata: PdfMetadata, pages: Sequence[PageContent], links: Sequence[str]) -> FrontMatter:
    sources: dict[str, str] = {}
    printed = [_upright(page) for page in pages]
    citations = _citations(metadata, pages, printed)
    dois = tuple(dict.fromkeys(doi for link in links if (doi := clean_doi(link))))
    journals = [*(name for _, name in metadata.journals), *(c.journal for c in citations if c.journal)]
    title, place, heading = _title(metadata, pages, printed, journals)
    if title:
        sources["title"] = place
    authors, place = _authors(metadata, pages, printed, heading)
    if authors:
        sources["authors"] = place
    own = _own_dois(pages, printed, dois)
    believed = _believed(metadata, heading, own)
    doi, place = _doi(metadata, own, believed)
    if doi:
        sources["doi"] = place
    facts: dict[str, str] = {}
    stated: list[tuple[str, str, str]] = [
        *(("journal", where, name) for where, name in metadata.journals if _plausible_journal(name)),
        *(("year", where, date[:4]) for where, date in metadata.dates),
        *(("volume", where, value) for where, value in metadata.volumes),
        *(("pages", where, value) for where, value in metadata.pages),
    ]
    for citation in citations:
        stated += [(name, citation.source, getattr(citation, name)) for name in ("journal", "year", "volume", "pages")]
    stated += [("year", where, year) for where, year in _copyright_years(printed)]
    for name, where, value in stated:
        value = value.strip(" .,;") if value else value
        if _counts(where, believed) and value and name not in facts and (name != "year" or _plausible_year(value)):
            facts[name], sources[name] = value, where
    return FrontMatter(
        title=title,
        authors=authors,
        doi=doi,
        journal=facts.get("journal"),
        year=int(facts["year"]) if "year" in facts else None,
        volume=facts.get("volume"),
        pages=facts.get("pages"),
        licences=_licences([text for where, text in metadata.licences if _counts(where, believed)], printed),
        license_links=" ".join(sorted({link for link in links if license_code(link)})),
        sources=sources,
    )


def _upright(page: PageContent) -> list[TextLine]:
    return [line for line in page.lines if line.quarter_turns == 0 and line.text]


def _in_margin(line: TextLine, page: PageContent) -> bool:
    """Say whether a line belongs to the page's header or footer."""
    return not MARGIN * page.height < (line.bbox[1] + line.bbox[3]) / 2 < (1 - MARGIN) * page.height


def _has_loose_accents(text: str) -> bool:
    """Say whether accents stand beside their letters ("Simo˜es"), as TeX's older fonts set them."""
    return any(
        unicodedata.category(character) in ("Sk", "Lm", "Mn") for character in unicodedata.normalize("NFC", text)
    )


# what of the metadata is believed


def _carrier(place: str) -> str:
    """Which of a PDF's two metadata hold a fact, by its place; "" when it is printed."""
    return next((name for name in ("XMP", "document information") if place.startswith(name)), "")


def _counts(place: str, believed: frozenset[str]) -> bool:
    return _carrier(place) in ("", *believed)


def _believed(metadata: PdfMetadata, heading: _Heading | None, own: _OwnDois) -> frozenset[str]:
    """Which metadata speak of this article and not of one that a template was made for: its title or DOI is printed.

    The title must be the heading: a letter quotes in its text the article that it is about.
    """
    titled = {
        _carrier(place)
        for place, stated in metadata.titles
        if heading is not None and same_article(stated, heading.text)
    }
    return frozenset(titled | {_carrier(place) for place, doi in _stated_dois(metadata) if doi_key(doi) in own.whole})


_RESERVED: Final = re.compile(r"\ball\s+rights\s+(?:are\s+)?reserved\b", re.I)
_OPEN: Final = re.compile(r"\bcreative\s*commons\b|\bopen[\s-]access\b", re.I)


def _licences(stated: Sequence[str], printed: Sequence[Sequence[TextLine]]) -> tuple[str, ...]:
    """Statements of a licence: the metadata's that the pages confirm, then the pages' own.

    Where the pages state a licence, the metadata's counts if it is the same or more restrictive; where they name none,
    if they speak of open access or Creative Commons, and reserve no rights.
    """
    texts = [" ".join(line.text for line in lines) for lines in printed]
    own = [statement for text in texts if license_code(statement := license_statements(text))]
    code, text = license_code(" ".join(own)), " ".join(texts)

    def is_confirmed(statement: str) -> bool:
        if code is None:
            return _OPEN.search(text) is not None and not _RESERVED.search(text)
        return license_code(f"{statement} {' '.join(own)}") == license_code(statement)

    return (*(statement for statement in stated if license_code(statement) and is_confirmed(statement)), *own)


# title

_NO_TITLE: Final = re.compile(
    r"(?:untitled|no title|title|microsoft \w+\b.*|powerpoint .*|slide ?\d*|document ?\d*|manuscript|main|template|"
    r"article|layout \d+|print|proof|paper|draft|default|unknown|full text|abstract|"
    r"research (?:article|paper)|\(?null\)?)\W*",
    re.I,
)
_FILE_NAME: Final = re.compile(
    r"\.(?:dvi|docx?|pdf|indd|tex|qxd|qxp|fm|eps|ps|rtf|odt|xml|html?|p65|3d|wpd|pages)\s*$", re.I
)
_PAGE_RANGE: Final = re.compile(r"\b\d+\s*\.\.\s*\d+\s*$")

_KIND: Final = re.compile(
    r"\W*(?:(?:original|invited|mini|systematic|clinical|brief|short|rapid|technical|special|open)\W+)*(?:research|review|case|"
    r"article|paper|report|study|communication|letter|note|investigation|series|editorial|erratum|corrigendum|correction|"
    r"retraction|commentary|perspective|protocol|methodology|opinion|access|to the editor|s)"
    r"(?:\s+(?:article|report|paper|study|series|communication|letter|protocol|access|s))*\W*",
    re.I,
)
"""The kind of article, which journals print above the title."""

_NO_HEADING: Final = re.compile(
    r"contents lists available|journal home ?page|science ?direct|open access|author manuscript|hhs public access|"
    r"you may also like|to cite this|this is a repository copy|"
    r"downloaded from|^abstract\b|^(?:1\.?\s*)?introduction\b|^keywords\b|^(?:references|contents)\W*$|"
    r"www\.|https?://|all rights reserved|received\b.*\baccepted\b|@|^vol(?:ume|\.)\s*\d|\bissn\b|^doi\b",
    re.I,
)


def _is_title(text: str) -> bool:
    """Say whether a text can be an article's title: words, not a file name, a placeholder or a page's furniture."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return (
        len(words) >= 3
        and 15 <= len(text) <= 500
        and not _NO_TITLE.fullmatch(text)
        and not _FILE_NAME.search(text)
        and not _PAGE_RANGE.search(text)
        and "\ufffd" not in text
    )


def _line_text(line: TextLine) -> str:
    """A line without the notes' marks at its end."""
    spans = list(line.spans)
    while len(spans) > 1 and spans[-1].size < SUPERSCRIPT * line.size:
        spans.pop()
    end = spans[-1].text
    text = line.text
    if len(spans) < len(line.spans):
        cut = text.rfind(end)
        text = text[: cut + len(end)] if cut >= 0 else text
    return text.rstrip(" *†‡§¶☆✩")


@dataclass(frozen=True)
class _Heading:
    """Neighbouring lines in one size of type: page (from 0), index of the lines on it, and their text."""

    page: int
    lines: tuple[int, ...]
    size: float
    text: str


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        # "long-" + "term": the hyphen at a title's line end belongs to the word; titles are not hyphenated.
        text += part if not text or text.endswith(("-", "–", "/")) else f" {part}"
    return " ".join(text.split())


def _headings(number: int, page: PageContent, lines: Sequence[TextLine]) -> list[_Heading]:
    """Groups of lines in the upper part of a page that are set larger than its body."""
    if not lines:
        return []
    weights: Counter[float] = Counter()
    for line in lines:
        weights[round(line.size, 1)] += len(line.text)
    body = weights.most_common(1)[0][0]
    groups: list[list[int]] = []
    for index, line in enumerate(lines):
        if line.size < 1.15 * body or line.bbox[1] > 0.7 * page.height:
            continue
        previous = lines[groups[-1][-1]] if groups else None
        if (
            previous is not None
            and abs(previous.size - line.size) <= 0.06 * line.size
            and -0.6 * line.size <= line.bbox[1] - previous.bbox[3] <= 0.9 * line.size
            and min(previous.bbox[2], line.bbox[2]) > max(previous.bbox[0], line.bbox[0])
        ):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [_heading(number, lines, group) for group in groups]


def _heading(number: int, lines: Sequence[TextLine], group: Sequence[int]) -> _Heading:
    """The heading of a group of lines, without the kind of article above it."""
    while len(group) > 1 and _KIND.fullmatch(lines[group[0]].text):
        group = group[1:]
    size = max(lines[i].size for i in group)
    return _Heading(number, tuple(group), size, _joined(_line_text(lines[i]) for i in group))


def _title(
    metadata: PdfMetadata, pages: Sequence[PageContent], printed: Sequence[Sequence[TextLine]], journals: Sequence[str]
) -> tuple[str | None, str, _Heading | None]:
    """The title, where it was read, and the heading that prints it."""
    headings = [
        heading
        for n, (page, lines) in enumerate(zip(pages, printed, strict=True))
        for heading in _headings(n, page, lines)
    ]
    known = {letters(name) for name in journals}
    for place, stated in metadata.titles:
        if not _is_title(stated) or letters(stated) in known:
            continue
        wanted = letters(stated)
        for heading in headings:
            if fuzz.ratio(letters(heading.text), wanted) >= SAME_TITLE:
                text = stated if _has_loose_accents(heading.text) else heading.text
                return text, f"page {heading.page + 1}, as in {place}", heading
        for number, lines in enumerate(printed):
            if len(wanted) >= 20 and wanted in letters("".join(line.text for line in lines)):
                return stated, f"{place}, printed on page {number + 1}", None
    candidates = [
        heading
        for heading in headings
        if heading.page == 0
        and _is_title(heading.text)
        and not _NO_HEADING.search(heading.text)
        and not _KIND.fullmatch(heading.text)
        and letters(heading.text) not in known
    ]
    if not candidates:
        return None, "", None
    best = max(candidates, key=lambda heading: heading.size)
    rivals = [heading for heading in candidates if heading is not best and heading.size > 0.95 * best.size]
    if rivals:
        return None, "", None
    # A title in the metadata that is printed nowhere is another article's.
    return best.text, "page 1", best


# authors

_DEGREE: Final = re.compile(
    r"(?:(?:M\.?D|Ph\.? ?D|M\.?Sc|B\.?Sc|MPH|FRCS|FRCOphth|MBBS|MBChB|D\.?Phil|Dr|Prof|FACS|FEBO|MS|BS|DO|OD|MHS|MBA|"
    r"RN)\.?[\s,]*)+"
)
_NAME: Final = re.compile(
    r"(?:[^\W\d_][\w.'’ʼ‐-]*\s+)+(?:(?:van|von|der|den|de|di|da|del|della|dos|du|la|le|el|al|bin|ibn|ter|ten|zu|y)\s+)*"
    r"[^\W\d_][\w'’ʼ‐-]+(?:,?\s(?:Jr|Sr|I{2,3})\.?)?"
)
_PARTICLES: Final = frozenset(
    "van von der den de di da del della dos du la le el al bin ibn ter ten zu y".split()  # noqa: SIM905 - readable
)
_NO_NAME: Final = re.compile(
    r"\b(?:universit|department|hospital|institut|laborator|correspond)\w*|"
    r"\b(?:clinic|centre|center|school|college|faculty|abstract|received|accepted|article|copyright|editor|journal|"
    r"division|on behalf|group|consortium|members?|ieee|road|street|china|usa|germany|japan|india|turkey|italy|france|"
    r"open access|research|study|review|background|purpose|the|of|for|in|with|from|by|at|to|an|is)\b",
    re.I,
)
"""Words of affiliations, addresses and headings; a family name among them costs the list, which is left out."""


def _is_name(text: str) -> bool:
    words = text.split()
    return (
        2 <= len(words) <= 6
        and len(text) <= 60
        and _NAME.fullmatch(text) is not None
        and all(word[0].isupper() or word.lower() in _PARTICLES or word.startswith(("d'", "d’")) for word in words)
        and not text.isupper()
        and not _NO_NAME.search(text)
    )


def _byline(lines: Sequence[TextLine], heading: _Heading, page: PageContent) -> tuple[tuple[str, ...], bool]:
    """The names printed under the title, empty when anything among them is no name; and whether notes' marks follow."""
    after = heading.lines[-1] + 1
    first = next((i for i in range(after, min(after + 3, len(lines))) if len(lines[i].text) > 4), None)
    if first is None or not 0 <= lines[first].bbox[1] - lines[heading.lines[-1]].bbox[3] + 4 <= 0.12 * page.height:
        return (), False
    style = (lines[first].size, lines[first].bold)
    parts: list[str] = []
    previous = lines[first]
    for line in lines[first : first + 60]:
        if abs(line.size - style[0]) > 0.05 * style[0]:
            if line.size < SUPERSCRIPT * style[0] and len(line.text) <= 12:
                parts.append(",")  # a mark that stands a little above its line
                continue
            break
        if line.bold != style[1] or line.bbox[1] - previous.bbox[3] > 1.2 * line.size:
            break
        parts.append(_marks_as_commas(line))
        previous = line
    text = " ".join(parts)
    text = re.sub(r"(?<=[a-z])\s?ID\b", "", text)  # the letters of ORCID's sign
    text = re.sub(r"[\d*†‡§¶☯☆✉#∗]+", ",", text)
    marked = bool(re.search(r"[^\W\d_]\s?,\s*(?:,|\Z)", text))
    if not re.search(r"[,;]|\band\b|&", text):
        names = [text]
    else:
        names = re.split(r"\s*[,;·•]\s*|\s+(?:and|&)\s+|^and\s+", text)
    names = [re.sub(r"\A(?:and|&)\s+", "", " ".join(name.split()).strip(" .,")) for name in names]
    names = [name for name in names if name and not _DEGREE.fullmatch(name)]
    return (tuple(names), marked) if names and all(_is_name(name) for name in names) else ((), False)


def _marks_as_commas(line: TextLine) -> str:
    parts = [", " if span.size < SUPERSCRIPT * line.size else span.text + " " for span in line.spans]
    return "".join(parts)


def _authors(
    metadata: PdfMetadata,
    pages: Sequence[PageContent],
    printed: Sequence[Sequence[TextLine]],
    heading: _Heading | None,
) -> tuple[tuple[str, ...], str]:
    """The authors and where they were read.

    A list in the metadata counts when every name stands on a front page and the byline, if it can be read, has as many:
    publishers' metadata often names the first author only.
    """
    byline, marked = _byline(printed[heading.page], heading, pages[heading.page]) if heading else ((), False)
    text = letters("".join(line.text for lines in printed for line in lines))
    for place, names in metadata.authors:
        names = tuple(name for name in names if name)
        if not names or not all(letters(name.split()[-1]) in text for name in names):
            continue
        if byline and {_surname(name) for name in byline} == {_surname(name) for name in names}:
            byline = names if any(map(_has_loose_accents, byline)) else byline
            return byline, f"page {heading.page + 1 if heading else 1}, as in {place}"
        if not byline and len(names) > 1 and all(_is_name(name) for name in names):
            return names, f"{place}, printed on the front page"
    if byline and heading and not any(map(_has_loose_accents, byline)) and (marked or _speaks_of(byline, printed)):
        return byline, f"page {heading.page + 1}"
    return (), ""


_ABOUT_AUTHORS: Final = re.compile(r"correspond|copyright|©|\bcit(?:e|ation)\b|e-?mail|@|\bet al\b", re.I)


def _speaks_of(names: Sequence[str], printed: Sequence[Sequence[TextLine]]) -> bool:
    """Say whether correspondence, copyright or running head name one of them: a subtitle can look like names."""
    about = letters(" ".join(line.text for lines in printed for line in lines if _ABOUT_AUTHORS.search(line.text)))
    return any(_surname(name) in about for name in names)


def _surname(name: str) -> str:
    return letters(name.split()[-1])


# DOI

_REFERENCES: Final = re.compile(r"^(?:references?|bibliography|literature cited)\W*$", re.I)


def _own_lines(page: PageContent, lines: Sequence[TextLine]) -> Iterator[tuple[int, TextLine]]:
    """Yield the lines of a front page, with their index, that speak of the article itself and not of those it cites.

    Behind the heading of the references (letters and errata have it on their first page) only the page's header does,
    which some PDFs draw last.
    """
    cites = False
    for index, line in enumerate(lines):
        cites = cites or _REFERENCES.match(line.text) is not None
        if not cites or (page.index == 0 and line.bbox[3] < MARGIN * page.height):
            yield index, line


_NO_ARTICLES: Final = (
    "10.5061/",
    "10.5281/",
    "10.6084/",
    "10.17632/",
    "10.7910/",
    "10.17605/",
    "10.13039/",
    "10.25549/",
)
"""Prefixes of data repositories (Dryad, Zenodo, figshare, Mendeley Data, Dataverse, OSF) and of funders: their DOIs on
an article's first page are its data's and its funders'."""

_COMPONENT: Final = re.compile(r"\.[a-z]\d{3}\Z")
"""PLOS gives figures, tables and supplements DOIs: the article's with ".g001" and the like behind it."""

_OF_ANOTHER: Final = re.compile(
    r"\b(?:comment(?:s|ary|ing)?\s+(?:on|to)|(?:reply|replies|response|respond(?:s|ing)?|refers?|referring)\s+to|"
    r"correct(?:s|ing|ion\s+(?:to|of|for|in))|(?:errat(?:um|a)|corrigend(?:um|a)|addend(?:um|a))\s+(?:to|for|of|in)|"
    r"retract(?:s|ing|ion\s+(?:of|to|note|notice))|expression\s+of\s+concern|"
    r"original(?:ly)?\s+(?:article|paper|publication|published|version|work|study|research)|"
    r"(?:related|linked|companion|accompanying|associated|published)\s+(?:article|paper|comment|editorial|content|version)|"
    r"see\s+(?:also|the|page|article|related)|supplementa(?:l|ry)|data\s+(?:set|are|is|avail)|preprint\s+(?:at|is|of|was))",
    re.I,
)
"""Words before a DOI which say that it is another publication's: what is commented, corrected, retracted or linked."""

_OWN_CITATION: Final = re.compile(
    r"^\W*(?:(?:(?:recommended|suggested|article)\s+)?citation|(?:(?:how\s+)?to|please)?\s*cite)\b"
    r"(?:\s+(?:this|the)(?:\s+(?:article|paper|work|letter|publication))?)?(?:\s+(?:in\s+press\s+)?as)?\s*(?::|$)",
    re.I,
)
"""How the block begins in which an article says how it wants to be cited."""

_OTHER_FIELD: Final = re.compile(
    r"^(?:(?:academic\s+|handling\s+)?editors?|received|accepted|published|copyright|funding|data availability|"
    r"competing|correspondence|e-?mail)\b",
    re.I,
)
"""How the field behind the citation begins."""

CITATION_LINES: Final = 10
"""Lines of a citation that are read at most: all authors of a consortium may stand in it."""


def _citation_block(lines: Sequence[TextLine], first: int) -> range:
    """Indices of the lines of the citation that begins there: set alike, one below the other."""
    last = first
    while last + 1 < min(len(lines), first + CITATION_LINES):
        line, below = lines[last], lines[last + 1]
        if (
            abs(below.size - line.size) >= 0.5
            or not -1.5 * line.size <= below.bbox[1] - line.bbox[3] <= 0.8 * line.size
            or min(below.bbox[2], line.bbox[2]) <= max(below.bbox[0], line.bbox[0])
            or _OTHER_FIELD.match(below.text)
        ):
            break
        last += 1
    return range(first, last + 1)


_ANNOUNCEMENT: Final = re.compile(r"\s*(?:doi\s*[:.]?\s*)?(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/)?\s*$", re.I)

SENTENCE_WORDS: Final = 4
"""Words in lower case before a DOI in its line that make a sentence; "Smith et al. Trials (2015) 16:59" has two."""


def _is_running_text(line: TextLine, start: int, end: int) -> bool:
    """Say whether a sentence goes on around a DOI, which headers and footers do not hold."""
    before = _ANNOUNCEMENT.sub("", line.text[:start])
    return (
        before.endswith(("(", "["))
        or len(re.findall(r"\b[a-z]{2,}\b", before)) >= SENTENCE_WORDS
        or re.match(r"[\s).,;\]]*(?!https?:|www\.|doi\b|this version posted)[a-z]{2,}", line.text[end:]) is not None
    )


@dataclass(frozen=True)
class _PrintedDoi:
    doi: str
    place: str
    may_be_cut: bool


def _continues(line: TextLine, other: TextLine) -> bool:
    """Say whether the other line could go on with a word that the end of this one breaks."""
    return (
        abs(other.size - line.size) < 0.5
        and -0.5 * line.size <= other.bbox[1] - line.bbox[3] <= 0.8 * line.size
        and min(other.bbox[2], line.bbox[2]) > max(other.bbox[0], line.bbox[0])
        and re.match(r"(?!(?i:doi|https?:))[a-z0-9.(/_-]{3}", other.text) is not None
    )


def _printed_dois(page: PageContent, lines: Sequence[TextLine]) -> Iterator[_PrintedDoi]:
    """Yield the DOIs that header, footer or citation give as the article's; those in the text are cited articles'."""
    cited: dict[int, range] = {}
    for index, line in enumerate(lines):
        if _OWN_CITATION.match(line.text):
            block = _citation_block(lines, index)
            cited |= dict.fromkeys(block, block)
    furniture = {line.block for line in lines} - {line.block for line in lines if not _in_margin(line, page)}
    for index, line in _own_lines(page, lines):
        before = cited.get(index, range(max(0, index - CITATION_LINES), index))
        for start, end, doi in dois_in(line.text):
            if doi.lower().startswith(_NO_ARTICLES) or _COMPONENT.search(doi):
                continue
            if index in cited:
                place = "citation on the front page"
            elif line.block in furniture and not _is_running_text(line, start, end):
                place = "header or footer"
            else:
                continue
            said = [lines[n].text for n in before if n < index and (index in cited or lines[n].block == line.block)]
            if _OF_ANOTHER.search(" ".join([*said, line.text[:start]])):
                continue
            # At a line's end the rest may stand in the next line.
            may_be_cut = end >= len(line.text) and any(_continues(line, other) for other in lines)
            yield _PrintedDoi(doi, place, may_be_cut)


@dataclass(frozen=True)
class _OwnDois:
    """What the front pages give as the article's DOI.

    Attributes:
        whole: DOIs by their key, each with its place.
        cut: keys of those that a line's end may have cut.
    """

    whole: dict[str, tuple[str, str]]
    cut: frozenset[str]


def _own_dois(pages: Sequence[PageContent], printed: Sequence[Sequence[TextLine]], links: Sequence[str]) -> _OwnDois:
    linked = {
        doi_key(doi): doi for doi in links if not doi.lower().startswith(_NO_ARTICLES) and not _COMPONENT.search(doi)
    }
    whole: dict[str, tuple[str, str]] = {}
    cut: set[str] = set()
    for page, lines in zip(pages, printed, strict=True):
        for item in _printed_dois(page, lines):
            key = doi_key(item.doi)
            longer = [other for other in linked if other.startswith(key) and other != key]
            if key not in linked and len(longer) == 1:
                whole.setdefault(longer[0], (linked[longer[0]], item.place))
            elif item.may_be_cut and key not in linked:
                cut.add(key)
            else:
                whole.setdefault(key, (item.doi, item.place))
    return _OwnDois(whole, frozenset(cut))


def _stated_dois(metadata: PdfMetadata) -> list[tuple[str, str]]:
    stated = [(place, doi) for place, text in metadata.dois if (doi := clean_doi(text))]
    return stated + [(place, doi) for place, text in metadata.subjects for _, _, doi in dois_in(text)]


def _doi(metadata: PdfMetadata, own: _OwnDois, believed: frozenset[str]) -> tuple[str | None, str]:
    """The DOI and where it was read; none where metadata and page contradict each other."""
    stated = _stated_dois(metadata)
    if len({doi_key(doi) for _, doi in stated}) > 1:
        stated = [(place, doi) for place, doi in stated if doi_key(doi) in own.whole]
    keys = {doi_key(doi) for _, doi in stated}
    if len(keys) > 1:
        return None, ""
    if keys and keys <= own.whole.keys():
        place, doi = stated[0]
        return doi, f"{place}, printed in {own.whole[doi_key(doi)][1]}"
    if keys and own.whole:
        return None, ""
    for place, doi in stated:
        if _counts(place, believed):
            return doi, place
    # A supplement's DOI is the article's with something behind it.
    basic = [key for key in own.whole if not any(key != other and key.startswith(other) for other in own.whole)]
    if len(basic) == 1 and all(basic[0].startswith(half) for half in own.cut):
        return own.whole[basic[0]]
    return None, ""


# journal, year, volume, pages


@dataclass(frozen=True)
class _Citation:
    source: str
    journal: str | None = None
    year: str | None = None
    volume: str | None = None
    pages: str | None = None


_JOURNAL: Final = r"(?P<journal>[A-Z][\w&:.,'’() -]{1,80}?)"
_PAGES: Final = r"(?P<pages>[A-Za-z]?\d[\w.]{0,15}(?:\s?[-–]\s?[A-Za-z]?\d{1,8})?)"
_VOLUME: Final = r"(?P<volume>\d{1,4})(?:\s?\(\d{1,4}(?:[-–]\d{1,4})?\))?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_CITATION_FORMATS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # Campillo-Gimenez et al. Trials (2015) 16:15
        rf"\bet al\.?,? {_JOURNAL}\s+\({_YEAR}\)\s+{_VOLUME}:\s?{_PAGES}",
        rf"^[A-Z][\w'’-]+(?: and [A-Z][\w'’-]+)? {_JOURNAL}\s+\({_YEAR}\)\s+{_VOLUME}:\s?{_PAGES}\s*$",
        # Scientific Data | (2024) 11:99
        rf"^{_JOURNAL}\s*\|\s*\({_YEAR}\)\s+{_VOLUME}:\s?{_PAGES}",
        # Medical Image Analysis 93 (2024) 103104; Journal of Neural Engineering, 22 (2025) 046017
        rf"^{_JOURNAL},? {_VOLUME}\s\({_YEAR}\)\s{_PAGES}\b",
        # J Appl Clin Med Phys. 2022;23:e13746
        rf"^{_JOURNAL}\.? {_YEAR}(?:\s[A-Z][a-z]{{2}}(?:\s\d{{1,2}})?)?\s?;\s?{_VOLUME}\s?:\s?{_PAGES}\b",
    )
)
_PREPRINT: Final = re.compile(
    r"^(?P<journal>bioRxiv|medRxiv) preprint\b|\bthis version posted \w+ \d{1,2}, (?P<year>20\d\d)\b"
)
_HINDAWI: Final = re.compile(r"^Volume (?P<year>(?:19|20)\d\d), Article ID (?P<pages>\d{4,9})\b")
_PLOS: Final = re.compile(rf"\({_YEAR}\).{{10,400}}[.?!] {_JOURNAL} {_VOLUME}:\s?{_PAGES}\.? (?:doi:|https?://)")

MAX_LINE: Final = 400
"""Characters of a line that are compared with the citation formats."""


def _citations(
    metadata: PdfMetadata, pages: Sequence[PageContent], printed: Sequence[Sequence[TextLine]]
) -> list[_Citation]:
    """What is written in a journal's citation format, in the metadata and on the front pages."""
    texts = [(place, text[:MAX_LINE]) for place, text in metadata.subjects]
    found = []
    for number, lines in enumerate(printed):
        for index, line in _own_lines(pages[number], lines):
            # In the text, "In study 12 (2014) 33 patients …" looks like a citation.
            if _in_margin(line, pages[number]):
                texts.append((f"page {number + 1}", line.text[:MAX_LINE]))
            article_number = _HINDAWI.match(line.text)
            if article_number and index and _plausible_journal(lines[index - 1].text):
                fields = article_number.groupdict()
                found.append(_Citation(f"page {number + 1}", lines[index - 1].text, volume=fields["year"], **fields))
            stamp = _PREPRINT.search(line.text)
            if stamp:
                found.append(_Citation(f"page {number + 1}", **stamp.groupdict()))
            if line.text.startswith("Citation:"):
                block = " ".join(item.text for item in lines[index : index + 8])[: 3 * MAX_LINE]
                match = _PLOS.search(block)
                if match:
                    found.append(_Citation(f"page {number + 1}", **match.groupdict()))
    for place, text in texts:
        for pattern in _CITATION_FORMATS:
            match = pattern.search(text)
            if match and _plausible_journal(match["journal"]):
                found.append(_Citation(place, **match.groupdict()))
                break
    return found


def _plausible_journal(name: str) -> bool:
    return 2 <= len(name) <= 120 and name[:1].isalpha() and not re.search(r"[@|]|https?:|\bet al\b|\bdoi\b", name)


def _plausible_year(text: str) -> bool:
    return text.isdigit() and 1800 <= int(text) <= datetime.now(tz=UTC).year + 1


_COPYRIGHT: Final = re.compile(r"(?:©|\(c\)|copyright:?)\s*(?:©|\(c\)|the authors?,?)?\s*((?:19|20)\d\d)\b", re.I)


def _copyright_years(printed: Sequence[Sequence[TextLine]]) -> list[tuple[str, str]]:
    """The year of the copyright on the first page that has one, if it names one only."""
    for lines in printed:
        years = {match.group(1) for line in lines for match in _COPYRIGHT.finditer(line.text)}
        if years:
            return [("copyright on the front page", years.pop())] if len(years) == 1 else []
    return []
