"""The search of PMC against an ESearch on loopback that splits, pages, fails and lies as told."""

from __future__ import annotations

import logging
import random
import re
import socket
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

import pytest
from Bio.Entrez import Parser

from pmo_assets.records.packages import SourceError
from pmo_assets.records.retry_after import retry_after
from pmo_assets.sources import entrez
from pmo_assets.sources.entrez import EntrezError, EntrezOptions, EntrezSearch, pmc_query
from pmo_assets.sources.entrez_requests import MAX_ANSWER_BYTES, EntrezClient, RateLimit

EMAIL = "someone+pmo@example.org"
KEY = "0123456789abcdef0123456789abcdef0123"
QUERY = pmc_query("retina")
DTD = "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd"
XML = '<?xml version="1.0" encoding="UTF-8" ?>\n'
HEAD = f'{XML}<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" "{DTD}">\n'
PAGE = 9_999

Form = dict[str, str]
Behaviour = Callable[["Handler", Form], None]


def answer_of(count: int, numbers: list[Any], start: int = 0, extra: str = "", history: str = "") -> bytes:
    ids = "".join(f"<Id>{number}</Id>\n" for number in numbers)
    return (
        f"{HEAD}<eSearchResult><Count>{count}</Count><RetMax>{len(numbers)}</RetMax><RetStart>{start}</RetStart>{history}"
        f"<IdList>\n{ids}</IdList><TranslationSet/><QueryTranslation>retina &amp; more</QueryTranslation>{extra}"
        "</eSearchResult>\n"
    ).encode()


