"""Identity of a package's files as one article's: the PDF against the XML, and both against the source's metadata.
A PDF is the XML's article when it holds most of the XML's text, from its beginning to its end. That is asked of letters
alone, in short pieces, so that ligatures, hyphens, columns, another layout (author manuscripts, preprints) and a cover
sheet before the first page do not matter. Short texts (a correction, a retraction notice) are written from a template,
so that title or DOI must agree as well. Where there is no text to compare (scans, an XML of nothing but front matter, a
translation), DOI and title decide as the front pages give them as the article's own. A contradiction is rejected; a PDF
that shows nothing either way is unverified, and then each figure must show that it is one of the XML's
(`pipeline.figures.matching`).

Belongs here: the comparisons, and the verdict that follows. Does not belong here: reading front pages (`front_page`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal

from rapidfuzz import fuzz

from pmo_assets.pipeline.articles.credit import is_notice, letters, same_article
from pmo_assets.pipeline.articles.dois import clean_doi, doi_key
from pmo_assets.pipeline.articles.front_page import FRONT_PAGES, FrontMatter
from pmo_assets.pipeline.articles.front_title import SAME_TITLE
from pmo_assets.pipeline.figures.page import PageLimits, loaded_page, open_pdf, plain_page_text
from pmo_assets.records.article import Article
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.rejections import ArticleError

PIECE: Final = 24
"""Letters of a piece of text that is looked for, some four words. Of two articles' texts at most .034 of the pieces are
in both at 20 letters and .022 at 24, of one article's at least .96 (`benchmarks/score_identity.py`)."""

MOST_PIECES: Final = 400
"""Pieces of a text that are looked for, evenly spread; the share is then good to a few hundredths."""

PIECE_STEP: Final = 8
"""Letters from one piece to the next at least, in short texts."""

SAME_TEXT: Final = 0.8
"""Share of the XML's pieces in the PDF from which both are one article. Articles made of one template's sentences share
.6 of them (`pmo_assets.samples`). A text that was read from a scan, or revised after its preprint, may have less than
this, and is open then."""

PARTS: Final = 4
"""Parts of a long text, each of which the PDF must hold: the first page of a short article has most of its text and may
stand before the body of another."""

SAME_PART: Final = 0.7
"""Share of each part's pieces in the PDF from which both are one article. An article's own PDF has at least .87 of it;
another body behind the right first page next to nothing of the last, or .6 if both are of one template."""

OTHER_TEXT: Final = 0.1
"""Share below which texts in one language are two articles'. In between it is open, unless title and DOI contradict."""

LONG_TEXT: Final = 2000
"""Letters of a text that says enough by itself; retraction notices and corrections have some 300 of a template."""

LEAST_TEXT: Final = 200
"""Letters below which a text (of the XML, or of the PDF) says nothing."""

SAME_LANGUAGE: Final = 0.25
"""Share of the words of one text that the other has as well, from which both are in one language and legible: two
articles in English share some .5, and fonts without a mapping to characters none."""

PAGE_TEXT: Final = 100_000
"""Characters of a page that are compared at most; a page of print has some 7,000."""

LONG_TITLE: Final = 20
"""Letters of a title that is looked for in a page's text, where a shorter one occurs by chance."""

TITLE_WORDS: Final = 3
"""Words of a title at least: what metadata state with fewer is a placeholder."""

UNLIKE_TITLES: Final = 60
"""Similarity (0 to 100, of the words whatever their order) below which two titles are of two articles."""

NAMED: Final = 2 / 3
"""Share of the authors' family names on the front pages from which the authors agree."""

MOST_NAMES: Final = 20
"""Authors that are looked for."""

Verdict = Literal["verified", "unverified"]


class PdfOfAnotherArticle(ArticleError):
    """The package's PDF is not of the article that its XML, or its metadata, describe."""


class MetadataOfAnotherArticle(ArticleError):
    """The package's metadata are not of the article of its XML."""


@dataclass(frozen=True, slots=True)
class PdfIdentity:
    """Verdict and evidence that a PDF is the article that XML or metadata describe.

    Attributes:
        verdict: "verified", or "unverified" when nothing shows it and nothing contradicts.
        evidence: the facts that agree: "text", "DOI", "title", "authors", in this order.
        text_overlap: share (0 to 1) of the XML's text in the PDF's pages, read until it is certain; None without text.
    """

    verdict: Verdict
    evidence: tuple[str, ...] = ()
    text_overlap: float | None = None


UNREAD: Final = PdfIdentity("unverified")
"""The identity of a PDF that cannot be read: the reason is recorded where the article needs its PDF."""


_DIGITS: Final = re.compile(r"\d+")


