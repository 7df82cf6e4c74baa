"""Answers shortened and compared with labels, without a model: refusals, exact match, F1 of words.

Add here: rules that look at two texts. Keep out: models that judge (`judging`), vectors of words (`bertscore`).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pmo_assets.records.chat import without_reasoning
from pmo_assets.records.instructions import InstructionKind

REFUSAL: Final = "Refusal"
"""What a refusal is shortened to (paper, appendix C)."""

_TAGGED: Final = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_REFUSES: Final = re.compile(
    r"\b(?:i(?:'m| am)? (?:can(?:no|')t|unable|sorry|not able)|i (?:can not|don'?t know|do not know)|as an ai\b"
    r"|cannot (?:be )?(?:determined?|answer|assess|identify|provide|tell|see|view)"
    r"|(?:is|it'?s) (?:not possible|impossible)"
    r"|unable to (?:determine|answer|assess|identify|provide|tell|see|view)|can'?t (?:determine|answer|assess|tell)"
    r"|consult (?:a|an|your) |no image (?:is|was|has been) (?:provided|attached|given)|n/a|not available)",
    re.IGNORECASE,
)
_LABELLED: Final = re.compile(r"(?:final |short )?answer\s*(?:is)?\s*[:：]?\s*", re.IGNORECASE)
_LED: Final = re.compile(
    r"^(?:(?:the|this|my) (?:final |correct |short )?answer is"
    r"|(?:it|this|that|the (?:image|picture|scan|arrow\w*|lesion|finding))"
    r"(?: (?:that is )?(?:shown|marked|visible|here))? (?:is|are|shows?|marks?|points? (?:to|at)|lies|'s))\s*:?\s+",
    re.IGNORECASE,
)
_YES_NO: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[a-z)\]])[.!](?:\s|$)|\n")
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_SIGNS: Final = re.compile(r"[^\w\s%/+-]")


def is_refusal(answer: str) -> bool:
    """Say whether an answer says nothing: it is empty, or its first sentence refuses."""
    said = spoken(answer)
    return not said or _REFUSES.search(_SENTENCE_END.split(said, maxsplit=1)[0]) is not None


def spoken(answer: str) -> str:
    """Return what a model says after its reasoning: the last `<answer>`, else all that follows `</think>`."""
    tagged = _TAGGED.findall(answer)
    return str(tagged[-1] if tagged else without_reasoning(answer)).strip()


def extracted(kind: InstructionKind, answer: str) -> str:
    """Return an answer without what stands around it; `REFUSAL` for a refusal.

    Of yes/no questions "Yes." or "No." where the answer begins with it, or says one of both and not the other; the
    words as they are where it says neither or both. Of others the first sentence after "answer:" or "it is".
    """
    said = spoken(answer)
    if kind == "yes_no":
        led = _LABELLED.sub("", said, count=1) if _LABELLED.match(said) else said
        first = re.match(r"\W*(yes|no)\b(?!\s+(?:\w+\s+)?(?:answer|image|picture)\b)", led, re.IGNORECASE)
        if first is not None:
            return f"{first.group(1).capitalize()}."
        if is_refusal(answer):
            return REFUSAL
        named = {word.lower() for word in _YES_NO.findall(said)}
        return f"{named.pop().capitalize()}." if len(named) == 1 else said
    if is_refusal(answer):
        return REFUSAL
    labelled = list(re.finditer(r"\banswer\s*(?:is)?\s*:\s*", said, re.IGNORECASE))
    if labelled:
        said = said[labelled[-1].end() :]
    said = _LED.sub("", said.strip(), count=1)
    return _SENTENCE_END.split(said, maxsplit=1)[0].strip(" *_`\"'") or REFUSAL


def normalised(text: str) -> str:
    """Return a text as answers are compared: small, without articles and signs, single blanks."""
    return " ".join(_ARTICLES.sub(" ", _SIGNS.sub(" ", text.lower())).split())


def exact_match(answer: str, label: str) -> float:
    """Return 1 where an extracted answer is the label, but for case, articles and signs; else 0."""
    return float(normalised(answer) == normalised(label))


def token_f1(answer: str, label: str) -> float:
    """Return the harmonic mean of precision and recall of an extracted answer's words (SQuAD, arXiv 1606.05250)."""
    said, right = normalised(answer).split(), normalised(label).split()
    shared = sum((Counter(said) & Counter(right)).values())
    return 2 * shared / (len(said) + len(right)) if shared else 0.0
