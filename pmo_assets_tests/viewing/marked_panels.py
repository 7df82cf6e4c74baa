"""Marks, phrases and regions with exact places, for the tests of pictures and pages."""

from __future__ import annotations

from typing import Any

from pmo_assets.records.regions import Mark, PanelRegions, Region, RegionPhrase

TEXT = "Scan with drusen (white arrow) and fluid (red circle)."
WHITE, RED = "#ffffff", "#ff0000"


def mark(**changes: Any) -> Mark:
    """Return a white arrow in the upper left quarter that points at the middle of the figure."""
    facts = {
        "kind": "arrow", "colour": "white", "rgb": WHITE, "box": (0.3, 0.3, 0.5, 0.5), "tip": (0.5, 0.5),
        "direction": -45.0, "label": None, "source": "pixels", "score": 0.9, "probability": 0.97, **changes,
    }  # fmt: skip
    return Mark(**facts)


CIRCLE = mark(kind="circle", colour="red", rgb=RED, box=(0.7, 0.7, 0.9, 0.9), tip=None, direction=None)


def phrase(words: str, target: str, marks: tuple[int, ...], text: str = TEXT, **changes: Any) -> RegionPhrase:
    """Return a phrase of a subcaption: `words` with what they show, `target`."""
    start = text.index(words)
    at = text.index(target)
    facts = {
        "found_in": "subcaption", "mention": None, "start": start, "end": start + len(words), "mark_start": start,
        "mark_end": start + len(words), "target_start": at, "target_end": at + len(target), "kind": "arrow",
        "colour": None, "style": None, "label": None, "is_plural": False, "marks": marks, **changes,
    }  # fmt: skip
    return RegionPhrase(**facts)


def region(
    box: tuple[float, float, float, float], marks: tuple[int, ...], number: int | None, text: str | None
) -> Region:
    return Region(box, marks, number, text, None, "marks", 0.9)


MARKED = PanelRegions(
    (mark(), CIRCLE),
    (phrase("drusen (white arrow)", "drusen", (0,)), phrase("fluid (red circle)", "fluid", (1,))),
    (region((0.5, 0.5, 0.65, 0.65), (0,), 0, "drusen"), region((0.7, 0.7, 0.9, 0.9), (1,), 1, "fluid")),
)
"""A panel with a white arrow at drusen and a red circle around fluid."""
