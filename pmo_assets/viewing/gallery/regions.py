"""Marks, phrases and regions of panels, as the page reads them: places in percent, numbers counted through the figure.

Belongs here: the data of `data/regions/`. Does not belong here: how it is drawn
(`viewing/templates/gallery/regions.js`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pmo_assets.records.geometry import Point
from pmo_assets.records.regions import Mark, PanelRegions, RegionPhrase
from pmo_assets.viewing.gallery.context import script_offsets
from pmo_assets.viewing.gallery.entries import Entry, shown_place
from pmo_assets.viewing.gallery.records import GalleryFigure, GalleryPanel
from pmo_assets.viewing.markup import plain_text
from pmo_assets.viewing.overlays import MAX_BOXES
from pmo_assets.viewing.palette import ink_on
from pmo_assets.viewing.region_overlays import figure_numbers, numbers_text, phrase_numbers

SUBCAPTION = -1
"""Stands for the subcaption where a phrase names its mention by position."""


def regions_entry(figure: GalleryFigure) -> Entry | None:
    """Return what is known of the marks in a figure's panels, for the page; None where nothing is.

    A panel has `marks` (kind, colour, place in percent as in the figure's entry, tip, direction, numbers of the regions
    that it shows), `regions` (number, place, words, mark that gives the colour, confidence) and `phrases` (mention or
    `SUBCAPTION`, range as JavaScript counts, numbers of regions and how they are told, mark that gives the colour, why
    it is undecided).
    """
    if not any(panel.regions for panel in figure.panels):
        return None
    numbers = figure_numbers(panel.regions for panel in figure.panels)
    return {"panels": [_panel(panel, own) if panel.regions else None
                       for panel, own in zip(figure.panels, numbers, strict=True)]}  # fmt: skip


def _panel(panel: GalleryPanel, numbers: Sequence[int]) -> Entry:
    found = panel.regions
    shown: dict[int, Entry] = {}
    for number, region in list(zip(numbers, found.regions, strict=True))[:MAX_BOXES]:
        place = shown_place(region.box)
        if place is None:
            continue
        entry = shown.setdefault(
            number,
            {"number": number, "place": place, "words": [], "mark": _first(region.marks, found),
             "sure": round(region.confidence, 2)},
        )  # fmt: skip
        if region.text is not None:
            entry["words"].append(plain_text(region.text))
    return {
        "marks": [_mark(k, mark, found, numbers) for k, mark in enumerate(found.marks[:MAX_BOXES])],
        "regions": list(shown.values()),
        "phrases": _phrases(panel, numbers),
    }


def _first(marks: Sequence[int], found: PanelRegions) -> int | None:
    return next((mark for mark in marks if mark < min(len(found.marks), MAX_BOXES)), None)


def _mark(k: int, mark: Mark, found: PanelRegions, numbers: Sequence[int]) -> Entry:
    return {
        "kind": mark.kind,
        "words": " ".join(filter(None, (mark.colour, mark.kind, mark.label and f"“{plain_text(mark.label)}”"))),
        "colour": mark.rgb,
        "ink": ink_on(mark.rgb),
        "place": shown_place(mark.box),
        "tip": _tip(mark.tip),
        "direction": None if mark.direction is None or not math.isfinite(mark.direction) else round(mark.direction, 1),
        "sure": round(mark.probability, 2),
        "numbers": sorted({n for n, region in zip(numbers, found.regions, strict=True) if k in region.marks}),
    }


def _tip(tip: Point | None) -> list[float] | None:
    if tip is None or not all(0 <= value <= 1 for value in tip):
        return None
    return [round(100 * value, 2) for value in tip]


def _phrases(panel: GalleryPanel, numbers: Sequence[int]) -> list[Entry]:
    """Return the phrases in the order of their texts; of those that overlap the first one."""
    found = panel.regions
    texts: dict[int | None, str] = {None: panel.subcaption or ""}
    if panel.context is not None:
        texts |= dict(enumerate(mention.sentence for mention in panel.context.mentions))
    offsets = {mention: script_offsets(text) for mention, text in texts.items()}
    # White space before a subcaption is not shown.
    cut = len(texts[None]) - len(texts[None].lstrip())
    shown: list[Entry] = []
    last: dict[int | None, int] = {None: cut}
    for number, phrase in sorted(enumerate(found.phrases), key=lambda item: (_place(item[1]), item[0])):
        text, at = texts.get(phrase.mention), phrase.mention
        if text is None or not last.get(at, 0) <= phrase.start < phrase.end <= len(text):
            continue
        last[at] = phrase.end
        own = phrase_numbers(number, found, numbers)
        start, end = (
            offsets[at][edge] - offsets[at][0 if at is not None else cut] for edge in (phrase.start, phrase.end)
        )
        shown.append(
            {
                "mention": SUBCAPTION if at is None else at,
                "range": [start, end],
                "numbers": list(own),
                "told": numbers_text(own) + ("?" if own and phrase.undecided else ""),
                "mark": _first(phrase.marks, found),
                "undecided": plain_text(phrase.undecided or ""),
            }
        )
    return shown


def _place(phrase: RegionPhrase) -> tuple[int, int]:
    return (SUBCAPTION if phrase.mention is None else phrase.mention), phrase.start
