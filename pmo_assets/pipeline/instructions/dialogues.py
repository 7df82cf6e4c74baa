"""Conversations and reasoning without a model, of verbatim scenes and context.

A conversation begins with what is visible and ends with what the context adds (OphIn-Engine, section 3.3, step 12);
reasoning leads from an observation to a conclusion that the authors themselves draw (step 13). Keep out: short
questions (`templates`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.instructions.case import CuedCase, capitalised, scene_sentences, words_as_evidence
from pmo_assets.pipeline.instructions.phrases import is_seen
from pmo_assets.pipeline.instructions.phrasings import phrased
from pmo_assets.records.instructions import ContextCue, CueScore, Evidence, Instruction, Scene, Turn

LEAST_PAIRS: Final = 3
MOST_PAIRS: Final = 4
"""Questions with answers of a conversation."""

MOST_WORDS_OF_TURN: Final = 60
"""Words of an answer that is taken from the context."""

_OF_CONTEXT: Final = ("mechanism", "treatment", "history")
_ORDER: Final = {"mark": 0, "place": 1, "finding": 2, "disease": 3, "eye": 4, "imaging": 5, "case": 6}
_SENTENCE: Final = re.compile(r"[A-Z].*[a-z0-9)%][.]?$", re.DOTALL)

_EXPLAINS: Final = re.compile(
    r"\b(?:due to|because|caused by|results? (?:of|from)|suggest\w*|indicat\w+|consistent with|explain\w*|secondary to"
    r"|reflect\w*|represent\w*|correspond\w*)\b",
    re.IGNORECASE,
)

_PREDICATE: Final = re.compile(
    r"(?:was|were|is|are|has|have|had|may|might|can|could|will|would|should|did|does|do)\b", re.IGNORECASE
)

_LEADS: Final = re.compile(
    r"\b(?P<link>consistent with|compatible with|suggestive of|indicative of|characteristic of|typical (?:of|for)"
    r"|diagnostic of|pathognomonic (?:of|for)|suggesting|indicating|confirming)\s+(?:the\s+|a\s+|an\s+)?"
    r"(?:diagnosis of\s+|presence of\s+)?(?:the\s+|a\s+|an\s+)?",
    re.IGNORECASE,
)
_STATED: Final = {"suggesting": "suggestive of", "indicating": "indicative of", "confirming": "diagnostic of"}


def conversation(cued: CuedCase, questions: Sequence[Instruction]) -> list[Instruction]:
    """Return a conversation about a panel of three or four questions; none where the evidence gives fewer.

    Args:
        cued: the panel.
        questions: its short questions, whose evidence the middle turns rest on.
    """
    case = cued.case
    told = [
        (words, group)
        for words, group in scene_sentences(cued)
        if any(is_seen(entity) and scene in group for scene, entity in cued.scene_entities) and _is_whole(cued, group)
    ]
    if not case.is_pictured or not told:
        return []
    words, group = told[0]
    if len(words.split()) < 4:
        return []
    turns = [Turn("user", phrased("conversation", "opening", case.panel_id, "")), Turn("assistant", words)]
    evidence: list[Evidence] = [words_as_evidence(scene, scene.start, scene.end) for scene in group]
    added = _context_turn(cued)
    middle: list[Instruction] = []
    for item in sorted(questions, key=lambda item: (_ORDER[item.topic], item.kind == "yes_no")):
        if len(middle) < MOST_PAIRS - 1 - bool(added) and all(item.topic != other.topic for other in middle):
            middle.append(item)
    for item in middle:
        turns += item.turns
        evidence += item.evidence
    if added is not None:
        cue, question = added
        turns += [Turn("user", question), Turn("assistant", capitalised(cue.text))]
        evidence.append(Evidence("context", cue.text, cue.found_in, cue.mention, cue.start, cue.end))
    if not LEAST_PAIRS <= len(turns) // 2 <= MOST_PAIRS:
        return []
    boxes = tuple(dict.fromkeys(box for item in middle for box in item.boxes))
    sure = min([case.confidence, *(item.confidence for item in middle)])
    return [
        Instruction("conversation", "case", "", tuple(turns), tuple(dict.fromkeys(evidence)), boxes, confidence=sure)
    ]


def _is_whole(cued: CuedCase, group: Sequence[Scene]) -> bool:
    """Whether scenes reach to the end of their sentence.

    Parts of a subcaption, which is no prose, may stand alone; not what a verb follows: the lesion "was consistent with
    …".
    """
    last = group[-1]
    rest = cued.case.text_of(last.mention)[last.end :].strip()
    return _PREDICATE.match(rest) is None if last.mention is None else rest[:1] in ("", ".")


def _context_turn(cued: CuedCase) -> tuple[ContextCue, str] | None:
    """The sentence of the context that a conversation ends with, and the question that it answers."""
    for kind in _OF_CONTEXT:
        for cue in cued.cues.context:
            whole = _SENTENCE.match(cue.text) and len(cue.text.split()) >= 5
            short = len(cue.text.split()) <= MOST_WORDS_OF_TURN
            told = kind != "mechanism" or _EXPLAINS.search(cue.text) is not None
            if cue.kind == kind and told and whole and short and cued.case.is_own(cue.mention):
                return cue, phrased("conversation", kind, cued.case.panel_id, kind)
    return None


def reasoning(cued: CuedCase, score: CueScore) -> list[Instruction]:
    """Return reasoning about a panel where its words lead from what is visible to a disease, and scores allow it."""
    case = cued.case
    if not score.for_reasoning or not case.is_pictured:
        return []
    for cue in cued.cues.context:
        if cue.kind != "mechanism" or not case.is_own(cue.mention):
            continue
        lead = _LEADS.search(cue.text)
        if lead is None:
            continue
        first = cue.start + lead.end()
        ends = [
            entity
            for entity in case.entities_by_text.get(cue.mention, ())
            if entity.group == "disease" and first <= entity.start <= first + 30 and entity.end <= cue.end
        ]
        said = [(w, g) for w, g in scene_sentences(cued) if g[-1].mention == cue.mention]
        told = [
            (words, group) for words, group in said if group[0].start < cue.start and cue.start - group[-1].end <= 3
        ]  # fmt: skip
        if not ends or ends[0].negated or not told:
            continue
        words, group = told[-1]
        named = [
            entity.text
            for scene, entity in cued.scene_entities
            if scene in group and is_seen(entity) and not entity.negated and not entity.uncertain
        ]
        named = list(dict.fromkeys(named))
        if not named:
            continue
        link = lead.group("link").lower()
        disease = case.text_of(cue.mention)[first : ends[0].end]
        if len(disease.split()) > 6:
            continue
        listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        turns = (
            Turn("user", phrased("reasoning", "opening", case.panel_id, "")),
            Turn(
                "assistant",
                f"{words} Taken together, the visible {listed} can be read as {_STATED.get(link, link)} {disease}. "
                f"The image therefore points to {disease}.",
            ),
        )
        evidence = (
            *(words_as_evidence(scene, scene.start, scene.end) for scene in group),
            Evidence("context", cue.text, cue.found_in, cue.mention, cue.start, cue.end),
        )
        return [Instruction("reasoning", "case", ends[0].term, turns, evidence, confidence=case.confidence)]
    return []
