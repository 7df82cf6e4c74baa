"""The numbers that the paper gives of its dataset: what those of a release stand beside.

PubMed-Ophtha (Hallitschke, Eickhoff and Berens, arXiv:2605.02720). Sections 2.3 to 2.7 tell the steps with their
numbers, "statistics" is the paper's description of the published dataset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STATISTICS: Final = "statistics"
"""Name of the paper's section that describes the published dataset."""


@dataclass(frozen=True, slots=True)
class PaperNumber:
    """A number of the paper.

    Attributes:
        value: as printed.
        section: where.
        of: what its share refers to; None for a number that is no part of anything.
    """

    value: float
    section: str
    of: float | None = None

    @property
    def share(self) -> float | None:
        """Part of the whole, 0..1; None for a number that is no part of anything."""
        return None if self.of is None else self.value / self.of


_ARTICLES: Final = 24_781
_FIGURES: Final = 74_121
_PANELS: Final = 102_023

ARTICLES_AFTER_FILTER: Final = PaperNumber(_ARTICLES, "2.3")
ARTICLES_WITH_FIGURES: Final = PaperNumber(18_395, "2.4", _ARTICLES)
ARTICLES_WITHOUT_FIGURES: Final = PaperNumber(6_386, "2.4", _ARTICLES)
FIGURES: Final = PaperNumber(_FIGURES, "2.4")

FIGURES_DETECTED_IN: Final = PaperNumber(72_802, "2.5")
PANELS_DETECTED: Final = PaperNumber(262_104, "2.5")
IMAGES_DETECTED: Final = PaperNumber(448_090, "2.5")
IDENTIFIERS_DETECTED: Final = PaperNumber(226_562, "2.5")
FIGURES_WITHOUT_DETECTIONS: Final = PaperNumber(18, "2.5", 72_802)

CAPTIONS_SPLIT: Final = PaperNumber(72_756, "2.6")
SUBCAPTIONS: Final = PaperNumber(245_693, "2.6")
CAPTIONS_DISCARDED: Final = PaperNumber(64, "2.6")

FIGURES_UNWANTED: Final = PaperNumber(37_915, "2.7", _FIGURES)
"""The paper writes "articles"; there are 24,781 articles, so it must mean figures."""

PANELS: Final = PaperNumber(_PANELS, STATISTICS)
FIGURES_PUBLISHED: Final = PaperNumber(35_544, STATISTICS, _FIGURES)
ARTICLES_PUBLISHED: Final = PaperNumber(15_842, STATISTICS, _ARTICLES)
MESH_TERMS: Final = PaperNumber(5_402, STATISTICS)

CONTAINS: Final = {
    "contains_cfp": PaperNumber(24_155, STATISTICS, _PANELS),
    "contains_oct": PaperNumber(43_352, STATISTICS, _PANELS),
    "contains_retinal": PaperNumber(48_974, STATISTICS, _PANELS),
    "contains_other": PaperNumber(10_705, STATISTICS, _PANELS),
    "contains_marked": PaperNumber(27_534, STATISTICS, _PANELS),
}
"""Panels by column of the published file; a panel may hold several types."""

MEAN_WORDS: Final = PaperNumber(34.1, STATISTICS)
MEDIAN_WORDS: Final = PaperNumber(28.0, STATISTICS)

ASSEMBLED_AUTOMATICALLY: Final = PaperNumber(68_648, STATISTICS, _PANELS)
ASSEMBLED_BY_MODEL: Final = PaperNumber(32_420, STATISTICS, _PANELS)
ASSEMBLED_BY_PEOPLE: Final = PaperNumber(371, STATISTICS, _PANELS)
GROUND_TRUTH: Final = PaperNumber(584, STATISTICS, _PANELS)
"""Panels by who assigned the subcaption."""