def says_error(text: str) -> bytes:
    return f"{HEAD}<eSearchResult><ERROR>{escape(text)}</ERROR></eSearchResult>".encode()


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.server.gets.append(self.path)
        self.reply(404, b"")

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode(), keep_blank_values=True))
        with self.server.lock:
            self.server.paths.append(self.path)
            self.server.forms.append(form)
            self.server.times.append(self.server.clock.now)
            behaviour = self.server.script.pop(0) if self.server.script else self.server.otherwise
        behaviour(self, form)

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def reset(self) -> None:
        """End the connection with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class Clock:
    """A clock that goes on by itself only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Server(ThreadingHTTPServer):
    """An ESearch over records with days of release; behaviours are used up first."""

    daemon_threads = True

    def __init__(self, records: dict[int, date | None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.records = records
        self.script: list[Behaviour] = []
        self.otherwise: Behaviour = self.search
        self.forms: list[Form] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.gets: list[str] = []
        self.lock = threading.Lock()
        self.clock = Clock()
        self.kept: dict[str, list[int]] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # resets are what the tests are about

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/entrez/eutils/"

    def matching(self, term: str) -> list[int]:
        """Return the numbers that the days in a term leave, newest first, as PMC sorts."""
        negated = re.search(r'NOT "([\d/]+)":"([\d/]+)"\[pmcrdat\]', term)
        span = negated or re.search(r'AND "([\d/]+)":"([\d/]+)"\[pmcrdat\]', term)
        if span is None:
            return sorted(self.records, reverse=True)
        first, last = (datetime.strptime(f"{text}/12/31"[:10], "%Y/%m/%d").date() for text in span.groups())
        return sorted(
            (
                number
                for number, day in self.records.items()
                if (day is not None and first <= day <= last) != bool(negated)
            ),
            reverse=True,
        )

    def search(self, handler: Handler, form: Form) -> None:
        start, wanted = int(form.get("retstart", 0)), int(form["retmax"])
        history = ""
        if form.get("WebEnv"):
            found = self.kept[form["WebEnv"]]
        else:
            found = self.matching(form["term"])
            if form.get("usehistory") == "y":
                name = f"MCID_{len(self.kept)}"
                self.kept[name] = found
                history = f"<QueryKey>1</QueryKey><WebEnv>{name}</WebEnv>"
        assert wanted <= PAGE
        handler.reply(200, answer_of(len(found), found[start : start + wanted], start, history=history))


@contextmanager
def esearch(records: dict[int, date | None] | None = None) -> Iterator[Server]:
    server = Server(records or {})
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def searching(server: Server, **options: Any) -> Iterator[EntrezSearch]:
    """A search whose waits take no time."""
    values = {"api_key": KEY, "url": server.url, "timeout": 5.0, "retries": 4, **options}
    with EntrezSearch(
        EntrezOptions(EMAIL, **values), clock=lambda: server.clock.now, sleep=server.clock.sleep
    ) as search:
        yield search


def replies(status: int, content: bytes, **headers: str) -> Behaviour:
    return lambda handler, form: handler.reply(status, content, **headers)


def spread(count: int, seed: int = 1) -> dict[int, date | None]:
    """Records over 26 years, most of them late, as in PMC."""
    rng = random.Random(seed)
    numbers = rng.sample(range(1, 12_000_000), count)
    return {number: date(2026, 9, 1) - timedelta(days=int(9_000 * rng.random() ** 3)) for number in numbers}


# What is asked


def test_the_query_is_framed_by_the_filters() -> None:
    assert pmc_query('"retina"[MeSH Terms] OR eye') == (
        '("retina"[MeSH Terms] OR eye) AND (open_access[Filter] OR author_manuscript[Filter])'
    )
    assert pmc_query("") == "(open_access[Filter] OR author_manuscript[Filter])"
    assert pmc_query("eye", ("a[Filter]",)) == "(eye) AND (a[Filter])"
    assert pmc_query("eye", ()) == "(eye)"
    assert pmc_query('"a) b" OR (c)').startswith('("a) b" OR (c)) AND')


@pytest.mark.parametrize("query", ["eye) OR (ear", "(eye", 'eye "', 'a ")" ) OR b'])
def test_no_query_gets_out_of_the_filters(query: str) -> None:
    with pytest.raises(ValueError, match="counterparts"):
        pmc_query(query)


def test_a_query_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="neither"):
        pmc_query(" ", ())


def test_every_request_follows_ncbis_terms_and_no_secret_stands_in_an_address() -> None:
    with esearch({5: date(2026, 1, 20), 3: date(2026, 1, 14), 9: date(2026, 2, 1)}) as server:
        with searching(server) as search:
            assert search.article_numbers(QUERY, date(2026, 1, 14), date(2026, 1, 31)) == [3, 5]
            assert search.count(QUERY, date(2026, 1, 15), None) == 2
            assert search.count(QUERY, None, date(2026, 1, 15)) == 1
        with searching(server, api_key=None) as search:
            assert search.count(QUERY, None, None) == 3
    first, second, third, fourth = server.forms
    assert first == {
        "db": "pmc",
        "term": f'({QUERY}) AND "2026/01/14":"2026/01/31"[pmcrdat]',
        "retmode": "xml",
        "retmax": "9999",
        "tool": "pmo-assets",
        "email": EMAIL,
        "api_key": KEY,
    }
    assert second["retmax"] == "0"
    assert second["term"].endswith('AND "2026/01/15":"3000"[pmcrdat]')
    assert third["term"].endswith('AND "1900/01/01":"2026/01/15"[pmcrdat]')
    assert fourth["term"] == QUERY
    assert "api_key" not in fourth
    assert set(server.paths) == {"/entrez/eutils/esearch.fcgi"}


def test_days_that_end_before_they_begin_are_refused_before_anything_is_sent() -> None:
    with esearch() as server, searching(server) as search:
        for ask in (search.count, search.article_numbers):
            with pytest.raises(ValueError, match=r"begin on 2026/09/02 and end before, on 2026/09/01.*clock gone back"):
                ask(QUERY, date(2026, 9, 2), date(2026, 9, 1))
        assert search.article_numbers(QUERY, date(2026, 9, 1), date(2026, 9, 1)) == []
    assert len(server.forms) == 1


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (EntrezOptions(""), "PMO_ENTREZ_EMAIL"),
        (EntrezOptions("me"), "PMO_ENTREZ_EMAIL"),
        (EntrezOptions(EMAIL, url="eutils.example.org"), "PMO_ENTREZ_URL"),
        (EntrezOptions(EMAIL, url="ftp://eutils.example.org/"), "PMO_ENTREZ_URL"),
    ],
)
def test_what_is_missing_is_named(options: EntrezOptions, named: str) -> None:
    with pytest.raises(EntrezError, match=named):
        EntrezSearch(options)


