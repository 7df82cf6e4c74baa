"""What a panel's evidence says is so: the truths that yes/no questions are made of and held against.

Each function answers True, False, or None where the evidence says neither: silence is never False.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.pipeline.instructions.case import CuedCase, PanelCase
from pmo_assets.pipeline.instructions.phrases import is_gone, is_less, is_seen, marked_targets, noun_phrase
from pmo_assets.pipeline.instructions.phrasings import contradictions, contradicts
from pmo_assets.pipeline.instructions.places import FRONT_VIEWS, direction_from, halves_of, place_in
from pmo_assets.records.context import Entity
from pmo_assets.records.instructions import Scene
from pmo_assets.records.regions import Mark, Region

SURE_REGION: Final = 0.5
"""Confidence of a region from which its box says where something is."""

EYE_MODALITIES: Final = frozenset(
    {
        "fundus photograph", "ultra-widefield", "montage", "fluorescein angiography", "indocyanine green angiography",
        "autofluorescence", "red-free", "infrared", "OCT angiography", "en-face OCT", "thickness map",
        "adaptive optics", "OCT", "external eye", "slit lamp", "topography",
    }
)  # fmt: skip
"""Modalities of pictures of eyes, on which a side is an eye's."""

_NAMES_EYE: Final = re.compile(r"\beyes?\b|\bO[DS]\b|\bocul", re.IGNORECASE)

LANDMARKS: Final = ("fovea", "optic disc")
"""Terms that directions of the fundus are told from."""


@dataclass(frozen=True, slots=True)
class PlacedThing:
    """A finding, disease or structure that one region shows.

    Attributes:
        number: position of the region among the panel's.
        region: with its box, normalised to the figure.
        scene: that names it.
        start, end: of its name in the scene's text source.
        target: its name.
        place: ninth of the panel's picture; None where it is not clear.
        direction: from a landmark: "inferior to the fovea"; None without.
    """

    number: int
    region: Region
    scene: Scene
    start: int
    end: int
    target: str
    place: str | None
    direction: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a scene that say whether a finding or disease is there.

    Attributes:
        truth: it is.
        scene: that says so.
        start, end: of the words in the scene's text source.
        name: what the words call it, of what is denied with all words that belong to it: "no corneal lesions" denies no
            others; where a statement of normality denies it, its name with an article.
        topic: its group.
    """

    truth: bool
    scene: Scene
    start: int
    end: int
    name: str
    topic: Literal["finding", "disease"]


def has_term(cued: CuedCase, term: str) -> Said | None:
    """Return what the panel's scenes say of a finding or disease of the lexicon; None where they say nothing sure.

    It is there where a scene affirms it, or a narrower term; it is not where a scene negates it or contradicts it, and
    no text of the panel says otherwise. What is doubted, gone, or said both ways is neither.
    """
    texts = [entity for entity in cued.case.entities if is_seen(entity)]
    affirmed = [item for item in texts if not item.negated and term in (item.term, *item.broader)]
    denied = [item for item in texts if item.negated and item.term == term]
    if affirmed and denied:
        return None
    for scene, entity in cued.scene_entities:
        there = affirmed and entity in affirmed and not is_gone(scene, entity) and not _is_technique(scene, entity)
        absent = not affirmed and entity in denied and not is_less(scene, entity) and not _EXAMINED.search(scene.text)
        phrase = (entity.start, entity.end) if there else noun_phrase(scene, entity)
        if (there or absent) and not entity.uncertain and phrase is not None:
            topic: Literal["finding", "disease"] = "disease" if entity.group == "disease" else "finding"
            name = scene.text[phrase[0] - scene.start : phrase[1] - scene.start]
            return Said(bool(affirmed), scene, *phrase, name, topic)
    return None if affirmed else next((said for name, said in contradicted(cued) if name == term), None)


_PICTURES: Final = re.compile(
    r"\s+(?:image|photograph|picture|scan|test|examination|pattern|technique|map|score|space)s?\b"
    r"|[-‐–](?:attenuated|weighted|sensitive|suppressed|saturated|like|free|level)\b",
    re.IGNORECASE,
)


def _is_technique(scene: Scene, entity: Entity) -> bool:
    """Say whether an entity only names a picture, test or space: "corneal staining image", "fluid-attenuated"."""
    return _PICTURES.match(scene.text, entity.end - scene.start) is not None


def contradicted(cued: CuedCase) -> Iterator[tuple[str, Said]]:
    """Yield the terms that statements of normality in scenes deny and that no text of the panel affirms.

    None where a scene, or the panel's subcaption, compares.
    """
    if _COMPARED.search(cued.case.subcaption):
        return
    affirmed = {
        name for item in cued.case.entities if is_seen(item) and not item.negated for name in (item.term, *item.broader)
    }
    for scene in cued.cues.scenes:
        if _COMPARED.search(scene.text):
            continue
        for statement in contradictions():
            match = statement.words.search(scene.text.lower())
            if match is None or _DENIED.search(scene.text, max(0, match.start() - 30), match.start()):
                continue
            for term, name in statement.denies.items():
                if term not in affirmed:
                    first = scene.start + match.start()
                    yield term, Said(False, scene, first, scene.start + match.end(), name, "finding")


_EXAMINED: Final = re.compile(
    r"\b(?:ophthalm\w+|clinical\w*|physical|neurologic\w*|laborator\w+|slit[- ]lamp) "
    r"(?:exam\w*|evaluat\w+|assess\w+|test\w*)",
    re.IGNORECASE,
)
"""An examination of the patient: what it did not find may be in the picture."""

_COMPARED: Final = re.compile(r"\b(?:compar\w+|versus|vs|differ\w+)\b", re.IGNORECASE)
"""Words of a comparison: what one picture is normal in, another one is not."""

_DENIED: Final = re.compile(r"\b(?:no|not|without|loss of|lost|absent|never|lack\w*|loses)\b", re.IGNORECASE)


def is_modality(case: PanelCase, modality: str) -> bool | None:
    """Return whether the panel's picture is of a modality; None where one may be taken for the other."""
    if case.modality is None:
        return None
    if modality == case.modality:
        return True
    seen = {case.modality, *(image.modality for image in case.images if image.modality is not None)}
    return False if all(contradicts(modality, other) for other in seen) else None


