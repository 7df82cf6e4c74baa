"""Modality of a panel: its pixels and its words as one calibrated decision, both scores kept.

Pixels are the modalities of the panel's images. Words are the panel's own, its subcaption, before those of the
sentences that name it, before those about the figure as a whole. The logarithms of what each of them says are added
with weights that were fitted on articles (`benchmarks/fit_panel_modality.py`, `weights/panel_modality.json`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pmo_assets.pipeline.context.modality_words import OUTRIGHT, named_modalities
from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.records.context import ModalityClass, PanelMention, PanelModality
from pmo_assets.records.geometry import area
from pmo_assets.records.modalities import Modality
from pmo_assets.records.panels import PanelImage

PACKAGE_DATA = ("weights/panel_modality.json",)
"""Files of the package that this module reads."""

Decided = Literal["R", "V", "M", "N"]
CLASSES: Final[tuple[Decided, ...]] = ("R", "V", "M", "N")

CLASS_OF: Final[Mapping[Modality, Decided]] = {
    **dict.fromkeys(
        (
            "fundus photograph", "ultra-widefield", "montage", "fluorescein angiography",
            "indocyanine green angiography", "autofluorescence", "red-free", "infrared", "OCT angiography",
            "en-face OCT", "thickness map", "adaptive optics", "OCT", "external eye", "slit lamp", "topography",
            "endoscopy", "skin", "photograph",
        ),
        "V",
    ),
    **dict.fromkeys(("ultrasound", "radiograph", "CT or MR"), "R"),
    **dict.fromkeys(("histology", "microscopy"), "M"),
    **dict.fromkeys(("mask", "plot", "diagram", "text"), "N"),
}  # fmt: skip
"""OPEN-PMC's class of each modality: retinal imaging, OCT included, is "visible light photography" there."""

LEAST: Final = 0.5
"""Probability from which a class is decided: below it another one may be as likely."""

TIERS: Final = ("own words", "panel words", "figure words")
"""Words of a panel, the nearest first: its subcaption, sentences that name it, sentences about the figure."""

WEIGHTS: Final = ("pixels", *TIERS, *(f"always {name}" for name in CLASSES))
"""Names of the weights."""

PIXEL_DOUBT: Final = 0.02
WORD_DOUBT: Final = 0.05
"""Added to every share before its logarithm counts: neither can rule a class out by itself."""

_OWN_TRUST: Final = 0.9
_OTHER_TRUST: Final = 0.6
"""How far a modality named in the panel's own words, and in others, is believed against that of its pixels."""


@dataclass(frozen=True, slots=True)
class ModalityEvidence:
    """Evidence of a panel's modality: shares by modality, summing to 1; None where nothing is said.

    Attributes:
        pixels: by its images, weighted by their area.
        words: by each of `TIERS`.
    """

    pixels: Mapping[Modality, float] | None
    words: tuple[Mapping[Modality, float] | None, ...]


def modality_evidence(
    images: Sequence[PanelImage], subcaption: str, mentions: Iterable[PanelMention]
) -> ModalityEvidence:
    """Return what pixels and words say of a panel.

    Args:
        images: of the panel.
        subcaption: of the panel; "" without one.
        mentions: its own and those of the figure as a whole; those of other panels are left to the caller.
    """
    sentences: dict[bool, list[str]] = {True: [], False: []}
    for mention in mentions:
        sentences[mention.identifier is not None].append(mention.sentence)
    texts = (subcaption, " ".join(sentences[True]), " ".join(sentences[False]))
    return ModalityEvidence(_pixel_shares(images), tuple(_shares(named_modalities(text)) for text in texts))


