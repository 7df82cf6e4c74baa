"""Instructions: questions about a panel with answers that rest on evidence, and what they are made of.

Method: OphIn-Engine (Dong et al., arXiv 2605.27916, sections 3.2 to 3.4): what a text says is visible (scene) is told
apart from what it adds (supplemental context); panels are scored; questions, conversations and reasoning are made of
them and verified.

Add here: records that pass between the steps of the group `instructions`, and that the release reads. Keep out: how
they are made (`pipeline.instructions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.records.geometry import Box

InstructionKind = Literal["yes_no", "what", "where", "conversation", "reasoning"]
"""Kind of instruction: a question that is answered by yes or no, by a few words, by a place; several turns about one
panel; an observation that leads to a conclusion."""

INSTRUCTION_KINDS: Final[tuple[InstructionKind, ...]] = ("yes_no", "what", "where", "conversation", "reasoning")

SHORT_KINDS: Final[tuple[InstructionKind, ...]] = ("yes_no", "what", "where")
"""Kinds with one question and an answer of one to five words (the paper's simple VQA)."""

Topic = Literal["finding", "disease", "eye", "imaging", "mark", "place", "case"]
"""What a question is about: its entity group, a mark, a place in the picture; "case" for several together."""

TOPICS: Final[tuple[Topic, ...]] = ("finding", "disease", "eye", "imaging", "mark", "place", "case")

ContextKind = Literal["history", "treatment", "mechanism", "statistics", "methods", "figure", "other"]
"""What words add to what is visible: the patient's history, a treatment, an explanation, numbers of a study, how it was
done; "figure" for a sentence about the figure as a whole; any other."""

CONTEXT_KINDS: Final[tuple[ContextKind, ...]] = (
    "history", "treatment", "mechanism", "statistics", "methods", "figure", "other",
)  # fmt: skip

CueText = Literal["subcaption", "mention", "transcript"]
"""Text that a cue stands in: of a panel its subcaption or a mention, of a lecture's picture what is said."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Words that state what is visible: `text` is `[start:end)` of the panel's subcaption or of one of its mentions.

    `mention` is the position among the panel's mentions; None for the subcaption, and for a transcript.
    """

    found_in: CueText
    mention: int | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ContextCue:
    """Words that add to what is visible, with their place as in `Scene`, and what they add."""

    found_in: CueText
    mention: int | None
    start: int
    end: int
    text: str
    kind: ContextKind


@dataclass(frozen=True, slots=True)
class PanelCues:
    """What a panel's words say is visible, and what they add, each in the order of the texts."""

    scenes: tuple[Scene, ...]
    context: tuple[ContextCue, ...]


@dataclass(frozen=True, slots=True)
class CueScore:
    """Scores of a panel's cues on the paper's scales (section 3.2), by features that are counted.

    Attributes:
        quality: 1..10: how clearly the scene says what is visible.
        difficulty: 1..10: how much must be known to read it.
        relevance: 1..6: density of the field's terms (`Relevance2Medicine`).
        has_details: explicit details: places, measurements, landmarks, marks (`MentionSpecificDetails`).
        is_kept: relevance of at least 3, and details: instructions are made of it.
        for_reasoning: quality and difficulty of at least 9, relevance of at least 5, and details.
        scene_words: words of its scenes.
        terms: different terms of the lexicon in the scenes.
        findings: different findings and diseases among them.
        places: structures, sides and words of place among them.
        doubts: terms there that the text doubts.
    """

    quality: int
    difficulty: int
    relevance: int
    has_details: bool
    is_kept: bool
    for_reasoning: bool
    scene_words: int
    terms: int
    findings: int
    places: int
    doubts: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of an instruction, as chat templates have it."""

    role: Literal["user", "assistant"]
    content: str


EvidenceKind = Literal["scene", "context", "eye", "modality", "region", "mark"]
"""What an answer rests on: words of a scene or of the context, the words that name the eye, the modality of
`panel_modality`, a region of `regions` with its box, a mark of `marks`."""

EVIDENCE_KINDS: Final[tuple[EvidenceKind, ...]] = ("scene", "context", "eye", "modality", "region", "mark")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that an answer rests on.

    Attributes:
        kind: of it.
        found_in, mention, start, end: of words: where they stand, as in `Scene`; None for what are no words.
        number: position of the region or mark among the panel's; None for words and modality.
        text: the words; the modality; of regions the place that their box gives; of marks their colour and kind.
    """

    kind: EvidenceKind
    text: str
    found_in: CueText | None = None
    mention: int | None = None
    start: int | None = None
    end: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction about one panel.

    Attributes:
        kind: of instruction.
        topic: what it is about.
        asked: what a yes/no question asks for in normal form ("subretinal fluid", "OCT", "upper"); what the others ask
            about. Balance is kept for each value.
        turns: messages, the user's first.
        evidence: that the answers rest on, in their order.
        boxes: of what the answer speaks of, normalised to the figure; empty without.
        maker: "template", or the model and version of its prompt.
        confidence: 0..1: of the weakest evidence.
    """

    kind: InstructionKind
    topic: Topic
    asked: str
    turns: tuple[Turn, ...]
    evidence: tuple[Evidence, ...]
    boxes: tuple[Box, ...] = ()
    maker: str = "template"
    confidence: float = 1.0

    @property
    def question(self) -> str:
        """The first question."""
        return self.turns[0].content if self.turns else ""

    @property
    def answer(self) -> str:
        """The last answer."""
        return self.turns[-1].content if self.turns else ""


TEMPLATE: Final = "template"
"""Maker of instructions that no model wrote."""

Criterion = Literal[
    "form", "availability", "length", "text reference", "injection", "pixel test", "evidence", "words", "claim",
    "negation", "laterality", "numbers", "leakage", "reasoning", "judgement", "audit",
]  # fmt: skip
"""What a verdict looks at; `pipeline.instructions.checks` says what each means; "judgement" is a model's, "audit" a
person's."""

CRITERIA: Final[tuple[Criterion, ...]] = (
    "form", "availability", "length", "text reference", "injection", "pixel test", "evidence", "words", "claim",
    "negation", "laterality", "numbers", "leakage", "reasoning", "judgement", "audit",
)  # fmt: skip

CHECKS: Final = "checks"
"""Who gives the verdicts that no model gives."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge says of an instruction by one criterion: keep or discard, and why ("" where it is kept)."""

    who: str
    criterion: Criterion
    verdict: Literal["keep", "discard"]
    reason: str = ""
