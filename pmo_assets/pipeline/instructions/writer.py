"""A language model with the prompts of the group: who tells cues apart, writes instructions, and judges them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pmo_assets.pipeline.prompting.asking import REASKS
from pmo_assets.pipeline.prompting.prompts import Prompt, load_prompt
from pmo_assets.records.chat import ChatModel, Thinking
from pmo_assets.records.defaults import CONCURRENCY

CUES: Final = "panel_cues"
QUESTIONS: Final = "panel_questions"
VERDICTS: Final = "instruction_verdicts"


@dataclass(frozen=True)
class InstructionWriter:
    """A language model, ready for the three tasks.

    Attributes:
        model: who answers.
        cues: prompt that tells what is visible from what is not.
        questions: prompt that writes questions and conversations.
        verdicts: prompt that keeps or discards.
        thinking: a hybrid model reasons before it answers.
        reasks: most times that an answer that does not fit is sent back.
        concurrency: number of panels or instructions that are put to the model at once.
    """

    model: ChatModel
    cues: Prompt = field(default_factory=lambda: load_prompt(CUES))
    questions: Prompt = field(default_factory=lambda: load_prompt(QUESTIONS))
    verdicts: Prompt = field(default_factory=lambda: load_prompt(VERDICTS))
    thinking: Thinking = "off"
    reasks: int = REASKS
    concurrency: int = CONCURRENCY
