"""Scores of cues without a model, by features that are counted: OphIn-Engine's scales (section 3.2, step 9).

The rubrics are the paper's; that the features stand for them is this software's choice and was not compared with a
model's scores. Add here: features. Keep out: cue separation.
"""

from __future__ import annotations

import re
from typing import Final

from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.records.instructions import CueScore

LEAST_RELEVANCE: Final = 3
"""Of panels that instructions are made of (step 10)."""

REASONING_QUALITY: Final = 9
REASONING_DIFFICULTY: Final = 9
REASONING_RELEVANCE: Final = 5
"""Least scores of panels that reasoning is asked about (step 13)."""

_PLACE_WORDS: Final = re.compile(
    r"\b(?:superior|inferior|nasal|temporal|central|peripher|upper|lower|anterior|posterior|quadrant|subfoveal|parafoveal"
    r"|perifoveal|juxta\w+|o['’]clock|inner|outer|beneath|underneath|above|below|adjacent)\w*",
    re.IGNORECASE,
)
_MEASURED: Final = re.compile(r"\d\s*(?:mm|cm|µm|μm|um|DD|degrees?|°|%|clock)", re.IGNORECASE)
_MARKED: Final = re.compile(r"arrow|asterisk|\*|circle|\bbox|outline|dotted|dashed", re.IGNORECASE)
_OF_EYE: Final = frozenset({"finding", "disease", "anatomy", "imaging", "device", "eye", "stage"})


def cue_score(cued: CuedCase) -> CueScore:
    """Return the scores of a panel's cues.

    Relevance grows with the different terms of the lexicon, quality with terms a word and falls with doubts and very
    short or long scenes, difficulty grows with the different findings, diseases and places.
    """
    words = len(cued.scene_words.split())
    entities = [entity for _, entity in cued.scene_entities if entity.group in _OF_EYE]
    terms = {(entity.group, entity.term) for entity in entities}
    findings = {term for group, term in terms if group in ("finding", "disease")}
    places = {term for group, term in terms if group in ("anatomy", "eye")}
    places |= {match.group().lower() for match in _PLACE_WORDS.finditer(cued.scene_words)}
    doubts = sum(entity.uncertain for entity in entities)
    details = bool(
        places or _MEASURED.search(cued.scene_words) or (_MARKED.search(cued.scene_words) and cued.case.phrases)
    )
    relevance = min(6, 1 + len(terms)) if terms else 1
    density = len(entities) / words if words else 0.0
    quality = 2 + (words >= 4) + (words >= 8) + (words <= 80) + min(4, round(16 * density)) + (len(terms) >= 3) - doubts
    difficulty = 1 + min(5, 2 * len(findings)) + min(3, len(places)) + (words >= 20)
    quality, difficulty = (max(1, min(10, value)) for value in (quality, difficulty))
    quality = 1 if not words else quality
    kept = relevance >= LEAST_RELEVANCE and details
    return CueScore(
        quality=quality,
        difficulty=difficulty,
        relevance=relevance,
        has_details=details,
        is_kept=kept,
        for_reasoning=kept
        and quality >= REASONING_QUALITY
        and difficulty >= REASONING_DIFFICULTY
        and relevance >= REASONING_RELEVANCE,
        scene_words=words,
        terms=len(terms),
        findings=len(findings),
        places=len(places),
        doubts=doubts,
    )
