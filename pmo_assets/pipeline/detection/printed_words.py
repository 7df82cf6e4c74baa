"""Names that are words ("Step 1", "Horizontal"), read in the picture where no live text says them.

Letters are found by their shapes and by the network; words are neither. So where the caption names panels by words, or
may do so, the picture is read as a whole, which takes a second. What is read counts as live text does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pmo_assets.pipeline.detection.structure.identifiers import is_word, key
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedText
from pmo_assets.records.reading import TextReader

LEAST_CONFIDENCE: Final = 0.6
"""A word that is read with less confidence is not added."""

POINTS_PER_PIXEL: Final = 0.75
"""Size of text that was read: its height as if the picture had 96 pixels an inch."""


def missing_words(view: FigureView) -> frozenset[str]:
    """Return the words (`key`) by which panels are, or may be, named and which no live text says."""
    names = (*view.caption_identifiers, *(name for other in view.alternative_identifiers for name in other))
    said = {key(text.text) for text in view.texts}
    return frozenset(key(name) for name in names if is_word(name) and key(name) not in said)


def with_printed_words(view: FigureView, reader: TextReader | None) -> FigureView:
    """Return the figure with the `words` that name panels, where they can be read in the picture.

    Args:
        view: the figure.
        reader: an engine; None leaves the figure as it is.

    Raises:
        SystemicError: when the engine cannot be loaded.
    """
    wanted = missing_words(view)
    if reader is None or not wanted or not view.pixels.size:
        return view
    height = view.pixels.shape[0]
    (read,) = reader([view.pixels], lengths=(min(map(len, wanted)), max(map(len, wanted))))
    found = tuple(
        EmbeddedText(text.text, text.box, (text.box[3] - text.box[1]) * height * POINTS_PER_PIXEL, bold=False)
        for text in read
        if text.box is not None and text.confidence >= LEAST_CONFIDENCE and key(text.text) in wanted
    )
    return replace(view, words=found)
