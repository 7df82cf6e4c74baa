"""Names that are words are read in the picture, where no live text says them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.printed_words import missing_words, with_printed_words
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedText
from pmo_assets.records.reading import ReadText

PIXELS = np.full((100, 200, 3), 255, np.uint8)
BOX = (0.1, 0.1, 0.3, 0.2)


class Reader:
    """Reads what it is told to."""

    name = "told"

    def __init__(self, *texts: ReadText) -> None:
        self.texts = texts

    def load(self) -> object:
        return None

    def __call__(
        self, pictures: Sequence[NDArray[np.uint8]], *, one_line: bool = False, lengths: tuple[int, int] | None = None
    ) -> list[tuple[ReadText, ...]]:
        assert not one_line
        assert lengths is not None
        assert all(
            lengths[0] <= len(text.text.replace(" ", "")) <= lengths[1] for text in self.texts if text.text != "Other"
        )
        return [self.texts for _ in pictures]


def test_letters_places_and_what_live_text_says_are_not_looked_for() -> None:
    texts = (EmbeddedText("Baseline", BOX, 10.0, bold=False),)
    view = FigureView(PIXELS, (), texts, ("A", "A1", "ii", "12", "Top left", "Baseline", "OD", "Month 6"))
    assert missing_words(view) == {"month6"}
    assert missing_words(FigureView(PIXELS, alternative_identifiers=(("1", "2"), ("Before", "After")))) == {
        "before", "after",
    }  # fmt: skip


def test_words_that_were_read_surely_count_and_make_no_picture_live() -> None:
    view = FigureView(PIXELS, caption_identifiers=("Step 1", "Step 2"))
    reader = Reader(ReadText("Step 1", 0.9, BOX), ReadText("Step 2", 0.5, BOX), ReadText("Other", 0.9, BOX))
    found = with_printed_words(view, reader)
    assert [(word.text, word.box) for word in found.words] == [("Step 1", BOX)]
    assert found.texts == ()
    assert not found.is_live
    assert with_printed_words(view, None) is view
