"""Odds per image type from the words of the caption and of other datasets' labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import Modality

WORDS: tuple[tuple[str, ImageType, float], ...] = (
    # (regular expression, type, odds). Odds multiply; a term that names the modality outright gets 20, a hint 3 to 12.
    # Acronyms are matched in upper case only ("oct" is also a month), words in any case.
    (r"(?i:fundus (photo|picture|image|camera)|colou?r fundus)|\bCFPs?\b", "CFP", 20.0),
    (r"(?i:retinal photo|colou?r (retinal )?(photo|image)|\bfundoscop|\bophthalmoscop)", "CFP", 6.0),
    (r"(?i:\bfundus\b)", "CFP", 3.0),
    (r"(?i:optical coherence tomogra\w*(?! angio)|\bB-?scans?\b)|\b(SD|SS|TD|EDI)?-?OCT\b(?!-?A)", "OCT", 20.0),
    (r"(?i:fluorescein angio|indocyanine)|\bFF?A\b|\bIV?FA\b|\bICGA?\b", "Retinal Imaging", 20.0),
    (
        r"(?i:auto-?fluorescence|coherence tomography angio|\ben[ -]?face\b)|\b\w*FAF\b|\bOCT-?A\b",
        "Retinal Imaging",
        20.0,
    ),
    (
        r"(?i:infra-?red (reflectance|image|fundus)|red-?free|ultra-?wide-?field|\boptos|scanning laser ophth"
        r"|adaptive optics)|\bNIR\b|\bUWF\b|\bSLO\b",
        "Retinal Imaging",
        12.0,
    ),
    (
        r"(?i:histolog|histopatholog|ha?ematoxylin|immunohisto|stain(ed|ing)|magnification|microscop|\bblot"
        r"|flow cytometry)",
        "Other",
        20.0,
    ),
    (
        r"(?i:kaplan|\bbar (chart|graph|plot)|box ?plot|scatter|histogram|correlation|\bcurve|flow ?chart|diagram"
        r"|schematic|architecture|error bars)|\bROC\b",
        "Other",
        12.0,
    ),
    (
        r"(?i:computed tomography|magnetic resonance|ultraso|echocardio|radiograph|x-?ray|slit[ -]lamp|anterior segment"
        r"|electroretino|visual field|perimetry|coronary|cerebral|aort|renal)|\bCT\b|\bMRI?\b|\bERG\b",
        "Other",
        12.0,
    ),
)
"""Words of captions and the type they speak for (types as the annotation guide defines them)."""

EYE = re.compile(
    r"(?i:retin|macul|fundus|fove|optic (disc|disk|nerve)|choroid|ophthalm|\beyes?\b|vitre|drusen|subfoveal)"
)
"""Words without which a caption hardly belongs to a picture of the retina."""

RENDERED = re.compile(
    r"(?i:volum\w* render|render\w*\W+(\w+\W+){0,4}volum"
    r"|(3-?D|three-dimensional)\W+(volume )?(render|reconstruct|visuali|view))"
)
"""Words for a picture of a whole volume of scans, which looks like a scan and is none."""

B_SCAN = re.compile(r"(?i:\bB-?scans?\b|cross-section|\bline scans?\b)")
"""Words for a single scan; a subcaption that names both says nothing about one picture."""

SPELLED_OUT = re.compile(
    r"(?i:coherence tomogra|fluorescein|indocyanine|auto-?fluorescence image|cornea|conjunctiv|ocular|intra-?vitre"
    r"|glaucom|cataract|slit[ -]lamp|\blens(es)?\b|\bpupils?\b|visual (field|acuity)|adaptive optics"
    r"|photoreceptor|\bcone cells?\b|\buve|scler|eyelid|\borbit|amblyop|myopi|strabism)"
)
"""Further words of articles about the eye: its parts, diseases and examinations."""

TEXTURE_WORDS: Mapping[Modality, re.Pattern[str]] = {
    "adaptive optics": re.compile(
        r"(?i:adaptive.optics|\bcones?\b|\brods?\b|photoreceptor|mosaic|capillar|pigment epitheli|blood (cell|flow)"
        r"|nerve fib)|\bAO|\bRPE\b"
    ),
    "en-face OCT": re.compile(
        r"(?i:\ben[ -]?face\b|tomograph|c-?scan|slab|plexus|projection|segmentation|capillar|layer)|\b(\w+-)?OCT"
    ),
}
"""Words that speak for modalities that even textures resemble: captions of such pictures name them, or their cells."""

LEAST_WORDS = 6
"""Words of a caption that would say what it is about."""

NO_EYE_ODDS = 4.0
"""Odds for Other when there is a caption and it has neither a retinal modality nor any word of the eye."""

ELSEWHERE_ODDS = 50.0
"""Odds for Other when no caption of the article has a word of the eye."""

MANY_WORDS = 40
"""Words of an article's captions that would say whether it is about the eye."""

