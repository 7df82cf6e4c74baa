"""Which of the caption's names is printed in each box: likeness to templates first, an engine where that is not sure.

An engine sees a box once, and where it is not sure either, again in other crops. Templates and engines err in different
ways (templates where letters touch something, engines in "I", "(f)" and "ii"): together they know more than either.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.reading.crops import CropStyle, identifier_crop
from pmo_assets.pipeline.assembly.reading.evidence import mean, pooled, powered
from pmo_assets.pipeline.assembly.reading.identifier_text import (
    IdentifierReading,
    bare,
    name_shares,
    readable_names,
    reading_of,
)
from pmo_assets.pipeline.assembly.reading.template_reading import template_reading
from pmo_assets.records.geometry import Box, crop_box
from pmo_assets.records.reading import ReadText, TextReader

FIRST_LOOK = CropStyle("colour", 0.1)
"""Crop that is read of every box."""

FURTHER_LOOKS = (CropStyle("grey", 0.2), CropStyle("colour", 0.2, 2.2), CropStyle("ink", 0.25))
"""Crops that are read where the first leaves doubts."""

TURNED_LOOKS = (CropStyle("colour", 0.1, turned=1), CropStyle("colour", 0.1, turned=3))
"""Crops that are read besides where print may be turned."""

SURE = 0.97
"""Probability from which nobody else is asked."""

CALIBRATION, CALIBRATIONS = 2.5, {"easyocr": 1.75}
"""Power that makes an engine's shares probabilities, and those of engines with another one by the first word of their
name: fitted on synthetic figures, in one of eight of whose boxes stood a name that was not among those given."""

TEMPLATE_WEIGHT, READER_WEIGHT = 0.7, 0.8
"""Weights of the two in their pool (fitted likewise)."""

LARGEST = 500
"""Print that is higher than so many pixels names no panel (60 points at 600 dpi): it is not read."""

UPRIGHT = 1.5
"""Boxes so many times as high as wide may hold a text that is turned by a quarter."""


def read_identifiers(
    rgb: NDArray[np.uint8], boxes: Sequence[Box], names: Sequence[str], reader: TextReader | None
) -> list[IdentifierReading]:
    """Return the reading of the print in each box among the names of the caption.

    Args:
        rgb: (height, width, 3) uint8, the figure.
        boxes: of printed identifiers, normalised [l, t, r, b] to the figure.
        names: that the caption may use, in its order; words of place, too.
        reader: an engine; None for templates alone.

    Returns:
        A reading per box, in order; without names every one is empty.

    Raises:
        SystemicError: when the engine cannot be loaded.
    """
    known = readable_names(names)
    unread = reading_of(dict.fromkeys(known, 1 / (len(known) + 1)), None, "")
    legible = [_is_legible(rgb, box) for box in boxes]
    found = [template_reading(rgb, box, names) if one else unread for box, one in zip(boxes, legible, strict=True)]
    if reader is None or not known:
        return found
    doubtful = [k for k, one in enumerate(found) if one.confidence < SURE and legible[k]]
    seen = reader_readings(rgb, [boxes[k] for k in doubtful], names, reader)
    for k, one in zip(doubtful, seen, strict=True):
        found[k] = combined(found[k], one)
    return found


def _is_legible(rgb: NDArray[np.uint8], box: Box) -> bool:
    left, top, right, bottom = crop_box(box, rgb.shape[1], rgb.shape[0])
    return min(right - left, bottom - top) <= LARGEST


def combined(templates: IdentifierReading, reader: IdentifierReading) -> IdentifierReading:
    """Return the reading that templates and an engine give together."""
    if templates.text is None or reader.text is None:
        return reader if templates.text is None else templates
    shares = pooled([(templates.names, TEMPLATE_WEIGHT), (reader.names, READER_WEIGHT)])
    return reading_of(shares, reader.text, f"{templates.source} + {reader.source}")


def reader_readings(
    rgb: NDArray[np.uint8], boxes: Sequence[Box], names: Sequence[str], reader: TextReader
) -> list[IdentifierReading]:
    """Return the readings of each box by an engine alone; see `read_identifiers`."""
    known = readable_names(names)
    looks: list[list[tuple[ReadText, ...]]] = [[] for _ in boxes]
    _look(rgb, boxes, [(k, FIRST_LOOK) for k in range(len(boxes))], reader, looks)
    found = [_reading(texts, known, reader.name) for texts in looks]
    doubtful = [k for k, one in enumerate(found) if one.confidence < SURE]
    again = [(k, look) for k in doubtful for look in FURTHER_LOOKS]
    again += [(k, look) for k in doubtful if _may_be_turned(rgb, boxes[k], known) for look in TURNED_LOOKS]
    _look(rgb, boxes, again, reader, looks)
    return [_reading(texts, known, reader.name) for texts in looks]


def _look(
    rgb: NDArray[np.uint8],
    boxes: Sequence[Box],
    wanted: Sequence[tuple[int, CropStyle]],
    reader: TextReader,
    looks: list[list[tuple[ReadText, ...]]],
) -> None:
    """Have crops read, (box, look) each, and add what is read to `looks` of the box."""
    cut = [(k, identifier_crop(rgb, boxes[k], look)) for k, look in wanted]
    visible = [(k, crop) for k, crop in cut if crop is not None]
    texts = reader([crop for _, crop in visible], one_line=True) if visible else []
    for (k, _), found in zip(visible, texts, strict=True):
        looks[k].append(found)


def _may_be_turned(rgb: NDArray[np.uint8], box: Box, names: Sequence[str]) -> bool:
    """Say whether a box is a column of print, and a name is long enough to be turned rather than narrow."""
    left, top, right, bottom = crop_box(box, rgb.shape[1], rgb.shape[0])
    return bottom - top >= UPRIGHT * (right - left) and any(len(bare(name)) > 1 for name in names)


def _reading(looks: Sequence[tuple[ReadText, ...]], names: Sequence[str], source: str) -> IdentifierReading:
    """Return the reading of several looks at one place: the mean of what each says."""
    texts = [[(text.text, text.confidence) for text in look] for look in looks]
    said = [(probability, text) for look in texts for text, probability in look if bare(text)]
    if not said or not names:
        return reading_of(dict.fromkeys(names, 1 / (len(names) + 1)), None, source)
    calibration = CALIBRATIONS.get(source.split()[0], CALIBRATION)
    shares = powered(mean([name_shares(look, names) for look in texts]), calibration)
    return reading_of(shares, max(said)[1], source)
