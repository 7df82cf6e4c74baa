"""Protocol of a language model as the steps need it: its request, its answer, and its errors.

`pmo_assets.models.chat` implements the protocol for an OpenAI-compatible endpoint and for vLLM in process.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Protocol

from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError

Role = Literal["system", "user", "assistant"]
Thinking = Literal["off", "on", "default"]


class ChatUnavailable(SystemicError):
    """No request can succeed: connection refused, key refused, unknown model; the message says what to do."""


class TransientChatError(ArticleError):
    """A request that may succeed later: time-out, HTTP 429 or 5xx, a cut-off response; raised when retries are used up.

    Attributes:
        retry_after: seconds that the endpoint asks to wait; None if it does not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RefusedRequest(ArticleError):
    """A request that the model will never answer, for example one longer than its context."""


@dataclass(frozen=True, slots=True)
class ChatPicture:
    """A picture in a turn.

    Attributes:
        png: the PNG file, as large as the model is meant to see it.
    """

    png: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: of the speaker.
        content: the words.
        pictures: shown with them, after the words; only models that see take any.
    """

    role: Role
    content: str
    pictures: tuple[ChatPicture, ...] = ()


def message_json(message: Message) -> dict[str, Any]:
    """Return a turn as the OpenAI API takes it: with pictures in parts, text and `image_url` parts with data URLs."""
    if not message.pictures:
        return {"role": message.role, "content": message.content}
    shown = [
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{base64.b64encode(picture.png).decode('ascii')}"},
        }
        for picture in message.pictures
    ]
    return {"role": message.role, "content": [{"type": "text", "text": message.content}, *shown]}


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """Options of sampling the answer.

    Attributes:
        temperature: 0 always takes the most likely token.
        max_tokens: length after which the answer is cut off.
        thinking: "on" and "off" tell a hybrid model (Qwen3) whether to reason first; "default" tells it nothing, for
            endpoints that refuse the option.
        seed: of the sampling.
    """

    temperature: float = 0.0
    max_tokens: int = 2048
    thinking: Thinking = "off"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A conversation that the model continues with one JSON value, or with plain words where there is no schema.

    Attributes:
        messages: system prompt, few-shot examples, input.
        schema_name: name of the response schema; "" without one.
        schema: JSON schema that the answer follows (structured output); None for plain words.
        prompt_version: version and hash of the prompt, part of the key under which the answer is kept.
        options: of sampling.
    """

    messages: tuple[Message, ...]
    schema_name: str
    schema: Mapping[str, Any] | None
    prompt_version: str
    options: SamplingOptions = SamplingOptions()

    def facts(self) -> dict[str, Any]:
        """Return everything that determines the answer, but for the model, as JSON: what its key is made of."""
        return {
            "messages": [message_json(message) for message in self.messages],
            "schema_name": self.schema_name,
            "schema": None if self.schema is None else dict(self.schema),
            "prompt_version": self.prompt_version,
            "options": asdict(self.options),
        }


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """Answer of a model.

    Attributes:
        text: the answer, without reasoning; JSON unless it was cut off.
        prompt_tokens: tokens of the conversation; 0 where unknown.
        completion_tokens: tokens of the answer with reasoning; 0 where unknown.
        seconds: from request to answer, retries included.
        attempts: requests sent; more than one after transient errors.
        cached: answered from the store of answers: nothing was sent.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    attempts: int = 1
    cached: bool = False


class ChatModel(Protocol):
    """A language model; called from several threads at once."""

    @property
    def name(self) -> str:
        """Which model answers; kept in the rows."""
        ...

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Return the model's answer.

        Raises:
            ChatUnavailable: if no request can succeed.
            TransientChatError: if this request failed although it was repeated.
            RefusedRequest: if this request cannot succeed.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Cost of a number of answers; those from the store cost nothing and count only as `cache_hits`."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cache_hits: int = 0

    def __add__(self, other: ChatUsage) -> ChatUsage:
        """Return the sum."""
        return ChatUsage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            self.cache_hits + other.cache_hits,
        )


NO_USAGE: Final = ChatUsage()


def usage_of(answer: ChatAnswer) -> ChatUsage:
    """Return the cost of an answer."""
    if answer.cached:
        return ChatUsage(cache_hits=1)
    return ChatUsage(answer.attempts, answer.prompt_tokens, answer.completion_tokens, answer.seconds)


_REASONING = re.compile(r"\A\s*(?:<think>)?.*?</think>\s*", re.DOTALL)


def without_reasoning(text: str) -> str:
    """Drop a leading `<think>…</think>`, which a server without a reasoning parser leaves in the answer."""
    return _REASONING.sub("", text, count=1) if "</think>" in text and not text.lstrip().startswith("{") else text
