"""Questions read back: what a yes/no question claims, and which answers the evidence gives to the others.

A question is read without knowing who wrote it or what it was made of. Words that are neither understood nor idle make
it unanswerable: then no check can stand for it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pmo_assets.pipeline.context.entities import entities_of
from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.pipeline.instructions.facts import (
    Said,
    contradicted,
    eye_words,
    has_term,
    is_eye,
    is_modality,
    placed_things,
)
from pmo_assets.pipeline.instructions.phrases import is_seen, mark_names, marked_targets, named_things
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS, WORD, idle_words
from pmo_assets.pipeline.instructions.places import HALVES, halves_of
from pmo_assets.records.instructions import InstructionKind, Topic

_EYE: Final = re.compile(r"\b(right|left) eyes?\b", re.IGNORECASE)
_OF_EYE: Final = re.compile(r"\b(?:which|what|of which|to which|say which).{0,20}\b(?:eye|side)\b|\beyes?\b")
_OF_MODALITY: Final = re.compile(r"\b(?:modality|technique|method|kind of|type of|sort of|how was)\b")
_ARTICLE: Final = re.compile(r"^(?:an?|the) ")
_MARK_WORDS: Final = re.compile(r"\b(?:arrow|asterisk|star|circle|dotted|dashed|outline|triangle)\w*")
_NEGATING: Final = re.compile(r"\b(?:no|not|without|absent|absence|free of|never|neither|nor)\b|n't\b")
_PLAIN: Final = frozenset(("a", "an", "the", "of", "in", "open", "s"))


@cache
def _modality_pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    """The names of modalities in questions, longer ones first, and the modality of each."""
    names = {_ARTICLE.sub("", words.lower()): name for name, words in MODALITY_WORDS.items()}
    longest = sorted(names, key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(map(re.escape, longest)) + r")\b", re.IGNORECASE), dict(names)


def is_true(cued: CuedCase, question: str) -> bool | None:
    """Return whether the evidence says that what a yes/no question asks is so; None where it says neither.

    All that a question claims must be so for True; one claim that the evidence denies or contradicts makes it False,
    if it says the rest of it.
    """
    rest = question
    if not cued.case.is_pictured or _NEGATING.search(rest.lower()):
        return None
    truths: list[bool | None] = []
    supports: list[str] = []
    pattern, names = _modality_pattern()
    for match in pattern.finditer(rest):
        truths.append(is_modality(cued.case, names[match.group().lower()]))
    rest = pattern.sub(" ", rest)
    half = next((name for name in HALVES if name in rest.lower()), None)
    marks = [name for name in mark_names(cued) if _names(rest.lower(), name)]
    if half is not None:
        truth, target = _in_half(cued, half, rest.lower())
        truths.append(truth)
        rest = _without(rest, half, target)
    elif marks or _MARK_WORDS.search(rest.lower()):
        if not marks:
            return None
        mark = max(marks, key=len)
        truth, target = _at_mark(cued, mark, _without(rest, mark).lower())
        truths.append(truth)
        rest = _without(rest, mark, target)
    for match in _EYE.finditer(rest):
        truths.append(is_eye(cued.case, match.group(1).lower()) if eye_words(cued) is not None else None)
    rest = _EYE.sub(" ", rest)
    spans: list[tuple[int, int]] = []
    for entity in entities_of(rest, {}):
        if is_seen(entity):
            said = _said_of(cued, entity.term, entity.text)
            denied = set() if said is None or said.truth else set(WORD.findall(_ARTICLE.sub("", said.name.lower())))
            # What denies corneal lesions says nothing of others.
            narrower = not denied <= set(WORD.findall(question.lower()))
            truths.append(None if said is None or entity.negated or narrower else said.truth)
            supports.append(said.scene.text.lower() if said is not None else "")
            spans.append((entity.start, entity.end))
    for start, end in reversed(spans):
        rest = f"{rest[:start]} {rest[end:]}"
    words = _leftover(rest.lower(), "")
    told = set(WORD.findall(supports[0])) if len(supports) == 1 else set()
    if not truths or None in truths or words - told:
        return None
    return all(truths)


def subject_of(cued: CuedCase, question: str) -> tuple[Topic, str]:
    """Return what a question is about, and what it asks for in normal form, whoever wrote it (`Instruction.asked`)."""
    asked = question.lower()
    pattern, names = _modality_pattern()
    if (found := pattern.search(question)) is not None:
        return "imaging", names[found.group().lower()]
    if (half := next((name for name in HALVES if name in asked), None)) is not None:
        return "place", half
    if marks := [name for name in mark_names(cued) if _names(asked, name)]:
        return "mark", max(marks, key=len)
    if (eye := _EYE.search(question)) is not None:
        return "eye", eye.group(1).lower()
    seen = next((entity for entity in entities_of(question, {}) if is_seen(entity)), None)
    if seen is None and _OF_MODALITY.search(asked):
        return "imaging", cued.case.modality or ""
    if seen is None and _OF_EYE.search(asked):
        return "eye", cued.case.eye or ""
    if seen is None:
        return "case", ""
    if re.match(r"\W*(?:where|in which|at which|on which)\b", asked):
        return "place", seen.term
    return ("disease" if seen.group == "disease" else "finding"), seen.term


def _without(text: str, *parts: str) -> str:
    """Return a text without words, in whatever case they stand there."""
    for part in parts:
        if part:
            text = re.sub(re.escape(part), " ", text, flags=re.IGNORECASE)
    return text


def _said_of(cued: CuedCase, term: str, text: str) -> Said | None:
    """What the scenes say of a term of a question, also where the panel's words give its name another meaning."""
    said = has_term(cued, term)
    if said is not None:
        return said
    for entity in cued.case.entities:
        if entity.text.lower() == text.lower() and is_seen(entity):
            return has_term(cued, entity.term)
    return next((item for _, item in contradicted(cued) if _ARTICLE.sub("", item.name) == text), None)


