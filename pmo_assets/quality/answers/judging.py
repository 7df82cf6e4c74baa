"""Answers shortened and scored in quarters by a model (OphIn-VQA, steps 1 and 2), held to what rules can know.

A model shortens only what rules cannot, and only to words of the response. It scores only what is neither the label nor
a refusal, and never yes or no: there a rule knows the score, and no answer can talk a judge into another one. Add here:
what a judge is asked, and what its answer must fit. Keep out: rules that need no model (`matching`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.prompting.asking import (
    REASKS,
    MisfittingAnswer,
    Progress,
    ask_until_fitting,
    asked_side_by_side,
)
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.quality.answers.matching import REFUSAL, exact_match, extracted, normalised, spoken
from pmo_assets.quality.answers.questions import Question
from pmo_assets.records.chat import ChatModel, ChatRequest, Message, Thinking
from pmo_assets.records.defaults import CONCURRENCY
from pmo_assets.records.instructions import InstructionKind
from pmo_assets.records.rejections import ArticleError

EXTRACTION: Final = "answer_extraction"
JUDGEMENT: Final = "answer_judgement"
TASKS: Final = (EXTRACTION, JUDGEMENT)

QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)

LONG: Final = 5
"""Words of an answer beyond which a model is asked which of them are the answer: labels have so many at most."""

MOST_WORDS: Final = 10
"""Words of an answer that a model copied."""

MOST_GIVEN: Final = 4_000
"""Characters of a response that a judge is given."""

_YES_NO: Final = frozenset(("Yes.", "No.", REFUSAL))


class ExtractedAnswer(BaseModel):
    """Response of the model that shortens."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[str, Field(min_length=1, max_length=400)]


class Judgement(BaseModel):
    """Response of the judge."""

    model_config = ConfigDict(extra="forbid")

    reasoning: Annotated[str, Field(max_length=2_000)]
    score: Annotated[float, Field(ge=0, le=1, multiple_of=0.25)]


RESPONSES: Final[Mapping[str, type[BaseModel]]] = {
    ExtractedAnswer.__name__: ExtractedAnswer,
    Judgement.__name__: Judgement,
}
"""Response models by the name that `task.toml` gives."""


@dataclass(frozen=True)
class Judge:
    """A language model that shortens and scores answers.

    Attributes:
        model: who answers.
        extraction: prompt that shortens.
        judgement: prompt that scores.
        thinking: if it reasons before it answers.
        reasks: times that an answer that does not fit is sent back.
        concurrency: number of answers that are put to it at once.
    """

    model: ChatModel
    extraction: Prompt = field(default_factory=lambda: load_prompt(EXTRACTION))
    judgement: Prompt = field(default_factory=lambda: load_prompt(JUDGEMENT))
    thinking: Thinking = "off"
    reasks: int = REASKS
    concurrency: int = CONCURRENCY


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer as it is scored.

    Attributes:
        answer: shortened; `REFUSAL` for a refusal.
        score: in quarters; None where the judge gave none that fits.
    """

    answer: str
    score: float | None


def judged_answers(
    asked: Sequence[Question], answers: Sequence[str], judge: Judge, progress: Progress | None = None
) -> list[Judged]:
    """Return the answers shortened and scored; where the model does not shorten one fittingly, the rules do.

    Raises:
        SystemicError: if no request can succeed.
    """
    pairs = list(zip(asked, answers, strict=True))
    return asked_side_by_side(pairs, lambda pair: _judged(*pair, judge), judge.concurrency, "judge", progress)


def fitting_extraction(answer: ExtractedAnswer, kind: InstructionKind, response: str) -> str:
    """Return a model's shortening of a response, when it only copies.

    Raises:
        MisfittingAnswer: with the reason why it does not.
    """
    said = answer.answer.strip()
    if said == REFUSAL or kind == "yes_no":
        if said not in _YES_NO:
            raise MisfittingAnswer('The kind is yes_no: answer "Yes.", "No." or "Refusal".')
        return said
    words = normalised(said).split()
    if not 1 <= len(words) <= MOST_WORDS:
        raise MisfittingAnswer(f"{len(words)} words: copy one to {MOST_WORDS}.")
    rest = iter(normalised(response).split())
    strange = next((word for word in words if word not in rest), None)
    if strange is not None:
        raise MisfittingAnswer(f"{strange!r} does not stand there in the response: copy its words in their order.")
    return said


def fitting_score(answer: Judgement, response: str) -> float:
    """Return a judge's score, when nothing in the response asked for it.

    Raises:
        MisfittingAnswer: if the response speaks of scores and has one all the same.
    """
    if answer.score > 0 and _ASKS.search(response) is not None:
        raise MisfittingAnswer("The response speaks to you of scores: such a response has 0.0.")
    return answer.score


_ASKS: Final = re.compile(
    r"\b(?:scor(?:e|es|ed|ing)|judges?|rating|full marks|grade|ignore|instructions?)\b", re.IGNORECASE
)


def _judged(item: Question, response: str, judge: Judge) -> Judged:
    said = _shortened(item, response, judge)
    if said == REFUSAL:
        return Judged(said, 0.0)
    exact = exact_match(said, item.label)
    if item.kind == "yes_no" or exact:
        return Judged(said, exact)
    given = {
        "scene": list(item.scene), "context": list(item.context), "question": item.question, "label": item.label,
        "response": said[:MOST_GIVEN],
    }  # fmt: skip
    return Judged(said, _asked(judge, judge.judgement, given, Judgement, lambda answer: fitting_score(answer, said)))


def _shortened(item: Question, response: str, judge: Judge) -> str:
    said = extracted(item.kind, response)
    clear = said in _YES_NO if item.kind == "yes_no" else said == REFUSAL or len(said.split()) <= LONG
    if clear:
        return said
    words = spoken(response)[:MOST_GIVEN]
    given = {"kind": item.kind, "question": item.question, "response": words}
    copied = _asked(
        judge, judge.extraction, given, ExtractedAnswer, lambda answer: fitting_extraction(answer, item.kind, words)
    )
    return said if copied is None else copied


def _asked(judge: Judge, prompt: Prompt, given: Mapping[str, Any], response: Any, check: Any) -> Any:
    def request(more: Sequence[Message]) -> ChatRequest:
        return prompt.request(given, response.model_json_schema(), judge.thinking, more)

    try:
        return ask_until_fitting(judge.model, prompt.task, request, response, check, judge.reasks, [])[0]
    except ArticleError:
        return None
