"""People's decisions about marks and regions in place of the machine's: panel by panel, and only on what they saw.

A panel is found again by its box, never by its number. Its decision says all of its marks and regions: what is not in
it is none. Panels that nobody decided stay the machine's. Add here: how a decision becomes marks and regions. Keep out:
which figure a decision is about (`pipeline.assembly.review`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.review import SAME_BOX, changed, moved_to
from pmo_assets.pipeline.regions.mark_colours import hex_of, ink_colour
from pmo_assets.pipeline.regions.marks import degrees
from pmo_assets.pipeline.regions.shown_regions import fragment
from pmo_assets.records.figure import LocatedFigure
from pmo_assets.records.geometry import Box, area, centre, clip, covered_fraction, crop_box, matched_boxes
from pmo_assets.records.panels import Panel
from pmo_assets.records.regions import Mark, Region, RegionPhrase
from pmo_assets.records.reviews import DecidedMark, DecidedPanelRegions, DecidedRegion, DecidedRegions, Fingerprint

POINTING: Final = frozenset({"arrow", "arrowhead"})
"""Kinds of marks that have a tip."""


def verbatim(text: str, sources: Sequence[str]) -> str | None:
    """Return a text as the first source that holds it has it; None if none does.

    Runs of white space count alike: browsers show several spaces, and the end of a line, as one.
    """
    words = text.split()
    if not words:
        return None
    wanted = re.compile(r"\s+".join(map(re.escape, words)))
    return next((found.group() for source in sources if (found := wanted.search(source))), None)


@dataclass(frozen=True)
class DecidedPanels:
    """Decisions that apply to the panels of a figure.

    Attributes:
        of: decision by the panel's ordinal, with boxes normalised to the figure as it was found now.
        notes: decisions that do not apply, with the reason.
    """

    of: Mapping[int, DecidedPanelRegions]
    notes: Sequence[str]


def decided_panels(
    figure: LocatedFigure,
    panels: Sequence[Panel],
    decisions: Sequence[DecidedRegions],
    look: Callable[[], Fingerprint | None],
) -> DecidedPanels:
    """Return people's decisions about the marks and regions of a figure's panels; of several about a panel the last.

    Args:
        figure: as it was found now.
        panels: its panels.
        decisions: about this figure, the one that has the last word last.
        look: gives the figure's fingerprint; None where it has no picture.
    """
    of: dict[int, DecidedPanelRegions] = {}
    notes: list[str] = []
    for decided in decisions:
        title = decided.label or figure.image_cluster_id
        if why := changed(decided, figure, look()):
            notes.append(f"marks and regions of {title}: {why}")
            continue
        moved = moved_to(decided, figure)
        found = matched_boxes(
            [moved(own.box) for own in decided.panels], [panel.content_box for panel in panels], SAME_BOX
        )
        for number, own in enumerate(decided.panels):
            name = f"“{own.identifier or number + 1}”"
            panel = panels[found[number]] if number in found else None
            if panel is None:
                why = f"no panel is where panel {name} was"
            else:
                here, why = _in_frame(own, moved), None
                if any(_image_of(mark, panel) is None for mark in here.marks):
                    why = f"a mark of panel {name} lies on none of its images"
                else:
                    of[panel.ordinal] = here
            if why and (own.marks or own.regions):
                notes.append(f"marks and regions of {title}: {why}")
    return DecidedPanels(of, notes)


def _in_frame(own: DecidedPanelRegions, moved: Callable[[Box], Box]) -> DecidedPanelRegions:
    def point(mark: DecidedMark) -> tuple[float, float] | None:
        if mark.tip is None:
            return None
        x, y, _, _ = moved((*mark.tip, *mark.tip))
        return x, y

    return replace(
        own,
        box=moved(own.box),
        marks=tuple(replace(mark, box=moved(mark.box), tip=point(mark)) for mark in own.marks),
        regions=tuple(replace(region, box=moved(region.box)) for region in own.regions),
    )


def _image_of(mark: DecidedMark, panel: Panel) -> int | None:
    """Return the position of the image that a mark lies on: most of it, and of several the smallest; None for none."""
    covered = [(covered_fraction(mark.box, image.box), -area(image.box), -n) for n, image in enumerate(panel.images)]
    best = max(covered, default=(0.0, 0.0, 0))
    return -int(best[2]) if best[0] > 0 else None


def _order(decided: DecidedPanelRegions, panel: Panel) -> list[tuple[int, int]]:
    """Return (position of the image, position in the decision) of the marks, in the order that the table has."""
    return sorted((_image_of(mark, panel) or 0, k) for k, mark in enumerate(decided.marks))


def decided_marks(
    decided: DecidedPanelRegions, panel: Panel, machine: Sequence[Mark], pixels: NDArray[np.uint8]
) -> list[tuple[int, Mark]]:
    """Return a panel's marks as people decided them, each with the position of its image.

    What people do not say is measured: the colour's value, as the machine did where the mark is one of its own, and
    the direction, from the middle of the mark to its tip where people moved either.

    Args:
        decided: about this panel (`decided_panels`).
        panel: with the images that the marks lie on.
        machine: the marks that the machine sees on them.
        pixels: (height, width, 3) uint8 RGB of the figure.
    """
    same = matched_boxes([mark.box for mark in decided.marks], [mark.box for mark in machine], SAME_BOX)
    made = []
    for image, k in _order(decided, panel):
        own, seen = decided.marks[k], machine[same[k]] if k in same else None
        made.append((image, _mark(own, seen, pixels)))
    return made


def _mark(own: DecidedMark, seen: Mark | None, pixels: NDArray[np.uint8]) -> Mark:
    tall, wide = pixels.shape[:2]
    if seen is not None and own.colour == seen.colour:
        rgb = seen.rgb
    else:
        rgb = hex_of(ink_colour(pixels, crop_box(own.box, wide, tall)))
    tip = own.tip if own.kind in POINTING else None
    direction = None
    if tip is not None and seen is not None and (seen.box, seen.tip) == (own.box, tip):
        direction = seen.direction
    elif tip is not None:
        direction = degrees(centre(own.box), tip, (float(wide), float(tall)))
    return Mark(own.kind, own.colour, rgb, own.box, tip, direction, own.label, "person", 1.0, 1.0)


def unfounded(decided: DecidedPanelRegions, sources: Sequence[str]) -> str | None:
    """Return the words of a region that stand in none of the texts; None if all do."""
    said = (region.text for region in decided.regions if region.text is not None)
    return next((text for text in said if verbatim(text, sources) is None), None)


def decided_regions(
    decided: DecidedPanelRegions,
    panel: Panel,
    phrases: Sequence[RegionPhrase],
    texts: Sequence[str],
    machine: Sequence[Region],
) -> tuple[Region, ...]:
    """Return a panel's regions as people decided them, in reading order of their boxes.

    Args:
        decided: about this panel (`decided_panels`).
        panel: that they lie in.
        phrases: of the panel's texts.
        texts: the text that each phrase stands in.
        machine: the regions that the machine finds; a model's description of one stays with it.
    """
    place = {k: n for n, (_, k) in enumerate(_order(decided, panel))}
    same = matched_boxes([region.box for region in decided.regions], [region.box for region in machine], SAME_BOX)
    made = []
    for number, own in enumerate(decided.regions):
        marks = tuple(sorted(place[k] for k in own.marks))
        told = machine[same[number]].description if number in same else None
        box = clip(own.box, panel.content_box) if area(clip(own.box, panel.content_box)) > 0 else own.box
        made.append(Region(box, marks, _phrase(own, marks, phrases, texts), own.text, told, "person", 1.0))
    return tuple(sorted(made, key=lambda item: (item.box[1], item.box[0], item.marks)))


def _phrase(
    own: DecidedRegion, marks: Sequence[int], phrases: Sequence[RegionPhrase], texts: Sequence[str]
) -> int | None:
    """Return the phrase whose words a region has: one that means its marks before others."""
    if own.text is None:
        return None
    saying = [
        n for n, (phrase, text) in enumerate(zip(phrases, texts, strict=True)) if fragment(phrase, text) == own.text
    ]
    return next((n for n in saying if set(phrases[n].marks) & set(marks)), saying[0] if saying else None)
