"""One search of PMC by NCBI's ESearch, asked by its terms of use and again as long as there is hope.

What belongs here: options, rate limit, HTTP, retries. What does not: reading an answer (`entrez_answer.py`), the number
of searches that it takes (`entrez.py`).
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, quote_plus, urlsplit

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from pmo_assets.records.retry_after import retry_after
from pmo_assets.sources.entrez_answer import (
    EntrezError,
    History,
    PassingFault,
    SearchAnswer,
    is_passing,
    read_search_answer,
)
from pmo_assets.sources.host_names import name_problem

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""9,999 numbers are 200 kB; the rest is how Entrez understood the query."""

MAX_BACKOFF: Final = 60.0
"""Seconds; the longest wait between two attempts, also if NCBI asks for a longer one."""

_MAX_MESSAGE: Final = 300
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class EntrezOptions:
    """Options of asking the E-utilities.

    Attributes:
        email: NCBI writes there before it blocks a user; asked for by its terms.
        api_key: of an NCBI account: ten requests a second instead of three.
        url: root of the E-utilities.
        tool: the program's name for NCBI.
        timeout: seconds that one request may take in all.
        retries: most repetitions of a request that failed for a passing reason.
        backoff: seconds before the first repetition; doubles each time, with jitter.
    """

    email: str = field(repr=False)
    api_key: str | None = field(default=None, repr=False)
    url: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
    tool: str = "pmo-assets"
    timeout: float = 60.0
    retries: int = 7
    backoff: float = 1.0


