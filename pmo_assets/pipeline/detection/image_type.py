"""Image type of a picture: CFP, OCT, Retinal Imaging or Other, from its pixels and the caption's words.

The pixels are described by a few dozen readable measures (`picture_features`): colour, dark surround, layering, paper
white, edges. A multinomial logistic regression on them (weights in `image_type.json`, fitted by
`benchmarks/fit_image_type.py`) gives one score per type. Words of the subcaption ("fundus photograph", "OCT",
"fluorescein angiography", "histology" …) multiply these scores by odds; both are kept in the decision's reason.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import loading
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType

SIDE = 128
"""Pictures are described at 128 pixels on the long side: layers and vessels remain, pixel noise and JPEG blocks go."""

LEAST_LEAD = 0.1
"""Below this difference between the best two scores the type is not decided (None)."""

LEAST_PIXELS = 12
"""A picture narrower or lower than this shows nothing that could be classified."""

PACKAGE_DATA = ("weights/image_type.json",)
"""Files of the package that this module reads."""

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

NO_EYE_ODDS = 4.0
"""Odds for Other when there is a caption and it has neither a retinal modality nor any word of the eye."""

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

FEATURES = [
    "log_aspect",
    "saturation",
    "grey",
    "warm",
    "orange",
    "blue",
    "green",
    "white",
    "black",
    "rim_dark",
    "corner_dark",
    "round_field",
    "layered",
    "rows_varied",
    "columns_varied",
    "top_dark",
    "bottom_dark",
    "band_height",
    "edges",
    "edges_across",
    "edges_down",
    "fine",
    "top_colour",
    "second_colour",
    "colours",
    "contrast",
    "median",
    "red_over_green",
    "green_over_blue",
]
"""Names of the measures, in the order of `picture_features`."""


@dataclass(frozen=True, slots=True)
class TypeDecision:
    """The type of a picture.

    Attributes:
        image_type: None when the scores are too close or nothing can be seen.
        score: of `image_type`, or of the best candidate when None.
        scores: per type, summing to 1.
        reason: what decided, or why it could not be decided; holds the pixels' own scores when words changed them.
    """

    image_type: ImageType | None
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


def picture_features(crop: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the measures named in `FEATURES` for a (height, width, 3) uint8 RGB picture; most lie in 0..1."""
    scale = SIDE / max(crop.shape[:2])
    size = (max(8, round(crop.shape[1] * scale)), max(8, round(crop.shape[0] * scale)))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    rgb = np.asarray(cv2.resize(np.ascontiguousarray(crop), size, interpolation=interpolation), dtype=np.uint8)
    hsv = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)).astype(np.float64)
    hue, saturation, value = hsv[:, :, 0] * 2, hsv[:, :, 1] / 255, hsv[:, :, 2] / 255
    grey = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)).astype(np.float64) / 255
    height, width = grey.shape
    chroma = saturation * value
    coloured = chroma > 0.12
    lit = value > 0.12
    share_lit = max(float(lit.mean()), 0.02)
    warm = coloured & ((hue < 50) | (hue > 345))
    orange = coloured & (hue >= 5) & (hue < 40) & (saturation > 0.45)
    rim = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    k_y, k_x = max(1, height // 10), max(1, width // 10)
    corners = [grey[:k_y, :k_x], grey[:k_y, -k_x:], grey[-k_y:, :k_x], grey[-k_y:, -k_x:]]
    y, x = np.mgrid[0:height, 0:width]
    radius = np.hypot((y + 0.5) / height - 0.5, (x + 0.5) / width - 0.5) * 2
    inside, outside = lit[radius < 0.8].mean(), lit[radius > 1.15].mean()
    rows, columns = grey.mean(axis=1), grey.mean(axis=0)
    quarter = max(1, height // 5)
    bright = np.flatnonzero(rows > rows.min() + 0.5 * (rows.max() - rows.min()))
    down, across = np.abs(np.diff(grey, axis=0)), np.abs(np.diff(grey, axis=1))
    coarse = (rgb >> 5).astype(np.int64)
    codes = (coarse[:, :, 0] << 6) | (coarse[:, :, 1] << 3) | coarse[:, :, 2]
    counts = np.sort(np.bincount(codes.ravel(), minlength=512))[::-1] / codes.size
    smooth = np.asarray(cv2.GaussianBlur(grey, (0, 0), 1.5))
    means = rgb[lit].mean(axis=0) / 255 if lit.any() else np.zeros(3)
    values = [
        math.log(width / height),
        float(saturation[lit].mean()) if lit.any() else 0.0,
        float((chroma < 0.06).mean()),
        float(warm.mean()) / share_lit,
        float(orange.mean()) / share_lit,
        float((coloured & (hue >= 180) & (hue < 290)).mean()),
        float((coloured & (hue >= 70) & (hue < 170)).mean()),
        float((rgb.min(axis=2) > 230).mean()),
        float((value < 0.1).mean()),
        float((rim < 0.15).mean()),
        float(np.mean([c.mean() < 0.15 for c in corners])),
        float(inside - outside),
        float((rows.std() - columns.std()) / (rows.std() + columns.std() + 1e-3)),
        float(rows.std()),
        float(columns.std()),
        float((grey[:quarter] < 0.25).mean()),
        float((grey[-quarter:] < 0.25).mean()),
        len(bright) / height,
        float((np.hypot(down[:, :-1], across[:-1]) > 0.15).mean()),
        float((down > 0.15).mean()),
        float((across > 0.15).mean()),
        float(np.abs(grey - smooth).mean()) * 10,
        float(counts[0]),
        float(counts[1]),
        float((counts > 0.001).sum()) / 64,
        float(grey.std()),
        float(np.median(grey)),
        float(means[0] - means[1]),
        float(means[1] - means[2]),
    ]
    return np.asarray(values, dtype=np.float64)


def expanded(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return standardised measures (…, n) followed by their squares, both limited to ±4 so that no outlier decides."""
    limited = np.clip(features, -4, 4)
    return np.concatenate([limited, np.clip(limited**2, 0, 4)], axis=-1)


@lru_cache(maxsize=1)
def weights() -> dict[str, Any]:
    """Return the fitted model: mean and scale per measure, one row of coefficients and a bias per type."""
    with loading("image_type.json", mend="install pmo-assets again"):
        data = json.loads(files("pmo_assets").joinpath("weights", "image_type.json").read_text("utf-8"))
        return {key: np.asarray(data[key]) for key in ("mean", "scale", "coefficients", "bias")}


def pixel_scores(crop: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the four scores (order of `IMAGE_TYPES`, sum 1) from the pixels alone."""
    model = weights()
    features = expanded((picture_features(crop) - model["mean"]) / model["scale"])
    logits = model["coefficients"] @ features + model["bias"]
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), dtype=np.float64)


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


def with_network(pixels: NDArray[np.float64], seen_types: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the geometric mean of the pixels' scores (4,) and a network's shares, summing to 1.

    Each is sure where the other has seen little: the measures of `FEATURES` know the devices' pictures they were fitted
    on, the network figures of any make. The floors keep either from ruling a type out by itself.
    """
    shares = np.asarray([seen_types.get(name, 0.0) for name in IMAGE_TYPES], dtype=np.float64)
    mean = np.sqrt((pixels + 1e-4) * (shares + 1e-3))
    return np.asarray(mean / mean.sum(), dtype=np.float64)


def classify_image_type(
    crop: NDArray[np.uint8],
    words: str = "",
    seen_types: Mapping[str, float] | None = None,
    labels: Sequence[str] = (),
) -> TypeDecision:
    """Return the type of a picture.

    Args:
        crop: (height, width, 3) uint8 RGB.
        words: subcaption (or caption) of the panel; "" when unknown.
        seen_types: a network's share per type, where one has seen the picture in its figure.
        labels: that another dataset (BIOMEDICA) gives the whole figure.

    Returns:
        `image_type` is None, with the reason, when the picture is too small or the best two scores are closer than
        `LEAST_LEAD`.
    """
    even: dict[str, float] = {name: 1 / len(IMAGE_TYPES) for name in IMAGE_TYPES}
    if crop.ndim != 3 or min(crop.shape[:2]) < LEAST_PIXELS:
        return TypeDecision(None, 0.25, even, f"picture of {crop.shape[:2]} pixels is too small")
    pixels = pixel_scores(crop)
    odds, seen = word_odds(words)
    labelled = labelled_type(labels)
    if labelled is not None:
        odds[IMAGE_TYPES.index(labelled)] *= LABEL_ODDS
    # Pixels are never certain: 2 % is left to each type, so that an outright word can turn a clear case of doubt only.
    combined = ((with_network(pixels, seen_types) if seen_types else pixels) + 0.02) * odds
    combined /= combined.sum()
    scores: dict[str, float] = {name: round(float(value), 6) for name, value in zip(IMAGE_TYPES, combined, strict=True)}
    order = np.argsort(-combined, kind="stable")
    best = IMAGE_TYPES[int(order[0])]
    lead = float(combined[order[0]] - combined[order[1]])
    reason = "pixels " + " ".join(f"{name}={value:.2f}" for name, value in zip(IMAGE_TYPES, pixels, strict=True))
    if seen_types:
        reason += "; network " + " ".join(f"{name}={seen_types.get(name, 0.0):.2f}" for name in IMAGE_TYPES)
    if seen:
        reason += "; words " + ", ".join(seen)
    if labelled is not None:
        reason += f"; labelled {labelled}"
    if lead < LEAST_LEAD:
        second = IMAGE_TYPES[int(order[1])]
        return TypeDecision(None, scores[best], scores, f"{best} and {second} are too close; {reason}")
    return TypeDecision(best, scores[best], scores, reason)
