"""Questions and conversations by a language model (OphIn-Engine, steps 11 and 12), held to every check.

The model names what each answer rests on. What a check discards is sent back with the reason; what still does not pass
goes into the table and is discarded there, with the reason, like everything else. Reasoning is left to the templates:
no check can stand for more than what they draw from the authors' words. Add here: how an answer becomes instructions.
Keep out: the checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.pipeline.instructions.article_cases import Rows, cued_cases
from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.pipeline.instructions.checks import is_kept, verdicts
from pmo_assets.pipeline.instructions.claims import subject_of
from pmo_assets.pipeline.instructions.facts import eye_words, mark_words, region_words
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS
from pmo_assets.pipeline.instructions.writer import InstructionWriter
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer, Progress, ask_until_fitting, asked_side_by_side
from pmo_assets.records.chat import ChatRequest, ChatUsage, Message
from pmo_assets.records.instructions import Evidence, EvidenceKind, Instruction, InstructionKind, Turn
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.tables.instructions import instruction_row, score_of_row

STAGE: Final = "instructions"

MOST_QUESTIONS: Final = 12
"""Short questions of one answer: the paper asks for one of each of three types."""

_Words = Annotated[str, Field(min_length=1, max_length=1_000)]


class CitedEvidence(BaseModel):
    """What an answer rests on: words copied of the scenes or the context, the modality, the eye, a mark, a region."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["scene", "context", "eye", "modality", "region", "mark"]
    text: _Words
    number: Annotated[int, Field(ge=0)] | None = None


class WrittenPair(BaseModel):
    """A question with its answer, and what that rests on."""

    model_config = ConfigDict(extra="forbid")

    question: _Words
    answer: _Words
    evidence: Annotated[list[CitedEvidence], Field(min_length=1, max_length=8)]


class WrittenQuestion(WrittenPair):
    """A short question."""

    kind: Literal["yes_no", "what", "where"]


class WrittenInstructions(BaseModel):
    """Response of the model: short questions, and a conversation of three or four pairs or none."""

    model_config = ConfigDict(extra="forbid")

    questions: Annotated[list[WrittenQuestion], Field(max_length=MOST_QUESTIONS)]
    conversation: Annotated[list[WrittenPair], Field(max_length=4)]


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Panels that a model was asked about, instructions that it wrote, those that every check keeps, and the cost."""

    panels: int
    written: int
    kept: int
    refused: int
    usage: ChatUsage


@dataclass
class _Answer:
    """Instructions of a panel: those of all answers that pass, and those of the last one that do not."""

    kept: dict[tuple[Turn, ...], Instruction] = field(default_factory=dict)
    left: dict[tuple[Turn, ...], Instruction] = field(default_factory=dict)
    error: ArticleError | None = None
    usage: ChatUsage = field(default_factory=ChatUsage)


def question(cued: CuedCase) -> dict[str, Any]:
    """Return what the model is told of a panel: the input of the prompt's examples."""
    case = cued.case
    return {
        "scenes": [scene.text for scene in cued.cues.scenes],
        "context": [cue.text for cue in cued.cues.context],
        "modality": MODALITY_WORDS.get(case.modality or "", ""),
        "eye": {"OD": "right", "OS": "left"}.get(case.eye or "", "") if eye_words(cued) is not None else "",
        "marks": [{"number": number, "text": mark_words(mark)} for number, (_, mark) in enumerate(case.marks)],
        "regions": [
            {"number": number, "text": places}
            for number in range(len(case.regions))
            if (places := sorted(region_words(cued, number)))
        ],
    }


def instructions_of(answer: WrittenInstructions, cued: CuedCase, maker: str) -> list[Instruction]:
    """Return an answer as instructions, checked by nobody yet.

    Evidence is looked for where the model says; what is not there keeps its words and has no place. What a question is
    about is read back from its words; boxes are those of the regions that it names.
    """
    made = [_instruction(item.kind, [item], cued, maker) for item in answer.questions]
    if answer.conversation:
        made.append(_instruction("conversation", answer.conversation, cued, maker))
    return made


def _instruction(kind: InstructionKind, pairs: Sequence[WrittenPair], cued: CuedCase, maker: str) -> Instruction:
    case = cued.case
    cited = tuple(dict.fromkeys(_evidence(item, cued) for pair in pairs for item in pair.evidence))
    turns = [
        turn for pair in pairs for turn in (Turn("user", pair.question.strip()), Turn("assistant", pair.answer.strip()))
    ]
    topic, asked = subject_of(cued, "" if kind == "conversation" else pairs[0].question)
    regions = [
        case.regions[item.number]
        for item in cited
        if item.kind == "region" and item.number is not None and item.number < len(case.regions)
    ]
    sure = [case.confidence, *(region.confidence for region in regions)]
    sure += [case.modality_probability for item in cited if item.kind == "modality"]
    sure += [
        case.marks[item.number][1].probability
        for item in cited
        if item.kind == "mark" and item.number is not None and item.number < len(case.marks)
    ]
    return Instruction(
        kind, topic, asked, tuple(turns), cited, tuple(dict.fromkeys(region.box for region in regions)), maker,
        round(min(sure), 4),
    )  # fmt: skip


