"""Tables of the group `instructions`: cues, their scores, questions with answers, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import dataframely as dy

from pmo_assets.records.instructions import (
    CONTEXT_KINDS,
    CRITERIA,
    EVIDENCE_KINDS,
    INSTRUCTION_KINDS,
    TOPICS,
    CueScore,
    Evidence,
    Instruction,
    PanelCues,
    Turn,
    Verdict,
)
from pmo_assets.records.step_output import Row
from pmo_assets.tables.columns import FigureKey
from pmo_assets.tables.context import PanelKey
from pmo_assets.tables.rows import record_of, row_of

_WORDS: Final[dict[str, dy.Column]] = {
    "found_in": dy.Enum(["subcaption", "mention"]),
    "mention": dy.Int64(nullable=True),
    "start": dy.Int64(),
    "end": dy.Int64(),
    "text": dy.String(),
}

EVIDENCE_FIELDS: Final[dict[str, dy.Column]] = {
    "kind": dy.Enum(EVIDENCE_KINDS),
    "text": dy.String(),
    "found_in": dy.Enum(["subcaption", "mention"], nullable=True),
    "mention": dy.Int64(nullable=True),
    "start": dy.Int64(nullable=True),
    "end": dy.Int64(nullable=True),
    "number": dy.Int64(nullable=True),
}
"""Fields of what an answer rests on (`records.instructions.Evidence`)."""

TURN_FIELDS: Final[dict[str, dy.Column]] = {"role": dy.Enum(["user", "assistant"]), "content": dy.String()}
"""Fields of a message, as chat templates have them."""

VERDICT_FIELDS: Final[dict[str, dy.Column]] = {
    "who": dy.String(),
    "criterion": dy.Enum(CRITERIA),
    "verdict": dy.Enum(["keep", "discard"]),
    "reason": dy.String(),
}
"""Fields of a verdict (`records.instructions.Verdict`)."""


class Cues(PanelKey):
    """Words of each panel's subcaption and mentions that state what is visible, apart from what they add."""

    scenes = dy.List(dy.Struct(_WORDS), description="Words that state what is visible, verbatim, with their places")
    context = dy.List(
        dy.Struct({**_WORDS, "kind": dy.Enum(CONTEXT_KINDS)}),
        description="Words that add to it: history, treatment, mechanism, statistics, methods, the figure as a whole",
    )
    model = dy.String(nullable=True, description="Language model that told them apart; null for grammar alone")
    prompt_version = dy.String(nullable=True, description="Its prompt")
    refused = dy.String(nullable=True, description="Why no answer of it fitted, and grammar counts; null if one did")


class CueScores(PanelKey):
    """Scores of each panel's cues on the scales of OphIn-Engine, by counted features."""

    quality = dy.Int64(min=1, max=10, description="How clearly the scene says what is visible")
    difficulty = dy.Int64(min=1, max=10, description="How much must be known to read it")
    relevance = dy.Int64(min=1, max=6, description="Density of the field's terms")
    has_details = dy.Bool(description="Explicit details: places, measurements, landmarks, marks")
    is_kept = dy.Bool(description="Relevance of 3 or more, and details: instructions are made of it")
    for_reasoning = dy.Bool(description="Quality and difficulty of 9 or more, relevance of 5 or more, and details")
    scene_words = dy.Int64(min=0, description="Words of its scenes")
    terms = dy.Int64(min=0, description="Different terms of the lexicon in them")
    findings = dy.Int64(min=0, description="Different findings and diseases among them")
    places = dy.Int64(min=0, description="Different structures, sides and words of place in them")
    doubts = dy.Int64(min=0, description="Terms in them that the text doubts")


