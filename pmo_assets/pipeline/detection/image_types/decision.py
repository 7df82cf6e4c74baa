"""The image type of a picture from all that is known of it: network, measures, the figure network, words, labels.

Each source of evidence gives a score per type. Their logarithms are added with weights that were fitted on pictures of
sources that neither network nor measures had seen (`benchmarks/fit_image_type.py`, `image_type.json`), so that the
result is calibrated. Without the network (structural detection) the measures stand alone. All scores are kept in the
decision's reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.image_types.measures import image_type_weights, measured_scores
from pmo_assets.pipeline.detection.image_types.words import (
    ELSEWHERE_ODDS,
    LABEL_ODDS,
    labelled_type,
    names_a_volume,
    unsupported_textures,
    word_odds,
)
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import MODALITIES, TYPE_MATRIX, TYPE_OF_MODALITY, Modality

LEAST_LEAD = 0.1
"""Below this difference between the best two scores the type is not decided (None)."""

MOSTLY = 0.5
"""Share of what the network says from which a picture is hardly more than a texture."""

LEAST_PIXELS = 12
"""A picture narrower or lower than this shows nothing that could be classified."""

DOUBT = {"network": 0.01, "measures": 0.01, "seen": 0.01}
"""Added to every score of a source before its logarithm counts: none can rule a type out by itself."""

FLOOR = 0.02
"""The same for measures that stand alone: an outright word can turn a clear case of doubt only."""


@dataclass(frozen=True, slots=True)
class TypeDecision:
    """The type of a picture.

    Attributes:
        image_type: None when the scores are too close or nothing can be seen.
        score: of `image_type`, or of the best candidate when None.
        scores: per type, summing to 1.
        reason: the scores of every source, by which it was decided, or could not be.
        modality: modality of the picture by the network; None without it or without a type.
        modality_score: 0..1, its share.
    """

    image_type: ImageType | None
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    modality: Modality | None = None
    modality_score: float = 0.0


def type_shares_of(modality_shares: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return shares per type (…, 4) of shares per modality (…, modalities)."""
    return np.asarray(modality_shares, dtype=np.float64) @ np.asarray(TYPE_MATRIX, dtype=np.float64).T


