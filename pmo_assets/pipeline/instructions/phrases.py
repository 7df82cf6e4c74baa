"""Phrases of scenes: the noun phrase of a term, the place that follows it, the words that a mark shows.

Add here: grammar of what questions and answers are cut from. Keep out: what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.lexicon.words import word_list
from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.records.context import Entity
from pmo_assets.records.instructions import Scene
from pmo_assets.records.regions import RegionPhrase

MOST_WORDS: Final = 5
"""Words of a short answer (OphIn-Engine, section 3.3, rule 3)."""

_BOUNDS: Final = frozenset(
    word_list(
        """
        a an the this that these those its his her their our no any some each every all both either such same other
        in at on of with without within by for from to into onto over under above below around near along between
        behind through during after before beside besides across against upon via per toward towards throughout
        inside outside beneath underneath adjacent surrounding involving including like as than if when while where
        which who whose and or but nor plus is are was were be been being has have had do does did can could may
        might will would shall should not only also just there here it they he she we i you then thus respectively
        shows show showing showed shown demonstrates demonstrating demonstrated demonstrate reveals revealing
        revealed reveal illustrates illustrating depicts depicting displays displaying exhibits exhibiting indicates
        indicating indicate highlights highlighting discloses disclosed presenting presents present note noted
        noting seen visible observed detected found appears appear appeared evident confirms confirmed suggests
        suggesting consistent causing caused associated corresponding extending affecting compared due secondary
        following despite because although persistent resolved resolving marked points point pointing marks see
        identified known described reported diagnosed treated mentioned mm cm nm um dd diopter diopters
        """
    )
)
"""Words that no noun phrase reaches over; of two adjectives that also say how sure or lasting something is, too; words
for what was done with it before; units, whose number stands before them."""

_WORD: Final = re.compile(r"[A-Za-z][\w'’/-]*")
_BEFORE: Final = re.compile(r"([A-Za-z][\w'’/-]*) $")
_NEXT: Final = re.compile(r"\s*(?:([A-Za-z][\w'’/-]*)|(\S)|$)")
_MOST_MODIFIERS: Final = 3

_GONE: Final = re.compile(
    r"\b(?:resol\w+|reattach\w+|repair\w*|closure|healing|reduc\w+|decreas\w+|disappear\w+|improv\w+|regress\w+|absence|absent|loss|lack\w*|previous\w*|prior"
    r"|prevent\w*|risk|without|removal|removed|exclud\w+|rule\w* out|healed|area of|extent of|free|former\w*|normal\w*"
    r"|no longer|before|mimick\w*|simulat\w+|compatible|contrary|unlike|instead|rather|spar(?:ed|ing|es)"
    r"|suppl(?:y|ies|ying)|feed(?:s|ing|er)|drain(?:s|age|ing))\b",
    re.IGNORECASE,
)
"""Words before or after a term that say that it is, or was, not there, or less, or that its vessels are shown."""

_LESS: Final = re.compile(
    r"\b(?:partial\w*|incomplete\w*|near\w*|almost|nearly|reduc\w+|decreas\w+|improv\w+|resolving|regressing)\b",
    re.IGNORECASE,
)

_UNSEEN: Final = frozenset(
    {
        "visual symptom", "ocular measurement", "functional defect", "pressure sign", "nonspecific symptom",
        "normal appearance", "artifact", "systemic disease", "genetic syndrome", "visual impairment",
        "postoperative complication", "infectious disease", "refractive error", "amblyopia",
    }
)  # fmt: skip
"""Terms, with all within them, that no picture of an eye shows as such."""

_CATEGORIES: Final = frozenset(
    {
        "angiographic sign", "optic disc sign", "inflammatory sign", "media sign", "corneal sign", "iris sign",
        "anterior chamber sign", "lens sign", "eyelid and orbital sign", "pupil sign", "histologic sign",
        "reflectivity change", "layer change", "thickness change", "autofluorescence change",
    }
)  # fmt: skip
"""Terms that only hold others together: nobody asks for them."""


@dataclass(frozen=True, slots=True)
class Named:
    """A finding or disease that a scene says is there.

    Attributes:
        scene: that says so.
        entity: of the panel.
        start, end: of its noun phrase in the scene's text source.
        text: that noun phrase.
        is_listed: it stands in a list, so that what lies beside it is not all that is there.
        place_start, place_end: of the words that say where it is; equal where nothing does.
        place: those words: "in the inferior macula", "choroid".
    """

    scene: Scene
    entity: Entity
    start: int
    end: int
    text: str
    is_listed: bool
    place_start: int
    place_end: int
    place: str


def is_seen(entity: Entity) -> bool:
    """Say whether an entity is a finding or disease that a picture can show."""
    if entity.group not in ("finding", "disease") or entity.term in _CATEGORIES:
        return False
    return not _UNSEEN.intersection((entity.term, *entity.broader))


def is_gone(scene: Scene, entity: Entity) -> bool:
    """Say whether the words around an entity say that it is, or was, not there any more, or that it is less."""
    first, last = entity.start - scene.start, entity.end - scene.start
    before = scene.text[max(0, first - 45) : first].rsplit(",", 1)[-1].rsplit(";", 1)[-1]
    after = re.split(r"[,;.(]", scene.text[last : last + 40], maxsplit=1)[0]
    return _GONE.search(before) is not None or _GONE.search(after) is not None


def is_less(scene: Scene, entity: Entity) -> bool:
    """Say whether the words before a denied entity say that only some of it is gone."""
    first = entity.start - scene.start
    return _LESS.search(scene.text, max(0, first - 45), first) is not None


def named_things(cued: CuedCase) -> Iterator[Named]:
    """Yield the findings and diseases that a panel's scenes say are there, with their places."""
    for scene, entity in cued.scene_entities:
        if not is_seen(entity) or entity.negated or entity.uncertain or is_gone(scene, entity):
            continue
        phrase = noun_phrase(scene, entity)
        if phrase is None:
            continue
        start, end = phrase
        place_start, place_end = _place(cued, scene, end)
        yield Named(
            scene,
            entity,
            start,
            end,
            scene.text[start - scene.start : end - scene.start],
            _is_listed(scene, start, end),
            place_start,
            place_end,
            scene.text[place_start - scene.start : place_end - scene.start],
        )