def bare_letters(text: str) -> str:
    """Return a text's letters without its digits (numbers of lines and notes), which two settings of it share."""
    return _DIGITS.sub("", letters(text))


def pieces_of(text: str) -> list[str]:
    """Return pieces of a text as `bare_letters`, evenly spread over it; none when it says nothing."""
    if len(text) < LEAST_TEXT:
        return []
    last = len(text) - PIECE
    return [text[at : at + PIECE] for at in range(0, last + 1, max(PIECE_STEP, last // MOST_PIECES))]


_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]{2,}")
"""A word; in scripts that put no space between words, a character."""


@dataclass(frozen=True)
class PdfText:
    """The text that was read of a PDF for its comparison with an XML.

    Attributes:
        pages: text of the pages that were read, from the first on.
        overlap: share of the pieces that are in them; 0 without pieces.
        least: the same of the part (one of `PARTS`) of which least is in them.
    """

    pages: tuple[str, ...] = field(repr=False)
    overlap: float
    least: float

    @cached_property
    def front(self) -> tuple[str, ...]:
        """The letters of the front pages."""
        return tuple(letters(page) for page in self.pages[:FRONT_PAGES])

    def is_like(self, text: str) -> bool:
        """Say whether another text is in the same language, and both are legible and long enough to be compared."""
        mine, others = (_WORD.findall(item.lower()) for item in ("\n".join(self.pages), text))
        if min(sum(map(len, words)) for words in (mine, others)) < LEAST_TEXT:
            return False
        shared = (
            sum(word in known for word in words) / len(words)
            for words, known in ((mine, set(others)), (others, set(mine)))
        )
        return max(shared) >= SAME_LANGUAGE


def read_pdf_text(pdf: bytes, pieces: Sequence[str], limits: PageLimits | None = None) -> PdfText:
    """Read a PDF's pages until they hold enough of the pieces; all front pages at least.

    Args:
        pdf: the file.
        pieces: of the text that is looked for, see `pieces_of`.
        limits: against page bombs.

    Raises:
        ArticleError: if the PDF cannot be opened (see `open_pdf`).
        BaseException: exhausted memory and other faults of the machinery (see `raise_fault`).
    """
    limits = limits or PageLimits()
    pages: list[str] = []
    missing = set(pieces)
    document = open_pdf(pdf, limits)
    try:
        for number in range(document.page_count):
            overlap, least = shares_found(pieces, missing)
            if number >= FRONT_PAGES and (not pieces or (overlap >= SAME_TEXT and least >= SAME_PART)):
                break
            try:
                pages.append(plain_page_text(loaded_page(document, number), limits)[:PAGE_TEXT])
            except Exception as error:  # page bombs, and MuPDF's undocumented classes: such a page says nothing
                raise_fault(error)
                pages.append("")
            text = bare_letters(pages[-1])
            missing = {piece for piece in missing if piece not in text}
    finally:
        document.close()
    return PdfText(tuple(pages), *shares_found(pieces, missing))


def shares_found(pieces: Sequence[str], missing: Set[str]) -> tuple[float, float]:
    """Return the share of a text's pieces that are not missing, and the share of its part with the most missing ones.

    Args:
        pieces: in their order; without any, both shares are 0.
        missing: those of them that were not found.
    """
    ends = [len(pieces) * part // PARTS for part in range(PARTS + 1)]
    parts = [set(pieces[start:end]) for start, end in pairwise(ends) if start < end]
    shares = [1 - len(part & missing) / len(part) for part in (set(pieces), *parts) if part]
    return (shares[0], min(shares[1:])) if shares else (0.0, 0.0)


def overlap_with(pages: Sequence[str], pieces: Sequence[str]) -> tuple[float, float]:
    """Return the shares of pieces that are in pages, given as `bare_letters`; see `shares_found`."""
    return shares_found(pieces, {piece for piece in pieces if not any(piece in page for page in pages)})


_ORDINAL: Final = re.compile(
    r"\b(?:\d+|[IVX]{1,5}|one|two|three|four|five|six|first|second|third|fourth|fifth|sixth)\b", re.I
)


def _ordinals(title: str) -> list[str]:
    """Return a title's ordinals, which tell the parts of a study apart: "Part II", "a second trial"."""
    return [found.lower() for found in _ORDINAL.findall(title)]


def same_title(title: str | None, other: str | None) -> bool:
    """Say whether two titles are one article's; those of two corrections must be equal; parts differ."""
    if not title or not other or is_notice(title) != is_notice(other) or _ordinals(title) != _ordinals(other):
        return False
    if is_notice(title):
        return fuzz.ratio(letters(title), letters(other)) >= SAME_TITLE
    return same_article(title, other)


_OF_ANOTHER: Final = re.compile(
    r"(?:correction|corrigend(?:um|a)|errat(?:um|a)|addend(?:um|a)|comment(?:s|ary)?|repl(?:y|ies)|response|retraction"
    r"|withdrawal|concern|letter|editorial)(?:notice|note)?(?:to|on|of|for|regarding|the|article|editor|entitled|titled)*$"
)
"""Letters before a title which say that another publication names it."""

_NAMED_BEFORE: Final = 60
"""Letters before a title that are looked at for that."""


def title_is_printed(title: str | None, front: Sequence[str]) -> bool:
    """Say whether a title stands on front pages, given as `letters`, and not as that of another publication."""
    wanted = letters(title or "")
    if len(wanted) < LONG_TITLE:
        return False
    names_another = is_notice(title or "")
    for page in front:
        at = page.find(wanted)
        if at < 0:
            hit = (
                fuzz.partial_ratio_alignment(wanted, page, score_cutoff=SAME_TITLE) if len(page) > len(wanted) else None
            )
            if hit is None or re.findall(r"\d+", wanted) != re.findall(r"\d+", page[hit.dest_start : hit.dest_end]):
                continue
            at, end = hit.dest_start, hit.dest_end
        else:
            end = at + len(wanted)
        before, after = page[max(0, at - _NAMED_BEFORE) : at], page[end : end + 1]
        goes_on = re.search(r"[ivx\d]$", wanted) is not None and re.match(r"[ivx\d]", after) is not None
        if not goes_on and (names_another or not _OF_ANOTHER.search(before)):
            return True
    return False


def _same_doi(doi: str | None, other: str | None) -> bool | None:
    """Say whether two DOIs are one article's; None where one is unknown. A version's DOI is its article's with more."""
    one, two = (doi_key(found) if (found := clean_doi(written)) else "" for written in (doi, other))
    if not one or not two:
        return None
    return one.startswith(two) or two.startswith(one)


def _authors_are_printed(authors: Sequence[str], front: Sequence[str]) -> bool:
    names = [name for author in authors[:MOST_NAMES] if len(name := letters(author.split()[-1])) > 1]
    known = sum(any(name in page for page in front) for name in names)
    return bool(names) and known >= NAMED * len(names)


def _evidence(*, text: bool, doi: bool, title: bool, authors: bool) -> tuple[str, ...]:
    found = {"text": text, "DOI": doi, "title": title, "authors": authors}
    return tuple(name for name, agrees in found.items() if agrees)


def identity_with_xml(article: Article, pdf: bytes, read_front: Callable[[], FrontMatter]) -> PdfIdentity:
    """Return the evidence that a PDF is the XML's article.

    Args:
        article: facts of the XML.
        pdf: the file.
        read_front: reads the PDF's front pages; called only where the text leaves it undecided.

    Raises:
        PdfOfAnotherArticle: if the PDF is another article's.
        ArticleError: if the PDF cannot be opened.
    """
    whole = bare_letters(article.text)
    return identity_of_text(article, read_pdf_text(pdf, pieces_of(whole)), read_front, len(whole))


def _named(article: Article, front: Sequence[str]) -> tuple[bool, bool]:
    """Say whether front pages, given as `letters`, print an article's title, and its DOI."""
    doi = letters(clean_doi(article.doi) or "")
    return title_is_printed(article.title, front), bool(doi) and any(doi in page for page in front)


def identity_of_text(
    article: Article, text: PdfText, read_front: Callable[[], FrontMatter], length: int
) -> PdfIdentity:
    """Return the evidence that a PDF with this text is the XML's article; see `identity_with_xml`.

    Args:
        article: facts of the XML.
        text: the text that was read of the PDF for the XML's pieces.
        read_front: reads the PDF's front pages.
        length: letters of the XML's text.

    Raises:
        PdfOfAnotherArticle: if it is another article's.
    """
    overlap = round(text.overlap, 4) if length >= LEAST_TEXT else None
    printed, doi_is_printed = _named(article, text.front)
    authors = _authors_are_printed(article.authors, text.front)
    says_enough = text.least >= SAME_PART if length >= LONG_TEXT else printed or doi_is_printed
    if overlap is not None and overlap >= SAME_TEXT and says_enough:
        evidence = _evidence(text=True, doi=doi_is_printed, title=printed, authors=authors)
        return PdfIdentity("verified", evidence, overlap)
    front = read_front()
    same = _same_doi(article.doi, front.doi)
    title = same_title(article.title, front.title) or (printed and front.title is None)
    other_title = front.title is not None and _is_title(article.title) and not title and not printed
    if overlap is None or not text.is_like(article.text):  # title, DOI and authors decide
        is_other = (
            (same is False and (other_title or not (title or authors)))
            or (same is None and other_title and not authors)
        )  # fmt: skip
        shown = (title and same is not False) or (same is True and authors)
    elif overlap < OTHER_TEXT:
        is_other, shown = not (same is True or (title and same is None)), False
    else:
        # The right first page may stand before another article: title and DOI do not show what follows.
        is_other, shown = not title and (same is False or (same is None and other_title and not authors)), False
    if is_other:
        raise PdfOfAnotherArticle(
            f"the PDF is of another article: the XML is of {described(article.title, article.doi)}, the PDF of "
            f"{described(front.title, front.doi, text.pages)}: put the right PDF beside the XML, or remove one of them"
        )
    evidence = _evidence(text=False, doi=same is True, title=title, authors=authors)
    return PdfIdentity("verified" if shown else "unverified", evidence, overlap)


def identity_with_metadata(title: str | None, doi: str | None, pdf: bytes, front: FrontMatter) -> PdfIdentity | None:
    """Return the evidence that a PDF is the article of the metadata beside it; None when these name no article.

    Args:
        title: the one that the metadata state.
        doi: the one that the metadata state.
        pdf: the file.
        front: facts of the PDF's front pages.

    Raises:
        PdfOfAnotherArticle: if the PDF's own DOI or title, and nothing on the front pages, is that of the metadata.
        ArticleError: if the PDF cannot be opened.
    """
    if not _is_title(title) and not clean_doi(doi):
        return None
    text = read_pdf_text(pdf, ())
    stated = letters(clean_doi(doi) or "")
    same = _same_doi(doi, front.doi)
    agrees = same_title(title, front.title) or title_is_printed(title, text.front)
    printed = same is True or (same is None and bool(stated) and any(stated in page for page in text.front))
    if agrees or printed:
        return PdfIdentity("verified", _evidence(text=False, doi=printed, title=agrees, authors=False))
    other_title = _is_title(title) and front.title is not None
    if (other_title and same is not True) or (same is False and not _is_title(title)):
        raise PdfOfAnotherArticle(
            f"the PDF is of another article: the metadata are of {described(title, doi)}, the PDF of "
            f"{described(front.title, front.doi, text.pages)}: put the right PDF there, or correct metadata.json"
        )
    return UNREAD


def check_metadata(title: str | None, doi: str | None, article: Article, read_front: Callable[[], FrontMatter]) -> None:
    """Check that the metadata beside an XML are of its article.

    A title may be a translation, or shortened, and a DOI that of another version; so one that agrees is enough.

    Args:
        title: that the metadata state.
        doi: that the metadata state.
        article: facts of the XML.
        read_front: gives what the PDF's front pages say: they may have a title that the XML does not, or its DOI.

    Raises:
        MetadataOfAnotherArticle: if they are of another one.
    """
    same = _same_doi(doi, article.doi)
    if same is True or _alike(title, article.title) or (same is None and not _is_title(title) and not clean_doi(doi)):
        return
    front = read_front()
    same = _same_doi(doi, article.doi or front.doi)
    if same is True or _alike(title, front.title):
        return
    both_titled = _is_title(title) and _is_title(article.title)
    if both_titled or (same is False and not _is_title(title)):
        raise MetadataOfAnotherArticle(
            f"the metadata are of another article: they name {described(title, doi)}, the XML "
            f"{described(article.title, article.doi or front.doi)}: correct metadata.json, or remove it"
        )


def _alike(title: str | None, other: str | None) -> bool:
    """Say whether two titles may be one article's: equal, one a part of the other, or of the same words."""
    if not title or not other:
        return False
    one, two = letters(title), letters(other)
    if min(len(one), len(two)) < LONG_TITLE:
        return one == two
    if is_notice(title) != is_notice(other) or _ordinals(title) != _ordinals(other):
        return False
    return one in two or two in one or fuzz.token_sort_ratio(title.lower(), other.lower()) >= UNLIKE_TITLES


def _is_title(title: str | None) -> bool:
    return title is not None and len(_WORD.findall(title)) >= TITLE_WORDS and len(letters(title)) >= LONG_TITLE


_SHOWN: Final = 160
"""Characters of a title that a message shows."""


def described(title: str | None, doi: str | None, pages: Sequence[str] = ()) -> str:
    """Return an article's title and DOI for a message; of pages without a title that can be read their first words."""
    doi = clean_doi(doi)
    name = " ".join((title or "").split())
    first = " ".join(" ".join(pages).split())
    shown = f"“{name[:_SHOWN]}”" if name else f"“{first[:_SHOWN]} …”" if first else "an unnamed article"
    return f"{shown} (DOI {doi})" if doi else shown
