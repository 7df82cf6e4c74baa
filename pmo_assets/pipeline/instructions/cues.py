"""Cue separation without a model: what a panel's words say is visible, told apart from what they add.

The four rules of OphIn-Engine (section 3.2, step 8) as grammar: words are taken verbatim, with offsets; a place stays
with what lies there; mixed sentences are cut into parts; history, treatment, explanations, numbers of a study, methods
and definitions go to the context. Sections and tense decide about sentences of the running text.

Add here: phrases that begin or make context. Keep out: what is asked of scenes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.instructions.case import PanelCase
from pmo_assets.pipeline.instructions.pointing import after_pointing
from pmo_assets.records.context import Entity, SectionClass
from pmo_assets.records.instructions import ContextCue, ContextKind, CueText, PanelCues, Scene

_SEES: Final = (
    r"(?:show|demonstrat|reveal|illustrat|depict|display|exhibit|disclos|highlight|visuali[sz])\w*"
    r"|indicating|presenting with|note|noted|noting|seen|visible|observed|detected|found|appear\w*|evident|present"
)
"""Words that say that something is seen."""

_STOPS: Final = rf"(?=[,.;:()]|\s(?:{_SEES}|is|are|was|were|and the|with)\b|$)"
"""A phrase of context ends here at the latest."""

_NUMBER: Final = (
    r"(?:\d+(?:[.,]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|a few|few|many)"
)
_TIME: Final = r"(?:second|minute|hour|hr|day|week|month|year|yr)s?"
_DONE: Final = (
    r"(?:surgery|operation|treatments?|therapy|injections?|photocoagulation|implantation|removal|repair|administration"
    r"|laser|injury|trauma|delivery|enucleation|evisceration|transplant\w*|instillation|irradiation|chemotherapy"
    r"|steroids?|antibiotics|drainage|excision|resection"
    r"|extraction|procedure|application|\w+(?:ectomy|otomy|plasty|opexy|olysis|buckling))"
)
_PART_PATTERNS: Final[tuple[tuple[ContextKind, str], ...]] = (
    (
        "history",
        rf"\b(?:of|from|in|for)\s+(?:an?|the|our|this)\s+[\w-]*\s*{_NUMBER}[- ]{_TIME}[- ]old\b"
        rf"(?:(?!\b(?:{_SEES})\b)[^,.;:()])*",
    ),
    ("history", rf"\b{_NUMBER}[- ]{_TIME}[- ]old\b(?:(?!\b(?:{_SEES})\b)[^,.;:()])*"),
    (
        "history",
        r"\b(?:of|from|in)\s+(?:(?:the|our|this|a|an)\s+)?(?:same\s+)?(?:case|patient|subject|participant|proband"
        r"|volunteer)s?(?:['’]s?(?!\w))?(?:\s*(?:no\.?\s*)?\d+\b)?"
        rf"(?:\s+(?:with|who|having|affected|suffering|diagnosed|in)\s+(?:(?!\b(?:{_SEES})\b)[^,.;:()])*)?",
    ),
    ("history", r"\((?:case|patient|subject)\s*\d*\)|\bfor (?:case|patient|subject)\s*\d+\b"),
    ("history", r"^\W*(?:initial\s+)?(?:pre|post|intra|peri)?-?operative(?:ly)?\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b:?"),
    ("history", rf"\b(?:just|immediately|shortly|soon) (?:after|before|following)\b.*?{_STOPS}"),
    ("treatment", r"\b(?:surgically|previously) \w+ed\b|\b(?:which (?:is|was) )?used (?:for|to|as)\b[^,.;:()]*"),
    ("methods", r"^\W*(?:qualitative |quantitative )?results (?:in|on|of) (?:the )?[^,.;:]*? set\b"),
    ("history", r"\btaken (?:from|for|at|on|with)\b[^,.;()]*|\bat \d+ years of age\b|\bin (?:case|patient)\s*\d+\b"),
    ("history", rf"\bon the (?:\w+ )?day (?:after|following|of|before)\b.*?{_STOPS}"),
    ("treatment", rf"\b(?:after|following|before) (?:treating|receiving|undergoing|removing|starting)\b.*?{_STOPS}"),
    (
        "history",
        r"\b(?:(?:at|on|by|within|for|over|during)\s+)?(?:the\s+)?(?:\d+,?\s+){0,6}(?:and\s+)?"
        rf"{_NUMBER}[- ]?{_TIME}\s+"
        rf"(?:later\b|(?:after|following|before|prior|post|postoperative\w*|into|from)\b.*?{_STOPS}"
        r"|(?:of )?follow-?up\b)",
    ),
    ("history", rf"\b(?:after|for|over|within)\s+{_NUMBER}\s+{_TIME}\b(?:\s+of\s+.*?{_STOPS})?"),
    ("history", r"^\W*(?:case|patient|subject)\s*\d+\s*[:.;,]"),
    ("history", rf"\b(?:on|at)\s+(?:the\s+)?(?:postoperative\s+)?(?:{_TIME})\s+\d+\b.*?{_STOPS}"),
    (
        "history",
        rf"\b(?:at|on|during)\s+(?:the\s+|his\s+|her\s+)?(?:{_NUMBER}[- ]{_TIME}\s+)?(?:time of\s+)?(?:initial|first"
        r"|last|final|second|third)?\s*(?:presentation|baseline|visit|examination|follow-?up|diagnosis|admission"
        r"|referral|recall)\b"
        r"|^\W*(?:initial|first|last|final|second|third) (?:visit|examination|follow-?up)\b",
    ),
    (
        "treatment",
        rf"\b(?:after|following|before|pr(?:ior|evious) to|during|despite|under|post)\s+(?:[\w/-]+\s+){{0,5}}?{_DONE}\b"
        rf"(?:\s+(?:of|with|for|using|by|in)\s+.*?)?{_STOPS}",
    ),
    (
        "mechanism",
        r",?\s?\b(?:(?:and|which|that|findings?)\s+)?(?:is |are |was |were )?(?:suggest(?:s|ing|ed|ive of)\b"
        r"|indicative of|consistent with|compatible with|characteristic of|typical (?:of|for)|due to|because"
        r"|caused by|as a (?:result|consequence) of|secondary to|resulting from|attribut\w+ to|representing\b"
        r"|represents?\b|likely|probably|presumably|confirming|confirmed|thought to|believed to)[^;.]*",
    ),
    ("methods", r"[,(]?\s?\b(?:stained with|original magnification|magnification|scale bars?)\b[^;.)]*\)?"),
    ("methods", r"\(?\s?[×x]\s?\d{2,4}\s?\)?"),
    ("statistics", r"\(?\bp\s*[<=>≤]\s*0?\.\d+\)?"),
    (
        "figure",
        r"\(\s*(?:(?:as|see|also|seen|shown|in)\s+){0,4}(?:fig(?:ure)?s?\.?|tables?)\s*S?\d[^()]*\)"
        r"|\b(?:(?:as|see|also|seen|shown|in)\s+){0,4}\b(?:fig(?:ure)?s?\.?|tables?)\s*S?\d+\w*",
    ),
)
"""Parts of a sentence that are context."""

_PARTS: Final = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PART_PATTERNS]

_SENTENCE_PATTERNS: Final[tuple[tuple[ContextKind, str], ...]] = (
    (
        "statistics",
        r"\bp\s*[<=>≤]\s*0?\.\d|±|\b(?:mean|median|average|standard deviation|confidence interval|correlat\w+"
        r"|(?:linear|logistic) regression|error bars?|boxplots?|sensitivity|specificity|AUC|significant(?:ly)?)\b"
        r"|\bn\s?=\s?\d",
    ),
    (
        "methods",
        r"\b(?:were|was|are|is)\s+(?:then\s+)?(?:acquired|obtained|captured|recorded|processed|segmented|computed"
        r"|calculated|measured|analy[sz]ed|scanned|imaged|exported|resized|annotated|stained|incubated)\b"
        r"|\bacquisition\b|\bpixels\b|\bsoftware\b|\bcourtesy\b|\b(?:adapted|reproduced|reprinted) (?:from|with)\b"
        r"|\bpermission\b|\bimage size\b",
    ),
    (
        "other",
        r"^\W*abbreviations?\b|(?-i:^\W*[A-Z][\w/-]{0,9}\s?[=:]\s?[a-z]|^\W*[A-Z]{2,6}, [a-z ]+\W*$)"
        r"|\bet al\b|\baccording to\b|\bpublished\b",
    ),
    (
        "treatment",
        r"\b(?:underwent|received|was treated|were treated|is treated|was (?:performed|administered|injected|given"
        r"|started|prescribed|placed|inserted|implanted|sutured)|were (?:performed|administered|injected|given))\b",
    ),
    (
        "history",
        r"\b(?:clinical|physical|neurologic(?:al)?|systemic|laboratory|blood|serologic(?:al)?)"
        r" (?:examinations?|exams?|tests?|testing|work-?up)\b"
        r"|\b(?:presented|complain\w+|history of|reported|referred|visual acuity|best[- ]corrected|BCVA|was diagnosed"
        r"|diagnosis (?:was|is|were)|developed|follow-?up visit|years? (?:ago|earlier))\b",
    ),
    (
        "mechanism",
        r"\b(?:may|might|could|can (?:lead|cause|result)|usually|typically|often"
        r"|hypothes\w+|in theory"
        r"|pathogenesis|mechanism|well known|frequently"
        r"|risk (?:for|of)|trials?|so that|in order to|this (?:illustrates|suggests|corresponds))\b",
    ),
)
"""Sentences that are context as a whole: of studies, methods, definitions, courses, explanations."""

_SENTENCES: Final = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _SENTENCE_PATTERNS]

_GLUED: Final = re.compile(r"(?<=[.\w)])(?:Notes?|Abbreviations?):|(?<=[a-z)]\.)(?=[A-Z][a-z])")
"""Headings and sentences that follow without a blank: "… macula.Notes: …"."""

_SEEN: Final = re.compile(rf"\b(?:{_SEES})\b", re.IGNORECASE)
_SHOWN: Final = re.compile(
    r"\b(?:(?:show|demonstrat|reveal|illustrat|depict|display|disclos|visuali[sz])\w*|seen|visible)\b", re.IGNORECASE
)
"""Words of the running text that speak of a picture; "found" and "noted" may be of an examination."""

_OF_PICTURES: Final = re.compile(
    r"\b(?:image|photograph|photo|scan|picture|angiogra\w+|radiograph|X-ray|MRI|CT|OCT|tomogra\w+|ultraso\w+|arrow\w*"
    r"|asterisk\w*|micrograph|section|view|histolog\w+|appearance|lesion|mass|tumou?r)s?\b",
    re.IGNORECASE,
)
_ENDS: Final = " \t\n,;:.–—-()[]"
_OPENING_WORDS: Final = re.compile(r"(?:and|or|but|of|in|with|which|that|the|a|an)\b[\s,]*", re.IGNORECASE)
_PANEL_LETTERS: Final = re.compile(r"\((?:[A-Za-z]|[ivx]+|\d{1,2})(?:\s*(?:[-–,&]|and)\s*[A-Za-z0-9])*\)\s*")

_VISIBLE: Final = frozenset({"finding", "disease", "anatomy", "imaging", "device", "eye"})

_UNSEEN_SECTIONS: Final[frozenset[SectionClass]] = frozenset({"methods", "introduction"})
"""Sections whose sentences are about how it was done, or about others' work."""