OUTRIGHT_ODDS = 12.0
"""Words with these odds or more name a modality, so that a label with such a word names it, too."""

OTHER_CLASSES = frozenset(
    {
        "chemical structures", "graphs and networks", "illustrative diagrams", "immuno assays",
        "laboratory specimens and cultures", "maps", "microscopy", "natural images", "pcr", "plots and charts",
        "scientific formulae and equations", "tables", "tools and materials",
    }
)  # fmt: skip
"""Primary labels of BIOMEDICA's taxonomy that no picture of the retina has. "Clinical Imaging" says nothing."""

MIXED_PANELS = re.compile(r"(?i:images? (&|and) \w)")
"""Kind of panels ("multiple panels: images & plots") of a figure whose labels leave a part of it out."""

LABEL_ODDS = 4.0
"""Odds for the one type that a figure's labels speak for. Hardly more than the weakest hint of the caption (3): the
labels are those of a cluster of alike pictures, not of this one, and of the whole figure, not of its panels. Where
pixels (50 to 1 at best) or an outright word (20) are certain, they win."""


def word_odds(words: str) -> tuple[NDArray[np.float64], list[str]]:
    """Return the odds per type (order of `IMAGE_TYPES`) that the caption's words give, and the words that count.

    A type is counted once, with its strongest word. A text that names several modalities equally says nothing about one
    picture: only the ratios matter.
    """
    odds = np.ones(len(IMAGE_TYPES))
    seen: list[str] = []
    for pattern, image_type, value in WORDS:
        match = re.search(pattern, words)
        if match:
            index = IMAGE_TYPES.index(image_type)
            odds[index] = max(odds[index], value)
            seen.append(match.group(0))
    other = IMAGE_TYPES.index("Other")
    # Ten words: a shorter caption ("Case 2.") says nothing either way.
    if len(words.split()) >= 10 and not EYE.search(words) and odds.max() == odds[other]:
        odds[other] = max(odds[other], NO_EYE_ODDS)
    return odds, seen


def are_of_another_field(captions: Iterable[str]) -> bool:
    """Say whether an article's captions have words enough, and none of the eye or of a retinal modality in full.

    Acronyms say nothing by themselves: FA is fractional anisotropy, too, and OCT a month.
    """
    texts = list(captions)
    if sum(len(text.split()) for text in texts) < MANY_WORDS:
        return False
    return not any(EYE.search(text) or SPELLED_OUT.search(text) for text in texts)


def names_a_volume(words: str) -> bool:
    """Say whether a caption names the rendering of a volume, and no single scan."""
    return bool(RENDERED.search(words)) and not B_SCAN.search(words)


def unsupported_textures(words: str) -> tuple[Modality, ...]:
    """Return the modalities that textures resemble and that a caption of some length has no word for."""
    if len(words.split()) < LEAST_WORDS:
        return ()
    return tuple(modality for modality, pattern in TEXTURE_WORDS.items() if not pattern.search(words))


def labelled_type(labels: Sequence[str]) -> ImageType | None:
    """Return the type that the labels of a figure speak for; None when they name no modality, or more than one.

    Args:
        labels: with the kind of its panels among them.
    """
    if any(MIXED_PANELS.search(label) for label in labels):
        return None
    types: set[ImageType] = {
        image_type
        for label in labels
        for pattern, image_type, odds in WORDS
        if odds >= OUTRIGHT_ODDS and re.search(pattern, label)
    }
    if any(label.lower() in OTHER_CLASSES for label in labels):
        types.add("Other")
    return types.pop() if len(types) == 1 else None
