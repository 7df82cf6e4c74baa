"""A figure is looked at: asked about twice, independently, and a third time where the answers differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pmo_assets.pipeline.assembly.confidence import CONFIDENCE_THRESHOLD
from pmo_assets.pipeline.assembly.vision.answers import ANSWERS, FigureAnswer
from pmo_assets.pipeline.assembly.vision.decisions import Decision, fitting_decisions
from pmo_assets.pipeline.assembly.vision.figure_types import FIGURE_TYPES, FigureType
from pmo_assets.pipeline.assembly.vision.question import BoxesShown, FigureQuestion, question_json
from pmo_assets.pipeline.assembly.vision.verdict import Answered, Verdict, adjudicated, agreement, conflicts
from pmo_assets.pipeline.prompting.asking import REASKS, ask_until_fitting
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.records.chat import ChatModel, ChatPicture, ChatRequest, ChatUsage, Message, Thinking
from pmo_assets.records.defaults import VISION_CONCURRENCY, VISION_PIXELS
from pmo_assets.records.rejections import ArticleError

TASK_OF: Final[Mapping[FigureType, str]] = {kind: f"panels_{kind}" for kind in FIGURE_TYPES}
"""Prompt (`prompts/`) for each type of figure."""

ADJUDICATION_TASK: Final = "panels_adjudication"
"""Prompt that begins the system prompt when two answers are settled; the figure's own prompt follows."""

TASKS: Final = (*TASK_OF.values(), ADJUDICATION_TASK)

_SEEDS: Final = (0, 1)
_ADJUDICATION_SEED: Final = 2

NO_AGREEMENT: Final = "the vision model's two answers differ"


def _prompts() -> dict[str, Prompt]:
    return {task: load_prompt(task) for task in TASKS}


@dataclass(frozen=True)
class FigureReader:
    """A model that looks at figures, with the options of asking it.

    Attributes:
        model: it answers, and takes pictures.
        prompts: by task.
        thinking: if it reasons before it answers.
        reasks: times that an answer that does not fit is sent back.
        threshold: panels of whose subcaption rules are less sure are asked about, and those without one.
        boxes: as coordinates beside the plain picture, or drawn on it.
        max_pixels: of the picture.
        concurrency: number of figures that are asked about at once.
    """

    model: ChatModel
    prompts: Mapping[str, Prompt] = field(default_factory=_prompts)
    thinking: Thinking = "off"
    reasks: int = REASKS
    threshold: float = CONFIDENCE_THRESHOLD
    boxes: BoxesShown = "json"
    max_pixels: int = VISION_PIXELS
    concurrency: int = VISION_CONCURRENCY


@dataclass(frozen=True, slots=True)
class FigureVerdict:
    """Result of asking a model about a figure.

    Attributes:
        verdict: of its answers; None when there are none.
        error: reason why there is none, or why the differences of the answers were not settled.
        usage: requests, tokens and seconds that it cost.
    """

    verdict: Verdict | None
    error: Exception | None
    usage: ChatUsage


def look_at_figure(question: FigureQuestion, picture: ChatPicture, reader: FigureReader) -> FigureVerdict:
    """Ask a model about a figure.

    Args:
        question: the question.
        picture: the figure as the model sees it.
        reader: the model.

    Raises:
        SystemicError: if no request can succeed.
    """
    spent: list[ChatUsage] = []
    try:
        first, second = (_answered(question, picture, reader, spent, seed) for seed in _SEEDS)
    except ArticleError as error:
        return FigureVerdict(None, error, sum(spent, ChatUsage()))
    differing = conflicts(first, second)
    if not differing:
        return FigureVerdict(agreement(first, second, NO_AGREEMENT), None, sum(spent, ChatUsage()))
    try:
        third = _adjudicated(question, picture, reader, spent, (first, second), differing)
    except ArticleError as error:
        verdict = agreement(first, second, f"{NO_AGREEMENT}, and it could not settle them ({type(error).__name__})")
        return FigureVerdict(verdict, error, sum(spent, ChatUsage()))
    return FigureVerdict(adjudicated(first, second, third), None, sum(spent, ChatUsage()))


def _answered(
    question: FigureQuestion, picture: ChatPicture, reader: FigureReader, spent: list[ChatUsage], seed: int
) -> Answered:
    prompt = reader.prompts[TASK_OF[question.type]]
    return _asked(question, picture, reader, prompt, question_json(question, reader.boxes), seed, spent)


def _adjudicated(
    question: FigureQuestion,
    picture: ChatPicture,
    reader: FigureReader,
    spent: list[ChatUsage],
    answers: Sequence[Answered],
    differing: Sequence[str],
) -> Answered:
    own, settling = reader.prompts[TASK_OF[question.type]], reader.prompts[ADJUDICATION_TASK]
    prompt = replace(
        own,
        task=f"{settling.task} of {own.task}",
        digest=f"{settling.digest}, {own.digest}",
        system=f"{settling.system}\n\n{own.system}",
        examples=(),
    )
    given = {
        **question_json(question, reader.boxes),
        **{f"annotator_{number}": _as_said(answered) for number, answered in enumerate(answers, start=1)},
        "conflicts": list(differing),
    }
    return _asked(question, picture, reader, prompt, given, _ADJUDICATION_SEED, spent)


def _as_said(answered: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return an answer for whoever settles it: subject, subcaption and what was seen."""
    said = []
    for item in answered:
        subject = {"panel_id": item.panel} if item.panel is not None else {"images": sorted(item.images)}
        evidence = [
            {"kind": seen.what, "text": seen.text} | ({"label_id": seen.label} if seen.label else {})
            for seen in item.seen
        ]
        said.append({**subject, "assigned_subcaption": item.name, "evidence": evidence})
    return said


def _asked(
    question: FigureQuestion,
    picture: ChatPicture,
    reader: FigureReader,
    prompt: Prompt,
    given: Mapping[str, Any],
    seed: int,
    spent: list[ChatUsage],
) -> Answered:
    response: type[FigureAnswer] = ANSWERS[question.type]
    schema = response.model_json_schema()

    def request(more: Sequence[Message]) -> ChatRequest:
        return prompt.request(given, schema, reader.thinking, more, None, [picture], seed)

    def check(answer: FigureAnswer) -> Answered:
        return fitting_decisions(question, answer)

    decisions, _ = ask_until_fitting(reader.model, prompt.task, request, response, check, reader.reasks, spent)
    return decisions