def test_it_is_used_in_a_with_statement() -> None:
    with pytest.raises(RuntimeError, match="with statement"):
        EntrezSearch(EntrezOptions(EMAIL)).count(QUERY)


# More than one answer holds


@pytest.mark.slow  # many requests
@pytest.mark.parametrize("days", [(None, None), (date(1990, 1, 1), None), (date(1990, 1, 1), date(2030, 1, 1))])
def test_25_000_articles_are_all_found_and_none_twice(days: tuple[date | None, date | None]) -> None:
    told: list[tuple[int, int]] = []
    with esearch(spread(25_000)) as server, searching(server) as search:
        found = search.article_numbers(QUERY, *days, progress=lambda done, total: told.append((done, total)))
    assert found == sorted(server.records)
    assert told[-1] == (25_000, 25_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(server.forms) < 60


@pytest.mark.slow  # large answers
def test_a_day_with_12_000_is_read_from_the_history_server() -> None:
    day = date(2020, 5, 5)
    records = {**spread(3_000), **dict.fromkeys(range(20_000_000, 20_012_000), day)}
    with esearch(records) as server, searching(server) as search:
        assert search.article_numbers(QUERY) == sorted(records)
    paged = [form for form in server.forms if "WebEnv" in form]
    assert [form["retstart"] for form in paged] == ["9999"]
    assert paged[0]["query_key"] == "1"


def test_articles_without_a_day_are_found_too() -> None:
    records = {**spread(12_000), **dict.fromkeys(range(20_000_000, 20_011_000))}
    with esearch(records) as server, searching(server) as search:
        assert search.article_numbers(QUERY) == sorted(records)


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 9_998, 9_999, 10_000])
def test_the_limit_of_one_answer(count: int) -> None:
    with esearch(dict.fromkeys(range(1, count + 1), date(2020, 1, 1))) as server, searching(server) as search:
        assert search.article_numbers(QUERY, date(2020, 1, 1), date(2020, 1, 1)) == list(range(1, count + 1))
        assert len(server.forms) == (1 if count <= PAGE else 3)


def test_articles_that_come_while_it_is_searched_do_no_harm() -> None:
    with esearch(spread(15_000)) as server, searching(server) as search:
        before = set(server.records)

        def grows(handler: Handler, form: Form) -> None:
            server.records[30_000_000 + len(server.forms)] = date(2026, 9, 2)
            server.search(handler, form)

        server.otherwise = grows
        found = search.article_numbers(QUERY)
    assert before <= set(found) <= set(server.records)


@pytest.mark.slow
def test_articles_that_change_their_day_while_it_is_searched_are_found() -> None:
    """The first half is asked before, the second after they moved from the second into the first."""
    records: dict[int, date | None] = {number: date(2020, 1, 1 + number % 20) for number in range(1, 15_001)}
    with esearch(records) as server, searching(server) as search:
        server.script = [server.search, server.search]

        def moves(handler: Handler, form: Form) -> None:
            for number in range(1, 500):
                server.records[number] = date(2020, 1, 1)
            server.otherwise = server.search
            server.search(handler, form)

        server.otherwise = moves
        found = search.article_numbers(QUERY, date(2020, 1, 1), date(2020, 1, 20))
    assert found == sorted(records)
    assert len(server.forms) > 3


def test_articles_that_are_withdrawn_while_it_is_searched_do_no_harm() -> None:
    records: dict[int, date | None] = {number: date(2020, 1, 1 + number % 20) for number in range(1, 15_001)}
    with esearch(records) as server, searching(server) as search:

        def withdraws(handler: Handler, form: Form) -> None:
            for number in range(1, 500):
                server.records.pop(number, None)
            server.search(handler, form)

        server.script = [server.search, withdraws]
        assert search.article_numbers(QUERY, date(2020, 1, 1), date(2020, 1, 20)) == list(range(500, 15_001))


