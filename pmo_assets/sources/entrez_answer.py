"""ESearch's answers, read without trust: article numbers, of how many, and terms that it did not understand.
What belongs here: bytes of one answer in, record or error out. What does not: asking (`entrez.py`).

`Bio.Entrez.read` reads the XML by NCBI's own document type. It would fetch any document type or schema that it does not
have, and entities come from there, so only an answer with one of the two that Biopython brings reaches it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from Bio import Entrez

from pmo_assets.records.faults import raise_fault
from pmo_assets.records.packages import SourceError

MAX_COUNT: Final = 10**9
"""No database of Entrez has so many records."""

_PROLOGUE: Final = re.compile(
    rb"(?:<\?xml\s+version=[\"']1\.0[\"'](?:\s+encoding=[\"'](?i:utf-8)[\"'])?\s*\?>\s*)?"
    rb"(?:<!DOCTYPE\s+eSearchResult\s+(?:SYSTEM|PUBLIC\s+\"[^\"<>]{0,200}\")\s+"
    rb"\"https?://(?:[a-z]+\.)?ncbi\.nlm\.nih\.gov/(?:[A-Za-z0-9_-]+/)*(?:esearch|eSearch_020511)\.dtd\"\s*>\s*)?"
    rb"(?=<eSearchResult[\s/>])"
)
"""Beginning of an answer: in UTF-8, with NCBI's document type for ESearch, or none as a mirror's may."""

_OUR_PROLOGUE: Final = (
    b'<?xml version="1.0" encoding="UTF-8" ?>\n<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" '
    b'"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
)
"""Prologue that the parser is given in its place: its document type lies in Biopython, so that none is fetched."""

_END: Final = re.compile(rb"</eSearchResult\s*>\Z")
_SCHEMA: Final = re.compile(rb"<[^<>]*\sxmlns[:=]")

_PASSING: Final = re.compile(
    r"back-?end|database is not supported|can'?t run executor|rate limit|too many|tempor|time[d -]*out|unavailable"
    r"|try again|cannot connect|couldn'?t connect|server error|overload|#(?:exception|error)",
    re.IGNORECASE,
)
"""Errors that NCBI also gives for searches that it answers a minute later; told apart by their words only."""

_LASTING: Final = re.compile(r"retstart", re.IGNORECASE)
"""`Search Backend failed: 'retstart' cannot be larger than 9998` stays so."""

_NOTHING_FOUND: Final = "no items found."

_Clean = Callable[[str], str]


class EntrezError(SourceError):
    """NCBI's ESearch did not give a whole answer; the message says what to do."""


class PassingFault(EntrezError):
    """A fault that may be gone when asked again.

    Attributes:
        retry_after: seconds after which the service wants to be asked again, if it said so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LostHistory(EntrezError):
    """The history server no longer has the search."""


@dataclass(frozen=True, slots=True)
class History:
    """Place of a search on NCBI's history server."""

    web_env: str
    query_key: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """An answer of ESearch.

    Attributes:
        count: number of records that the search has.
        numbers: those asked for, without repetition.
        history: place where the search is kept, if that was asked for.
        not_found: phrases that the database's index does not have; Entrez leaves them out of the search.
        messages: its other warnings.
    """

    count: int
    numbers: tuple[int, ...]
    history: History | None = None
    not_found: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


def is_passing(said: str) -> bool:
    """Say whether NCBI's words for an error are among those that pass."""
    return bool(_PASSING.search(said)) and not _LASTING.search(said)


def read_search_answer(body: bytes, wanted: int, start: int, clean: _Clean) -> SearchAnswer:
    """Read an answer.

    Args:
        body: the answer's bytes.
        wanted: number of numbers that were asked for (`retmax`).
        start: from which on (`retstart`).
        clean: makes text of the answer fit for messages: short, printable, without secrets.

    Raises:
        PassingFault: if it is cut off, no XML (a maintenance page), an error that passes, or contradicts itself.
        LostHistory: if the history server no longer has the search.
        EntrezError: if it comes with another document type, or says that the search is wrong.
    """
    body = body.strip()
    record = _record(_checked(body, clean))
    problem = str(record.get("ERROR", ""))
    if problem:
        raise _stated_error(problem, clean)
    errors: Mapping[str, Any] = record.get("ErrorList") or {}
    fields = [clean(str(name)) for name in errors.get("FieldNotFound", [])]
    if fields:
        raise EntrezError(
            f"PMC has no search field {', '.join(fields)}: without it the search would be another one. Correct the "
            "field in the specialty; PMC's advanced search lists the fields"
        )
    warned: Mapping[str, Any] = record.get("WarningList") or {}
    phrases = [*errors.get("PhraseNotFound", []), *warned.get("QuotedPhraseNotFound", [])]
    messages = [f"ignored: {phrase}" for phrase in warned.get("PhraseIgnored", [])]
    messages += [str(said) for said in warned.get("OutputMessage", []) if said.strip().lower() != _NOTHING_FOUND]
    count = _count(record, clean)
    return SearchAnswer(
        count,
        _numbers(record, wanted, min(wanted, max(0, count - start)), clean),
        _history(record),
        tuple(clean(str(phrase)) for phrase in phrases),
        tuple(clean(said) for said in messages),
    )