def fused_scores(
    measures: NDArray[np.float64],
    odds: NDArray[np.float64],
    network: NDArray[np.float64] | None = None,
    seen: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the scores per type, summing to 1, of sources of evidence (each (4,), order of `IMAGE_TYPES`).

    Args:
        measures: of the pixels' measures.
        odds: of words and labels; 1 says nothing.
        network: of the image type network; None without one.
        seen: of a network that found the picture in its figure; None where none did.
    """
    if network is None:
        own = measures if seen is None else _normal(np.sqrt((measures + 1e-4) * (seen + 1e-3)))
        return _normal((own + FLOOR) * odds)
    fusion = image_type_weights()["fusion"]
    logits = fusion["network"] * np.log(network + DOUBT["network"])
    logits = logits + fusion["measures"] * np.log(measures + DOUBT["measures"]) + fusion["words"] * np.log(odds)
    if seen is not None:
        logits = logits + fusion["seen"] * np.log(seen + DOUBT["seen"])
    return _normal(np.exp(logits - logits.max()))


def _normal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values / values.sum(), dtype=np.float64)


def _said(name: str, scores: NDArray[np.float64]) -> str:
    return f"{name} " + " ".join(f"{kind}={value:.2f}" for kind, value in zip(IMAGE_TYPES, scores, strict=True))


def _evidence(
    measures: NDArray[np.float64],
    network: NDArray[np.float64] | None,
    seen: NDArray[np.float64] | None,
    said: Sequence[str],
    labelled: ImageType | None,
    doubtful: float,
) -> str:
    """Return the scores of every source in words."""
    reasons = [_said("measures", measures)]
    if network is not None:
        reasons.insert(0, _said("network", network))
    if seen is not None:
        reasons.append(_said("figure network", seen))
    if said:
        reasons.append("words " + ", ".join(said))
    if labelled is not None:
        reasons.append(f"labelled {labelled}")
    if doubtful >= LEAST_LEAD:
        reasons.append(f"{doubtful:.2f} of the network's shares are textures that no word speaks for")
    return "; ".join(reasons)


def classify_image_type(
    crop: NDArray[np.uint8],
    words: str = "",
    seen_types: Mapping[str, float] | None = None,
    labels: Sequence[str] = (),
    modality_shares: NDArray[np.float32] | None = None,
    *,
    elsewhere: bool = False,
) -> TypeDecision:
    """Return the type of a picture.

    Args:
        crop: (height, width, 3) uint8 RGB.
        words: subcaption (or caption) of the panel; "" when unknown.
        seen_types: the share per type that a network gave which found the picture in its figure.
        labels: that another dataset (BIOMEDICA) gives the whole figure.
        modality_shares: the image type network's, (modalities,), order of `MODALITIES`; None without it.
        elsewhere: no caption of the article speaks of the eye (`are_of_another_field`).

    Returns:
        `image_type` is None, with the reason, when the picture is too small, the best two scores are closer than
        `LEAST_LEAD`, or what looks like a retinal picture is a texture that no word speaks for, or is `elsewhere`.
    """
    even: dict[str, float] = {name: 1 / len(IMAGE_TYPES) for name in IMAGE_TYPES}
    if crop.ndim != 3 or min(crop.shape[:2]) < LEAST_PIXELS:
        return TypeDecision(None, 0.25, even, f"picture of {crop.shape[:2]} pixels is too small")
    measures = measured_scores(crop)
    odds, said = word_odds(words)
    labelled = labelled_type(labels)
    if labelled is not None:
        odds[IMAGE_TYPES.index(labelled)] *= LABEL_ODDS
    unsupported = unsupported_textures(words)
    shares, doubtful = _without(modality_shares, unsupported)
    if elsewhere:
        odds = np.where(np.asarray(IMAGE_TYPES) == "Other", np.maximum(odds, ELSEWHERE_ODDS), 1.0)
    network = None if shares is None else type_shares_of(shares) + doubtful / len(IMAGE_TYPES)
    seen = np.asarray([seen_types.get(name, 0.0) for name in IMAGE_TYPES]) if seen_types else None
    combined = fused_scores(measures, odds, network, seen)
    scores: dict[str, float] = {name: round(float(value), 6) for name, value in zip(IMAGE_TYPES, combined, strict=True)}
    order = np.argsort(-combined, kind="stable")
    best = IMAGE_TYPES[int(order[0])]
    reason = _evidence(measures, network, seen, said, labelled, doubtful)
    second = IMAGE_TYPES[int(order[1])]
    doubt = None
    if float(combined[order[0]] - combined[order[1]]) < LEAST_LEAD:
        doubt = f"{best} and {second} are too close"
    elif best != "Other" and elsewhere:
        doubt = f"like {best}, and no caption of the article is of the eye"
    elif best != "Other" and doubtful > MOSTLY and odds[order[0]] <= 1:
        doubt = f"a texture, and no word for {best}"
    if doubt is not None:
        return TypeDecision(None, scores[best], scores, f"{doubt}; {reason}")
    if best == "OCT" and names_a_volume(words):
        # By the guide OCT are B-scans; the network cannot tell a rendering, another picture of the retina, from them.
        exchanged = {**scores, "OCT": scores["Retinal Imaging"], "Retinal Imaging": scores["OCT"]}
        return TypeDecision("Retinal Imaging", scores[best], exchanged, f"words name a volume's rendering; {reason}")
    modality, share = _likeliest_modality(shares, best)
    return TypeDecision(best, scores[best], scores, reason, modality, round(share * scores[best], 6))


def _without(
    shares: NDArray[np.float32] | None, modalities: Sequence[Modality]
) -> tuple[NDArray[np.float64] | None, float]:
    """Return shares without some modalities, and how much these had.

    Even textures resemble them (hatching, muscle in ultrasound, low-contrast scans), and nothing in pixels tells these
    apart: where no word speaks for them the network has said nothing.
    """
    if shares is None:
        return None, 0.0
    kept = np.asarray([0.0 if name in modalities else share for name, share in zip(MODALITIES, shares, strict=True)])
    return kept, float(np.sum(shares) - kept.sum())


def _likeliest_modality(shares: NDArray[np.float64] | None, image_type: ImageType) -> tuple[Modality | None, float]:
    """Return the likeliest modality of a type and its share among those of the type."""
    if shares is None:
        return None, 0.0
    own = np.asarray([share * (TYPE_OF_MODALITY[m] == image_type) for m, share in zip(MODALITIES, shares, strict=True)])
    if own.sum() <= 0:
        return None, 0.0
    return MODALITIES[int(own.argmax())], float(own.max() / own.sum())