class RateLimit:
    """Lets requests go at a steady rate, whichever threads they come from.

    It holds for one object: NCBI counts per key, or per address without one, over all programs together.
    """

    def __init__(self, per_second: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        # A tenth more than the rate allows: what leaves evenly arrives unevenly.
        self._interval = 1.1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._next: float | None = None
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return when the next request may go."""
        with self._lock:
            now = self._clock()
            turn = now if self._next is None else max(now, self._next)
            self._next = turn + self._interval
        if turn > now:
            self._sleep(turn - now)


class EntrezClient:
    """Asks ESearch; a context manager that holds the connection. Threads may share it."""

    def __init__(
        self,
        options: EntrezOptions,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Check the options; nothing is sent.

        Raises:
            EntrezError: if there is no e-mail address, or the service's address is none.
        """
        if not re.fullmatch(r"[^\s@]+@[^\s@]+", options.email):
            raise EntrezError("NCBI wants an e-mail address with each search: set PMO_ENTREZ_EMAIL to yours")
        if not options.url.startswith(("http://", "https://")) or not urlsplit(options.url).netloc:
            raise EntrezError("PMO_ENTREZ_URL is no http:// or https:// address")
        self._options = options
        self._sleep = sleep
        self._limit = RateLimit(10 if options.api_key else 3, clock, sleep)
        self._stack = contextlib.ExitStack()
        self._portal: BlockingPortal | None = None
        self._client = httpx2.AsyncClient(timeout=httpx2.Timeout(options.timeout))
        secrets = [text for text in (options.email, options.api_key) if text]
        written = {form for text in secrets for form in (text, quote(text), quote_plus(text), quote(text, safe=""))}
        self._method = "POST"
        self._is_known = False
        self._secrets = re.compile("|".join(sorted(map(re.escape, written), key=len, reverse=True)), re.IGNORECASE)

    def __enter__(self) -> Self:
        """Start the client; nothing is sent."""
        with contextlib.ExitStack() as stack:
            # An event loop in a thread: a blocking socket's time-out starts anew with every byte that trickles in.
            self._portal = stack.enter_context(start_blocking_portal())
            stack.enter_context(self._portal.wrap_async_context_manager(self._client))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._portal = None
        self._stack.__exit__(kind, error, traceback)

    def ask(
        self, term: str, wanted: int, *, start: int = 0, keep: bool = False, history: History | None = None
    ) -> SearchAnswer:
        """Return ESearch's answer to a term.

        Args:
            term: query in Entrez's syntax.
            wanted: how many numbers; 0 only counts.
            start: number of the first that is wanted.
            keep: also on the history server.
            history: where the search is kept there.

        Raises:
            LostHistory: if it no longer is.
            EntrezError: if NCBI refuses the search, or does not answer it after all attempts.
        """
        form = {"db": "pmc", "term": term, "retmode": "xml", "retmax": str(wanted), "tool": self._options.tool}
        form |= {"email": self._options.email}
        if self._options.api_key:
            form["api_key"] = self._options.api_key
        if keep or history is not None:
            form |= {"usehistory": "y", "retstart": str(start)}
        if history is not None:
            form |= {"WebEnv": history.web_env, "query_key": history.query_key}
        attempts = Retrying(
            stop=stop_after_attempt(self._options.retries + 1),
            retry=retry_if_exception_type(PassingFault),
            wait=self._wait,
            sleep=self._sleep,
            before_sleep=_tell,
            reraise=True,
        )
        try:
            return attempts(self._answer, form, wanted, start)
        except PassingFault as error:
            reason = str(error)
        raise EntrezError(
            f"{self._options.retries + 1} attempts at a search of PMC failed, at {self._address}, the last one: "
            f"{reason}. Run it again later; if it stays so, look at PMO_ENTREZ_URL and at the state of NCBI's services"
        )

    def _wait(self, state: RetryCallState) -> float:
        backoff = self._options.backoff
        waits = wait_exponential_jitter(initial=backoff, max=MAX_BACKOFF, jitter=backoff)(state)
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, PassingFault) else None
        return max(waits, min(asked or 0.0, MAX_BACKOFF))

    def _answer(self, form: dict[str, str], wanted: int, start: int) -> SearchAnswer:
        status, headers, body = self._posted(form)
        if status in (405, 501) and self._method == "POST":
            self._method = "GET"  # a simple mirror; the key, which it has no use for, stays out of the address
            status, headers, body = self._posted(form)
        if status != 200:
            raise self._refusal(status, headers, body)
        return read_search_answer(body, wanted, start, self._clean)

    def _posted(self, form: dict[str, str]) -> tuple[int, httpx2.Headers, bytes]:
        """Send a request, when it may go, and return status, headers and body, within the time and size allowed."""
        if self._portal is None:
            raise RuntimeError("searches of PMC are made in a with statement")
        if not self._is_known and (problem := name_problem(self._options.url)):
            raise EntrezError(f"PMC cannot be searched: {self._clean(problem)}")
        self._is_known = True
        self._limit.wait()
        try:
            return self._portal.call(self._exchange, form)
        except (TimeoutError, httpx2.TimeoutException):
            fault: EntrezError = PassingFault(f"no whole answer within {self._options.timeout:g} s")
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL):
            fault = EntrezError(f"PMO_ENTREZ_URL is no http:// or https:// address: {self._address}")
        except httpx2.TransportError as error:
            fault = PassingFault(f"the connection failed: {self._clean(str(error)) or type(error).__name__}")
        # Outside of the handlers: the errors hold the request, and with it e-mail and key.
        raise fault

    async def _exchange(self, form: dict[str, str]) -> tuple[int, httpx2.Headers, bytes]:
        url = f"{self._options.url.rstrip('/')}/esearch.fcgi"
        # By POST, whatever the length, where the service takes it: an address with e-mail and key would stand in logs.
        # Uncompressed, so that the limit holds for what arrives.
        request: dict[str, Any] = {"headers": {"Accept-Encoding": "identity"}}
        if self._method == "POST":
            request["data"] = form
        else:
            request["params"] = {name: value for name, value in form.items() if name != "api_key"}
        content = bytearray()
        with anyio.fail_after(self._options.timeout):
            async with self._client.stream(self._method, url, **request) as response:
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > MAX_ANSWER_BYTES:
                        raise EntrezError(
                            f"the answer of {self._address} is larger than {MAX_ANSWER_BYTES // 2**20} MiB: "
                            "set PMO_ENTREZ_URL to the E-utilities"
                        )
                return response.status_code, response.headers, bytes(content)

    def _refusal(self, status: int, headers: httpx2.Headers, body: bytes) -> EntrezError:
        """Return the error for an HTTP status other than 200."""
        text = body.decode("utf-8", "replace")
        said = f"HTTP {status}: {self._clean(text)}" if text.strip() else f"HTTP {status}"
        if status in (408, 425, 429) or status >= 500 or is_passing(text):
            return PassingFault(said, retry_after(headers.get("retry-after")))
        if 300 <= status < 400:
            return EntrezError(f"{self._address} redirects ({said}): set PMO_ENTREZ_URL to the final address")
        if status in (401, 403) or re.search(r"api[ _-]key", text, re.IGNORECASE):
            return EntrezError(
                f"{self._address} refuses the request ({said}): look at PMO_ENTREZ_API_KEY; if NCBI has blocked this "
                "machine, write to eutilities@ncbi.nlm.nih.gov"
            )
        return EntrezError(f"{self._address} does not take the search ({said}): look at PMO_ENTREZ_URL")

    @property
    def _address(self) -> str:
        """The service's address for messages, without what could be a password."""
        parts = urlsplit(self._options.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def _clean(self, text: str) -> str:
        """Return the service's words for a message: one short printable line without e-mail and key."""
        line = " ".join(self._secrets.sub("…", text).split())[:_MAX_MESSAGE]
        return "".join(character if character.isprintable() else "?" for character in line)


def _tell(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome is not None else None
    _LOG.warning("NCBI's ESearch, attempt %d: %s", state.attempt_number, error)