def noun_phrase(scene: Scene, entity: Entity) -> tuple[int, int] | None:
    """Range of a term with the words before it that belong to it; None where the term is no head of its phrase."""
    first, last = entity.start - scene.start, entity.end - scene.start
    following = _NEXT.match(scene.text, last)
    word = following.group(1) if following is not None else None
    if word is not None and word.lower() not in _BOUNDS:
        return None
    if following is not None and following.group(2) in ("-", "–", "/", "'", "’"):
        return None
    for _ in range(_MOST_MODIFIERS):
        before = _BEFORE.search(scene.text, max(0, first - 40), first)
        if before is None or before.group(1).lower() in _BOUNDS:
            break
        first = before.start()
    return scene.start + first, scene.start + last


_LAST_ARTICLE: Final = re.compile(r"\b(?:an?|the|some|several|multiple)\s+$")


def _is_listed(scene: Scene, start: int, end: int) -> bool:
    before = _LAST_ARTICLE.sub("", scene.text[: start - scene.start].lower()).rstrip()
    after = scene.text[end - scene.start :].lstrip().lower()
    return before.endswith((",", " and", " or", " with", "/", " plus", ";")) or after.startswith(
        (",", "and ", "or ", "/")
    )


_PLACE: Final = re.compile(
    r"\s*(?:\([^()]{1,40}\)\s*)?(?:(?:is|are|was|were)\s+)?(?:(?:also|clearly)\s+)?"
    r"(?:(?:seen|noted|located|visible|observed|present|found|situated)\s+)?"
    r"(?P<place>(?:in|at|within|beneath|under|underneath|above|below|around|near|along|over|on|throughout|inside|behind"
    r"|(?:adjacent|superior|inferior|temporal|nasal|anterior|posterior|superonasal|superotemporal"
    r"|inferonasal|inferotemporal) to)\s+|of\s+(?:the\s+)?(?P<of>))(?P<noun>[A-Za-z][^.,;:()]*)",
    re.IGNORECASE,
)
_MOVES: Final = re.compile(
    r"(?:herniat|prolaps|dislocat|luxat|displace|migrat|rupture|extrusion|protrusion|detachment|dehiscence)\w*$",
    re.IGNORECASE,
)
"""Findings of which "of" names what moved, not where it is."""

_PLACE_NOUNS: Final = frozenset(
    word_list(
        "quadrant quadrants periphery pole area region arcade arcades half midperiphery space corner centre center side"
    )
)
_NO_PLACES: Final = frozenset(
    word_list(
        """
        eye eyes patient patients case cases group image images photograph phase frames study same these this that
        his her their scan disease right left oculus od os ou
        """
    )
)
_ENDS_PLACE: Final = _BOUNDS - frozenset(("the", "of", "both", "a", "an", "adjacent"))


