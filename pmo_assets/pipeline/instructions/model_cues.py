"""Cues by a language model (OphIn-Engine, step 8), verbatim or not at all: checked, asked again with the reason.

The model copies; what it copies is found again in the panel's words, letter by letter, and grammar has the last word on
what cannot be visible. The grammar's own cues stay where no answer fits. Add here: what a fitting separation is. Keep
out: what is asked of scenes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.context.entities import entities_of
from pmo_assets.pipeline.instructions.article_cases import Rows, cases_of_articles
from pmo_assets.pipeline.instructions.case import PanelCase
from pmo_assets.pipeline.instructions.cues import kind_of_context, why_not_visible
from pmo_assets.pipeline.instructions.phrases import is_seen
from pmo_assets.pipeline.instructions.writer import InstructionWriter
from pmo_assets.pipeline.prompting.asking import (
    MisfittingAnswer,
    Progress,
    ask_until_fitting,
    asked_side_by_side,
)
from pmo_assets.records.chat import ChatRequest, ChatUsage, Message
from pmo_assets.records.instructions import ContextCue, CueText, PanelCues, Scene
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.tables.instructions import cues_row

STAGE: Final = "cues"

MOST_CUES: Final = 40
"""Scenes, and pieces of context, of a panel at most."""

MOST_GIVEN: Final = 6_000
"""Characters of words that a model is given: subcaption and mentions of a panel have some hundreds."""

_Copied = Annotated[str, Field(min_length=1, max_length=2_000)]


class CopiedScene(BaseModel):
    """Words that state what is visible in one place of the panel."""

    model_config = ConfigDict(extra="forbid")

    scene_id: Annotated[int, Field(ge=1)]
    verbatim_scene_text: _Copied


class SeparatedCues(BaseModel):
    """Response of the model; the names are the paper's (appendix A.2)."""

    model_config = ConfigDict(extra="forbid")

    supplemental_context: Annotated[list[_Copied], Field(max_length=MOST_CUES)]
    scene_count: Annotated[int, Field(ge=0, le=MOST_CUES)]
    scenes: Annotated[list[CopiedScene], Field(max_length=MOST_CUES)]


@dataclass(frozen=True, slots=True)
class CueCounts:
    """Panels whose cues a model told apart, those for which no answer of it fitted, and what it cost."""

    by_model: int
    refused: int
    usage: ChatUsage


@dataclass(frozen=True, slots=True)
class _Answer:
    cues: PanelCues | None
    error: ArticleError | None
    usage: ChatUsage


def question(case: PanelCase) -> dict[str, Any]:
    """Return what the model is told of a panel: the input of the prompt's examples."""
    sentences, left = [], MOST_GIVEN - len(case.subcaption[:MOST_GIVEN])
    for mention in case.mentions:
        left -= len(mention.text)
        if left < 0:
            break
        sentences.append(mention.text)
    return {"subcaption": case.subcaption[:MOST_GIVEN], "sentences": sentences}


def fitting_cues(answer: SeparatedCues, case: PanelCase) -> PanelCues:
    """Return a model's cues with their places, in the order of the texts, when all of them fit.

    Raises:
        MisfittingAnswer: with the first reason why one does not: it does not stand in the words, overlaps another one,
            cannot be visible, or leaves out the word that negates or doubts what it names.
    """
    if answer.scene_count != len(answer.scenes):
        raise MisfittingAnswer(f"scene_count is {answer.scene_count}, and there are {len(answer.scenes)} scenes.")
    taken: list[tuple[int, int, int]] = []
    scenes, context = [], []
    for copied in answer.scenes:
        place = _place(copied.verbatim_scene_text, case, taken)
        mention, start, end = place
        text = case.text_of(mention)[start:end]
        if (reason := why_not_visible(case, mention, start, end)) is not None:
            raise MisfittingAnswer(f"The scene {_quoted(text)} is none: {reason}.")
        _keeps_its_meaning(case, mention, start, end)
        scenes.append(Scene(_source(mention), mention, start, end, text))
    for words in answer.supplemental_context:
        mention, start, end = _place(words, case, taken)
        text = case.text_of(mention)[start:end]
        context.append(ContextCue(_source(mention), mention, start, end, text, kind_of_context(text)))
    return PanelCues(tuple(sorted(scenes, key=_order)), tuple(sorted(context, key=_order)))


def _source(mention: int | None) -> CueText:
    return "subcaption" if mention is None else "mention"


