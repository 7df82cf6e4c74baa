"""A language model's verdict on what every check keeps (OphIn-Engine, steps 14 to 16): only an explicit keep survives.

It can take away and never give: what a check discarded is not shown to it. Add here: what it is told. Keep out: checks
without a model (`checks`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.instructions.article_cases import Rows
from pmo_assets.pipeline.instructions.judged import is_judged
from pmo_assets.pipeline.instructions.writer import InstructionWriter
from pmo_assets.pipeline.prompting.asking import Progress, ask_until_fitting, asked_side_by_side
from pmo_assets.records.chat import ChatRequest, ChatUsage, Message
from pmo_assets.records.instructions import Instruction, Verdict
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.tables.instructions import cues_of_row, instruction_of_row, verdicts_of_row, verdicts_row

MOST_REASON: Final = 300
"""Characters of a model's reason that are kept."""


class ModelVerdict(BaseModel):
    """Response of the model."""

    model_config = ConfigDict(extra="forbid")

    reasoning: Annotated[str, Field(max_length=2_000)]
    answer: Literal["keep", "discard"]


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Instructions that a model kept and discarded, those without a verdict of it that fits, and what it cost."""

    kept: int
    discarded: int
    refused: int
    usage: ChatUsage


def question(instruction: Instruction, scene: Sequence[str], context: Sequence[str]) -> dict[str, Any]:
    """Return what the model is told of an instruction: the input of the prompt's examples."""
    return {
        "kind": instruction.kind,
        "scene": list(scene),
        "supplemental_context": list(context),
        "rests_on": [f"{item.kind}: {item.text}" for item in instruction.evidence],
        "messages": [{"role": turn.role, "content": turn.content} for turn in instruction.turns],
    }


def judge_by_model(
    rows: Sequence[Row],
    tables: Mapping[str, Rows],
    instruction_writer: InstructionWriter | None,
    progress: Progress | None = None,
) -> tuple[StepOutput, VerdictCounts]:
    """Have a language model keep or discard what every check keeps, and no person judged: rows of `verdicts`.

    An instruction for which it gives no verdict that fits is discarded, with the reason. Without a model all rows stay.

    Args:
        rows: of `verdicts` of any number of articles, of the checks.
        tables: `instructions` and `cues` of these articles.
        instruction_writer: the model; None for none.
        progress: told how many instructions are done.

    Raises:
        SystemicError: if no request can succeed; instructions not yet asked are dropped.
    """
    output = StepOutput(rows=list(rows))
    if instruction_writer is None:
        return output, VerdictCounts(0, 0, 0, ChatUsage())
    writer = instruction_writer
    told = {(row["panel_id"], row["number"]): row for row in tables["instructions"]}
    cues = {row["panel_id"]: cues_of_row(row) for row in tables["cues"]}
    asked = [n for n, row in enumerate(rows) if row["is_kept"] and not is_judged(verdicts_of_row(row))]
    spent: list[ChatUsage] = []

    def given(n: int) -> dict[str, Any]:
        name = rows[n]["panel_id"]
        item, own = instruction_of_row(told[name, rows[n]["number"]]), cues[name]
        return question(item, [scene.text for scene in own.scenes], [cue.text for cue in own.context])

    answers = asked_side_by_side(
        asked, lambda n: _judged(given(n), writer, spent), writer.concurrency, "verdicts", progress
    )
    refused = 0
    for n, answer in zip(asked, answers, strict=True):
        who = f"{writer.model.name}, {writer.verdicts.label}"
        if isinstance(answer, ModelVerdict):
            keeps = answer.answer == "keep"
            reason = "" if keeps else _plain(answer.reasoning)
        else:
            keeps, reason, refused = False, f"no verdict that fits: {_plain(str(answer))}", refused + 1
        verdict = Verdict(who, "judgement", "keep" if keeps else "discard", reason)
        output.rows[n] = verdicts_row(rows[n], keeps, (*verdicts_of_row(rows[n]), verdict))
    kept = sum(isinstance(answer, ModelVerdict) and answer.answer == "keep" for answer in answers)
    return output, VerdictCounts(kept, len(answers) - kept - refused, refused, sum(spent, ChatUsage()))


def _plain(text: str) -> str:
    """A model's words on one line, short."""
    return re.sub(r"\s+", " ", text).strip()[:MOST_REASON]


def _judged(given: dict[str, Any], writer: InstructionWriter, spent: list[ChatUsage]) -> ModelVerdict | ArticleError:
    def request(more: Sequence[Message]) -> ChatRequest:
        return writer.verdicts.request(given, ModelVerdict.model_json_schema(), writer.thinking, more)

    try:
        return ask_until_fitting(
            writer.model, writer.verdicts.task, request, ModelVerdict, lambda answer: answer, writer.reasks, spent
        )[0]
    except ArticleError as error:
        return error
