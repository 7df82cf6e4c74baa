"""The DOI of an article as its front pages print it, told apart from those of other publications."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.dois import clean_doi, doi_key, dois_in
from pmo_assets.pipeline.articles.front_lines import in_margin, own_lines
from pmo_assets.pipeline.articles.pdf_metadata import PdfMetadata, counts
from pmo_assets.pipeline.figures.page import PageContent, TextLine

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
"""Words before a DOI that make it another publication's: one that is commented, corrected, retracted or linked."""

_OWN_CITATION: Final = re.compile(
    r"^\W*(?:(?:(?:recommended|suggested|article)\s+)?citation|(?:(?:how\s+)?to|please)?\s*cite)\b"
    r"(?:\s+(?:this|the)(?:\s+(?:article|paper|work|letter|publication))?)?(?:\s+(?:in\s+press\s+)?as)?\s*(?::|$)",
    re.I,
)
"""Beginning of the block in which an article states its own citation."""

_OTHER_FIELD: Final = re.compile(
    r"^(?:(?:academic\s+|handling\s+)?editors?|received|accepted|published|copyright|funding|data availability|"
    r"competing|correspondence|e-?mail)\b",
    re.I,
)
"""Beginning of the field behind the citation."""

CITATION_LINES: Final = 10
"""Lines of a citation that are read at most: all authors of a consortium may stand in it."""

# When a line goes on with the one below it; sizes and gaps are of its type, the gap's below 0 where boxes overlap.
_SAME_SIZE: Final = 0.5
"""Points by which the type of both lines differs less."""
_CITATION_GAP: Final = (-1.5, 0.8)
"""White between two lines of a citation; they may stand beside each other where the first word is set apart."""
_WORD_GAP: Final = (-0.5, 0.8)
"""White between a line and the one that goes on with the word it breaks."""


def _citation_block(lines: Sequence[TextLine], first: int) -> range:
    """Indices of the lines of the citation that begins there: set alike, one below the other."""
    last = first
    while last + 1 < min(len(lines), first + CITATION_LINES):
        line, below = lines[last], lines[last + 1]
        if (
            abs(below.size - line.size) >= _SAME_SIZE
            or not _CITATION_GAP[0] * line.size <= below.bbox[1] - line.bbox[3] <= _CITATION_GAP[1] * line.size
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
        abs(other.size - line.size) < _SAME_SIZE
        and _WORD_GAP[0] * line.size <= other.bbox[1] - line.bbox[3] <= _WORD_GAP[1] * line.size
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
    furniture = {line.block for line in lines} - {line.block for line in lines if not in_margin(line, page)}
    for index, line in own_lines(page, lines):
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
class OwnDois:
    """DOIs that the front pages give as the article's.

    Attributes:
        whole: DOIs by their key, each with its place.
        cut: keys of those that a line's end may have cut.
    """

    whole: dict[str, tuple[str, str]]
    cut: frozenset[str]


def own_dois(pages: Sequence[PageContent], printed: Sequence[Sequence[TextLine]], links: Sequence[str]) -> OwnDois:
    """Return the DOIs that the front pages give as the article's.

    Args:
        pages: the front pages.
        printed: their upright lines.
        links: DOIs that the pages link to: they complete one that a line's end cuts.
    """
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
    return OwnDois(whole, frozenset(cut))


def stated_dois(metadata: PdfMetadata) -> list[tuple[str, str]]:
    """Return the DOIs in the metadata, each as (place, DOI)."""
    stated = [(place, doi) for place, text in metadata.dois if (doi := clean_doi(text))]
    return stated + [(place, doi) for place, text in metadata.subjects for _, _, doi in dois_in(text)]


def read_doi(metadata: PdfMetadata, own: OwnDois, believed: frozenset[str]) -> tuple[str | None, str]:
    """Return the DOI and where it was read; none where metadata and page contradict each other."""
    stated = stated_dois(metadata)
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
        if counts(place, believed):
            return doi, place
    # A supplement's DOI is the article's with something behind it.
    basic = [key for key in own.whole if not any(key != other and key.startswith(other) for other in own.whole)]
    if len(basic) == 1 and all(basic[0].startswith(half) for half in own.cut):
        return own.whole[basic[0]]
    return None, ""