_MOST_CONTEXT: Final = 40
"""Context cues of a panel at most."""


def panel_cues(case: PanelCase) -> PanelCues:
    """Return the cues of a panel's subcaption and mentions, in their order; every text is a range of its source."""
    scenes: list[Scene] = []
    context: list[ContextCue] = []
    for found_in, mention, text in case.texts():
        entities = case.entities_by_text.get(mention, ())
        for start, end in _sentences(text):
            if mention is not None and not _tells_what_is_seen(case, mention, text[start:end]):
                other: ContextKind = "methods" if case.mentions[mention].section == "methods" else "figure"
                kind = _kind_of(text[start:end]) or other
                context.append(ContextCue(found_in, mention, start, end, text[start:end], kind))
                continue
            first = after_pointing(text, start, end) if case.is_spoken else start
            for cue in _cut(text, first, end, found_in, mention, entities):
                if isinstance(cue, Scene):
                    scenes.append(cue)
                else:
                    context.append(cue)
    return PanelCues(tuple(scenes), tuple(context[:_MOST_CONTEXT]))


def why_not_visible(case: PanelCase, mention: int | None, start: int, end: int) -> str | None:
    """Return why words cannot be what is visible in a panel, whoever says so; None where they can.

    Grammar has the last word: what it takes for a history, a treatment, an explanation, a method or a study's numbers,
    and what is said of other panels, is no scene.

    Args:
        case: the panel.
        mention: position of the sentence that they stand in; None for the subcaption.
        start: of the words in the text.
        end: of the words in the text.
    """
    if mention is not None:
        told = case.mentions[mention]
        if not case.is_own(mention) or told.kind == "follows" or told.section in _UNSEEN_SECTIONS:
            return "they are not about what this panel alone shows"
    text = case.text_of(mention)
    entities = case.entities_by_text.get(mention, ())
    for first, last in _sentences(text):
        if last <= start or end <= first:
            continue
        whole = _kind_of(text[first:last])
        parts = [(first, last, whole)] if whole is not None else _context_parts(text, first, last)
        for part, end_of_part, kind in parts:
            if kind not in ("figure", "other") and part < end and start < end_of_part:
                return f"“{text[max(part, start) : min(end_of_part, end)][:60]}” is {kind}"
    return None if _is_visible(text[start:end], start, end, entities) else "they name nothing that can be seen"