def test_pages_of_a_day_that_changes_are_asked_again_from_the_first() -> None:
    day = date(2020, 1, 1)
    with esearch(dict.fromkeys(range(1, 12_001), day)) as server, searching(server) as search:

        def lost(handler: Handler, form: Form) -> None:
            handler.reply(200, says_error("Unable to obtain query #1"))

        def shifted(handler: Handler, form: Form) -> None:
            handler.reply(200, answer_of(12_000, list(range(2_002, 2_002 + 2_001))))

        server.script = [server.search, server.search, lost, server.search, shifted]
        assert search.article_numbers(QUERY, day, day) == list(range(1, 12_001))


@pytest.mark.slow
def test_an_article_that_slips_between_two_pages_is_found() -> None:
    """One of the first page is withdrawn, so that the second page begins one too late."""
    day = date(2020, 1, 1)
    with esearch(dict.fromkeys(range(1, 12_001), day)) as server, searching(server) as search:

        def late(handler: Handler, form: Form) -> None:
            handler.reply(200, answer_of(11_999, list(range(1, 2_001))))

        server.script = [server.search, server.search, late]
        assert search.article_numbers(QUERY, day, day) == list(range(1, 12_001))
        assert [form.get("retstart") for form in server.forms] == [None, "0", "9999", "0", "9999"]


def test_a_search_that_never_adds_up_is_an_error() -> None:
    """20 articles are counted in the whole, and in no part."""
    records = spread(15_000)

    def counts_more(handler: Handler, form: Form) -> None:
        found = server.matching(form["term"])
        whole = len(found) == 15_000
        handler.reply(200, answer_of(15_020 if whole else len(found), found[: int(form["retmax"])]))

    with esearch(records) as server, searching(server) as search:
        server.otherwise = counts_more
        with pytest.raises(EntrezError, match=r"counts 15,020 articles .* 15,000, 3 times"):
            search.article_numbers(QUERY, date(1990, 1, 1))


@pytest.mark.slow  # large answers
def test_a_service_that_ignores_the_days_is_an_error_and_no_endless_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrez, "_REQUESTS_PER_FULL_ANSWER", 10)
    with esearch(spread(20_000)) as server, searching(server) as search:

        def ignores(handler: Handler, form: Form) -> None:
            numbers = sorted(server.records)
            start = int(form.get("retstart", 0))
            page = numbers[start : start + int(form["retmax"])]
            kept = "<QueryKey>1</QueryKey><WebEnv>MCID_1</WebEnv>"
            handler.reply(200, answer_of(len(numbers), page, start, history=kept))

        server.otherwise = ignores
        with pytest.raises(EntrezError, match="never get small enough"):
            search.article_numbers(QUERY)
        assert len(server.forms) == 31


def test_a_day_that_no_history_server_keeps_is_an_error() -> None:
    with esearch(dict.fromkeys(range(1, 12_001), date(2020, 1, 1))) as server, searching(server) as search:
        server.otherwise = lambda handler, form: server.search(handler, {**form, "usehistory": "n"})
        with pytest.raises(EntrezError, match="no history of a search with 12,000"):
            search.article_numbers(QUERY, date(2020, 1, 1), date(2020, 1, 1))


# Faults that pass


def faulty(server: Server, share: float, seed: int) -> Behaviour:
    rng = random.Random(seed)
    body = answer_of(3, [1, 2, 3])
    faults: list[Behaviour] = [
        replies(500, b"oops"),
        replies(503, b"busy", retry_after="2"),
        replies(429, b'{"error":"API rate limit exceeded"}', retry_after="1"),
        replies(200, b"<!DOCTYPE html><html>Maintenance</html>"),
        replies(200, body[:-40]),
        replies(200, says_error("Search Backend failed: read timeout")),
        lambda handler, form: handler.reset(),
    ]

    def behaves(handler: Handler, form: Form) -> None:
        with server.lock:
            fault = rng.choice(faults) if rng.random() < share else None
        (fault or server.search)(handler, form)

    return behaves


