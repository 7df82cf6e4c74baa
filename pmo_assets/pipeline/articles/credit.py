"""Credit of an article: the texts and addresses that cite and link it, and the comparison of titles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rapidfuzz import fuzz

from pmo_assets.pipeline.articles.dois import doi_key, doi_url
from pmo_assets.records.packages import is_pmc_number

NAMED_AUTHORS: Final = 6
"""Authors that a citation names before "et al.", as PubMed's do; the column `authors` names all."""


def citation_text(journal: str | None, year: int | None, volume: str | None, pages: str | None) -> str:
    """Return "Journal. Year; volume(issue): pages" as far as known; "" when nothing is.

    Args:
        journal: name or abbreviation.
        year: of publication.
        volume: with the issue in brackets, if there is one.
        pages: first page, range or article number.
    """
    dated = "; ".join(filter(None, [str(year) if year else "", volume]))
    if pages:
        dated = f"{dated}: {pages}" if dated else pages
    return ". ".join(filter(None, [(journal or "").rstrip("."), dated]))


def full_citation(authors: Sequence[str], citation: str | None, doi: str | None) -> str | None:
    """Return authors, citation and DOI in one text, each as far as known and none twice; None when nothing is known.

    Args:
        authors: in order, given names first.
        citation: journal, year, volume and pages; a source's own citation may hold authors and DOI already.
        doi: without address.
    """
    stated = (citation or "").strip()
    named = ", ".join(authors[:NAMED_AUTHORS]) + (" et al" if len(authors) > NAMED_AUTHORS else "")
    if authors and _begins_with_author(stated, authors[0]):
        named = ""
    link = doi_url(doi) if doi and doi_key(doi) not in stated.lower() else ""
    return ". ".join(part.rstrip(".") for part in (named, stated, link) if part) or None


def _begins_with_author(citation: str, author: str) -> bool:
    """Say whether a citation names its first author, as "Cevher S, …" or "S. Cevher, …" do."""
    surname = re.escape(author.split()[-1])
    return re.match(rf"\W*(?:[\w.-]+\s+){{0,2}}{surname}\b(?!\.\s+\d)", citation, re.IGNORECASE) is not None


def pmc_number(article_id: int, stated: int | None) -> int | None:
    """Return an article's PMC number: its own, or the one that its XML states; None when PMC gave it none."""
    return next((number for number in (article_id, stated) if number and is_pmc_number(number)), None)


def article_url(pmcid: int | None, doi: str | None) -> str | None:
    """Return the article's page at PubMed Central, else at its DOI; None without both."""
    if pmcid is not None:
        return f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{pmcid}/"
    return doi_url(doi) if doi else None


_NO_LETTERS: Final = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    """Return letters and digits only, without case, accents and ligatures, for comparison."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKD", text).lower())


SAME_ARTICLE: Final = 90
"""Similarity (0 to 100, letters and digits only) from which two sources' titles are one article's; they then differ in
markup, a special character, or a word that a journal sets apart from the title."""

_RETRACTED: Final = re.compile(r"^\W*(?:retracted|withdrawn)(?:\s+(?:article|paper))?\s*[:\]-]\s*", re.IGNORECASE)
_KINDS_OF_NOTICE: Final = (
    r"(?:(?:author|publisher|editor)s?[’']?s?\W+)?(?:re|comment(?:s|ary)?|repl(?:y|ies)|response|correction|corrigend(?:um|a)|"
    r"errat(?:um|a)|addend(?:um|a)|retraction|withdrawal|expression of concern|letter|editorial)"
    r"(?:\s+(?:note|notice))?"
)
_NOTICE: Final = re.compile(
    rf"^\W*(?:in\s+)?{_KINDS_OF_NOTICE}\s*(?:[:.–—]|\s-\s|\b(?:on|to|for|by|from|regarding)\b|$)|"
    rf"(?:[:.([–—]|\s-\s)\s*{_KINDS_OF_NOTICE}\W*$",
    re.IGNORECASE,
)
"""Beginning or end of a title that repeats another article's."""


def is_notice(title: str) -> bool:
    """Say whether a title is that of a comment, reply, correction or the like, which repeats another article's."""
    return _NOTICE.search(_RETRACTED.sub("", title)) is not None


@lru_cache(maxsize=1 << 16)
def _own_letters(title: str) -> str:
    """A title as it is compared; "" when it is another article's, or none."""
    text = _RETRACTED.sub("", title)
    return "" if _NOTICE.search(text) else letters(text)


def same_article(title: str | None, other: str | None) -> bool:
    """Say whether two titles, both known, are one article's.

    A comment, reply or correction bears the title of the article that it is about; of two such titles nothing can be
    told. "RETRACTED:" before a title is put there later.
    """
    one, two = _own_letters(title or ""), _own_letters(other or "")
    return bool(one and two) and fuzz.ratio(one, two, score_cutoff=SAME_ARTICLE) > 0


DIFFERENT_ARTICLES: Final = 70
"""Similarity (as `SAME_ARTICLE`) below which two titles are not one article's, however they were read; between both
nothing can be told."""


def different_articles(title: str | None, other: str | None) -> bool:
    """Say whether two titles, both known, cannot be one article's.

    A title that goes on where the other one ends (a subtitle) is not another one; that of a comment or reply is.
    """
    one, two = (letters(_RETRACTED.sub("", text or "")) for text in (title, other))
    if not (one and two):
        return False
    if bool(_own_letters(title or "")) != bool(_own_letters(other or "")):
        return True
    short, long = sorted((one, two), key=len)
    return not long.startswith(short) and fuzz.ratio(one, two) < DIFFERENT_ARTICLES


def same_authors(authors: Sequence[str], others: Sequence[str]) -> bool | None:
    """Say whether two lists of authors are one article's: at least half of the shorter one is in the other one.

    Args:
        authors: given names first; initials count like them.
        others: those of the other one.

    Returns:
        None where one of them is not known.
    """
    one, two = ({key for name in names if (key := _author_key(name))} for names in (authors, others))
    if not (one and two):
        return None
    return 2 * len(one & two) >= min(len(one), len(two))


def _author_key(author: str) -> str:
    """Return family name and first initial as they are compared; "" for no name."""
    words = [word for part in author.split() if (word := letters(part))]
    return f"{words[-1]} {words[0][0]}" if words else ""
