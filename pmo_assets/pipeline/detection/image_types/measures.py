"""Readable measures of a picture (colour, dark surround, layering, paper white, edges) as evidence of its type.

A multinomial logistic regression on them (weights in `image_type.json`, fitted by `benchmarks/fit_image_type.py`) gives
one score per type. They need no network, and beside it they are a second opinion that sees proportions and colours
exactly.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fitted import MEND, named_numbers, shipped_json
from pmo_assets.pipeline.detection.networks.memory_batches import loading
from pmo_assets.pipeline.detection.reducing import resized
from pmo_assets.records.image_types import IMAGE_TYPES

SIDE = 128
"""Pictures are described at 128 pixels on the long side: layers and vessels remain, pixel noise and JPEG blocks go."""

PACKAGE_DATA = ("weights/image_type.json",)
"""Files of the package that this module reads."""

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


SOURCES = ("network", "measures", "words", "seen")
"""Sources of evidence that have a weight; see `decision.fused_scores`."""


def picture_features(crop: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the measures named in `FEATURES` for a (height, width, 3) uint8 RGB picture; most lie in 0..1."""
    scale = SIDE / max(crop.shape[:2])
    size = (max(8, round(crop.shape[1] * scale)), max(8, round(crop.shape[0] * scale)))
    rgb = resized(crop, size)
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
def image_type_weights() -> dict[str, Any]:
    """Return the fitted models.

    The measures' model has mean and scale per measure, one row of coefficients and a bias per type; `fusion` the weight
    of every source of evidence (see `decision`).

    Raises:
        SystemicError: when they cannot be read, or are not those of `FEATURES`, `IMAGE_TYPES` and `SOURCES`.
    """
    measures, types = len(FEATURES), len(IMAGE_TYPES)
    shapes = {"mean": (measures,), "scale": (measures,), "coefficients": (types, 2 * measures), "bias": (types,)}
    with loading("image_type.json", mend=MEND):
        data = shipped_json("image_type.json")
        model: dict[str, Any] = {key: np.asarray(data[key], dtype=np.float64) for key in shapes}
        wrong = [key for key, shape in shapes.items() if model[key].shape != shape or not np.isfinite(model[key]).all()]
        if wrong or data["features"] != FEATURES or data["types"] != list(IMAGE_TYPES):
            raise ValueError(f"not of these {measures} measures and {types} types: {', '.join(wrong) or 'names'}")
        return model | {"fusion": named_numbers(data["fusion"], SOURCES)}


def measured_scores(crop: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the four scores (order of `IMAGE_TYPES`, sum 1) from the pixels alone."""
    model = image_type_weights()
    features = expanded((picture_features(crop) - model["mean"]) / model["scale"])
    logits = model["coefficients"] @ features + model["bias"]
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), dtype=np.float64)
