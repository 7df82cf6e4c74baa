"""Search for the articles that PMC has for a query: NCBI's E-utilities, ESearch in the database `pmc`.

What belongs here: the query's frame, and the splitting of searches with more numbers than one answer holds. What does
not: asking for one answer (`entrez_requests.py`), reading it (`entrez_answer.py`), the specialty's query
(`pipeline/articles/relevance.py`).

An answer holds 9,999 numbers at most. A search with more is split by the day on which PMC released the records, in
halves until each is small enough; a single day with more is read page by page from NCBI's history server. Whatever
contradicts itself on the way is asked again, and in the end an error: a list that is silently short would lose articles
for good, because the next search begins where this one ended.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from pmo_assets.sources.entrez_answer import EntrezError as EntrezError  # for those who search
from pmo_assets.sources.entrez_answer import LostHistory, SearchAnswer
from pmo_assets.sources.entrez_requests import EntrezClient
from pmo_assets.sources.entrez_requests import EntrezOptions as EntrezOptions

MAX_NUMBERS: Final = 9_999
"""So many numbers one answer may hold (NCBI, E-utilities: ESearch, `retmax`)."""

FIRST_RELEASE: Final = date(1900, 1, 1)
"""No record of PMC was released before."""

LAST_RELEASE: Final = date(3000, 12, 31)
"""The open end of a search, written as the year alone, as PMC's own help does."""

PASSES: Final = 3
"""Most searches for a part whose numbers do not add up, because records came or went meanwhile."""

_REQUESTS_PER_FULL_ANSWER: Final = 100
"""A search of n full answers halves at most 19 times each (days from 1900 to 3000); this is twice what that takes."""

_MAX_WARNINGS: Final = 100
_OPEN_FILTERS: Final = ("open_access[Filter]", "author_manuscript[Filter]")

Progress = Callable[[int, int], None]
"""Told how many numbers there are, of about how many."""


def pmc_query(specialty_query: str, filters: Iterable[str] = _OPEN_FILTERS) -> str:
    """Return the query for articles of a specialty that pass one of the filters.

    Args:
        specialty_query: as `entrez_query` gives it; "" searches for all that the filters pass.
        filters: PMC's filters; by default, what its S3 bucket has.

    Raises:
        ValueError: if nothing is asked for, or the specialty's query is not closed, so that it would get out of the
            filters.
    """
    parts = [f"({specialty_query})"] if specialty_query.strip() else []
    either = " OR ".join(filters)
    if either:
        parts.append(f"({either})")
    if not parts:
        raise ValueError("the search has neither terms nor filters")
    if not _is_closed(specialty_query):
        raise ValueError("the specialty's query has parentheses or quotation marks without their counterparts")
    return " AND ".join(parts)


def _is_closed(query: str) -> bool:
    depth = 0
    outside = query.split('"')
    for character in "".join(outside[::2]):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0 and len(outside) % 2 == 1


@dataclass(frozen=True, slots=True)
class ReleaseSpan:
    """Days on which PMC released records (`pmcrdat`), the first and the last included."""

    first: date
    last: date

    @property
    def term(self) -> str:
        """The span in Entrez's syntax."""
        last = "3000" if self.last == LAST_RELEASE else _day(self.last)
        return f'"{_day(self.first)}":"{last}"[pmcrdat]'

    def of(self, query: str) -> str:
        """Return the query, restricted to the span."""
        return f"({query}) AND {self.term}"

    def halves(self) -> tuple[ReleaseSpan, ReleaseSpan]:
        """Return the span in two; it must have more than one day."""
        middle = self.first + (self.last - self.first) // 2
        return ReleaseSpan(self.first, middle), ReleaseSpan(middle + timedelta(days=1), self.last)

    def is_named_by(self, phrase: str) -> bool:
        """Say whether a phrase is this span, or one end of it."""
        return "pmcrdat" in phrase.lower() or _day(self.first) in phrase or _day(self.last) in phrase


EVER: Final = ReleaseSpan(FIRST_RELEASE, LAST_RELEASE)
"""All days."""


def _day(day: date) -> str:
    return f"{day.year:04}/{day.month:02}/{day.day:02}"


