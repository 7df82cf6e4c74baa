"""NCBI's ESearch for `db=pmc`, as a WSGI application over articles that are at hand.

Terms are evaluated (`entrez_evaluator`), answers have the form, the document type and the limits of NCBI's: at most
9,999 numbers, none past the 9,999th without the history server, three requests a second without a key.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape

from werkzeug.wrappers import Request, Response

from pmo_assets_tests.loopback.entrez_evaluator import (
    RELEASED,
    EntrezIndex,
    EntrezSyntaxError,
    FieldNotFound,
    Operation,
    Query,
    Term,
    first_day,
    last_day,
    parse_query,
    terms_of,
)

LIMIT: Final = 9_999
DEFAULT_RETMAX: Final = 20
PROLOGUE: Final = (
    '<?xml version="1.0" encoding="UTF-8" ?>\n'
    '<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN"'
    ' "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
)
REQUESTS_A_SECOND: Final = 3
REQUESTS_A_SECOND_WITH_KEY: Final = 10


class _Refused(Exception):
    """The search cannot be answered; `args` are HTTP status and message."""


def error_answer(message: str) -> str:
    """Return ESearch's answer to a search that failed, as it comes with HTTP status 200."""
    return f"{PROLOGUE}<eSearchResult><ERROR>{escape(message)}</ERROR></eSearchResult>\n"