def _place(cued: CuedCase, scene: Scene, end: int) -> tuple[int, int]:
    """Range of the words behind a noun phrase that say where it is; empty where none do, or where it is not clear."""
    match = _PLACE.match(scene.text, end - scene.start)
    if match is None:
        return end, end
    first = match.start("noun") if match.group("of") is not None else match.start("place")
    last = match.start("noun")
    words = 0
    for word in _WORD.finditer(scene.text, match.start("noun"), match.end("noun")):
        if word.group().lower() in _ENDS_PLACE or scene.text[last : word.start()].strip():
            break
        last = word.end()
        words += 1
    place = scene.text[first:last]
    said = place.lower().split()
    rest = _NEXT.match(scene.text, last)
    moves = match.group("of") is not None and _MOVES.search(
        scene.text, max(0, end - scene.start - 25), end - scene.start
    )
    goes_on = rest is not None and (rest.group(1) or "").lower() in {"and", "or", "to", "between"}
    if not words or len(said) > MOST_WORDS or _NO_PLACES.intersection(said) or goes_on or moves:
        return end, end
    known = any(
        entity.group == "anatomy" and scene.start + first <= entity.start and entity.end == scene.start + last
        for entity in cued.case.entities_by_text.get(scene.mention, ())
    )
    if not known and said[-1] not in _PLACE_NOUNS:
        return end, end
    return scene.start + first, scene.start + last


@dataclass(frozen=True, slots=True)
class MarkedTarget:
    """What a mark that was seen shows, by the words of a scene.

    Attributes:
        number: position of the phrase among the panel's.
        marks: positions of its marks.
        mark: name of the mark: "white arrows".
        scene: that the words stand in.
        start, end: of the target in the scene's text source.
        target: what it shows: "hard exudates".
        terms: normal forms of what the target names.
        has_finding: a finding or disease is among it.
    """

    number: int
    marks: tuple[int, ...]
    mark: str
    scene: Scene
    start: int
    end: int
    target: str
    terms: frozenset[str]
    has_finding: bool


_ARTICLES: Final = re.compile(r"(?:the|a|an|this|these|its)\s+", re.IGNORECASE)
_PLAIN_MARK: Final = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+){0,3}")
_NAMES_MARK: Final = re.compile(
    r"(?:arrow|head|asterisk|star|circle|ring|box|square|rectangle|line|triangle|bracket|dot|cross|ellipse|oval|outline)s?$",
    re.IGNORECASE,
)
_SHOWN: Final = frozenset({"finding", "disease", "anatomy", "device"})


def marked_targets(cued: CuedCase) -> list[MarkedTarget]:
    """Return what marks show where link, name and words are sure, each name once.

    A name that several phrases give different targets is left out, and so is one of which a phrase is not linked.
    """
    found: dict[str, list[MarkedTarget | None]] = {}
    for number, phrase in enumerate(cued.case.phrases):
        name = _mark_name(phrase, cued.case.text_of(phrase.mention))
        if name is not None:
            found.setdefault(name, []).append(_marked(cued, number, phrase, name))
    return [
        next(item for item in items if item is not None)
        for items in found.values()
        if all(item is not None for item in items)
        and len({(item.target.lower(), item.marks) for item in items if item is not None}) == 1
    ]


def mark_names(cued: CuedCase) -> list[str]:
    """Return the names of all marks that the panel's words name, linked or not, each once."""
    names = (_mark_name(phrase, cued.case.text_of(phrase.mention)) for phrase in cued.case.phrases)
    return list(dict.fromkeys(name for name in names if name is not None))


def _mark_name(phrase: RegionPhrase, text: str) -> str | None:
    said = _ARTICLES.sub("", text[phrase.mark_start : phrase.mark_end].strip(" ()[]"), count=1)
    if _PLAIN_MARK.fullmatch(said) and _NAMES_MARK.search(said):
        return said if said.isupper() else said.lower()
    if phrase.kind == "asterisk":
        return "asterisks" if phrase.is_plural else "asterisk"
    return None


def _marked(cued: CuedCase, number: int, phrase: RegionPhrase, name: str) -> MarkedTarget | None:
    if phrase.undecided is not None or not phrase.marks or phrase.target_start >= phrase.target_end:
        return None
    text = cued.case.text_of(phrase.mention)
    start, end = phrase.target_start, phrase.target_end
    article = _ARTICLES.match(text, start, end)
    start = article.end() if article is not None else start
    target = text[start:end]
    entities: Sequence[Entity] = [
        entity
        for entity in cued.case.entities_by_text.get(phrase.mention, ())
        if start <= entity.start and entity.end <= end and entity.group in _SHOWN
    ]
    scene = next(
        (
            item
            for item in cued.cues.scenes
            if item.mention == phrase.mention and item.start <= start and end <= item.end
        ),
        None,
    )
    if (
        scene is None
        or not entities
        or len(target.split()) > MOST_WORDS
        or target.split()[0].lower() in _BOUNDS
        or re.search(r"[(),;:.\[\]]|\b(?:arrow|figure|panel)", target, re.IGNORECASE)
        or any(entity.negated or entity.uncertain or is_gone(scene, entity) for entity in entities)
    ):
        return None
    terms = frozenset(term for entity in entities for term in (entity.term, *entity.broader))
    seen = any(is_seen(entity) for entity in entities)
    return MarkedTarget(number, phrase.marks, name, scene, start, end, target, terms, seen)