class InstructionKey(FigureKey):
    """Key of a table with a row per instruction."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Of the panel's row in `reviewed_panels`")
    number = dy.Int64(primary_key=True, min=0, description="Position among the panel's instructions")
    panel_id = dy.String(description="Panel")


class Instructions(InstructionKey):
    """Questions, conversations and reasoning about each panel, with the evidence that each rests on."""

    kind = dy.Enum(INSTRUCTION_KINDS, description="Kind of instruction")
    topic = dy.Enum(
        TOPICS, description="What it is about: its entity group, a mark, a place; case for several together"
    )
    asked = dy.String(description="What is asked for, in normal form; a release balances yes and no by it")
    messages = dy.List(dy.Struct(TURN_FIELDS), description="Messages, the user's first")
    evidence = dy.List(
        dy.Struct(EVIDENCE_FIELDS),
        description="What the answers rest on: words with their place, modality, region or mark by its position",
    )
    boxes = dy.List(
        dy.List(dy.Float64()), description="Boxes of what is spoken of, normalised to the figure; empty without"
    )
    maker = dy.String(description="template, or the model and the version of its prompt")
    confidence = dy.Float64(min=0, max=1, description="Of the weakest evidence")


class Verdicts(InstructionKey):
    """Verdicts on each instruction: who says by which criterion that it is kept or discarded, and why."""

    is_kept = dy.Bool(description="Every check was made and every verdict keeps it: only then it is released")
    verdicts = dy.List(
        dy.Struct(VERDICT_FIELDS),
        description="Who, criterion, verdict, reason, in the order in which they were given; a check or model gives "
        "none after a discard, people do",
    )


SCHEMAS: dict[str, type[dy.Schema]] = {
    "cues": Cues,
    "cue_scores": CueScores,
    "instructions": Instructions,
    "verdicts": Verdicts,
}
"""The schema of each asset of the group that is a table."""


def _panel_key(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in PanelKey.columns()}


def cues_row(
    key: Mapping[str, Any],
    cues: PanelCues,
    *,
    model: str | None = None,
    prompt_version: str | None = None,
    refused: str | None = None,
) -> Row:
    """Return a panel's row of `cues`; `key` is any row with its key."""
    return {
        **_panel_key(key), **row_of(cues), "model": model, "prompt_version": prompt_version, "refused": refused,
    }  # fmt: skip


def cues_of_row(row: Mapping[str, Any]) -> PanelCues:
    """Return the cues of a row of `cues`."""
    return record_of(PanelCues, row)


def score_row(key: Mapping[str, Any], score: CueScore) -> Row:
    """Return a panel's row of `cue_scores`; `key` is any row with its key."""
    return {**_panel_key(key), **row_of(score)}


def score_of_row(row: Mapping[str, Any]) -> CueScore:
    """Return the scores of a row of `cue_scores`."""
    return record_of(CueScore, row)


def instruction_row(key: Mapping[str, Any], number: int, instruction: Instruction) -> Row:
    """Return a row of `instructions`; `key` is any row with the panel's key, `number` the position among its own."""
    return {
        **_panel_key(key),
        "number": number,
        "kind": instruction.kind,
        "topic": instruction.topic,
        "asked": instruction.asked,
        "messages": [row_of(turn) for turn in instruction.turns],
        "evidence": [row_of(item) for item in instruction.evidence],
        "boxes": [list(box) for box in instruction.boxes],
        "maker": instruction.maker,
        "confidence": instruction.confidence,
    }


def instruction_of_row(row: Mapping[str, Any]) -> Instruction:
    """Return the instruction of a row of `instructions`."""
    return Instruction(
        row["kind"],
        row["topic"],
        row["asked"],
        tuple(record_of(Turn, cell) for cell in row["messages"]),
        tuple(record_of(Evidence, cell) for cell in row["evidence"]),
        tuple((left, top, right, bottom) for left, top, right, bottom in row["boxes"]),
        row["maker"],
        row["confidence"],
    )


def verdicts_row(instruction: Mapping[str, Any], kept: bool, verdicts: Sequence[Verdict]) -> Row:
    """Return the row of `verdicts` for a row of `instructions`; `kept` if every verdict keeps it."""
    key = {name: instruction[name] for name in InstructionKey.columns()}
    return {**key, "is_kept": kept, "verdicts": [row_of(item) for item in verdicts]}


def verdicts_of_row(row: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Return the verdicts of a row of `verdicts`."""
    return tuple(record_of(Verdict, cell) for cell in row["verdicts"])