@dataclass
class Esearch:
    """The application. All attributes may be changed while requests come in.

    Attributes:
        index: gives the records there are now.
        limit: numbers of one answer, and of one search without the history server; fewer than NCBI's let a test see
            what happens beyond with few articles.
        rate_limit: whether HTTP 429 comes when a client asks more often than it may.
        errors: messages; each is the `<ERROR>` of one of the next answers.
        not_found: phrases that every answer names as `PhraseNotFound`.
        bodies: answers that are sent as they are, each once, before all others: broken XML, a web page.
        clock: seconds, for the rate limit.
    """

    index: Callable[[], EntrezIndex]
    limit: int = LIMIT
    rate_limit: bool = False
    errors: deque[str] = field(default_factory=deque)
    not_found: tuple[str, ...] = ()
    bodies: deque[bytes] = field(default_factory=deque)
    clock: Callable[[], float] = time.monotonic
    _history: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    _times: dict[str, deque[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def forget_history(self) -> None:
        """Lose all searches that the history server keeps, as it does after some hours."""
        with self._lock:
            self._history.clear()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return self._response(Request(environ))(environ, start_response)

    def _response(self, request: Request) -> Response:
        if not request.path.endswith("/esearch.fcgi") or request.method not in ("GET", "POST"):
            return Response("Not found", 404)
        parameters = {**request.args.to_dict(), **request.form.to_dict()}
        if self.rate_limit and not self._may_ask(parameters.get("api_key", "")):
            message = {"error": "API rate limit exceeded", "api-key": "127.0.0.1", "count": "4", "limit": "3"}
            return Response(json.dumps(message), 429, mimetype="application/json", headers={"Retry-After": "1"})
        with self._lock:
            if self.bodies:
                return Response(self.bodies.popleft(), mimetype="text/xml")
            if self.errors:
                return Response(error_answer(self.errors.popleft()), mimetype="text/xml")
        try:
            return Response(self._answer(parameters), mimetype="text/xml")
        except _Refused as refusal:
            status, message = refusal.args
            return Response(error_answer(message), status, mimetype="text/xml")
        except FieldNotFound as error:
            return Response(_nothing_found(parameters["term"], str(error.args[0])), mimetype="text/xml")
        except EntrezSyntaxError as error:
            return Response(error_answer(f"Cannot process query: {error}"), mimetype="text/xml")

    def _may_ask(self, key: str) -> bool:
        """Count a request; false when there were too many in the last second, by the same key or all without one."""
        now = self.clock()
        with self._lock:
            times = self._times.setdefault(key, deque())
            while times and now - times[0] >= 1:
                times.popleft()
            if len(times) >= (REQUESTS_A_SECOND_WITH_KEY if key else REQUESTS_A_SECOND):
                return False
            times.append(now)
            return True

    def _answer(self, parameters: Mapping[str, str]) -> str:
        if parameters.get("db") != "pmc":
            raise _Refused(400, f"Invalid db name specified: {parameters.get('db', '')}")
        query = _dated(_query(parameters), parameters)
        index = self.index()
        found = tuple(sorted(index.search(query), reverse=True)) if query is not None else ()
        history = self._kept(parameters)
        if history is not None:
            found = history if query is None else tuple(number for number in history if number in set(found))
        elif query is None:
            raise _Refused(200, "Empty term and query_key - nothing todo")
        keeps = parameters.get("usehistory") == "y"
        start = _whole_number(parameters, "retstart", 0)
        size = min(_whole_number(parameters, "retmax", DEFAULT_RETMAX), self.limit)
        end = start + size
        if history is None:
            if start >= self.limit:
                raise _Refused(
                    400,
                    f"Search Backend failed: Exception:\n'retstart' cannot be larger than {self.limit - 1}. "
                    f"ESearch can only retrieve the first {self.limit:,} records matching the query.",
                )
            end = min(end, self.limit)
        numbers = found[start:end]
        kept = self._keep(found, parameters.get("WebEnv", "")) if keeps else None
        return PROLOGUE + "".join(self._elements(index, query, found, start, numbers, kept))

    def _kept(self, parameters: Mapping[str, str]) -> tuple[int, ...] | None:
        """Return the search that `WebEnv` and `query_key` name; None if they name none."""
        if "query_key" not in parameters:
            return None
        searches = self._history.get(parameters.get("WebEnv", ""), [])
        place = _whole_number(parameters, "query_key", 0)
        if not 1 <= place <= len(searches):
            raise _Refused(200, "Unable to obtain query #" + str(place))
        return searches[place - 1]

    def _keep(self, found: tuple[int, ...], environment: str) -> tuple[str, int]:
        """Keep a search; returns `WebEnv` and `QueryKey`."""
        with self._lock:
            if environment not in self._history:
                environment = f"MCID_{len(self._history):024x}"
                self._history[environment] = []
            self._history[environment].append(found)
            return environment, len(self._history[environment])

    def _elements(
        self,
        index: EntrezIndex,
        query: Query | None,
        found: tuple[int, ...],
        start: int,
        numbers: tuple[int, ...],
        kept: tuple[str, int] | None,
    ) -> Iterator[str]:
        yield f"<eSearchResult><Count>{len(found)}</Count><RetMax>{len(numbers)}</RetMax><RetStart>{start}</RetStart>"
        if kept is not None:
            yield f"<QueryKey>{kept[1]}</QueryKey><WebEnv>{kept[0]}</WebEnv>"
        yield "<IdList>\n" + "".join(f"<Id>{number}</Id>\n" for number in numbers) + "</IdList><TranslationSet/>"
        if query is not None:
            yield "<TranslationStack>" + "".join(_stack(index, query)) + "</TranslationStack>"
        yield f"<QueryTranslation>{escape(str(query or ''))}</QueryTranslation>"
        if self.not_found:
            phrases = "".join(f"<PhraseNotFound>{escape(phrase)}</PhraseNotFound>" for phrase in self.not_found)
            yield f"<ErrorList>{phrases}</ErrorList>"
        if not found:
            yield "<WarningList><OutputMessage>No items found.</OutputMessage></WarningList>"
        yield "</eSearchResult>\n"


def _nothing_found(term: str, field_name: str) -> str:
    return (
        f"{PROLOGUE}<eSearchResult><Count>0</Count><RetMax>0</RetMax><RetStart>0</RetStart><IdList/><TranslationSet/>"
        f"<QueryTranslation>{escape(term)}</QueryTranslation>"
        f"<ErrorList><FieldNotFound>{escape(field_name)}</FieldNotFound></ErrorList>"
        "<WarningList><OutputMessage>No items found.</OutputMessage></WarningList></eSearchResult>\n"
    )


def _query(parameters: Mapping[str, str]) -> Query | None:
    term = parameters.get("term", "").strip()
    return parse_query(term) if term else None


def _dated(query: Query | None, parameters: Mapping[str, str]) -> Query | None:
    """Return the query within `mindate` … `maxdate`, which come together, with the `datetype` that they are of."""
    first, last = parameters.get("mindate"), parameters.get("maxdate")
    if query is None or (first is None and last is None):
        return query
    if not first or not last:
        raise _Refused(400, "mindate and maxdate must be used together")
    if parameters.get("datetype", "").lower() != "pmcrdat":
        raise _Refused(400, f"datetype {parameters.get('datetype', '')!r} is not known here: give pmcrdat")
    first_day(first), last_day(last)  # a wrong date is an error also where the query finds nothing
    return Operation(query, "AND", Term(first, RELEASED, last))


def _whole_number(parameters: Mapping[str, str], name: str, default: int) -> int:
    text = parameters.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default


def _stack(index: EntrezIndex, query: Query) -> Iterator[str]:
    """Yield the query as Entrez keeps it: operators behind what they join."""
    if isinstance(query, Operation):
        yield from _stack(index, query.left)
        yield from _stack(index, query.right)
        yield f"<OP>{query.operator}</OP>"
        return
    for term in terms_of(query):
        count = len(index.search(term))
        text = term.text if term.end is None else f"{term.text} : {term.end}"
        yield (
            f"<TermSet><Term>{escape(text)}[{escape(term.field)}]</Term><Field>{escape(term.field)}</Field>"
            f"<Count>{count}</Count><Explode>{'Y' if term.end is None else 'N'}</Explode></TermSet>"
        )