def _evidence(item: CitedEvidence, cued: CuedCase) -> Evidence:
    kind: EvidenceKind = item.kind
    if kind in ("region", "mark"):
        return Evidence(kind, item.text, number=item.number)
    if kind == "modality":
        named = next((name for name, words in MODALITY_WORDS.items() if words.lower() == item.text.lower()), item.text)
        return Evidence(kind, named)
    if kind == "eye" and (words := eye_words(cued)) is not None:
        scene, entity = words
        return Evidence(
            kind, entity.text, found_in=scene.found_in, mention=scene.mention, start=entity.start, end=entity.end
        )
    for cue in cued.cues.context if kind == "context" else cued.cues.scenes:
        if (place := cue.text.find(item.text)) >= 0:
            start = cue.start + place
            return Evidence(kind, item.text, cue.found_in, cue.mention, start, start + len(item.text))
    return Evidence(kind, item.text, found_in="subcaption")


def write_by_model(
    rows: Sequence[Row],
    tables: Mapping[str, Rows],
    instruction_writer: InstructionWriter | None,
    progress: Progress | None = None,
) -> tuple[StepOutput, QuestionCounts]:
    """Have a language model write instructions beside the templates': rows of `instructions`.

    Only panels whose cues are kept, with a scene, that are surely pictures of bodies, are asked about. A panel for
    which the model gives no answer in the form asked for is listed as a rejection. Without a model all rows stay.

    Args:
        rows: of `instructions` of any number of articles, of templates.
        tables: all tables that the stage reads, of these articles.
        instruction_writer: the model; None for none.
        progress: told how many panels are done.

    Raises:
        SystemicError: if no request can succeed; panels not yet asked are dropped.
    """
    if instruction_writer is None:
        return StepOutput(rows=list(rows)), QuestionCounts(0, 0, 0, 0, ChatUsage())
    writer, cases = instruction_writer, cued_cases(tables)
    keys = [
        row
        for row in tables["cue_scores"]
        if score_of_row(row).is_kept
        and (cued := cases.get(row["panel_id"])) is not None
        and cued.case.is_pictured
        and cued.cues.scenes
    ]
    answers = asked_side_by_side(
        keys, lambda row: _written(cases[row["panel_id"]], writer), writer.concurrency, "instructions", progress
    )
    output = StepOutput(rows=list(rows))
    known: dict[str, set[tuple[str, ...]]] = {}
    numbers: dict[str, int] = {}
    for row in rows:
        name = row["panel_id"]
        known.setdefault(name, set()).add(tuple(turn["content"] for turn in row["messages"]))
        numbers[name] = max(numbers.get(name, 0), row["number"] + 1)
    for key, answer in zip(keys, answers, strict=True):
        own, number = known.get(key["panel_id"], set()), numbers.get(key["panel_id"], 0)
        for item in (*answer.kept.values(), *answer.left.values()):
            if tuple(turn.content for turn in item.turns) not in own:
                output.rows.append(instruction_row(key, number, item))
                number += 1
        if answer.error is not None and not answer.kept and not answer.left:
            output.rejections.append(
                rejection_from(answer.error, stage=STAGE, unit_id=key["article_id"], part=key["image_cluster_id"])
            )
    kept = sum(len(answer.kept) for answer in answers)
    counts = QuestionCounts(
        panels=len(keys),
        written=kept + sum(len(answer.left) for answer in answers),
        kept=kept,
        refused=len(output.rejections),
        usage=sum((answer.usage for answer in answers), ChatUsage()),
    )
    return output, counts


def _written(cued: CuedCase, writer: InstructionWriter) -> _Answer:
    spent: list[ChatUsage] = []
    found = _Answer()
    maker = f"{writer.model.name}, {writer.questions.label}"

    def request(more: Sequence[Message]) -> ChatRequest:
        schema = WrittenInstructions.model_json_schema()
        return writer.questions.request(question(cued), schema, writer.thinking, more)

    def check(answer: WrittenInstructions) -> None:
        found.left = {}
        reasons = []
        for item in instructions_of(answer, cued, maker):
            said = verdicts(cued, item)
            if is_kept(said):
                found.kept[item.turns] = item
            else:
                found.left[item.turns] = item
                reasons.append(f"“{item.question[:80]}”: {said[-1].reason}.")
        if reasons:
            raise MisfittingAnswer(" ".join(reasons)[:1_500])

    try:
        ask_until_fitting(
            writer.model, writer.questions.task, request, WrittenInstructions, check, writer.reasks, spent
        )  # fmt: skip
    except ArticleError as error:
        found.error = error
    found.usage = sum(spent, ChatUsage())
    return found