def kind_of_context(text: str) -> ContextKind:
    """Return what words add to what is visible, by grammar; "other" where it does not say."""
    whole = _kind_of(text)
    other: ContextKind = "other"
    return next((kind for kind, pattern in _PARTS if pattern.search(text)), other) if whole is None else whole


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the sentences of a text; a heading that is printed without a blank before it opens one, too."""
    for start, end in sentence_spans(text):
        places = [start, *(match.start() for match in _GLUED.finditer(text, start + 1, end)), end]
        yield from itertools.pairwise(places)


def _tells_what_is_seen(case: PanelCase, mention: int, sentence: str) -> bool:
    told = case.mentions[mention]
    if not case.is_own(mention) or told.kind == "follows" or told.section in _UNSEEN_SECTIONS:
        return False
    return case.is_spoken or _SHOWN.search(sentence) is not None


def _kind_of(sentence: str) -> ContextKind | None:
    """Kind of context that a whole sentence is; None where parts of it may be visible."""
    return next((kind for kind, pattern in _SENTENCES if pattern.search(sentence)), None)


def _cut(
    text: str, start: int, end: int, found_in: CueText, mention: int | None, entities: Sequence[Entity]
) -> Iterator[Scene | ContextCue]:
    """Cut a sentence into what is visible and what is not, in its order."""
    whole = _kind_of(text[start:end])
    if whole is not None:
        yield ContextCue(found_in, mention, start, end, text[start:end], whole)
        return
    taken = _context_parts(text, start, end)
    place = start
    pieces: list[tuple[int, int, ContextKind | None]] = []
    for first, last, part in taken:
        pieces += [(place, first, None), (first, last, part)]
        place = last
    pieces.append((place, end, None))
    for first, last, adds in pieces:
        first, last = _trimmed(text, first, last, cut=first > start)
        if first >= last:
            continue
        words = text[first:last]
        if adds is not None:
            if adds != "figure":
                yield ContextCue(found_in, mention, first, last, words, adds)
        elif _is_visible(words, first, last, entities):
            yield Scene(found_in, mention, first, last, words)
        elif len(words.split()) > 2:
            yield ContextCue(found_in, mention, first, last, words, "other")


def _context_parts(text: str, start: int, end: int) -> list[tuple[int, int, ContextKind]]:
    """Ranges of a sentence that are context, disjoint and in order; the kinds are looked for in their order."""
    found: list[tuple[int, int, ContextKind]] = [
        (match.start(), match.end(), "figure") for match in _PANEL_LETTERS.finditer(text, start, end)
    ]
    for kind, pattern in _PARTS:
        for match in pattern.finditer(text, start, end):
            first, last = match.span()
            if first < last and all(last <= other[0] or other[1] <= first for other in found):
                found.append((first, last, kind))
    return sorted(found)


def _trimmed(text: str, first: int, last: int, *, cut: bool) -> tuple[int, int]:
    """Range without signs at its ends, and without idle words where it was `cut` out of its sentence; brackets stay
    where they belong to the words."""
    while True:
        words = text[first:last]
        kept = words.lstrip(_ENDS)
        first += len(words) - len(kept)
        opening = _OPENING_WORDS.match(kept)
        if opening is not None and cut and opening.group().strip(" ,").lower() not in ("the", "a", "an"):
            first += opening.end()
            continue
        break
    kept = text[first:last].rstrip(" \t\n,;:.–—-([")
    last = first + len(kept)
    while kept.endswith((")", "]")) and kept.count("(") + kept.count("[") < kept.count(")") + kept.count("]"):
        kept = kept[:-1].rstrip(_ENDS)
        last = first + len(kept)
    return first, last


def _is_visible(words: str, first: int, last: int, entities: Sequence[Entity]) -> bool:
    if any(item.group in _VISIBLE and first <= item.start and item.end <= last for item in entities):
        return True
    return len(words.split()) > 1 and (_SEEN.search(words) is not None or _OF_PICTURES.search(words) is not None)