def _order(cue: Scene | ContextCue) -> tuple[int, int]:
    return -1 if cue.mention is None else cue.mention, cue.start


def _place(words: str, case: PanelCase, taken: list[tuple[int, int, int]]) -> tuple[int | None, int, int]:
    """Find copied words where no other cue is: mention (None for the subcaption), start and end; they are taken."""
    found = False
    for _, mention, text in case.texts():
        start = text.find(words)
        while start >= 0:
            end, found = start + len(words), True
            number = -1 if mention is None else mention
            cut = (start and text[start - 1 : start + 1].isalnum()) or text[end - 1 : end + 1].isalnum() * (
                end < len(text)
            )
            if not cut and all(number != other or end <= first or last <= start for other, first, last in taken):
                taken.append((number, start, end))
                return mention, start, end
            start = text.find(words, start + 1)
    if found:
        raise MisfittingAnswer(f"{_quoted(words)} cuts a word, or overlaps another piece: name each part once.")
    raise MisfittingAnswer(f"{_quoted(words)} does not stand in the words: copy, do not paraphrase.")


def _keeps_its_meaning(case: PanelCase, mention: int | None, start: int, end: int) -> None:
    """Hold the scene's words, read alone, to what they say in their sentence."""
    text = case.text_of(mention)[start:end]
    alone = {(entity.start + start, entity.term): entity for entity in entities_of(text, {})}
    for entity in case.entities_by_text.get(mention, ()):
        if not (start <= entity.start and entity.end <= end) or not is_seen(entity):
            continue
        read = alone.get((entity.start, entity.term))
        if read is not None and (read.negated, read.uncertain) != (entity.negated, entity.uncertain):
            left_out = "negates" if read.negated != entity.negated else "doubts"
            raise MisfittingAnswer(f"The scene {_quoted(text)} leaves out what {left_out} {_quoted(entity.text)}.")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def separate_by_model(
    rows: Sequence[Row],
    tables: Mapping[str, Rows],
    instruction_writer: InstructionWriter | None,
    progress: Progress | None = None,
) -> tuple[StepOutput, CueCounts]:
    """Have a language model tell the cues of each panel apart: rows of `cues`.

    A panel for which no answer fits keeps the grammar's cues, says why (`refused`), and is listed as a rejection too.
    Without a model all rows stay as they are.

    Args:
        rows: of `cues` of any number of articles, by grammar.
        tables: `figures`, `reviewed_panels`, `panel_summaries`, `panel_entities` of these articles.
        instruction_writer: the model; None for none.
        progress: told how many panels are done.

    Raises:
        SystemicError: if no request can succeed; panels not yet asked are dropped.
    """
    if instruction_writer is None:
        return StepOutput(rows=list(rows)), CueCounts(0, 0, ChatUsage())
    writer, cases = instruction_writer, cases_of_articles(tables)
    asked = [n for n, row in enumerate(rows) if row["panel_id"] in cases and (row["scenes"] or row["context"])]
    answers = asked_side_by_side(
        asked, lambda n: _separated(cases[rows[n]["panel_id"]], writer), writer.concurrency, "cues", progress
    )
    output = StepOutput(rows=list(rows))
    who = {"model": writer.model.name, "prompt_version": writer.cues.label}
    for n, answer in zip(asked, answers, strict=True):
        row = rows[n]
        if answer.cues is not None:
            output.rows[n] = cues_row(row, answer.cues, **who)
        elif answer.error is not None:
            output.rows[n] = {**row, **who, "refused": str(answer.error)}
            output.rejections.append(
                rejection_from(answer.error, stage=STAGE, unit_id=row["article_id"], part=row["image_cluster_id"])
            )
    by_model = sum(answer.cues is not None for answer in answers)
    usage = sum((answer.usage for answer in answers), ChatUsage())
    return output, CueCounts(by_model, len(answers) - by_model, usage)


def _separated(case: PanelCase, writer: InstructionWriter) -> _Answer:
    spent: list[ChatUsage] = []

    def request(more: Sequence[Message]) -> ChatRequest:
        return writer.cues.request(question(case), SeparatedCues.model_json_schema(), writer.thinking, more)

    try:
        cues, _ = ask_until_fitting(
            writer.model, writer.cues.task, request, SeparatedCues, lambda answer: fitting_cues(answer, case),
            writer.reasks, spent,
        )  # fmt: skip
    except ArticleError as error:
        return _Answer(None, error, sum(spent, ChatUsage()))
    return _Answer(cues, None, sum(spent, ChatUsage()))
