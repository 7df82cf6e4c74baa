"""Summary of a panel by a language model (OPEN-PMC): checked against its sources, asked again with the reason.

The extractive summary stays beside it, and counts where no answer passes the checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.context.summaries import MAX_WORDS
from pmo_assets.pipeline.context.summary_checks import SummarySources, fitting_summary
from pmo_assets.pipeline.prompting.asking import REASKS, Progress, ask_until_fitting, asked_side_by_side
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.records.chat import ChatModel, ChatRequest, ChatUsage, Message, Thinking
from pmo_assets.records.defaults import CONCURRENCY
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.tables.context import panel_abbreviations

TASK: Final = "panel_summaries"
TASKS: Final = (TASK,)

STAGE: Final = "panel_summaries"

MAX_GIVEN: Final = 12_000
"""Characters of sentences that a model is given; the mentions of a panel have some hundreds, rarely thousands."""

_TOKENS_PER_WORD: Final = 3
_ANSWER_FRAME: Final = 64


class WrittenSummary(BaseModel):
    """Response of the model."""

    model_config = ConfigDict(extra="forbid")

    summary: str = Field(max_length=6_000)


RESPONSES: Final[Mapping[str, type[BaseModel]]] = {WrittenSummary.__name__: WrittenSummary}
"""Response models by the name that `task.toml` gives."""


@dataclass(frozen=True)
class SummaryWriter:
    """A language model with its prompt, ready to summarise.

    Attributes:
        model: who answers.
        prompt: of the task.
        thinking: a hybrid model reasons before it answers.
        reasks: most times that an answer that does not fit is sent back.
        concurrency: number of panels that are put to the model at once.
    """

    model: ChatModel
    prompt: Prompt = field(default_factory=lambda: load_prompt(TASK))
    thinking: Thinking = "off"
    reasks: int = REASKS
    concurrency: int = CONCURRENCY


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """Answer for a panel: the summary, or the reason why there is none; `usage` is what it cost."""

    generated: str | None
    error: ArticleError | None
    usage: ChatUsage


@dataclass(frozen=True)
class SummaryCounts:
    """Panels by the summary that they have (the model's, sentences of the article, none), and what the model cost."""

    language_model: int
    extractive: int
    none: int
    refused: int
    usage: ChatUsage


def question(sources: SummarySources) -> dict[str, Any]:
    """Return what the model is told of a panel: the input of the prompt's examples."""
    sentences: list[str] = []
    left = MAX_GIVEN
    for sentence in sources.sentences:
        left -= len(sentence)
        if left < 0:
            break
        sentences.append(sentence)
    return {
        "figure": sources.label or "",
        "panel": sources.identifier or "",
        "other_panels": list(sources.others),
        "subcaption": sources.subcaption[:MAX_GIVEN],
        "sentences": sentences,
        "abbreviations": {item.short: item.long for item in sources.abbreviations},
    }


def written_summary(sources: SummarySources, writer: SummaryWriter) -> SummaryAnswer:
    """Ask a language model for the summary of a panel.

    Raises:
        SystemicError: if no request can succeed.
    """
    spent: list[ChatUsage] = []
    given, schema = question(sources), WrittenSummary.model_json_schema()
    longest = _ANSWER_FRAME + _TOKENS_PER_WORD * MAX_WORDS

    def request(more: Sequence[Message]) -> ChatRequest:
        return writer.prompt.request(given, schema, writer.thinking, more, longest)

    try:
        text, _ = ask_until_fitting(
            writer.model,
            TASK,
            request,
            WrittenSummary,
            lambda answer: fitting_summary(answer.summary, sources),
            writer.reasks,
            spent,
        )
    except ArticleError as error:
        return SummaryAnswer(None, error, sum(spent, ChatUsage()))
    return SummaryAnswer(text, None, sum(spent, ChatUsage()))


def rewrite_summaries(
    rows: Sequence[Row],
    reviewed_panels: Sequence[Mapping[str, Any]],
    figures: Sequence[Mapping[str, Any]],
    summary_writer: SummaryWriter | None,
    progress: Progress | None = None,
) -> tuple[StepOutput, SummaryCounts]:
    """Have a language model summarise the panels of which the running text says something: rows of `panel_summaries`.

    A panel for which no answer passes the checks keeps its extractive summary, says why (`refused`), and is listed as a
    rejection too. Without a model all rows stay as they are.

    Args:
        rows: of `panel_summaries` of any number of articles, as `panel_summary` made them.
        reviewed_panels: rows of `reviewed_panels` of these articles, for the subcaptions.
        figures: rows of `figures`, for the labels.
        summary_writer: the model; None for none.
        progress: told how many panels have been summarised.

    Raises:
        SystemicError: if no request can succeed; panels not yet asked are dropped.
    """
    asked = [n for n, row in enumerate(rows) if row["extractive"]] if summary_writer is not None else []
    answers: dict[int, SummaryAnswer] = {}
    if summary_writer is not None:
        writer = summary_writer
        found = _sources([rows[n] for n in asked], reviewed_panels, figures)
        written = asked_side_by_side(
            found, lambda sources: written_summary(sources, writer), writer.concurrency, "summaries", progress
        )
        answers = dict(zip(asked, written, strict=True))
    output = StepOutput()
    for n, row in enumerate(rows):
        answer = answers.get(n)
        if answer is None or summary_writer is None:
            output.rows.append(row)
            continue
        output.rows.append(
            {
                **row,
                "summary": row["extractive"] if answer.generated is None else answer.generated,
                "generated": answer.generated,
                "model": summary_writer.model.name,
                "prompt_version": summary_writer.prompt.label,
                "refused": None if answer.error is None else str(answer.error),
            }
        )
        if answer.error is not None:
            output.rejections.append(
                rejection_from(answer.error, stage=STAGE, unit_id=row["article_id"], part=row["panel_id"])
            )
    by_model = sum(answer.generated is not None for answer in answers.values())
    told = sum(bool(row["extractive"]) for row in rows)
    usage = sum((answer.usage for answer in answers.values()), ChatUsage())
    refused = len(answers) - by_model
    return output, SummaryCounts(by_model, told - by_model, len(rows) - told, refused, usage)


def _sources(
    rows: Sequence[Row], reviewed_panels: Sequence[Mapping[str, Any]], figures: Sequence[Mapping[str, Any]]
) -> list[SummarySources]:
    """Return the sources of each row's summary."""
    labels = {(figure["article_id"], figure["image_cluster_id"]): figure["label"] for figure in figures}
    panels: dict[tuple[int, str], dict[int, Mapping[str, Any]]] = {}
    for panel in reviewed_panels:
        panels.setdefault((panel["article_id"], panel["image_cluster_id"]), {})[panel["ordinal"]] = panel
    found = []
    for row in rows:
        key = row["article_id"], row["image_cluster_id"]
        own = panels[key][row["ordinal"]]
        names = [panel["identifier"] for panel in panels[key].values() if panel["ordinal"] != row["ordinal"]]
        told = [item["text"] for item in row["mentions"]] + [item["sentence"] for item in row["sentences"]]
        found.append(
            SummarySources(
                labels.get(key),
                own["identifier"],
                tuple(dict.fromkeys(name for name in names if name and name != own["identifier"])),
                own["subcaption"] or "",
                tuple(dict.fromkeys(told)),
                panel_abbreviations(row["abbreviations"]),
            )
        )
    return found