def panel_modality(evidence: ModalityEvidence, weights: Mapping[str, float] | None = None) -> PanelModality:
    """Return the modality of a panel; `weights` by `WEIGHTS`, None for the package's."""
    weights = modality_weights() if weights is None else weights
    both = class_probabilities(evidence, weights)
    best = max(CLASSES, key=both.__getitem__)
    silent = ModalityEvidence(None, (None,) * len(TIERS))
    by_pixels = by_words = None
    pixels = words = None
    if evidence.pixels is not None:
        pixels = _likeliest(evidence.pixels)
        by_pixels = class_probabilities(ModalityEvidence(evidence.pixels, silent.words), weights)
    named = next((tier for tier in evidence.words if tier is not None), None)
    if named is not None:
        words = _likeliest(named)
        by_words = class_probabilities(ModalityEvidence(None, evidence.words), weights)
    decided = both[best] >= LEAST and (pixels is not None or words is not None)
    return PanelModality(
        modality_class=best if decided else "ambiguous",
        modality=_finer(best, evidence) if decided else None,
        probability=round(both[best], 4),
        pixel_modality=pixels,
        pixel_probability=None if by_pixels is None or pixels is None else round(by_pixels[CLASS_OF[pixels]], 4),
        word_modality=words,
        word_probability=None if by_words is None or words is None else round(by_words[CLASS_OF[words]], 4),
        agrees=None if pixels is None or words is None else CLASS_OF[pixels] == CLASS_OF[words],
        medical=both["N"] < LEAST,
    )


def class_probabilities(evidence: ModalityEvidence, weights: Mapping[str, float]) -> dict[Decided, float]:
    """Return the probability of each class; those of all panels where nothing is known."""
    logits = {name: weights[f"always {name}"] for name in CLASSES}
    for features in evidence_features(evidence).items():
        name, shares = features
        for kind in CLASSES:
            logits[kind] += weights[name] * shares[kind]
    most = max(logits.values())
    odds = {kind: math.exp(value - most) for kind, value in logits.items()}
    total = sum(odds.values())
    return {kind: value / total for kind, value in odds.items()}


def evidence_features(evidence: ModalityEvidence) -> dict[str, dict[Decided, float]]:
    """Return the logarithm of each class's share by each source that says something; names as in `WEIGHTS`."""
    found = {}
    for name, shares, doubt in (
        ("pixels", evidence.pixels, PIXEL_DOUBT),
        *((tier, said, WORD_DOUBT) for tier, said in zip(TIERS, evidence.words, strict=True)),
    ):
        if shares is not None:
            classes = dict.fromkeys(CLASSES, 0.0)
            for modality, share in shares.items():
                classes[CLASS_OF[modality]] += share
            rest = max(0.0, 1 - sum(classes.values())) / len(CLASSES)
            found[name] = {kind: math.log(share + rest + doubt) for kind, share in classes.items()}
    return found


@lru_cache(maxsize=1)
def modality_weights() -> Mapping[str, float]:
    """Return the weights that were fitted.

    Raises:
        SystemicError: when the package's file of them is missing or broken.
    """
    return fitted_numbers("panel_modality.json", WEIGHTS)


def _pixel_shares(images: Sequence[PanelImage]) -> Mapping[Modality, float] | None:
    """Return the shares of modalities by area; what an image's score leaves open is no modality's."""
    shares: dict[Modality, float] = {}
    whole = 0.0
    for image in images:
        if image.modality is not None:
            size = max(area(image.box), 1e-6)
            whole += size
            shares[image.modality] = shares.get(image.modality, 0.0) + size * image.modality_score
    return {modality: share / whole for modality, share in shares.items()} if whole else None


def _shares(named: Mapping[Modality, float]) -> Mapping[Modality, float] | None:
    """Return shares of what was named; hints count only where nothing is named outright."""
    if not named:
        return None
    strongest = max(named.values())
    total = sum(named.values())
    # A hint alone leaves as much open as it says.
    return {
        modality: weight / total * min(1.0, (strongest + OUTRIGHT) / (2 * OUTRIGHT))
        for modality, weight in named.items()
    }


def _likeliest(shares: Mapping[Modality, float]) -> Modality:
    return max(shares, key=shares.__getitem__)


def _finer(kind: ModalityClass, evidence: ModalityEvidence) -> Modality | None:
    """Return the modality of a class that pixels or words are surest of; None when neither has one of this class."""
    best: tuple[float, Modality] | None = None
    trusted = ((evidence.pixels, 1.0), *zip(evidence.words, (_OWN_TRUST, _OTHER_TRUST, _OTHER_TRUST), strict=True))
    for shares, trust in trusted:
        for modality, share in (shares or {}).items():
            if CLASS_OF[modality] == kind and (best is None or share * trust > best[0]):
                best = share * trust, modality
    return best[1] if best else None
