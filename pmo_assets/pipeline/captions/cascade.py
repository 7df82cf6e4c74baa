"""The cheap answer first: the grammar splits every caption, a language model only those the grammar is not sure about.

Without a language model, or when its answer does not fit the caption, the grammar's answer stays and says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from pmo_assets.pipeline.captions.confidence import CONFIDENCE_THRESHOLD
from pmo_assets.pipeline.captions.model_split import CaptionReader, split_by_model
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.prompting.asking import Progress, asked_side_by_side, dropping_what_waits
from pmo_assets.records.chat import NO_USAGE, ChatUsage
from pmo_assets.records.defaults import CONCURRENCY
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.subcaptions import CaptionSplit

LOW_CONFIDENCE: Final = "low confidence"
"""First reason of a grammar's answer below the threshold."""

AHEAD: Final = 32
"""Captions per simultaneous question that a stream reads ahead of the oldest unanswered one: few are doubtful."""


@dataclass(frozen=True)
class Cascade:
    """Options of splitting captions: the grammar first, a model where it is not sure.

    Attributes:
        threshold: confidence 0..1 below which the model is asked.
        reader: the model; None for the grammar alone.
        concurrency: number of captions that are put to the model at once.
    """

    threshold: float = CONFIDENCE_THRESHOLD
    reader: CaptionReader | None = None
    concurrency: int = CONCURRENCY


@dataclass(frozen=True, slots=True)
class DoubtfulCaption:
    """A caption whose split by the grammar is below the threshold.

    Attributes:
        caption: the text.
        split: the grammar's answer.
    """

    caption: str
    split: CaptionSplit


@dataclass(frozen=True, slots=True)
class CascadeAnswer:
    """The final answer for a caption.

    Attributes:
        split: the model's answer, or the grammar's.
        error: the reason why the model's answer is not taken; None if it is, or if none was asked.
        usage: requests, tokens and seconds of the model.
    """

    split: CaptionSplit
    error: ArticleError | None = None
    usage: ChatUsage = NO_USAGE


def flagged(split: CaptionSplit, why: str) -> CaptionSplit:
    """Return a grammar's answer with the reason why it stands although it is below the threshold."""
    return replace(split, reasons=(f"{LOW_CONFIDENCE}: {why}", *split.reasons))


def second_reading(doubtful: DoubtfulCaption, cascade: Cascade) -> CascadeAnswer:
    """Return the model's answer for a caption that the grammar is not sure about, or the grammar's with the reason.

    Raises:
        SystemicError: if no request can succeed.
    """
    if cascade.reader is None:
        return CascadeAnswer(flagged(doubtful.split, "no language model is configured"))
    reading = split_by_model(doubtful.caption, cascade.reader, [doubtful.split.identifiers])
    if reading.split is None:
        assert reading.error is not None
        why = f"the language model gave no answer ({type(reading.error).__name__})"
        return CascadeAnswer(flagged(doubtful.split, why), reading.error, reading.usage)
    return CascadeAnswer(reading.split, None, reading.usage)


def second_readings(
    doubtful: Sequence[DoubtfulCaption], cascade: Cascade, progress: Progress | None = None
) -> list[CascadeAnswer]:
    """Return `second_reading` of each caption in order, `cascade.concurrency` at a time.

    Raises:
        SystemicError: if no request can succeed; captions not yet asked are dropped.
    """
    if cascade.reader is None or not doubtful:
        return [second_reading(item, cascade) for item in doubtful]
    return asked_side_by_side(
        doubtful, lambda item: second_reading(item, cascade), cascade.concurrency, "captions", progress
    )


def split_by_cascade(caption: str, cascade: Cascade) -> CascadeAnswer:
    """Return a caption's subcaptions: the grammar's answer if it is sure enough, else `second_reading`.

    Raises:
        SystemicError: if the model is asked and no request can succeed.
    """
    split = split_caption(caption)
    if split.confidence >= cascade.threshold:
        return CascadeAnswer(split)
    return second_reading(DoubtfulCaption(caption, split), cascade)


def stream_by_cascade(captions: Iterable[str | None], cascade: Cascade) -> Iterator[CascadeAnswer | Exception | None]:
    """Give `split_by_cascade` of each caption in order as soon as it is there; the captions may be without end.

    A fault of one caption is given in its place, and the others go on; None, no caption, gives None.

    Raises:
        SystemicError: if the model is asked and no request can succeed; captions not yet asked are dropped.
    """
    waiting: deque[Future[CascadeAnswer] | None] = deque()
    with dropping_what_waits(cascade.concurrency, "captions") as pool:
        for caption in captions:
            waiting.append(None if caption is None else _begun(caption, cascade, pool))
            while waiting and (_is_there(waiting[0]) or len(waiting) > AHEAD * cascade.concurrency):
                yield _outcome(waiting.popleft())
        while waiting:
            yield _outcome(waiting.popleft())


def _begun(caption: str, cascade: Cascade, pool: ThreadPoolExecutor) -> Future[CascadeAnswer]:
    """Split by the grammar at once, and by the model, where it is wanted, in the pool."""
    done: Future[CascadeAnswer] = Future()
    try:
        split = split_caption(caption)
        doubtful = DoubtfulCaption(caption, split)
        if split.confidence < cascade.threshold and cascade.reader is not None:
            return pool.submit(second_reading, doubtful, cascade)
        done.set_result(
            CascadeAnswer(split) if split.confidence >= cascade.threshold else second_reading(doubtful, cascade)
        )
    except Exception as error:
        done.set_exception(error)
    return done


def _is_there(answer: Future[CascadeAnswer] | None) -> bool:
    return answer is None or answer.done()


def _outcome(answer: Future[CascadeAnswer] | None) -> CascadeAnswer | Exception | None:
    try:
        return None if answer is None else answer.result()
    except Exception as error:
        raise_fault(error)
        return error
