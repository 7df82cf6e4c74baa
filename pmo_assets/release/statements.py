"""Statements of a source about an article's rights, manifest after manifest, and those of them that count.

A manifest says it when a package is registered, long before its batch is processed, and also where that never comes to
be. So a statement counts from then on, but it may only take away: rights that it gives are given by the batch, once it
is done. And a statement that a source made before is nothing new when it is seen again: of v1, a narrower licence, v1
again, the narrower one stays, until the source says something that it never said, or there is a newer version of the
article.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pmo_assets.pipeline.articles.licences import freedoms, most_restrictive

AT_PMC: Final = ""
"""In place of a batch: what PubMed Central says now, as the last refresh saw it."""

Rank = tuple[bool, bool, int]
"""By which versions of an article are ordered: PMC does not pass it over, it is published, its number."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a package's source about an article's rights.

    Attributes:
        speaker: who says it: source and package, whatever version.
        place: of its batch in the order of registration; what PMC says now comes after all.
        batch: that holds the package; `AT_PMC`.
        name: of the package.
        rank: of the version of which it is said.
        code: of the licence; None for one that is not understood.
        states_licence: a licence is stated at all; else the XML or PDF may state one.
        is_unreadable: the metadata cannot be read and may state anything.
        is_retracted: the article is retracted.
        is_done: its batch has made what there is of the package.
        is_trusted: its source's word counts for other sources' packages of the article.
        digest: a hash of the package's content and metadata; None where it is not known.
        is_made: its batch has looked at the article …
        made_code: … and made its rows under this licence.
    """

    speaker: str
    place: int
    batch: str
    name: str
    rank: Rank
    code: str | None
    states_licence: bool
    is_unreadable: bool
    is_retracted: bool
    is_done: bool
    is_trusted: bool = False
    digest: int | None = None
    is_made: bool = False
    made_code: str | None = None

    @property
    def rights(self) -> tuple[object, ...]:
        """Stated rights, to be compared with those stated before."""
        return self.rank[1:], self.states_licence and (self.code or True), self.is_unreadable, self.is_retracted

    @property
    def allowed(self) -> str | None:
        """Code of the licence that is left by it; only where it speaks of one (`speaks_of_licence`)."""
        return None if self.is_unreadable else self.code

    @property
    def speaks_of_licence(self) -> bool:
        """True if it says anything of the licence."""
        return self.states_licence or self.is_unreadable

    def source(self) -> str:
        """Return where it stands, in words."""
        if self.batch == AT_PMC:
            return "PubMed Central"
        return f"batch {self.batch}" if self.is_done else f"a newer manifest (batch {self.batch}, not processed)"

    def of_licence(self) -> str:
        """Return a sentence on its statement about the licence."""
        if self.is_unreadable:
            return f"{self.source()} has metadata that cannot be read, so that the licence is unknown"
        return f"{self.source()} says {self.code}" if self.code else f"{self.source()} says no licence that is known"

    def of_retraction(self) -> str:
        """Return that the article is retracted, in a sentence."""
        return f"{self.source()} says that the article is retracted"


@dataclass(frozen=True, slots=True)
class Word:
    """All that a speaker says of an article, taken together.

    Attributes:
        since: place of the first statement that counts; the packages before it are superseded.
        retraction: the statement by which the article is retracted.
        licences: the statements of licences that count, of which the most restrictive holds.
    """

    since: int
    retraction: Statement | None
    licences: tuple[Statement, ...]


def word_of(statements: Sequence[Statement]) -> Word:
    """Return the word of a speaker, from all of its statements.

    Args:
        statements: of one speaker about one article, in order; one at least.
    """
    first, *later = statements
    word = _said(first)
    top, rights, digests = first.rank, {first.rights}, {first.digest}
    for item in later:
        is_new = item.rights not in rights and (item.digest is None or item.digest not in digests)
        rights.add(item.rights)
        digests.add(item.digest)
        if item.rank < top:
            continue
        if item.is_done and (is_new or item.rank > top):
            said = _said(item)
            # Who states no licence any more takes none back.
            kept = said.licences if item.speaks_of_licence or item.rank > top else _readable(word.licences)
            word = replace(said, licences=kept)
        else:
            more = (item,) if item.speaks_of_licence else ()
            retraction = word.retraction or (item if item.is_retracted else None)
            word = replace(word, retraction=retraction, licences=(*word.licences, *more))
        top = item.rank
    return word


def _said(statement: Statement) -> Word:
    licences = (statement,) if statement.speaks_of_licence else ()
    return Word(statement.place, statement if statement.is_retracted else None, licences)


def _readable(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    return tuple(item for item in statements if not item.is_unreadable)


def narrowed(code: str | None, statements: Iterable[Statement]) -> tuple[str | None, Statement | None]:
    """Return the licence that a row's licence and statements allow together, and the last statement that narrows it.

    Args:
        code: of the licence under which the rows were made.
        statements: that speak of a licence.

    Returns:
        Code, and None where no statement takes anything away.
    """
    by = None
    for item in statements:
        left = most_restrictive([code, item.allowed])
        if freedoms(left) != freedoms(code):
            code, by = left, item
    return code, by
