"""Verdicts on instructions without a model: what no check can stand for is discarded, whoever wrote it.

The checks know only the panel's evidence and the messages, so that an answer of a model is held to the same rules as
one of a template. Criteria:

- form: messages alternate, the user begins, the kind's number of turns, bounded size, nothing hidden in them;
- availability: neither question nor answer says that there is none ("N/A");
- length: yes or no exactly; one to five words; bounded answers in conversations and reasoning;
- text reference: no word about a text, caption, figure or author;
- injection: nothing that speaks to a model, no markup, no address;
- pixel test: a short question asks for what is visible, not for age, sight, history, treatment;
- evidence: every piece that is named is there, word for word, and every box is a region's;
- words: the answer's words stand in the evidence;
- claim: the answer is what the evidence gives for the question (`facts`); silence is no evidence; longer answers of
  conversations are whole sentences of the panel's words;
- negation, laterality, numbers: as the panel's words have them;
- leakage: the question does not hold the answer;
- reasoning: it observes, relates and concludes, and the conclusion is one that the authors draw.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pmo_assets.lexicon.words import word_list
from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.context.entities import entities_of
from pmo_assets.pipeline.instructions.case import CuedCase, scene_sentences
from pmo_assets.pipeline.instructions.claims import expected_answers, is_true
from pmo_assets.pipeline.instructions.facts import eye_words, mark_words, region_words
from pmo_assets.pipeline.instructions.phrases import MOST_WORDS, is_seen
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS, WORD
from pmo_assets.records.geometry import as_box
from pmo_assets.records.instructions import (
    CHECKS,
    SHORT_KINDS,
    Criterion,
    Evidence,
    Instruction,
    Verdict,
)

PAIRS: Final[Mapping[str, tuple[int, int]]] = {
    "yes_no": (1, 1), "what": (1, 1), "where": (1, 1), "conversation": (3, 4), "reasoning": (1, 1),
}  # fmt: skip
"""Questions with answers of each kind, at least and at most."""

MOST_CHARACTERS: Final = 2_000
"""Of a message."""

LONGEST_ANSWER: Final = 120
"""Words of an answer in a conversation or of reasoning."""

REASONING_SENTENCES: Final = (3, 6)
"""Sentences of reasoning: the paper asks for three to five; a verbatim observation may bring one more."""

_NOTHING: Final = re.compile(
    r"\b(?:n/?a|not (?:applicable|available|stated|specified|mentioned|known)|unknown"
    r"|cannot (?:be )?(?:determined?|tell)|unclear|none)\b",
    re.IGNORECASE,
)
_OF_TEXT: Final = re.compile(
    r"\b(?:texts?|captions?|subcaptions?|legend|figures?|figs?\.?|tables?|transcripts?|passages?|articles?|papers?|authors?"
    r"|paragraphs?|manuscript|publication|described|mentioned|stated|states|according to|reported|reports?|the (?:study"
    r"|context|scene)|supplement\w*|reference\w*|panels?|see (?:also|below|above)|as above|et al)\b|\[\d+\]",
    re.IGNORECASE,
)
_INJECTION: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|prompt|previous|above|rule)|system prompt|as an ai\b"
    r"|language model|\byou (?:are|must|should) (?:now|always|answer|reply|say)|https?:|www\.|```|<\|?[a-z/]|\|>|\{\{"
    r"|\b(?:assistant|system|user)\s*:|\bjailbreak|\bDAN\b",
    re.IGNORECASE | re.DOTALL,
)
_ADVICE: Final = re.compile(r"\b(?:you should|you need to|i recommend|i advise|take \d|stop taking)\b", re.IGNORECASE)
_NOT_PIXELS: Final = re.compile(
    r"\b(?:how old|what age|\bage\b|years old|gender|visual acuity|BCVA|IOP|intraocular pressure|symptom\w*|complain\w*"
    r"|history|medication|treat\w*|therap\w*|prognos\w*|caus(?:e|ed|es)|why|when was|how long|follow-?up|dose|genetic"
    r"|patient'?s? name|hospital|diagnosed)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)?")
_SIDES: Final = (
    ("right", re.compile(r"\b(?:right eyes?|OD|oculus dexter)\b")),
    ("left", re.compile(r"\b(?:left eyes?|OS|oculus sinister)\b")),
)
_DIRECTIONS: Final = (
    ("superior", "inferior"), ("upper", "lower"), ("nasal", "temporal"), ("superonasal", "inferotemporal"),
    ("superotemporal", "inferonasal"), ("left", "right"), ("anterior", "posterior"), ("inner", "outer"),
    ("central", "peripheral"),
)  # fmt: skip
_GLUE: Final = frozenset(
    word_list(
        """
        a an the this that these those it its is are was were be been being of in on at to by with and or for from
        as there here taken together visible can read image therefore points seen shows show showing picture eye
        left right upper lower middle centre yes no also both one
        """
    )
)
"""Words that an answer may add to the evidence's: they say nothing of it. Sides have a check of their own."""

