"""A model is asked until its answer fits: parsed, held to the task's rules, sent back with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from pmo_assets.logs import thread_fields
from pmo_assets.records.chat import ChatModel, ChatRequest, ChatUsage, Message, usage_of
from pmo_assets.records.rejections import ArticleError

REASKS: Final = 5
"""Most times that an answer that does not fit is sent back (paper)."""

_MAX_QUOTED: Final = 4_000
"""Characters of an answer that does not fit that the model is shown again."""

Progress = Callable[[int, int], None]
"""Told how many of how many are done."""

_Response = TypeVar("_Response", bound=BaseModel)
_Fitting = TypeVar("_Fitting")
_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class AnswerRejected(ArticleError):
    """The model's answer did not fit, however often it was asked; the message has the last reason."""


class MisfittingAnswer(Exception):
    """An answer does not fit the question; the message is told to the model."""


def ask_until_fitting(
    model: ChatModel,
    task: str,
    request: Callable[[Sequence[Message]], ChatRequest],
    response: type[_Response],
    check: Callable[[_Response], _Fitting],
    reasks: int,
    spent: list[ChatUsage],
) -> tuple[_Fitting, int]:
    """Ask until the answer fits; return `check`'s result for it and the number of answers that were sent back.

    Args:
        model: the model that answers.
        task: name of the prompt, for the error.
        request: the conversation with further turns after the input.
        response: schema of an answer.
        check: turns an answer into the wanted result; raises `MisfittingAnswer` if it does not fit.
        reasks: most times that an answer that does not fit is sent back.
        spent: the cost of each answer is added here, fitting or not.

    Raises:
        AnswerRejected: if no answer fitted.
        ArticleError: if this question cannot be answered (`TransientChatError`, `RefusedRequest`).
        SystemicError: if no question can.
    """
    turns: list[Message] = []
    reason = ""
    for attempt in range(reasks + 1):
        answer = model.answer(request(turns))
        spent.append(usage_of(answer))
        try:
            return check(parsed_answer(response, answer.text)), attempt
        except MisfittingAnswer as error:
            reason = str(error)
        turns += [
            Message("assistant", answer.text[:_MAX_QUOTED]),
            Message("user", f"That answer does not fit: {reason} Answer again, as JSON."),
        ]
    raise AnswerRejected(f"{task}, asked {reasks + 1} times: {reason}")


def parsed_answer(response: type[_Response], text: str) -> _Response:
    """Return an answer's JSON as the response model.

    Raises:
        MisfittingAnswer: if it is none.
    """
    try:
        return response.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise MisfittingAnswer(f"{place + ': ' if place else ''}{first['msg']}.") from error


def asked_side_by_side(
    items: Sequence[_Item],
    ask: Callable[[_Item], _Answer],
    concurrency: int,
    threads: str,
    progress: Progress | None = None,
) -> list[_Answer]:
    """Return `ask(item)` of each item in order, `concurrency` at a time.

    Args:
        items: arguments of `ask`.
        ask: asks the model; its error ends all: items not yet asked are dropped.
        concurrency: number of items that are asked at once.
        threads: prefix of the threads' names.
        progress: told after each answer.
    """
    if not items:
        return []
    answers: list[_Answer] = []
    with dropping_what_waits(min(concurrency, len(items)), threads) as pool:
        for answer in pool.map(ask, items):
            answers.append(answer)
            if progress is not None:
                progress(len(answers), len(items))
    return answers


@contextmanager
def dropping_what_waits(size: int, threads: str) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of `size` threads; on leaving, work that has begun is waited for, the other is dropped."""
    pool = ThreadPoolExecutor(size, thread_name_prefix=threads, **thread_fields())
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