def _in_half(cued: CuedCase, half: str, rest: str) -> tuple[bool | None, str]:
    things = [item for item in placed_things(cued) if item.target.lower() in rest]
    if len(things) != 1:
        return None, ""
    said = halves_of(things[0].region.box, cued.case.box)
    return next((truth for name, truth in said.items() if name == half), None), things[0].target


def _at_mark(cued: CuedCase, mark: str, rest: str) -> tuple[bool | None, str]:
    targets = marked_targets(cued)
    own = next((item for item in targets if item.mark == mark), None)
    asked = [item for item in targets if item.target.lower() in rest]
    if own is None or not asked:
        return None, ""
    longest = max(asked, key=lambda item: len(item.target))
    if longest.target.lower() == own.target.lower():
        return True, own.target
    return (None if longest.terms & own.terms else False), longest.target


def expected_answers(cued: CuedCase, question: str, kind: InstructionKind) -> set[str]:
    """Return the answers that the evidence gives to a question for a thing or a place, small and without a full stop.

    Args:
        cued: the panel.
        question: as written.
        kind: "what", "where", or "conversation" for either.
    """
    asked = question.lower()
    if not cued.case.is_pictured:
        return set()
    found: set[str] = set()
    if kind in ("where", "conversation"):
        found |= _places(cued, asked)
    if kind in ("what", "conversation"):
        found |= _things(cued, asked)
    return {answer.lower().rstrip(" .,;:") for answer in found if answer}


def _places(cued: CuedCase, asked: str) -> set[str]:
    for item in placed_things(cued):
        if _names(asked, item.target) and not _leftover(asked, item.target):
            return {item.direction or item.place or ""}
    named = list(named_things(cued))
    return {
        item.place
        for item in named
        if item.place
        and _names(asked, item.text)
        and not _leftover(asked, item.text)
        and sum(other.entity.term == item.entity.term for other in named) == 1
    }


def _things(cued: CuedCase, asked: str) -> set[str]:
    marks = [name for name in mark_names(cued) if _names(asked, name)]
    if marks or _MARK_WORDS.search(asked):
        mark = max(marks, key=len, default="")
        return {item.target for item in marked_targets(cued) if item.mark == mark and not _leftover(asked, mark)}
    if _OF_EYE.search(asked):
        if _leftover(asked, "") or eye_words(cued) is None:
            return set()
        return {f"{'right' if cued.case.eye == 'OD' else 'left'} eye"}
    if _OF_MODALITY.search(asked):
        words = MODALITY_WORDS.get(cued.case.modality or "")
        return set() if words is None or _leftover(asked, "") else {words}
    named = list(named_things(cued))
    placed = [item for item in named if item.place and item.place.lower() in asked]
    if placed:
        longest = max(placed, key=lambda item: len(item.place))
        same = [item for item in placed if item.place.lower() == longest.place.lower()]
        if len(same) != 1 or longest.is_listed or _leftover(asked, longest.place):
            return set()
        return {longest.text}
    terms = {entity.term for _, entity in cued.scene_entities if is_seen(entity) and not entity.negated}
    if len(named) != 1 or len(terms) != 1 or _leftover(asked, ""):
        return set()
    # Out of its text an abbreviation may mean something else.
    alone = {entity.term for entity in entities_of(named[0].text, {})}
    return {named[0].text} if named[0].entity.term in alone else set()


def _names(asked: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.lower())}(?!\w)", asked) is not None


def _leftover(asked: str, words: str) -> set[str]:
    """Words of a question that are neither idle nor those that are given."""
    rest = asked.replace(words.lower(), " ") if words else asked
    return {word for word in WORD.findall(rest) if word not in idle_words() and word not in _PLAIN}
