"""Confidence of an assignment: the share of such panels whose subcaption is theirs.

The shares of `assignment` are those of a model that takes panels, names and print from detection and captions as true.
A logistic function over them and over the confidences of those steps makes them shares of panels
(`benchmarks/fit_assembly_confidence.py` fits it).
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from pmo_assets.pipeline.detection.networks.memory_batches import loading

PACKAGE_DATA = ("weights/assembly_confidence.json",)
"""Files of the package that this module reads."""

CONFIDENCE_THRESHOLD: Final = 0.92
"""Panels that rules are less sure of are undecided (`records.panels.is_undecided`)."""

_LEAST: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Features:
    """Features of an assignment, from which its confidence is computed.

    Attributes:
        share: 0..1, of the name in all assignments.
        panel: 0..1, that the panel is one.
        caption: 0..1, of the caption's split.
        read: 0..1, how far print in the panel says the name itself.
        counted: true if there are as many panels as names.
        disorder: 0..1, how far the figure's panels follow no order.
        least: 0..1, the least share of a name that a panel of the figure got.
        method: of the assignment.
    """

    share: float
    panel: float
    caption: float
    read: float
    counted: bool
    disorder: float
    least: float
    method: str


def logit(value: float) -> float:
    """Return the logarithm of the odds of a share, cut off at 1 in 1,000."""
    value = min(max(value, _LEAST), 1 - _LEAST)
    return math.log(value / (1 - value))


def terms(features: Features) -> dict[str, float]:
    """Return the terms of the logistic function by name."""
    return {
        "one": 1.0,
        "share": logit(features.share),
        "panel": logit(features.panel),
        "caption": logit(features.caption),
        "read": features.read,
        "counted": float(features.counted),
        "disorder": features.disorder,
        "least": logit(features.least),
        f"method {features.method}": 1.0,
    }


@functools.cache
def _coefficients() -> Mapping[str, float]:
    """Return the factors of the terms.

    Raises:
        SystemicError: when they cannot be read.
    """
    with loading("assembly_confidence.json", mend="install pmo-assets again"):
        data = json.loads(files("pmo_assets").joinpath("weights", "assembly_confidence.json").read_text("utf-8"))
        return {name: float(value) for name, value in data["coefficients"].items()}


def confidence(features: Features) -> float:
    """Return the confidence of an assignment, 0..1."""
    known = _coefficients()
    value = sum(known.get(name, 0.0) * term for name, term in terms(features).items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value))))