JUDGEMENT: Final = "judgement"
"""Criterion of a model's verdict (`model_verdicts`)."""

AUDIT: Final = "audit"
"""Criterion of a person's verdict (`judged`)."""

Check = Callable[[CuedCase, Instruction], str | None]
"""Returns why an instruction is to be discarded; None to keep it."""


def verdicts(cued: CuedCase, instruction: Instruction) -> tuple[Verdict, ...]:
    """Return a verdict for each criterion up to the first that discards; an instruction is kept if all keep it."""
    said: list[Verdict] = []
    for criterion, check in _CHECKS.items():
        reason = check(cued, instruction)
        said.append(Verdict(CHECKS, criterion, "keep" if reason is None else "discard", reason or ""))
        if reason is not None:
            break
    return tuple(said)


def is_kept(said: tuple[Verdict, ...]) -> bool:
    """Say whether every verdict keeps, and every check gave one."""
    return len(said) >= len(_CHECKS) and all(verdict.verdict == "keep" for verdict in said)


def _answers(instruction: Instruction) -> list[str]:
    return [turn.content for turn in instruction.turns if turn.role == "assistant"]


def _questions(instruction: Instruction) -> list[str]:
    return [turn.content for turn in instruction.turns if turn.role == "user"]


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _form(cued: CuedCase, instruction: Instruction) -> str | None:
    least, most = PAIRS[instruction.kind]
    turns = instruction.turns
    if not least <= len(turns) / 2 <= most or len(turns) % 2:
        return f"{len(turns)} messages: {instruction.kind} has {2 * least} to {2 * most}"
    for number, turn in enumerate(turns):
        if turn.role != ("user", "assistant")[number % 2]:
            return "the roles do not alternate, the user first"
        if not turn.content.strip() or len(turn.content) > MOST_CHARACTERS:
            return "a message is empty, or too long"
        if any(unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cn") and sign not in "\n" for sign in turn.content):
            return "a message holds signs that nobody sees"
    for question in _questions(instruction):
        if not question.rstrip().endswith(("?", ".")) or question.count("?") > 1:
            return "a message of the user is no single question"
    return None


def _availability(cued: CuedCase, instruction: Instruction) -> str | None:
    for turn in instruction.turns if instruction.kind in SHORT_KINDS else ():
        if (found := _NOTHING.search(turn.content)) is not None:
            return f"“{found.group()}” says that there is no answer"
    return None


def _length(cued: CuedCase, instruction: Instruction) -> str | None:
    if instruction.kind == "yes_no":
        return None if instruction.answer in ("Yes.", "No.") else "the answer is neither “Yes.” nor “No.”"
    counts = [len(answer.split()) for answer in _answers(instruction)]
    if instruction.kind in ("what", "where"):
        return None if 1 <= counts[0] <= MOST_WORDS else f"{counts[0]} words: one to {MOST_WORDS} are asked for"
    if max(counts) > LONGEST_ANSWER:
        return f"{max(counts)} words: {LONGEST_ANSWER} at most are asked for"
    return None


def _text_reference(cued: CuedCase, instruction: Instruction) -> str | None:
    return _found(_OF_TEXT, instruction, "speaks of a text")


def _injection(cued: CuedCase, instruction: Instruction) -> str | None:
    return _found(_INJECTION, instruction, "speaks to a model") or _found(_ADVICE, instruction, "gives advice")


def _found(pattern: re.Pattern[str], instruction: Instruction, what: str) -> str | None:
    for turn in instruction.turns:
        if (found := pattern.search(turn.content)) is not None:
            return f"“{found.group()[:60]}” {what}"
    return None


def _pixel_test(cued: CuedCase, instruction: Instruction) -> str | None:
    if instruction.kind not in SHORT_KINDS:
        return None
    found = _NOT_PIXELS.search(instruction.question)
    return None if found is None else f"“{found.group()}”: no pixel shows it"


def _evidence(cued: CuedCase, instruction: Instruction) -> str | None:
    if not instruction.evidence:
        return "it names no evidence"
    for item in instruction.evidence:
        if (fault := _fault_of(cued, item)) is not None:
            return fault
    if not {as_box(box) for box in instruction.boxes} <= {as_box(region.box) for region in cued.case.regions}:
        return "a box is no region's"
    if instruction.kind in ("conversation", "reasoning") and instruction.evidence[0].kind != "scene":
        return "it does not begin with what is visible"
    return None


def _fault_of(cued: CuedCase, item: Evidence) -> str | None:
    case = cued.case
    if item.kind == "modality":
        return None if item.text == case.modality else "the modality is another one"
    if item.kind in ("region", "mark"):
        held = len(case.regions) if item.kind == "region" else len(case.marks)
        if item.number is None or not 0 <= item.number < held:
            return f"there is no such {item.kind}"
        said = region_words(cued, item.number) if item.kind == "region" else {mark_words(case.marks[item.number][1])}
        return None if item.text in said else f"the {item.kind} does not say so"
    if (item.found_in == "subcaption") != (item.mention is None):
        return "its words stand in another text"
    if item.start is None or item.end is None or not 0 <= item.start < item.end:
        return "its words have no place"
    if item.mention is not None and not 0 <= item.mention < len(case.mentions):
        return "there is no such sentence"
    if case.text_of(item.mention)[item.start : item.end] != item.text:
        return "its words do not stand where it says"
    cues = cued.cues.context if item.kind == "context" else cued.cues.scenes
    if not any(cue.mention == item.mention and cue.start <= item.start and item.end <= cue.end for cue in cues):
        return "its words are no part of the scene" if item.kind != "context" else "its words are no context"
    return None


def _said_words(cued: CuedCase, instruction: Instruction) -> set[str]:
    """The words that an answer may be made of."""
    own = set(_words(" ".join(item.text for item in instruction.evidence)))
    for item in instruction.evidence:
        if item.kind == "modality":
            own |= set(_words(MODALITY_WORDS.get(item.text, "")))
        elif item.kind == "eye":
            own |= {"right", "left", "eye"}
    return own


def _words_check(cued: CuedCase, instruction: Instruction) -> str | None:
    if instruction.kind == "yes_no":
        return None
    own = _said_words(cued, instruction)
    for answer in _answers(instruction):
        strange = [word for word in _words(answer) if word not in own and word not in _GLUE]
        if strange:
            return f"“{strange[0]}” stands in none of the evidence"
    return None


def _told_at_length(cued: CuedCase, pairs: Sequence[tuple[str, str]]) -> str | None:
    """Why a conversation tells at length what the panel's words do not: parts of a sentence may say another thing."""
    scenes = [words for words, _ in scene_sentences(cued)]
    affirmed = {
        name
        for entity in cued.case.entities
        if is_seen(entity) and not entity.negated
        for name in (entity.term, *entity.broader)
    }
    for number, (question, answer) in enumerate(pairs):
        if len(_words(answer)) <= MOST_WORDS:
            continue
        told = scenes if number == 0 else [*scenes, *(cue.text for cue in cued.cues.context)]
        wholes = sorted({" ".join(_words(words)) for words in told} - {""}, key=len, reverse=True)
        left = " ".join(_words(answer))
        while left:
            whole = next((words for words in wholes if f"{left} ".startswith(f"{words} ")), None)
            if whole is None:
                return f"“{' '.join(left.split()[:6])}” begins no whole sentence of the panel's words"
            left = left[len(whole) :].strip()
        for entity in entities_of(question, {}):
            if is_seen(entity) and entity.term not in affirmed:
                return f"its question speaks of “{entity.text}”, which no evidence affirms"
    return None


def _claim(cued: CuedCase, instruction: Instruction) -> str | None:
    pairs = list(zip(_questions(instruction), _answers(instruction), strict=True))
    if instruction.kind == "reasoning":
        return None
    if instruction.kind == "conversation":
        if (reason := _told_at_length(cued, pairs)) is not None:
            return reason
        pairs = [pair for pair in pairs[1:] if len(pair[1].split()) <= MOST_WORDS]
    for question, answer in pairs:
        if answer in ("Yes.", "No."):
            truth = is_true(cued, question)
            if truth is None:
                return "no evidence says whether it is so"
            if truth != (answer == "Yes."):
                return "the evidence says the contrary"
        elif answer.rstrip(".").lower() not in expected_answers(cued, question, instruction.kind):
            return "the evidence gives another answer, or none"
    return None


def _negation(cued: CuedCase, instruction: Instruction) -> str | None:
    known = [entity for entity in cued.case.entities if is_seen(entity)]
    for answer in _answers(instruction):
        for entity in entities_of(answer, {}):
            if not is_seen(entity):
                continue
            own = [item for item in known if entity.term in (item.term, *item.broader)]
            if own and not any(item.negated == entity.negated for item in own):
                return f"“{entity.text}” is {'affirmed' if entity.negated else 'negated'} by the evidence"
            if own and not entity.uncertain and not entity.negated and all(item.uncertain for item in own):
                hedged = instruction.kind == "reasoning" and re.search(r"\bcan be read as\b", answer)
                if not hedged:
                    return f"“{entity.text}” is only suspected"
            if not own and instruction.kind in ("conversation", "reasoning"):
                return f"“{entity.text}” is no finding of this panel"
    return None


def _laterality(cued: CuedCase, instruction: Instruction) -> str | None:
    evidence = " ".join(item.text for item in instruction.evidence)
    given = _said_words(cued, instruction)
    for answer in _answers(instruction):
        for side, pattern in _SIDES:
            other_side = next(name for name, _ in _SIDES if name != side)
            if pattern.search(answer) and not pattern.search(evidence):
                words = eye_words(cued)
                if words is None or cued.case.eye != ("OD" if side == "right" else "OS"):
                    return f"no evidence says that it is the {side} eye rather than the {other_side} one"
        said = set(_words(answer))
        for one, other in _DIRECTIONS:
            for name, opposite in ((one, other), (other, one)):
                if name in said and name not in given and opposite in given:
                    return f"the evidence says {opposite}, not {name}"
    return None


def _numbers(cued: CuedCase, instruction: Instruction) -> str | None:
    given = set(_NUMBER.findall(" ".join(item.text for item in instruction.evidence)))
    for turn in instruction.turns:
        for number in _NUMBER.findall(turn.content):
            if number not in given:
                return f"{number} stands in none of the evidence"
    return None


def _leakage(cued: CuedCase, instruction: Instruction) -> str | None:
    if instruction.kind not in ("what", "where"):
        return None
    asked = set(_words(instruction.question))
    own = [
        word for word in _words(instruction.answer) if word not in _GLUE or word in ("left", "right", "upper", "lower")
    ]
    if instruction.topic == "eye":
        own = [word for word in own if word != "eye"]
    return "the question holds the answer" if own and all(word in asked for word in own) else None


def _reasoning(cued: CuedCase, instruction: Instruction) -> str | None:
    if instruction.kind != "reasoning":
        return None
    spans = sentence_spans(instruction.answer)
    least, most = REASONING_SENTENCES
    if not least <= len(spans) <= most:
        return f"{len(spans)} sentences: {least} to {most} are asked for"
    if not any(item.kind == "context" for item in instruction.evidence):
        return "no words of the authors lead to its conclusion"
    last = instruction.answer[spans[-1][0] :]
    ends = [entity.term for entity in entities_of(last, {}) if entity.group == "disease"]
    context = " ".join(item.text for item in instruction.evidence if item.kind == "context")
    drawn = {entity.term for entity in entities_of(context, {}) if entity.group == "disease" and not entity.negated}
    if not ends or not drawn.issuperset(ends):
        return "the authors draw no such conclusion"
    return None


_CHECKS: Final[Mapping[Criterion, Check]] = {
    "form": _form,
    "availability": _availability,
    "length": _length,
    "text reference": _text_reference,
    "injection": _injection,
    "pixel test": _pixel_test,
    "evidence": _evidence,
    "words": _words_check,
    "numbers": _numbers,
    "laterality": _laterality,
    "negation": _negation,
    "leakage": _leakage,
    "claim": _claim,
    "reasoning": _reasoning,
}
"""Checks in the order in which they are made: cheap ones first."""


def discarded_by(rows: Iterator[tuple[Verdict, ...]]) -> dict[str, int]:
    """Count the instructions that each criterion discarded; zeros for those that discarded none."""
    counts: dict[str, int] = dict.fromkeys([*_CHECKS, AUDIT, JUDGEMENT], 0)
    for said in rows:
        for criterion in {verdict.criterion for verdict in said if verdict.verdict == "discard"}:
            counts[criterion] += 1
    return counts
