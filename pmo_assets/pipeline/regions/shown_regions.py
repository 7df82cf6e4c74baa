"""Regions of a panel by its marks and the phrases that name them: where it is, and what the authors call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.regions.pointed_regions import pointed_region
from pmo_assets.records.geometry import Box
from pmo_assets.records.regions import Mark, Region, RegionPhrase

LEAST_PROBABILITY: Final = 0.5
"""Marks that are likelier none show no region."""

UNDECIDED: Final = 0.5
"""Factor of a region's confidence where the phrase may mean another of the marks."""


def shown_regions(
    marks: Sequence[Mark],
    images: Sequence[Box],
    phrases: Sequence[RegionPhrase],
    texts: Sequence[str],
    pixels: NDArray[np.uint8],
) -> tuple[Region, ...]:
    """Return the regions that a panel's marks show, each with the words of the phrase that names its mark.

    A mark that several phrases name shows a region for each; one that none names, a region without words.

    Args:
        marks: of the panel's images.
        images: box of the image of each mark, normalised to the figure.
        phrases: of the panel's texts, linked to marks.
        texts: the text that each phrase stands in.
        pixels: (height, width, 3) uint8 RGB of the figure.
    """
    naming: dict[int, list[int]] = {}
    for n, phrase in enumerate(phrases):
        for meant in phrase.marks:
            naming.setdefault(meant, []).append(n)
    found = []
    for k, (mark, image) in enumerate(zip(marks, images, strict=True)):
        if mark.probability < LEAST_PROBABILITY:
            continue
        box = pointed_region(mark, pixels, image)
        numbers = naming.get(k, [])
        if not numbers:
            found.append(Region(box, (k,), None, None, None, "marks", mark.probability))
        for number in numbers:
            phrase = phrases[number]
            confidence = mark.probability * (UNDECIDED if phrase.undecided else 1.0)
            found.append(Region(box, (k,), number, fragment(phrase, texts[number]), None, "marks", confidence))
    return tuple(found)


def fragment(phrase: RegionPhrase, text: str) -> str | None:
    """Return the words of what a mark shows; of a phrase that does not say it, the phrase."""
    target = text[phrase.target_start : phrase.target_end].strip()
    return target or text[phrase.start : phrase.end].strip() or None
