"""The model that is evaluated, asked over its endpoint: a picture and a question, answered in plain words.

Add here: who is asked, and how. Keep out: what becomes of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pmo_assets.pictures import decoded_bytes, png_bytes
from pmo_assets.pipeline.assembly.vision.pictures import scaled_down
from pmo_assets.pipeline.prompting.asking import Progress, asked_side_by_side
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.quality.answers.baselines import PictureOf
from pmo_assets.quality.answers.questions import LONGEST_ANSWER, Question
from pmo_assets.records.chat import ChatModel, ChatPicture, ChatRequest, Message, SamplingOptions, Thinking
from pmo_assets.records.defaults import VISION_CONCURRENCY, VISION_PIXELS
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import StorageError

TASK: Final = "instruction_answers"


@dataclass(frozen=True)
class Examinee:
    """A model that answers questions about pictures.

    Attributes:
        model: it answers, and takes pictures.
        prompt: its system prompt; there are no examples (the paper asks without).
        thinking: if it reasons before it answers.
        max_pixels: of a picture.
        concurrency: number of questions that are asked at once.
    """

    model: ChatModel
    prompt: Prompt = field(default_factory=lambda: load_prompt(TASK))
    thinking: Thinking = "off"
    max_pixels: int = VISION_PIXELS
    concurrency: int = VISION_CONCURRENCY


def asked_answers(
    questions: Sequence[Question],
    examinee: Examinee,
    picture_of: PictureOf,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Return the model's answers by `instruction_id`; a question that the endpoint refuses or fails at is absent.

    Greedy, 2,048 tokens at most, as in the paper.

    Raises:
        SystemicError: if no request can succeed; questions not yet asked are dropped.
        StorageError: if a picture is missing.
    """
    answers = asked_side_by_side(
        questions, lambda item: _answer(item, examinee, picture_of), examinee.concurrency, "questions", progress
    )
    return {
        item.instruction_id: answer for item, answer in zip(questions, answers, strict=True) if answer is not None
    }  # fmt: skip


def _answer(item: Question, examinee: Examinee, picture_of: PictureOf) -> str | None:
    content = picture_of(item)
    if content is None:
        raise StorageError(f"{item.instruction_id}: the release has no picture of {item.owner}")
    shown = ChatPicture(png_bytes(scaled_down(decoded_bytes(content), examinee.max_pixels)))
    prompt = examinee.prompt
    longest = prompt.max_tokens + (prompt.thinking_tokens if examinee.thinking == "on" else 0)
    request = ChatRequest(
        (Message("system", prompt.system), Message("user", item.question, (shown,))),
        "",
        None,
        prompt.label,
        SamplingOptions(prompt.temperature, longest, examinee.thinking),
    )
    try:
        return examinee.model.answer(request).text[:LONGEST_ANSWER]
    except ArticleError:
        return None
