"""Language models: any OpenAI-compatible endpoint (vLLM is the documented server), and the store of their answers.

HTTP by httpx2, which the `openai` client is made of: one kind of request needs no generated client, and the retries
here tell a bad caption from an endpoint that is down. vLLM in process is `offline_chat.py`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import hashlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import httpx2
from pydantic import BaseModel, SecretStr, ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from pmo_assets.logs import FIELDS
from pmo_assets.records.chat import (
    ChatAnswer,
    ChatModel,
    ChatRequest,
    ChatUnavailable,
    Message,
    RefusedRequest,
    TransientChatError,
    message_json,
    without_reasoning,
)
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.retry_after import retry_after
from pmo_assets.settings import Settings
from pmo_assets.settings.addresses import plain_address
from pmo_assets.storage.data_root import DataRoot

_LOG = logging.getLogger(__name__)

TEXT_OPTIONS: Final = "PMO_LLM"
"""Prefix of the settings' names for the language model for captions."""

VISION_OPTIONS: Final = "PMO_VLM"
"""… and of the model that looks at figures."""

DEFAULT_BASE_URL: Final = "http://127.0.0.1:8000/v1"
"""Address on which `vllm serve` listens."""

MAX_RESPONSE_BYTES: Final = 8 * 2**20
"""An answer has a few kilobytes; an endpoint that sends more is not one."""

MAX_BACKOFF: Final = 60.0
"""Seconds; the longest wait between two attempts, also if the endpoint asks for a longer one."""

FAILURES_IN_A_ROW: Final = 5
"""After so many failed requests without a success in between, the endpoint itself is tried with a trivial one."""

_TRANSIENT: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_DETAIL: Final = 300
_CLOSING: Final = 5.0


class _Unreachable(TransientChatError):
    """Nobody answers the connection."""


