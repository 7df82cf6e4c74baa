"""Short questions without a model: yes or no, what, and where, from evidence that each names.

The paper's rules of simple questions hold (section 3.3, step 11): answerable by pointing at pixels, no word about a
text, answers of one to five words. "No" is said only where the evidence denies or contradicts what is asked.

Add here: questions of one kind of evidence. Keep out: truths (`facts`), grammar (`phrases`), verdicts (`checks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pmo_assets.lexicon.words import word_list
from pmo_assets.pipeline.instructions.case import CuedCase, capitalised, words_as_evidence
from pmo_assets.pipeline.instructions.facts import (
    PlacedThing,
    contradicted,
    eye_words,
    has_term,
    is_eye,
    is_modality,
    mark_words,
    placed_things,
)
from pmo_assets.pipeline.instructions.phrases import (
    MOST_WORDS,
    MarkedTarget,
    is_seen,
    marked_targets,
    named_things,
)
from pmo_assets.pipeline.instructions.phrasings import COMMONNESS, MODALITY_WORDS, number_of, phrased
from pmo_assets.pipeline.instructions.places import HALVES, OPPOSITE, halves_of
from pmo_assets.records.geometry import Box
from pmo_assets.records.instructions import Evidence, Instruction, InstructionKind, Topic, Turn
from pmo_assets.records.modalities import Modality

MOST_OF_KIND: Final = 8
"""Questions of one kind about one panel at most."""

EYE_SIDES: Final = {"OD": "right", "OS": "left"}

_COUNTED: Final = frozenset(
    word_list(
        """
        lesion mass tumor cyst hole tear nodule granuloma plaque membrane scar detachment defect fold opacity ulcer
        bleb aneurysm macroaneurysm hemangioma hemangioblastoma melanoma nevus abscess infiltrate deposit break pit
        coloboma dehiscence implant perforation laceration drusenoid spot ring sign halo cleft rift bubble
        metastasis cavity staphyloma papilloma carcinoma lymphoma fistula shunt edge band fracture occlusion
        dialysis cataract hypopyon hyphema pterygium synechia retinoblastoma body line tumour pocket patch area
        vessel drusen-like
        """
    )
)
"""Last words of terms that stand with an article."""


def short_questions(cued: CuedCase) -> list[Instruction]:
    """Return the simple questions about a panel, at most `MOST_OF_KIND` of each kind; none about plots and diagrams."""
    if not cued.case.is_pictured:
        return []
    made: dict[InstructionKind, list[Instruction]] = {}
    seen: set[tuple[str, str]] = set()
    for item in (
        *_by_marks(cued),
        *_by_regions(cued),
        *_about_findings(cued),
        *_about_eye(cued),
        *_about_places(cued),
        *_about_modality(cued),
    ):
        own = made.setdefault(item.kind, [])
        if len(own) < MOST_OF_KIND and (item.question, item.answer) not in seen:
            seen.add((item.question, item.answer))
            own.append(item)
    return [item for items in made.values() for item in items]


_ADJECTIVES: Final = ("ic", "ed", "ous", "scent", "lucent", "al", "ive", "ory", "oid", "ular", "ble", "ary", "ior")
"""Endings of words of a text that stand for a term without being its noun ("edematous", "hyperfluorescent")."""


def as_noun(text: str, term: str) -> str:
    """Return the words of a text for a term, if they end with a noun; else the term; with an article if it needs one.

    The authors' words say no more than they mean: a "mass" is no "tumor" yet.
    """
    words = text if text.split()[-1].isupper() or text[:2].isupper() else text.lower()
    return with_article(term if words.endswith(_ADJECTIVES) else words)


def with_article(term: str) -> str:
    """Return a term as it stands in a sentence: "a retinal tear", "subretinal fluid"."""
    if term.split()[-1].split("-")[-1] not in _COUNTED:
        return term
    vowel = term[:1].lower() in "aeiou" and not term.lower().startswith(("uve", "uni", "use"))
    return f"{'an' if vowel else 'a'} {term}"


def in_sentence(words: str) -> str:
    """Return words as they stand within a sentence: without a capital, unless they are an abbreviation."""
    return words if words[:2].isupper() else words[:1].lower() + words[1:]


def _instruction(
    kind: InstructionKind,
    topic: Topic,
    asked: str,
    question: str,
    answer: str,
    *evidence: Evidence,
    confidence: float,
    boxes: tuple[Box, ...] = (),
) -> Instruction:
    return Instruction(
        kind,
        topic,
        asked,
        (Turn("user", question[:1].upper() + question[1:]), Turn("assistant", answer)),
        evidence,
        boxes,
        confidence=round(confidence, 4),
    )


def _yes_no(said: bool) -> str:
    return "Yes." if said else "No."


def _about_modality(cued: CuedCase) -> Iterator[Instruction]:
    case = cued.case
    own = case.modality
    if own is None:
        return
    evidence = Evidence("modality", own)
    sure = case.modality_probability
    words = MODALITY_WORDS[own]
    yield _instruction(
        "what", "imaging", own, phrased("what", "imaging", case.panel_id, own), capitalised(words), evidence,
        confidence=sure,
    )  # fmt: skip
    asked: list[str] = [own]
    if (other := _another_modality(cued)) is not None:
        asked.append(other)
    for name in asked:
        truth = is_modality(case, name)
        if truth is not None:
            question = phrased("yes_no", "imaging", case.panel_id, name, asked=MODALITY_WORDS[name])
            yield _instruction("yes_no", "imaging", name, question, _yes_no(truth), evidence, confidence=sure)


def _another_modality(cued: CuedCase) -> Modality | None:
    """A modality that the picture surely is not of, chosen by hash, more common ones more often."""
    choices = [(name, weight) for name, weight in COMMONNESS.items() if is_modality(cued.case, name) is False]
    if not choices:
        return None
    place = number_of("modality", cued.case.panel_id) % sum(weight for _, weight in choices)
    for name, weight in choices:
        if place < weight:
            return name
        place -= weight
    return None


def _about_eye(cued: CuedCase) -> Iterator[Instruction]:
    case = cued.case
    words = eye_words(cued)
    if words is None or case.eye is None:
        return
    scene, entity = words
    evidence = Evidence(
        "eye", entity.text, found_in=scene.found_in, mention=scene.mention, start=entity.start, end=entity.end
    )
    own = EYE_SIDES[case.eye]
    yield _instruction(
        "what", "eye", case.eye, phrased("what", "eye", case.panel_id, "eye"), f"{own.capitalize()} eye.", evidence,
        confidence=case.confidence,
    )  # fmt: skip
    side = ("right", "left")[number_of("side", case.panel_id) % 2]
    question = phrased("yes_no", "eye", case.panel_id, side, asked=side)
    yield _instruction(
        "yes_no", "eye", side, question, _yes_no(is_eye(case, side) is True), evidence, confidence=case.confidence
    )


def _about_findings(cued: CuedCase) -> Iterator[Instruction]:
    case = cued.case
    terms = dict.fromkeys(entity.term for _, entity in cued.scene_entities if is_seen(entity))
    told = [(term, said) for term in terms if (said := has_term(cued, term)) is not None]
    denied = [(term, said) for term, said in contradicted(cued) if term not in terms]
    if denied:
        told.append(denied[number_of("contradicted", case.panel_id) % len(denied)])
    # What is denied comes first: it is rarer, and balance asks for as many of both.
    names: set[str] = set()
    for term, said in sorted(told, key=lambda item: item[1].truth):
        name = said.name if term not in terms else as_noun(said.name, term)
        if name in names:
            continue
        names.add(name)
        yield _instruction(
            "yes_no", said.topic, term, phrased("yes_no", "finding", case.panel_id, term, asked=name),
            _yes_no(said.truth), words_as_evidence(said.scene, said.scene.start, said.scene.end),
            confidence=case.confidence,
        )  # fmt: skip
    named = list(named_things(cued))
    every = {entity.term for _, entity in cued.scene_entities if is_seen(entity) and not entity.negated}
    if len(named) == 1 and len(every) == 1 and _is_short(named[0].text):
        only = named[0]
        yield _instruction(
            "what", "finding", only.entity.term, phrased("what", "finding", case.panel_id, only.entity.term),
            capitalised(only.text), words_as_evidence(only.scene, only.start, only.end), confidence=case.confidence,
        )  # fmt: skip


def _is_short(words: str) -> bool:
    return 1 <= len(words.split()) <= MOST_WORDS


def _about_places(cued: CuedCase) -> Iterator[Instruction]:
    case = cued.case
    placed = [item for item in named_things(cued) if item.place]
    targets = [in_sentence(item.text) for item in placed]
    every = [item.entity.term for item in named_things(cued)]
    for item, target in zip(placed, targets, strict=True):
        if targets.count(target) != 1 or every.count(item.entity.term) != 1 or _says(target, item.place):
            continue
        evidence = words_as_evidence(item.scene, item.start, item.place_end)
        yield _instruction(
            "where", "place", item.entity.term,
            phrased("where", "place", case.panel_id, target, target=target), capitalised(item.place), evidence,
            confidence=case.confidence,
        )  # fmt: skip
        if not item.is_listed and " " in item.place and _is_short(item.text) and _opens_with_place(item.place):
            place = in_sentence(item.place)
            yield _instruction(
                "what", "place", item.entity.term,
                phrased("what", "place", case.panel_id, item.place, place=place), capitalised(item.text), evidence,
                confidence=case.confidence,
            )  # fmt: skip


def _opens_with_place(place: str) -> bool:
    return place.split()[0].lower() in {"in", "at", "within", "beneath", "under", "above", "below", "around", "near",
                                        "along", "over", "on", "behind", "superior", "inferior", "temporal", "nasal",
                                        "adjacent"}  # fmt: skip


_STEM: Final = 5
"""Letters that words of one origin share: "macula" and "macular"."""


def _says(target: str, place: str) -> bool:
    """Whether a question names all of its answer: "Where is macular edema?" — "In the macula"."""
    said = {word.lower()[:_STEM] for word in target.split()}
    return all(word.lower()[:_STEM] in said for word in place.split() if len(word) > 3)


def _by_marks(cued: CuedCase) -> Iterator[Instruction]:
    case = cued.case
    targets = marked_targets(cued)
    for item in targets:
        yield _instruction(
            "what", "mark", item.mark, phrased("what", "mark", case.panel_id, item.mark, mark=item.mark),
            capitalised(item.target), *_mark_evidence(cued, item), confidence=_mark_confidence(cued, item),
            boxes=_mark_boxes(cued, item),
        )  # fmt: skip
    apart = [
        item
        for item in targets
        if all(other is item or not item.terms & other.terms for other in targets)
    ]  # fmt: skip
    if len(apart) < 2:
        return
    for item, before in pairwise([*apart, apart[0]]):
        for target, truth in ((item, True), (before, False)):
            question = phrased(
                "yes_no", "mark", case.panel_id, f"{item.mark} {target.target}", mark=item.mark,
                target=in_sentence(target.target),
            )  # fmt: skip
            evidence = [*_mark_evidence(cued, item)] if truth else [
                *_mark_evidence(cued, item), *_mark_evidence(cued, target),
            ]  # fmt: skip
            yield _instruction(
                "yes_no", "mark", target.target.lower(), question, _yes_no(truth), *evidence,
                confidence=min(_mark_confidence(cued, item), _mark_confidence(cued, target)),
                boxes=_mark_boxes(cued, item),
            )  # fmt: skip


def _mark_evidence(cued: CuedCase, item: MarkedTarget) -> Iterator[Evidence]:
    yield words_as_evidence(item.scene, item.start, item.end)
    for number in item.marks:
        yield Evidence("mark", mark_words(cued.case.marks[number][1]), number=number)


def _mark_confidence(cued: CuedCase, item: MarkedTarget) -> float:
    return min(cued.case.confidence, *(cued.case.marks[number][1].probability for number in item.marks))


def _mark_boxes(cued: CuedCase, item: MarkedTarget) -> tuple[Box, ...]:
    return tuple(region.box for region in cued.case.regions if region.phrase == item.number)


def _by_regions(cued: CuedCase) -> Iterator[Instruction]:
    case = cued.case
    things = list(placed_things(cued))
    for thing in things:
        target = in_sentence(thing.target)
        sure = min(case.confidence, thing.region.confidence)
        words = words_as_evidence(thing.scene, thing.start, thing.end)
        for place in (thing.direction, thing.place):
            if place is not None:
                yield _instruction(
                    "where", "place", target.lower(),
                    phrased("where", "place", case.panel_id, target, target=target), capitalised(place), words,
                    Evidence("region", place, number=thing.number), confidence=sure, boxes=(thing.region.box,),
                )  # fmt: skip
                break
        yield from _half_questions(cued, thing, target, sure)


def _half_questions(cued: CuedCase, thing: PlacedThing, target: str, sure: float) -> Iterator[Instruction]:
    halves = halves_of(thing.region.box, cued.case.box)
    for half in (HALVES[0], HALVES[2]):
        if half not in halves:
            continue
        asked = half if number_of("half", half, cued.case.panel_id, target) % 2 else OPPOSITE[half]
        question = phrased("yes_no", "place", cued.case.panel_id, f"{asked} {target}", asked=asked, target=target)
        evidence = Evidence(
            "region", next(name for name in (half, OPPOSITE[half]) if halves[name]), number=thing.number
        )
        yield _instruction(
            "yes_no", "place", asked, question, _yes_no(halves[asked]),
            words_as_evidence(thing.scene, thing.start, thing.end), evidence, confidence=sure,
            boxes=(thing.region.box,),
        )  # fmt: skip
