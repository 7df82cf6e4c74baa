"""The columns that filters need: small numbers for each article, figure and panel, all in one file of the gallery."""

from __future__ import annotations

import array
import base64
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from pmo_assets.viewing.gallery.records import GalleryFigure, GalleryFilter, GalleryPanel
from pmo_assets.viewing.palette import UNDECIDED

MARK_STATUSES: Final = ("marked", "unmarked", UNDECIDED)
"""The words for True, False and None."""

WITH_PICTURE: Final = "with picture and text"
WITHOUT_PICTURE: Final = "withheld"
PICTURES: Final = (WITH_PICTURE, WITHOUT_PICTURE)
"""The words for figures whose picture and words are shown, and for those whose licence forbids it."""

UNKNOWN_LICENSE: Final = "licence unknown"

NOTHING: Final = "none"
"""The word for a panel of which a further filter says nothing."""

NO_SPLIT: Final = ""
NO_JOURNAL: Final = ""

CONFIDENCE_STEPS: Final = 200
"""A confidence is kept as a whole number of steps, rounded down: who asks for 0.9 and more gets no less."""

NO_CONFIDENCE: Final = 255

MAX_YEAR: Final = 9999


class Coded:
    """The distinct values of a column, numbered in the order of their appearance."""

    def __init__(self, initial: Iterable[Any] = ()) -> None:
        self.values: list[Any] = list(initial)
        self._numbers = {value: number for number, value in enumerate(self.values)}

    def number(self, value: Any) -> int:
        """Return the number of `value`, a new one when it is new."""
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(value)
        return self._numbers[value]


def packed(numbers: array.array[int]) -> str:
    """Return numbers (not negative) as text: `u8:`, `u16:` or `u32:`, then base64 of little-endian integers."""
    largest = max(numbers, default=0)
    code, name = ("B", "u8") if largest < 1 << 8 else ("H", "u16") if largest < 1 << 16 else ("I", "u32")
    narrow = array.array(code, numbers)
    if sys.byteorder == "big":
        narrow.byteswap()
    return f"{name}:{base64.b64encode(narrow.tobytes()).decode('ascii')}"


def confidence_steps(confidence: float | None) -> int:
    """Return a confidence as `CONFIDENCE_STEPS` counts it; `NO_CONFIDENCE` when there is none."""
    if confidence is None or not math.isfinite(confidence):
        return NO_CONFIDENCE
    return math.floor(min(max(confidence, 0.0), 1.0) * CONFIDENCE_STEPS + 1e-9)


def mark_status(marked: bool | None) -> str:
    """Return the word for a mark status."""
    return UNDECIDED if marked is None else "marked" if marked else "unmarked"


def _numbers() -> array.array[int]:
    return array.array("I")


class CodedSets:
    """The distinct values of a column of lists, and the distinct sets of them: far fewer than panels.

    Panels of a figure share most of what its words name, so a panel costs the number of its set.
    """

    def __init__(self) -> None:
        self.values = Coded()
        self.sets = Coded()

    def number(self, values: Iterable[str]) -> int:
        """Return the number of the set of `values`; no value at all counts as `NOTHING`."""
        return self.sets.number(tuple(sorted({self.values.number(value) for value in values or (NOTHING,)})))

    def packed(self) -> dict[str, str]:
        """Return the sets as the page unpacks them: how many values each has, and their numbers one after another."""
        members = array.array("I", (number for own in self.sets.values for number in own))
        return {"sizes": packed(array.array("I", map(len, self.sets.values))), "members": packed(members)}


@dataclass
class Columns:
    """Collects what filters need, figure by figure: some 25 bytes a panel.

    Attributes:
        filters: further filters of panels (`GalleryPanel.filtered`).
    """

    filters: tuple[GalleryFilter, ...] = ()
    types: Coded = field(default_factory=Coded)
    licenses: Coded = field(default_factory=Coded)
    assemblies: Coded = field(default_factory=Coded)
    splits: Coded = field(default_factory=lambda: Coded([NO_SPLIT]))
    journals: Coded = field(default_factory=lambda: Coded([NO_JOURNAL]))
    kinds: Coded = field(default_factory=Coded)
    """Sets of (type, mark status) of a panel's images: few, so a filter looks at each set once, not at each image."""
    articles: dict[int, int] = field(default_factory=dict)
    article_year: array.array[int] = field(default_factory=_numbers)
    article_journal: array.array[int] = field(default_factory=_numbers)
    article_split: array.array[int] = field(default_factory=_numbers)
    figure_article: array.array[int] = field(default_factory=_numbers)
    figure_license: array.array[int] = field(default_factory=_numbers)
    figure_panels: array.array[int] = field(default_factory=_numbers)
    figure_confidence: array.array[int] = field(default_factory=_numbers)
    figure_picture: array.array[int] = field(default_factory=_numbers)
    """Place in `PICTURES`."""
    panel_kind: array.array[int] = field(default_factory=_numbers)
    panel_assembly: array.array[int] = field(default_factory=_numbers)
    panel_confidence: array.array[int] = field(default_factory=_numbers)

    def __post_init__(self) -> None:
        """Make the columns of the further filters."""
        self.filter_values = [CodedSets() for _ in self.filters]
        self.filter_numbers = [_numbers() for _ in self.filters]

    def add(self, figure: GalleryFigure, has_picture: bool) -> None:
        """Note a figure and its panels."""
        number = self.articles.get(figure.article_id)
        if number is None:
            number = self.articles[figure.article_id] = len(self.articles)
            year = figure.year or 0
            self.article_year.append(year if 0 < year <= MAX_YEAR else 0)
            self.article_journal.append(self.journals.number((figure.journal or NO_JOURNAL).strip()))
            self.article_split.append(self.splits.number(figure.split or NO_SPLIT))
        self.figure_article.append(number)
        self.figure_license.append(self.licenses.number(figure.license or UNKNOWN_LICENSE))
        self.figure_panels.append(len(figure.panels))
        self.figure_confidence.append(confidence_steps(figure.caption_confidence))
        self.figure_picture.append(PICTURES.index(WITH_PICTURE if has_picture else WITHOUT_PICTURE))
        for panel in figure.panels:
            self._add_panel(panel)

    def _add_panel(self, panel: GalleryPanel) -> None:
        kind = {
            (self.type_number(image.image_type), MARK_STATUSES.index(mark_status(image.marked)))
            for image in panel.images
        }
        self.panel_kind.append(self.kinds.number(tuple(sorted(kind))))
        self.panel_assembly.append(self.assemblies.number(panel.assembly))
        self.panel_confidence.append(confidence_steps(panel.confidence))
        for place, values in enumerate(panel.filtered):
            self.filter_numbers[place].append(self.filter_values[place].number(values))

    def type_number(self, image_type: str | None) -> int:
        """Return the number of an image type."""
        return self.types.number(UNDECIDED if image_type is None else image_type)

    def packed(self) -> dict[str, dict[str, str]]:
        """Return the columns as the page unpacks them, by what they are about."""
        return {
            "article": {
                "year": packed(self.article_year),
                "journal": packed(self.article_journal),
                "split": packed(self.article_split),
            },
            "figure": {
                "article": packed(self.figure_article),
                "license": packed(self.figure_license),
                "panels": packed(self.figure_panels),
                "confidence": packed(self.figure_confidence),
                "picture": packed(self.figure_picture),
            },
            "panel": {
                "kind": packed(self.panel_kind),
                "assembly": packed(self.panel_assembly),
                "confidence": packed(self.panel_confidence),
                **{f"filter{place}": packed(numbers) for place, numbers in enumerate(self.filter_numbers)},
            },
        }
