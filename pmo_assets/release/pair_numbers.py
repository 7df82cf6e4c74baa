"""Numbers of the table `pairs`: by level and kind of text, and beside those of Panel2Patch.

A release's manifest keeps them (`counts`), so that its card, its report and the web UI say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pmo_assets.records.pairs import KINDS_OF_LEVEL, PAIR_LEVELS


@dataclass(frozen=True)
class PairCounts:
    """Numbers of a release's pairs.

    Attributes:
        pairs: by level and kind of text.
        paired: figures, panels, regions and lectures' pictures that have a pair, by level.
    """

    pairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    paired: Mapping[str, int] = field(default_factory=dict)

    def as_counts(self) -> dict[str, int]:
        """Return them as a manifest has them: "pairs", "pairs_panel_summary", "paired_panel", and so on."""
        return {
            "pairs": sum(self.pairs.values()),
            **{f"pairs_{level}_{kind}": self.pairs.get((level, kind), 0) for level, kind in _LEVEL_KINDS},
            **{f"paired_{level}": self.paired.get(level, 0) for level in PAIR_LEVELS},
        }

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> PairCounts | None:
        """Return those that a manifest has; None for a release from before there were pairs."""
        if "pairs" not in counts:
            return None
        return cls(
            {key: counts.get(f"pairs_{key[0]}_{key[1]}", 0) for key in _LEVEL_KINDS},
            {level: counts.get(f"paired_{level}", 0) for level in PAIR_LEVELS},
        )


_LEVEL_KINDS: Final = tuple((level, kind) for level in PAIR_LEVELS for kind in KINDS_OF_LEVEL[level])

PAIR_HEADER: Final = ("level", "kind of text", "pairs")


def pair_cells(counts: PairCounts) -> list[tuple[str, str, int]]:
    """Return the pairs by level and kind as the cells of `PAIR_HEADER`."""
    return [
        (level, kind, counts.pairs.get((level, kind), 0))
        for level, kind in _LEVEL_KINDS
        if level != "video" or counts.pairs.get((level, kind))  # most releases have no lectures
    ]


PANEL2PATCH_PAIRS: Final[Mapping[str, int]] = {"figure": 364_216, "panel": 1_303_950, "region": 619_424}
"""Pairs by level of Panel2Patch (Yuan et al., "From Panel to Pixel", section 7.2); regions are those of marks."""

PANEL2PATCH_HEADER: Final = (
    "with a text",
    "this release",
    "per 1,000 articles",
    "per 1,000 figures",
    "Panel2Patch",
    "per 1,000 figures there",
)

PANEL2PATCH_REMARK: Final = (
    "Panel2Patch (Yuan et al., section 7.2) counts figures of BIOMEDICA and does not say of how many articles, so it "
    "has no number per 1,000 articles. Its figures are of all of biomedicine; a language model found its panels and "
    "regions. Its 1,030,194 boxes from the model's own knowledge are not counted."
)


def panel2patch_cells(counts: PairCounts, articles: int) -> list[tuple[str, int, str, str, int, str]]:
    """Return the figures, panels and regions with a pair beside the paper's, as the cells of `PANEL2PATCH_HEADER`.

    Args:
        counts: of the release.
        articles: of the release.
    """
    figures = counts.paired.get("figure", 0)
    return [
        (
            f"{level}s",
            ours := counts.paired.get(level, 0),
            _per_thousand(ours, articles),
            _per_thousand(ours, figures),
            PANEL2PATCH_PAIRS[level],
            _per_thousand(PANEL2PATCH_PAIRS[level], PANEL2PATCH_PAIRS["figure"]),
        )
        for level in PANEL2PATCH_PAIRS
    ]


def _per_thousand(count: float, of: float) -> str:
    return f"{1000 * count / of:,.0f}" if of else ""