def is_eye(case: PanelCase, side: str) -> bool | None:
    """Return whether the panel shows the "right" or "left" eye."""
    if case.eye not in ("OD", "OS"):
        return None
    return (case.eye == "OD") == (side == "right")


def eye_words(cued: CuedCase) -> tuple[Scene, Entity] | None:
    """Return the words of a scene of the subcaption, or of a lecture, that name the panel's one eye; None without."""
    if cued.case.eye not in ("OD", "OS"):
        return None
    of_eye = cued.case.modality in EYE_MODALITIES
    named = [(scene, entity) for scene, entity in cued.scene_entities if entity.group == "eye"]
    if any(entity.term != cued.case.eye for _, entity in named):
        return None
    own = [item for item in named if item[0].mention is None or cued.case.is_spoken]
    return next((item for item in own if of_eye or _NAMES_EYE.search(item[1].text)), None)


def placed_things(cued: CuedCase) -> Iterator[PlacedThing]:
    """Yield the findings and diseases that sure regions show, where one region alone shows what its phrase names."""
    case = cued.case
    shown = [item for item in marked_targets(cued) if item.has_finding]
    for item in shown:
        own = [number for number, region in enumerate(case.regions) if region.phrase == item.number]
        if len(own) != 1 or case.phrases[item.number].is_plural:
            continue
        region = case.regions[own[0]]
        if region.confidence < SURE_REGION or region.source == "model":
            continue
        if sum(bool(item.terms & other.terms) for other in shown) == 1:
            place = place_in(region.box, case.box)
            yield PlacedThing(
                own[0], region, item.scene, item.start, item.end, item.target, place, _direction(cued, region)
            )


def region_words(cued: CuedCase, number: int) -> set[str]:
    """Return what a region's box says of where something is: its place or direction, and the halves that it lies in."""
    said: set[str] = set()
    for thing in placed_things(cued):
        if thing.number == number:
            said |= {words for words in (thing.direction, thing.place) if words is not None}
            said |= {half for half, lies in halves_of(thing.region.box, cued.case.box).items() if lies}
    return said


def mark_words(mark: Mark) -> str:
    """Return a mark in words: its colour, where it is known, and its kind."""
    return " ".join(filter(None, (mark.colour, mark.kind)))


def _direction(cued: CuedCase, region: Region) -> str | None:
    case = cued.case
    if case.modality not in FRONT_VIEWS:
        return None
    for landmark in LANDMARKS:
        for other in case.regions:
            if other is region or other.phrase is None or other.confidence < SURE_REGION:
                continue
            phrase = case.phrases[other.phrase]
            inside = [
                entity.term
                for entity in case.entities_by_text.get(phrase.mention, ())
                if phrase.target_start <= entity.start and entity.end <= phrase.target_end
            ]
            if inside != [landmark] or phrase.undecided is not None or phrase.is_plural:
                continue
            said = direction_from(other.box, region.box, ratio=case.ratio, frame=case.box, eye=case.eye)
            if said is not None:
                return f"{said} to the {landmark}"
    return None