def _span(released_from: date | None, released_to: date | None) -> ReleaseSpan | None:
    """Return the days that are meant; None for no restriction.

    Raises:
        ValueError: if they end before they begin.
    """
    if released_from is None and released_to is None:
        return None
    span = ReleaseSpan(released_from or FIRST_RELEASE, released_to or LAST_RELEASE)
    if span.first > span.last:
        raise ValueError(
            f"the search would begin on {_day(span.first)} and end before, on {_day(span.last)}: has this machine's "
            "clock gone back? Set it, or give other days"
        )
    return span


@dataclass
class _Search:
    """A search under way: the requests that it may still make, and its progress."""

    query: str
    total: int
    progress: Progress
    done: int = 0
    requests_left: int = 0

    def __post_init__(self) -> None:
        self.requests_left = _REQUESTS_PER_FULL_ANSWER * (self.total // MAX_NUMBERS + 1)

    def found(self, numbers: Iterable[int]) -> np.ndarray:
        """Return the numbers as an array: a full build has millions, which Python's sets are too large for."""
        array = np.fromiter(numbers, dtype=np.int64)
        self.done = min(self.total, self.done + len(array))
        self.progress(self.done, self.total)
        return array


class EntrezSearch:
    """Searches PMC; a context manager that holds the connection. Threads may share it.

    Attributes:
        warnings: what Entrez did not find or left out in searches so far, each once: terms of the query that no article
            has, which make the search narrower than it reads.
    """

    def __init__(
        self,
        options: EntrezOptions,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Check the options; nothing is sent.

        Raises:
            EntrezError: if there is no e-mail address, or the service's address is none.
        """
        self.warnings: list[str] = []
        self._client = EntrezClient(options, clock, sleep)

    def __enter__(self) -> Self:
        """Start the client; nothing is sent."""
        self._client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._client.__exit__(kind, error, traceback)

    def count(self, query: str, released_from: date | None = None, released_to: date | None = None) -> int:
        """Return how many articles the query has, of those released on the days from … to.

        Raises:
            ValueError: if the days end before they begin.
            EntrezError: if NCBI does not answer, or does not understand the query.
        """
        span = _span(released_from, released_to)
        return self._first_answer(query, span, wanted=0).count

    def article_numbers(
        self,
        query: str,
        released_from: date | None = None,
        released_to: date | None = None,
        progress: Progress = lambda done, total: None,
    ) -> list[int]:
        """Return the numbers of all articles that the query has, sorted; see `count`.

        Args:
            query: in Entrez's syntax, see `pmc_query`.
            released_from: first day; None is open.
            released_to: last day; None is open.
            progress: told after each part how many there are, of how many.

        Raises:
            ValueError: if the days end before they begin.
            EntrezError: if NCBI does not answer, does not understand the query, or the numbers cannot be had whole.
        """
        span = _span(released_from, released_to)
        answer = self._first_answer(query, span, wanted=MAX_NUMBERS)
        search = _Search(query, answer.count, progress)
        if answer.count <= MAX_NUMBERS:
            numbers = search.found(answer.numbers)
        elif span is None:
            numbers = self._all_days(search)
        else:
            numbers = self._within(search, span, answer)
        return list(map(int, np.unique(numbers)))

    def _first_answer(self, query: str, span: ReleaseSpan | None, wanted: int) -> SearchAnswer:
        answer = self._asked(query if span is None else span.of(query), wanted)
        if span is not None and answer.count and any(map(span.is_named_by, answer.not_found)):
            raise EntrezError(
                f"PMC left {span.term} out of the search, so that it finds other articles than those of these days: "
                "give other days"
            )
        return answer

    def _all_days(self, search: _Search) -> np.ndarray:
        """Return the numbers of a search without days: of all days, and of the records that have none."""
        numbers = self._within(search, EVER, self._asked(EVER.of(search.query), 0, search))
        for _ in range(PASSES):
            if len(numbers) >= search.total:
                return numbers
            undated = self._by_history(search, f"({search.query}) NOT {EVER.term}")
            numbers = np.union1d(numbers, undated)
            search.total = self._asked(search.query, 0, search).count
        if len(numbers) >= search.total:
            return numbers
        raise _short(len(numbers), search.total, "the search")

    def _within(self, search: _Search, span: ReleaseSpan, answer: SearchAnswer) -> np.ndarray:
        """Return the numbers of a span, whose answer says how many there are, and which if they were asked for."""
        term = span.of(search.query)
        if answer.count and any(map(span.is_named_by, answer.not_found)):
            return search.found(())  # not in the index: no record has such a day; the span around it is checked below
        if answer.count == len(answer.numbers):
            return search.found(answer.numbers)
        if answer.count <= MAX_NUMBERS:
            return self._within(search, span, self._asked(term, MAX_NUMBERS, search))
        if span.first == span.last:
            return self._by_history(search, term)
        count = answer.count
        for _ in range(PASSES):
            # Numbers are asked for at once only where they may well fit: NCBI works for each.
            wanted = MAX_NUMBERS if count <= 4 * MAX_NUMBERS else 0
            first, second = (
                self._within(search, half, self._asked(half.of(search.query), wanted, search)) for half in span.halves()
            )
            numbers: np.ndarray = np.union1d(first, second)
            if len(numbers) >= count:
                return numbers
            count = self._asked(term, 0, search).count
            if len(numbers) >= count:
                return numbers
        raise _short(len(numbers), count, span.term)

    def _by_history(self, search: _Search, term: str) -> np.ndarray:
        """Return the numbers of a search that is kept on NCBI's history server, page by page."""
        reason = ""
        for _ in range(PASSES):
            try:
                return search.found(self._pages(search, term))
            except LostHistory as error:
                reason = str(error)
        raise EntrezError(f"{reason}, {PASSES} times. Run it again later, or narrow the specialty")

    def _pages(self, search: _Search, term: str) -> dict[int, None]:
        first = self._asked(term, MAX_NUMBERS, search, keep=True)
        numbers = dict.fromkeys(first.numbers)
        while len(numbers) < first.count:
            if first.history is None:
                raise EntrezError(
                    f"NCBI keeps no history of a search with {first.count:,} articles: narrow the specialty"
                )
            start = len(numbers)
            page = self._asked(term, MAX_NUMBERS, search, history=first.history, start=start)
            numbers.update(dict.fromkeys(page.numbers))
            if page.count != first.count or len(numbers) != start + len(page.numbers):
                raise LostHistory(f"a search of {first.count:,} articles changed between its pages")
        return numbers

    def _asked(self, term: str, wanted: int, search: _Search | None = None, **paging: Any) -> SearchAnswer:
        """Return the answer to a term and keep its warnings; see `EntrezClient.ask`.

        Raises:
            EntrezError: also if the search has asked more often than any honest answers can make it.
        """
        if search is not None:
            search.requests_left -= 1
            if search.requests_left < 0:
                raise EntrezError(
                    f"the parts of a search with {search.total:,} articles never get small enough: the service does "
                    "not search by days of release. Set PMO_ENTREZ_URL to the E-utilities or to a full mirror of them"
                )
        answer = self._client.ask(term, wanted, **paging)
        self._look_at(answer, term)
        return answer

    def _look_at(self, answer: SearchAnswer, term: str) -> None:
        """Keep what an answer warns of.

        Raises:
            EntrezError: if a filter is unknown: an OR of filters would pass less, or everything.
        """
        filters = {_bare(part) for part in re.split(r"\b(?:AND|OR|NOT)\b|[()]", term) if "[filter]" in part.lower()}
        for phrase in answer.not_found:
            if _bare(phrase) in filters or "[filter]" in phrase.lower():
                raise EntrezError(
                    f"PMC no longer has the filter {phrase}: which articles are open has to be asked anew"
                )
        days = [phrase for phrase in answer.not_found if "pmcrdat" in phrase.lower() or re.search(r"\d{4}/\d", phrase)]
        said = [f"not in PMC: {phrase}" for phrase in answer.not_found if phrase not in days]
        for warning in (*said, *answer.messages):
            if warning not in self.warnings and len(self.warnings) < _MAX_WARNINGS:
                self.warnings.append(warning)


def _bare(phrase: str) -> str:
    """Return a phrase without its field and quotation marks: Entrez repeats it in either form."""
    return phrase.split("[")[0].strip('" ').lower()


def _short(found: int, count: int, what: str) -> EntrezError:
    return EntrezError(
        f"ESearch counts {count:,} articles for {what}, but its parts have {found:,}, {PASSES} times in a row: PMC is "
        "being changed. Run it again later"
    )