def _checked(body: bytes, clean: _Clean) -> bytes:
    """Return the answer if the XML parser may have it."""
    prologue = _PROLOGUE.match(body)
    if prologue is None:
        if _END.search(body[-100:]):  # not one that was cut off, and no page of a web server
            raise EntrezError(
                "the answer has a document type that is not NCBI's for ESearch, and was not read: "
                f"{_beginning(body, clean)}. Set PMO_ENTREZ_URL to the E-utilities or to a mirror of them, and ask "
                "whether a proxy changes answers"
            )
        kind = "empty" if not body else "not XML of ESearch, as when NCBI is under maintenance or PMO_ENTREZ_URL wrong"
        raise PassingFault(f"the answer is {kind}: {_beginning(body, clean)}" if body else f"the answer is {kind}")
    if b"<!" in body[prologue.end() :] or _SCHEMA.search(body):
        raise EntrezError(
            "the answer declares entities or schemas of its own, and was not read: set PMO_ENTREZ_URL to the "
            "E-utilities or to a mirror of them"
        )
    if not _END.search(body[-100:]):
        raise PassingFault("the answer is cut off")
    return _OUR_PROLOGUE + body[prologue.end() :]


def _record(body: bytes) -> Mapping[str, Any]:
    try:
        record = Entrez.read(io.BytesIO(body), ignore_errors=True)
    except OSError as error:
        # Biopython makes a folder for document types when it reads for the first time.
        raise EntrezError(
            f"Biopython cannot use its folder: {error}. Set HOME to a folder that can be written"
        ) from None
    except Exception as error:
        raise_fault(error)
        reason = type(error).__name__
    else:
        if isinstance(record, dict):
            return record
        reason = type(record).__name__
    # Outside of the handler: the parser's words can be the answer's.
    raise PassingFault(
        f"the answer is damaged, or has elements that this version of Biopython does not know ({reason})"
    )


def _stated_error(problem: str, clean: _Clean) -> EntrezError:
    said = clean(problem)
    if re.search(r"web_?env|query_?key|obtain query|history", problem, re.IGNORECASE):
        return LostHistory(f"NCBI's history server lost the search: {said}")
    if is_passing(problem):
        return PassingFault(f"NCBI says: {said}")
    return EntrezError(f"NCBI refuses the search: {said}. Correct the specialty's terms; try them on PMC's search page")


def _count(record: Mapping[str, Any], clean: _Clean) -> int:
    stated = str(record.get("Count", ""))
    if not re.fullmatch(r"[0-9]{1,10}", stated) or int(stated) > MAX_COUNT:
        raise PassingFault(f"the answer's Count is no count: {clean(stated) or 'missing'}")
    return int(stated)


def _numbers(record: Mapping[str, Any], wanted: int, expected: int, clean: _Clean) -> tuple[int, ...]:
    if wanted == 0:
        return ()
    numbers: dict[int, None] = {}
    for stated in map(str.strip, record.get("IdList", [])):
        if not re.fullmatch(r"[1-9][0-9]{0,10}", stated):  # as long as a package's name may be
            raise PassingFault(f"an Id of the answer is no PMC number: {clean(str(stated)) or 'empty'}")
        numbers[int(stated)] = None
    if len(numbers) != expected:
        raise PassingFault(f"the answer has {len(numbers):,} different numbers where its Count asks for {expected:,}")
    return tuple(numbers)


def _history(record: Mapping[str, Any]) -> History | None:
    web_env, query_key = str(record.get("WebEnv", "")), str(record.get("QueryKey", ""))
    if re.fullmatch(r"[!-~]{1,1000}", web_env) and re.fullmatch(r"[0-9]{1,9}", query_key):
        return History(web_env, query_key)
    return None


def _beginning(body: bytes, clean: _Clean) -> str:
    return clean(body.decode("utf-8", "replace"))  # whole, so that no cut hides half a key from `clean`
