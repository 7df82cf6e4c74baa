"""Evidence of the identifiers printed in a figure about its panels: the panel of each, the likelihood of each name.

Add here: steps from print to likelihoods. Keep out: reading print (`reading`), order and place, the decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.membership import assigned_to_panels
from pmo_assets.pipeline.assembly.positions import is_place
from pmo_assets.pipeline.assembly.reading.identifier_text import IdentifierReading
from pmo_assets.pipeline.assembly.reading.read_identifiers import read_identifiers
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box, centre, height, width
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.reading import TextReader

LIVE_TEXT: Final = 0.985
"""Probability that live text is the identifier: it is exact, but may be a label inside a picture."""

UNREAD: Final = 0.5
"""Up to this score of a reading by shape the name was chosen for its place: the print itself says nothing."""

SURE_LETTER: Final = 0.8
"""A letter that no caption names is read from this probability on."""

MOST_LETTERS: Final = 0.6
"""Share of what is printed that must be letters for sure: fewer may be labels inside pictures."""

NEAR: Final = 3.0
"""An identifier outside every panel belongs to the next one within so many of its heights."""


@dataclass(frozen=True, slots=True)
class FigureIdentifier:
    """An identifier printed in a figure, with the probability of each name of the caption.

    Attributes:
        number: among the figure's identifiers.
        box: normalised to the figure.
        probability: 0..1 that this is an identifier.
        names: per name that the caption has, 0..1, that it is the one printed; together with `other` they sum to 1.
        other: 0..1 that something is printed that the caption does not name.
        text: as read; None when unread.
        source: of the reading.
    """

    number: int
    box: Box
    probability: float
    names: tuple[float, ...]
    other: float
    text: str | None
    source: str

    @property
    def is_read(self) -> bool:
        """Say whether the print tells a name, or none of them, well above chance."""
        return max((*self.names, self.other)) > 1.5 / (len(self.names) + 1)


def numbered_part(text: str | None, names: Sequence[str]) -> int | None:
    """Return which name "a1", "a2" … is a part of when the caption names "a" but not "a1"; None otherwise."""
    keys = [normalised_identifier(name) for name in names]
    key = normalised_identifier(text)
    nested = re.fullmatch(r"([a-z])(\d+|i{1,3}|iv|v)", key)
    if not nested or key in keys or nested[1] not in keys:
        return None
    return keys.index(nested[1])


def detected_identifier(number: int, detection: PanelDetection, names: Sequence[str]) -> FigureIdentifier:
    """Return an identifier as detection alone reads it."""
    belief = LIVE_TEXT if detection.source == "text" else _belief(detection.text_score)
    if detection.text is None:
        belief = 0.0
    keys = [normalised_identifier(name) for name in names]
    key = normalised_identifier(detection.text)
    part = numbered_part(detection.text, names)
    said = part if part is not None else keys.index(key) if key in keys else None
    even = 1.0 / (len(names) + 1)
    shares = [even * (1 - belief)] * (len(names) + 1)
    shares[len(names) if said is None else said] += belief
    return FigureIdentifier(
        number,
        detection.box,
        detection.probability or detection.score,
        tuple(shares[:-1]),
        shares[-1],
        detection.text,
        detection.source,
    )


def read_identifier(identifier: FigureIdentifier, reading: IdentifierReading, names: Sequence[str]) -> FigureIdentifier:
    """Return an identifier with the reading at its place instead of that of detection."""
    if reading.text is None:
        return identifier
    shares = tuple(reading.names.get(name, 0.0) for name in names)
    best = reading.best
    return replace(
        identifier, names=shares, other=max(0.0, 1.0 - sum(shares)), text=best or identifier.text, source=reading.source
    )


def figure_identifiers(
    detections: Sequence[PanelDetection],
    names: Sequence[str],
    picture: Callable[[], NDArray[np.uint8]] | None,
    reader: TextReader | None,
) -> list[FigureIdentifier]:
    """Return a figure's printed identifiers with their readings: live text as it is, all else read in the picture.

    Args:
        detections: panels and identifiers of the figure.
        names: of the panels in the caption.
        picture: gives its pixels, (height, width, 3) uint8; called only if something must be read. None: nothing is.
        reader: an engine; None for likeness to letters alone.

    Raises:
        SystemicError: when the engine cannot be loaded.
    """
    detected = [item for item in detections if item.kind == "identifier"]
    identifiers = [detected_identifier(number, item, names) for number, item in enumerate(detected)]
    unread = [k for k, item in enumerate(detected) if item.source != "text" and (names or item.text is None)]
    if picture is None or not unread:
        return identifiers
    lettered = not names or all(map(is_place, names))
    known = ascii_uppercase[: len(detected) + 2] if lettered else names
    readings = read_identifiers(picture(), [detected[k].box for k in unread], known, reader)
    if lettered:
        return _lettered(identifiers, dict(zip(unread, readings, strict=True)))
    for k, reading in zip(unread, readings, strict=True):
        identifiers[k] = read_identifier(identifiers[k], reading, names)
    return identifiers


def beside_places(identifiers: Sequence[FigureIdentifier], names: Sequence[str]) -> list[FigureIdentifier]:
    """Return identifiers beside names that are words of place: what is printed is another name, not a wrong one.

    "Left: … Right: …" under a figure that prints A and B: print says that panels are there, and nothing of their names.
    """
    if not names or not all(map(is_place, names)):
        return list(identifiers)
    even = 1.0 / (len(names) + 1)
    return [
        replace(identifier, names=(even,) * len(names), other=even)
        if identifier.other > max(identifier.names)
        else identifier
        for identifier in identifiers
    ]


def _lettered(
    identifiers: Sequence[FigureIdentifier], readings: Mapping[int, IdentifierReading]
) -> list[FigureIdentifier]:
    """Return the identifiers of a figure whose caption names none; letters count if most are sure, each one once."""
    letters = {k: reading.best for k, reading in readings.items() if reading.confidence >= SURE_LETTER}
    if len(letters) < MOST_LETTERS * len(readings) or len(set(letters.values())) < len(letters):
        return list(identifiers)
    small = sum((reading.text or "").strip("()[].: ").islower() for reading in readings.values()) * 2 > len(readings)
    return [
        replace(identifier, text=(letter.lower() if small else letter), source=readings[k].source)
        if (letter := letters.get(k)) is not None
        else identifier
        for k, identifier in enumerate(identifiers)
    ]


def _belief(score: float) -> float:
    """Return the belief in a reading by shape, 0..0.96, by its likeness to the name (0..1)."""
    return float(np.clip((score - UNREAD) / (0.85 - UNREAD), 0.0, 1.0)) * 0.96


def owners_of(identifiers: Sequence[Box], panels: Sequence[Box]) -> list[int | None]:
    """Return the index of each identifier's panel: the one that holds it (paper's thresholds), else the next near by.

    Identifiers outside all panels stand on one side of theirs throughout a figure: where that tells two panels apart,
    it decides.
    """
    owners = assigned_to_panels(identifiers, panels)
    loose = [i for i, owner in enumerate(owners) if owner is None]
    if not loose or not panels:
        return owners
    taken = {owner for owner in owners if owner is not None}
    near: dict[int, list[tuple[float, int, str]]] = {}
    for i in loose:
        reach = NEAR * max(height(identifiers[i]), 0.01)
        for k, panel in enumerate(panels):
            distance, side = _distance(identifiers[i], panel)
            if distance <= reach and k not in taken:
                near.setdefault(i, []).append((distance, k, side))
    sides: dict[str, int] = {}
    for options in near.values():
        for side in {side for _, _, side in options}:
            sides[side] = sides.get(side, 0) + 1
    for i in sorted(near, key=lambda i: min(near[i])):
        free = [option for option in near[i] if option[1] not in taken]
        if free:
            _, panel_index, _ = min(free, key=lambda option: (-sides[option[2]], option[0], option[1]))
            owners[i] = panel_index
            taken.add(panel_index)
    return owners


def _distance(identifier: Box, panel: Box) -> tuple[float, str]:
    """Return the distance of an identifier from a panel (share of the figure's sides, the larger), and its side."""
    x, y = centre(identifier)
    across = max(panel[0] - x, x - panel[2], 0.0) - width(identifier) / 2
    down = max(panel[1] - y, y - panel[3], 0.0) - height(identifier) / 2
    if across >= down:
        return max(across, 0.0), "left" if x < panel[0] else "right"
    return max(down, 0.0), "above" if y < panel[1] else "below"


@dataclass(frozen=True, slots=True)
class IdentifierEvidence:
    """Likelihood ratios of each panel's print: under each name, against chance.

    Attributes:
        likelihoods: (panels, names).
        unnamed: (panels,), of a panel without a name.
        identifiers: per panel its identifiers, the one that says most first.
    """

    likelihoods: NDArray[np.float64]
    unnamed: NDArray[np.float64]
    identifiers: tuple[tuple[FigureIdentifier, ...], ...]


def identifier_evidence(
    identifiers: Sequence[FigureIdentifier], owners: Mapping[int, int] | Sequence[int | None], panels: int, names: int
) -> IdentifierEvidence:
    """Return the evidence of the identifiers about the panels.

    A panel has one identifier; further ones in it are labels inside its pictures or those of panels that were not
    found. Where most panels have an identifier, one without is rather no panel.

    Args:
        identifiers: the figure's identifiers.
        owners: per identifier the index of its panel, None for none.
        panels: number of panels.
        names: number of names.
    """
    own: list[list[FigureIdentifier]] = [[] for _ in range(panels)]
    for place, identifier in enumerate(identifiers):
        owner = owners[place]
        if owner is not None:
            own[owner].append(identifier)
    labelled = sum(bool(group) for group in own) / max(panels, 1)
    likelihoods = np.ones((panels, names))
    unnamed = np.ones(panels)
    for panel, group in enumerate(own):
        if not group:
            likelihoods[panel] *= 1.0 - 0.9 * labelled
            continue
        chances = np.array([identifier.probability for identifier in group])
        mixed = chances / max(1.0, chances.sum())
        said = np.array([[*identifier.names, identifier.other] for identifier in group]) * (names + 1)
        ratios = mixed @ said + (1.0 - mixed.sum())
        likelihoods[panel] = ratios[:-1]
        unnamed[panel] = ratios[-1]
    ordered = tuple(
        tuple(
            sorted(group, key=lambda identifier: -identifier.probability * max((*identifier.names, identifier.other)))
        )
        for group in own
    )
    return IdentifierEvidence(likelihoods, unnamed, ordered)