@pytest.mark.slow  # waits
@pytest.mark.parametrize("seed", [1, 2])
def test_faults_in_30_of_100_requests_lose_nothing(seed: int) -> None:
    records = {**spread(14_000, seed), **dict.fromkeys(range(20_000_000, 20_011_000), date(2020, 5, 5))}
    with esearch(records) as server, searching(server, retries=9) as search:
        server.otherwise = faulty(server, 0.3, seed)
        assert search.article_numbers(QUERY) == sorted(records)


CUT = answer_of(2, [1, 2])
PASSING = {
    "server error": replies(500, b""),
    "bad gateway in HTML": replies(502, b"<html>Bad gateway</html>"),
    "reset": lambda handler, form: handler.reset(),
    "HTML": replies(200, b"<!DOCTYPE html><html><body>NCBI is being maintained</body></html>"),
    "JSON": replies(200, b'{"error":"API rate limit exceeded","count":"4"}'),
    "empty": replies(200, b""),
    "cut off": replies(200, CUT[: len(CUT) // 2]),
    "cut off within its numbers": replies(200, CUT[: CUT.index(b"</Id>")]),
    "XHTML": replies(200, f'{XML}<!DOCTYPE html SYSTEM "xhtml.dtd"><html>Maintenance</html>'.encode()),
    "damaged": replies(200, CUT.replace(b"</IdList>", b"</Idlist>")),
    "unknown element": replies(200, CUT.replace(b"<TranslationSet/>", b"<New/>")),
    "fewer numbers than its Count": replies(200, answer_of(2, [1])),
    "a number twice": replies(200, answer_of(2, [1, 1])),
    "more numbers": replies(200, answer_of(2, [1, 2, 3])),
    "a number with spaces": replies(200, answer_of(2, [1, "2 3"])),
    "a number with letters": replies(200, answer_of(2, [1, "PMC2"])),
    "a number beyond PMC's": replies(200, answer_of(2, [1, 10**11])),
    "a Count that is none": replies(200, CUT.replace(b"<Count>2<", b"<Count>two<")),
    "a Count without end": replies(200, CUT.replace(b"<Count>2<", b"<Count>" + b"9" * 6000 + b"<")),
    "backend": replies(200, says_error("Search Backend failed: couldn't connect")),
    "database": replies(200, says_error("Database is not supported: pmc")),
    "backend with another status": replies(400, says_error("Search Backend failed: timed out")),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_passes_and_one_that_stays_is_an_error(fault: Behaviour) -> None:
    with esearch(dict.fromkeys((1, 2), date(2020, 1, 1))) as server, searching(server, retries=2) as search:
        server.script = [fault, fault]
        assert search.article_numbers(QUERY) == [1, 2]
        server.otherwise = fault
        with pytest.raises(EntrezError, match=r"3 attempts .* later") as caught:
            search.article_numbers(QUERY)
        assert isinstance(caught.value, SourceError)
        assert len(server.forms) == 6


def test_nobody_there_is_an_error_after_all_attempts() -> None:
    with esearch() as server:
        pass
    with searching(server) as search, pytest.raises(EntrezError, match=r"5 attempts .* PMO_ENTREZ_URL"):
        search.count(QUERY)


def test_a_busy_service_says_when_to_come_back() -> None:
    with esearch({1: date(2020, 1, 1)}) as server, searching(server) as search:
        server.script = [replies(429, b"", retry_after="17"), replies(429, b"", retry_after="100000")]
        assert search.article_numbers(QUERY) == [1]
        waits = [seconds for seconds in server.clock.slept if seconds > 10]
        assert waits == [17, 60]


def test_waits_grow_and_differ() -> None:
    with esearch() as server, searching(server, retries=6) as search:
        server.otherwise = replies(500, b"")
        with pytest.raises(EntrezError):
            search.count(QUERY)
        waits = server.clock.slept
    assert len(waits) == 6
    assert all(2**power <= wait <= 2**power + 1 for power, wait in enumerate(waits))
    assert len({wait % 1 for wait in waits}) > 1


def test_an_answer_that_trickles_in_is_ended_as_a_whole() -> None:
    over = threading.Event()

    def trickles(handler: Handler, form: Form) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not over.wait(0.02):
            handler.wfile.write(b"x: y\r\n")

    with esearch({1: date(2020, 1, 1)}) as server, searching(server, timeout=0.3, retries=0) as search:
        server.otherwise = trickles
        with pytest.raises(EntrezError, match=r"no whole answer within 0\.3 s"):
            search.count(QUERY)
        over.set()


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after("5") == 5
    assert retry_after("-5") == 0
    assert retry_after("soon") is None
    assert retry_after(None) is None
    assert retry_after(formatdate(0, usegmt=True)) == 0
    assert (retry_after(formatdate(4e9, usegmt=True)) or 0) > 1e6


# Answers that say no, and hostile ones


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (replies(200, says_error("Invalid db name specified: pmc")), "refuses the search: Invalid db name"),
        (replies(200, says_error("Search Backend failed: 'retstart' cannot be larger than 9998")), "larger than 9998"),
        (replies(400, b'{"error":"API key invalid"}'), "PMO_ENTREZ_API_KEY"),
        (replies(403, b"blocked"), r"HTTP 403: blocked.*eutilities@"),
        (replies(404, b""), "HTTP 404.*PMO_ENTREZ_URL"),
        (replies(301, b"", location="http://127.0.0.1:9/"), "redirects"),
        (replies(200, b"x" * (MAX_ANSWER_BYTES + 1)), "larger than 8 MiB"),
    ],
)
def test_a_lasting_refusal_is_not_asked_again(behaviour: Behaviour, said: str) -> None:
    with esearch() as server, searching(server) as search:
        server.otherwise = behaviour
        with pytest.raises(EntrezError, match=said):
            search.article_numbers(QUERY)
        assert len(server.forms) == 1


def not_found(element: str, phrase: str) -> str:
    return f"<ErrorList><{element}>{escape(phrase)}</{element}></ErrorList>"


def test_an_unknown_field_is_an_error() -> None:
    with esearch() as server, searching(server) as search:
        server.otherwise = replies(200, answer_of(2, [1, 2], extra=not_found("FieldNotFound", "Figure Captoin")))
        with pytest.raises(EntrezError, match=r"no search field Figure Captoin.*Correct"):
            search.article_numbers(QUERY)


def test_a_term_that_no_article_has_is_a_warning_once() -> None:
    warning = '<QuotedPhraseNotFound>"b c"</QuotedPhraseNotFound><OutputMessage>No items found.</OutputMessage>'
    extra = f"{not_found('PhraseNotFound', 'keratokonus')}<WarningList>{warning}</WarningList>"
    with esearch() as server, searching(server) as search:
        server.otherwise = replies(200, answer_of(2, [1, 2], extra=extra))
        assert search.article_numbers(QUERY) == [1, 2]
        assert search.article_numbers(QUERY) == [1, 2]
        assert search.warnings == ["not in PMC: keratokonus", 'not in PMC: "b c"']


@pytest.mark.parametrize("phrase", ["author_manuscript[Filter]", "author_manuscript", '"Author_Manuscript"[filter]'])
def test_a_filter_that_is_gone_is_an_error(phrase: str) -> None:
    with esearch() as server, searching(server) as search:
        server.otherwise = replies(200, answer_of(2, [1, 2], extra=not_found("PhraseNotFound", phrase)))
        with pytest.raises(EntrezError, match="no longer has the filter"):
            search.article_numbers(QUERY)


@pytest.mark.slow
def test_days_that_the_index_does_not_have_are_empty_and_no_warning() -> None:
    """Where Entrez leaves a span that it does not have out of a search, that is no reason to take all articles."""
    days = '"1950/01/01":"1950/02/01"[pmcrdat]'
    with esearch(spread(12_000)) as server, searching(server) as search:

        def leaves_out(handler: Handler, form: Form) -> None:
            found = server.matching(form["term"])
            span = re.search(r'"[\d/]+":"[\d/]+"\[pmcrdat\]', form["term"])
            if found or span is None:
                return server.search(handler, form)
            found = sorted(server.records)[: int(form["retmax"])]
            return handler.reply(200, answer_of(12_000, found, extra=not_found("PhraseNotFound", span[0])))

        server.otherwise = leaves_out
        assert search.article_numbers(QUERY) == sorted(server.records)
        assert search.warnings == []
        server.otherwise = replies(200, answer_of(0, [], extra=not_found("PhraseNotFound", days)))
        assert search.article_numbers(QUERY, date(1950, 1, 1), date(1950, 2, 1)) == []
        server.otherwise = replies(200, answer_of(2, [1, 2], extra=not_found("PhraseNotFound", days)))
        with pytest.raises(EntrezError, match=r"left .* out of the search"):
            search.article_numbers(QUERY, date(1950, 1, 1), date(1950, 2, 1))


BODY = answer_of(1, [1]).decode().removeprefix(HEAD).replace("<TranslationSet/>", "<TranslationSet/>{}")
SCHEMA = BODY.format("").replace(
    "<eSearchResult>",
    '<eSearchResult xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="{url}x.xsd">',
)
HOSTILE = {
    "another service's": f'{XML}<!DOCTYPE eSearchResult SYSTEM "{{url}}evil.dtd">{BODY.format("")}',
    "with NCBI's name": f'{XML}<!DOCTYPE eSearchResult SYSTEM "https://x.example.org/esearch.dtd">{BODY.format("")}',
    "NCBI's, but not Biopython's": f'{XML}<!DOCTYPE eSearchResult SYSTEM "{DTD[:-4]}_2030.dtd">{BODY.format("")}',
    "another answer's": f'{XML}<!DOCTYPE eFetchResult SYSTEM "{DTD}">{BODY.format("")}',
    "with entities": f'{HEAD.rstrip()[:-1]} [<!ENTITY e SYSTEM "{{url}}secret">]>{BODY.format("&e;")}',
    "a file": f'{XML}<!DOCTYPE eSearchResult SYSTEM "file:///etc/esearch.dtd">{BODY.format("")}',
    "a second one": f"{HEAD}{BODY.format('<!DOCTYPE a>')}",
    "a schema": f"{HEAD}{SCHEMA}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_no_document_type_is_ever_fetched(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(Parser, "urlopen", opened.append)
    with esearch() as server, searching(server) as search:
        server.otherwise = replies(200, body.replace("{url}", server.url).encode())
        with pytest.raises(EntrezError, match="was not read"):
            search.article_numbers(QUERY)
        assert len(server.forms) == 1
        assert server.gets == []
    assert opened == []


def test_ncbis_document_types_come_with_biopython(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(Parser, "urlopen", opened.append)
    with esearch() as server, searching(server) as search:
        for name in ("esearch.dtd", "eSearch_020511.dtd"):
            server.otherwise = replies(200, answer_of(2, [1, 2]).replace(b"esearch.dtd", name.encode()))
            assert search.article_numbers(QUERY) == [1, 2]
    assert opened == []


# Terms of use


@pytest.mark.parametrize(("key", "per_second"), [(None, 3), (KEY, 10)])
def test_no_second_has_more_requests_than_ncbi_allows(key: str | None, per_second: int) -> None:
    with esearch() as server, searching(server, api_key=key) as search:
        for _ in range(50):
            search.count(QUERY)
        times = server.times
    assert len(times) == 50
    busiest = max(sum(1 for time in times if start <= time <= start + 1) for start in times)
    assert busiest == per_second


def test_threads_share_the_rate() -> None:
    slept: list[float] = []
    limit = RateLimit(3, lambda: 100.0, slept.append)  # in one and the same moment

    def waits() -> None:
        for _ in range(10):
            limit.wait()

    threads = [threading.Thread(target=waits) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = Counter(int(wait) for wait in [0.0, *slept])
    assert sum(seconds.values()) == 80
    assert max(seconds.values()) == 3


def test_a_pause_gives_no_right_to_a_burst() -> None:
    clock = Clock()
    limit = RateLimit(10, lambda: clock.now, clock.sleep)
    limit.wait()
    clock.now += 60
    for _ in range(11):
        limit.wait()
    assert clock.now >= 61


def test_neither_key_nor_address_is_ever_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    quoted = EMAIL.replace("@", "%40").replace("+", "%2B")
    echo = f"{' ' * 1990}{KEY} {KEY.upper()} {EMAIL} {quoted} {'%20' * 300}"
    behaviours: list[Behaviour] = [
        replies(500, echo.encode()),
        replies(400, f'{{"error":"API key invalid","api-key":"{KEY}"}}'.encode()),
        replies(404, echo.encode()),
        replies(200, echo.encode()),
        replies(200, says_error(echo)),
        replies(200, says_error(f"Search Backend failed: {echo}")),
        replies(200, f'{XML}<!DOCTYPE a SYSTEM "{KEY}">{echo}'.encode()),
        replies(200, answer_of(2, [1, KEY])),
        replies(200, CUT.replace(b"<TranslationSet/>", f"<a{KEY}/>".encode())),
        replies(200, answer_of(2, [1, 2], extra=not_found("FieldNotFound", echo))),
        lambda handler, form: handler.reset(),
    ]
    shown = [repr(EntrezOptions(EMAIL, KEY))]
    with esearch() as server, searching(server, retries=1) as search:
        for behaviour in behaviours:
            server.otherwise = behaviour
            with pytest.raises(EntrezError) as caught:
                search.article_numbers(QUERY)
            error: BaseException | None = caught.value
            shown += traceback.format_exception(caught.value)
            while error is not None:
                shown += [str(error), repr(error), repr(vars(error))]
                error = error.__cause__ or error.__context__
        server.otherwise = replies(200, answer_of(1, [1], extra=not_found("PhraseNotFound", echo)))
        search.article_numbers(QUERY)
        shown += search.warnings
        assert len(search.warnings) == 1
    text = "\n".join([*shown, caplog.text]).lower()
    assert "attempt" in caplog.text
    for secret in (KEY, EMAIL, quoted, KEY[:12]):
        assert secret.lower() not in text


def test_a_password_in_the_address_is_not_shown() -> None:
    with esearch() as server:
        server.otherwise = replies(404, b"")
        url = server.url.replace("http://", "http://me:hunter2@")
        with EntrezClient(EntrezOptions(EMAIL, url=url)) as client, pytest.raises(EntrezError) as caught:
            client.ask(QUERY, 0)
    assert "hunter2" not in str(caught.value)


def test_a_mirror_may_leave_out_the_document_type_and_pad_its_numbers() -> None:
    bare = CUT[CUT.index(b"<eSearchResult") :].replace(b"<Id>", b"<Id> ")
    with esearch(dict.fromkeys((1, 2), date(2020, 1, 1))) as server, searching(server) as search:
        server.script = [replies(200, bare)]
        assert len(search.article_numbers(QUERY)) == 2


def test_a_mirror_that_takes_no_post_is_asked_by_get_without_the_key() -> None:
    class Simple(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("content-length", str(len(CUT)))
            self.end_headers()
            self.wfile.write(CUT)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    asked: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Simple) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        options = EntrezOptions(EMAIL, "secret-key", f"http://127.0.0.1:{server.server_port}/eutils/", backoff=0.01)
        with EntrezSearch(options) as search:
            assert len(search.article_numbers(QUERY)) == 2
        server.shutdown()
        thread.join()
    (path,) = asked
    assert "term=" in path
    assert "secret-key" not in path