class _Content(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Content


class _Tokens(BaseModel):
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Tokens | None = None


@dataclass
class ChatEndpoint:
    """A model behind an OpenAI-compatible API.

    Requests run on an event loop in a thread of its own, so that whoever asks waits for `timeout` seconds and no
    longer, whatever a request hangs on: a blocking socket's time-out starts anew with every byte that trickles in.

    Attributes:
        base_url: up to and including `/v1`; without user name and password, which a server's words could repeat.
        model: as the endpoint calls it.
        api_key: bearer token; None sends none.
        timeout: seconds that one request may take in all, from the connection to the answer's last byte.
        retries: most repetitions of a request that failed for a passing reason.
        backoff: seconds before the first repetition; doubles each time, with jitter.
        connections: number of connections that may be open at once.
        options: prefix of its settings' names, for messages.
    """

    base_url: str
    model: str
    api_key: SecretStr | None = None
    timeout: float = 300.0
    retries: int = 5
    backoff: float = 1.0
    connections: int = 16
    options: str = TEXT_OPTIONS
    _client: httpx2.AsyncClient = field(init=False, repr=False)
    _loop: asyncio.AbstractEventLoop = field(init=False, repr=False)
    _thread: threading.Thread = field(init=False, repr=False)
    _failures: int = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Open the client; nothing is sent.

        Raises:
            ChatUnavailable: if the address holds a user name or a password.
        """
        try:
            plain_address(self.base_url)
        except ValueError as error:
            raise ChatUnavailable(f"{self.options}_BASE_URL: {error}; a key goes into {self.options}_API_KEY") from None
        headers = {"Authorization": f"Bearer {self.api_key.get_secret_value()}"} if self.api_key else {}
        self._client = httpx2.AsyncClient(
            headers=headers,
            # Half the time at most, so that an unreachable endpoint is not taken for a slow one.
            timeout=httpx2.Timeout(self.timeout, connect=min(self.timeout / 2, 15.0)),
            limits=httpx2.Limits(max_connections=self.connections),
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="language model", daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model

    def close(self) -> None:
        """Close the connections; requests under way are dropped."""
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result(_CLOSING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSING)
        if not self._thread.is_alive():
            self._loop.close()

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Return the model's answer; see `ChatModel`."""
        try:
            answer = self._repeated(request)
        except ArticleError as error:
            with self._lock:
                self._failures += 1
                suspicious = self._failures % FAILURES_IN_A_ROW == 0
            if suspicious:
                self._try_endpoint(error)
            raise
        with self._lock:
            self._failures = 0
        return answer

    def _try_endpoint(self, last: ArticleError) -> None:
        """Send a trivial request, to tell captions that cannot be answered from an endpoint that answers nothing.

        Raises:
            ChatUnavailable: if that fails too.
        """
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
        try:
            self._repeated(ChatRequest((Message("user", '{"ok": true}'),), "Trial", schema, ""))
        except ArticleError as error:
            raise ChatUnavailable(
                f"{FAILURES_IN_A_ROW} requests in a row to {self.base_url} failed, and a trivial one as well: "
                f"{error}. Look at the server's log"
            ) from last

    def _repeated(self, request: ChatRequest) -> ChatAnswer:
        start = time.perf_counter()
        attempts = Retrying(
            stop=stop_after_attempt(self.retries + 1),
            retry=retry_if_exception_type(TransientChatError),
            wait=self._wait,
            before_sleep=self._say_repeated,
            reraise=True,
        )
        try:
            for attempt in attempts:
                with attempt:
                    completion = self._completion(request)
        except _Unreachable as error:
            raise ChatUnavailable(
                f"no language model at {self.base_url}: {error}. Start the server, or set {self.options}_BASE_URL; "
                f"without {self.options}_MODEL none is asked"
            ) from error
        usage = completion.usage or _Tokens()
        return ChatAnswer(
            text=without_reasoning(completion.choices[0].message.content or ""),
            prompt_tokens=usage.prompt_tokens or 0,
            completion_tokens=usage.completion_tokens or 0,
            seconds=time.perf_counter() - start,
            attempts=attempt.retry_state.attempt_number,
        )

    def _wait(self, state: RetryCallState) -> float:
        backoff = wait_exponential_jitter(initial=self.backoff, max=MAX_BACKOFF, jitter=self.backoff)(state)
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, TransientChatError) else None
        return max(backoff, min(asked or 0.0, MAX_BACKOFF))

    def _say_repeated(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        wait = state.next_action.sleep if state.next_action is not None else 0.0
        own = {"event": "request_repeated", "model": self.model, "attempt": state.attempt_number}
        _LOG.warning("request to %s is repeated in %.1f s: %s", self.model, wait, error, extra={FIELDS: own})

    def _completion(self, request: ChatRequest) -> _Completion:
        options = request.options
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message_json(message) for message in request.messages],
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "seed": options.seed,
        }
        if request.schema is not None:
            schema = {"name": request.schema_name, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if options.thinking != "default":
            body["chat_template_kwargs"] = {"enable_thinking": options.thinking == "on"}
        status, headers, content = self._posted(body)
        if status != 200:
            raise self._failure(status, headers, content)
        try:
            completion = _Completion.model_validate_json(content)
        except ValidationError as error:
            reason = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise TransientChatError(f"the endpoint's response is no chat completion ({reason})") from error
        if not completion.choices:
            raise TransientChatError("the endpoint's response has no choices")
        return completion

    def _posted(self, body: dict[str, Any]) -> tuple[int, httpx2.Headers, bytes]:
        """Send the request and read the response, within the time and size that one may take."""
        sent = asyncio.run_coroutine_threadsafe(self._exchange(body), self._loop)
        try:
            return sent.result(self.timeout)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _Unreachable(self._clean(str(error)) or type(error).__name__) from error
        except (TimeoutError, concurrent.futures.CancelledError, httpx2.TimeoutException) as error:
            raise TransientChatError(
                f"no complete answer within {self.timeout:g} s ({self.options}_TIMEOUT)"
            ) from error
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise ChatUnavailable(
                f"{self.options}_BASE_URL is no http:// or https:// address: {self.base_url}"
            ) from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise TransientChatError(f"the connection broke: {self._clean(str(error))}") from error
        finally:
            sent.cancel()

    async def _exchange(self, body: dict[str, Any]) -> tuple[int, httpx2.Headers, bytes]:
        content = bytearray()
        async with self._client.stream("POST", f"{self.base_url.rstrip('/')}/chat/completions", json=body) as response:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_RESPONSE_BYTES:
                    raise RefusedRequest(f"the response is larger than {MAX_RESPONSE_BYTES} bytes")
            return response.status_code, response.headers, bytes(content)

    def _failure(self, status: int, headers: httpx2.Headers, content: bytes) -> Exception:
        """Return the error for an HTTP status other than 200."""
        detail = self._clean(content.decode("utf-8", errors="replace"))
        said = f"HTTP {status}: {detail}" if detail else f"HTTP {status}"
        if status in _TRANSIENT:
            return TransientChatError(said, retry_after(headers.get("retry-after")))
        if status in (401, 403):
            return ChatUnavailable(f"{self.base_url} refuses the key ({said}): set {self.options}_API_KEY")
        if status == 404:
            return ChatUnavailable(
                f"{self.base_url} knows no model {self.model!r} or is no OpenAI-compatible API ({said}): "
                f"set {self.options}_MODEL to a name that {self.base_url}/models lists, "
                f"and {self.options}_BASE_URL up to /v1"
            )
        if 300 <= status < 400:
            return ChatUnavailable(
                f"{self.base_url} redirects ({said}): set {self.options}_BASE_URL to the final address"
            )
        return RefusedRequest(said)

    def _clean(self, text: str) -> str:
        """Return a server's words for a message: one short line, without the key."""
        key = self.api_key.get_secret_value() if self.api_key else ""
        if key:
            text = text.replace(key, "…")
        return " ".join(text.split())[:_MAX_DETAIL]


@dataclass(frozen=True)
class KeptAnswers:
    """A model whose answers are kept below the data root in `answers/`, so that asking again costs nothing.

    The key is a hash over everything that determines an answer: model, conversation with its prompt's version, schema
    and sampling. A model that is replaced under the same name needs the folder deleted.

    Attributes:
        inner: the model that gives answers that are not kept.
        data_root: keeps the answers.
    """

    inner: ChatModel
    data_root: DataRoot

    @property
    def name(self) -> str:
        """The model's name."""
        return self.inner.name

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Return the kept answer, or ask and keep it; see `ChatModel`."""
        key = answer_key(self.inner.name, request)
        kept = self._kept(key)
        if kept is not None:
            return kept
        answer = self.inner.answer(request)
        record = {"model": self.inner.name, "prompt_version": request.prompt_version, **asdict(answer)}
        self.data_root.write(key, json.dumps(record, ensure_ascii=False, sort_keys=True).encode())
        return answer

    def _kept(self, key: str) -> ChatAnswer | None:
        if not self.data_root.exists(key):
            return None
        try:
            record = json.loads(self.data_root.read(key))
            return ChatAnswer(str(record["text"]), cached=True)
        except (ValueError, KeyError, TypeError):
            return None  # damaged: asked again and replaced


def answer_key(model: str, request: ChatRequest) -> str:
    """Return where the answer to a request is kept below the data root."""
    facts = json.dumps({"model": model, **request.facts()}, ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(facts.encode("utf-8", errors="surrogatepass")).hexdigest()
    return f"answers/{digest[:2]}/{digest}.json"


@contextlib.contextmanager
def chat_model(settings: Settings, data_root: DataRoot) -> Iterator[ChatModel | None]:
    """Give the language model that the settings name, its answers kept below the data root; None without one."""
    if settings.llm_model is None:
        yield None
    elif settings.llm_offline:
        yield _in_process(settings.llm_model, settings.llm_engine_options, TEXT_OPTIONS, data_root)
    else:
        endpoint = ChatEndpoint(
            settings.llm_base_url or DEFAULT_BASE_URL,
            settings.llm_model,
            settings.llm_api_key,
            timeout=settings.llm_timeout,
            retries=settings.llm_retries,
            connections=settings.llm_concurrency,
        )
        with contextlib.closing(endpoint):
            yield KeptAnswers(endpoint, data_root)


@contextlib.contextmanager
def vision_model(settings: Settings, data_root: DataRoot, chat: ChatModel | None) -> Iterator[ChatModel | None]:
    """Give the model that looks at figures, its answers kept below the data root; None if the settings name none.

    Without an address of its own it is asked where the language model is, with that one's key: a key goes to the
    address that it was set for and to no other.

    Args:
        settings: names, addresses and keys of the models.
        data_root: keeps the answers.
        chat: the language model; where both are the same model in this process, its weights are not loaded twice.
    """
    if settings.vlm_model is None:
        yield None
    elif settings.vlm_offline:
        if chat is not None and settings.llm_offline and settings.llm_model == settings.vlm_model:
            yield chat
        else:
            yield _in_process(settings.vlm_model, settings.vlm_engine_options, VISION_OPTIONS, data_root)
    else:
        own = settings.vlm_base_url is not None
        endpoint = ChatEndpoint(
            settings.vlm_base_url or settings.llm_base_url or DEFAULT_BASE_URL,
            settings.vlm_model,
            settings.vlm_api_key or (None if own else settings.llm_api_key),
            timeout=settings.vlm_timeout,
            retries=settings.llm_retries,
            connections=settings.vlm_concurrency,
            options=VISION_OPTIONS,
        )
        with contextlib.closing(endpoint):
            yield KeptAnswers(endpoint, data_root)


def _in_process(model: str, engine_options: dict[str, Any], options: str, data_root: DataRoot) -> KeptAnswers:
    from pmo_assets.models.offline_chat import OfflineModel

    return KeptAnswers(OfflineModel(model, engine_options, options), data_root)
