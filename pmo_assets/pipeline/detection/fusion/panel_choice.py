"""Choice of the panels of a figure: those of structure, those of the network, or the mixture of both.

Each option is judged by how well it fits what is known of the figure: one panel for each name, one identifier in each
panel, the figure covered, agreement with the other options, the scores of its own panels. A logistic function of these
says what share of the option's panels will be right; the option of the highest share is taken, and the share becomes
part of its panels' scores, so that panels of a doubtful figure count less than those of a plain one.

The weights (`weights/panel_choice.json`) are fitted by `benchmarks/fit_panel_choice.py` on synthetic figures and
typeset articles. Features are shares from 0 to 1, so that a network trained further moves them little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box, area, centre, iou, matched_boxes

Source = Literal["structure", "network", "mixture"]

PACKAGE_DATA = ("weights/panel_choice.json",)
"""Files of the package that this module reads."""

COUNTED: Final[Mapping[Source, float]] = {"structure": 0.25, "network": 0.5, "mixture": 0.25}
"""Score from which an option's panels are counted: the network has many weak ones."""

READ: Final = 0.7
"""Likeness of print from which an identifier is read."""

SAME: Final = 0.5
"""IoU from which two options agree on a panel."""


@dataclass(frozen=True, slots=True)
class FigureEvidence:
    """Evidence of a figure's panels beside the panels themselves.

    Attributes:
        names: number of panels that its caption or its print names, at least 2.
        identifiers: of each printed one, normalised box and 0..1, how far the print itself says the name.
        live: see `FigureView.is_live`.
        lettered: half of the names are printed, each once. The network knows panels by their identifiers: panels that
            are called by their place, or whose parts have identifiers of their own, it cannot count.
    """

    names: int
    identifiers: tuple[tuple[Box, float], ...]
    live: bool
    lettered: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """An option with the share of its panels that is expected to be right, 0..1."""

    source: Source
    panels: tuple[PanelDetection, ...]
    worth: float


def counted(source: Source, panels: Sequence[PanelDetection]) -> list[PanelDetection]:
    """Return the panels by which an option is judged."""
    return [p for p in panels if p.kind == "panel" and p.score >= COUNTED[source]]


def agreement(panels: Sequence[PanelDetection], others: Sequence[PanelDetection]) -> float:
    """Return the share of both options' panels on which they agree, 0..1."""
    if not panels or not others:
        return 0.0
    same = matched_boxes([p.box for p in panels], [p.box for p in others], SAME)
    closeness = sum(iou(panels[i].box, others[j].box) for i, j in same.items())
    return 2 * closeness / (len(panels) + len(others))


def option_features(
    source: Source, options: Mapping[Source, Sequence[PanelDetection]], evidence: FigureEvidence
) -> dict[str, float]:
    """Return the features of an option by name, each 0..1; see the module's text."""
    mine = counted(source, options[source])
    count = len(mine)
    centres = [centre(box) for box, _ in evidence.identifiers]
    holding = [sum(p.box[0] <= x <= p.box[2] and p.box[1] <= y <= p.box[3] for x, y in centres) for p in mine]
    read = sum(like >= READ for _, like in evidence.identifiers) / evidence.names
    values = {
        "count": min(count, evidence.names) / max(count, evidence.names, 1),
        "fewer": float(count < evidence.names),
        "one identifier": sum(n == 1 for n in holding) / max(count, 1),
        "several identifiers": sum(n > 1 for n in holding) / max(count, 1),
        "score": sum(min(p.score, 1.0) for p in mine) / max(count, 1),
        "weakest": min((min(p.score, 1.0) for p in mine), default=0.0),
        "covered": min(1.0, sum(area(p.box) for p in mine)),
        "even": min((area(p.box) for p in mine), default=0.0) * evidence.names,
        "read": min(1.0, read),
        "live": float(evidence.live),
    }
    values["even"] = min(1.0, values["even"])
    for other in ("structure", "network", "mixture"):
        if other != source:
            values[f"like {other}"] = agreement(mine, counted(other, options[other]))
    return {f"{source}: {name}": value for name, value in values.items()} | {f"{source}": 1.0}


def known_features() -> tuple[str, ...]:
    """Return the names of the features of all options."""
    nothing: dict[Source, Sequence[PanelDetection]] = dict.fromkeys(COUNTED, ())
    evidence = FigureEvidence(2, (), live=False, lettered=False)
    return tuple(name for source in COUNTED for name in option_features(source, nothing, evidence))


@lru_cache(maxsize=1)
def choice_weights() -> Mapping[str, float]:
    """Return the package's weights.

    Raises:
        SystemicError: when they cannot be read, or one is missing.
    """
    return fitted_numbers("panel_choice.json", known_features())


def worth(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the share of an option's panels that is expected to be right, 0..1."""
    return 1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in features.items())))


def lacks_panels(source: Source, options: Mapping[Source, Sequence[PanelDetection]], evidence: FigureEvidence) -> bool:
    """Say whether an option joins panels that are named by their places and that structure keeps apart."""
    known = min(evidence.names, len(counted("structure", options["structure"])))
    return len(counted(source, options[source])) < known


def judged(
    options: Mapping[Source, Sequence[PanelDetection]],
    evidence: FigureEvidence,
    weights: Mapping[str, float] | None = None,
) -> Judged:
    """Return the best option of a figure.

    Args:
        options: panels by source; others than panels are not looked at.
        evidence: evidence of the figure's panels.
        weights: by feature; None for the package's.
    """
    known = choice_weights() if weights is None else weights
    every = [
        Judged(
            source,
            tuple(p for p in options[source] if p.kind == "panel"),
            worth(option_features(source, options, evidence), known),
        )
        for source in options
        if evidence.lettered or (source != "network" and not lacks_panels(source, options, evidence))
    ]
    return max(every, key=lambda option: option.worth)


def scored(option: Judged) -> list[PanelDetection]:
    """Return the panels of an option, their scores weighed with the option's worth."""
    return [replace(p, score=math.sqrt(p.score * option.worth)) for p in option.panels]
