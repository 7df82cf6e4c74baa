"""Panels that the caption does not name, although their identifiers are printed.

A network sees where identifiers and panels are. What it takes for an identifier and is the only such print in a panel
of its own belongs to that panel, whatever the caption says: it names panels where the caption names none, and continues
the caption's letters where these end too early. What is printed elsewhere (axes, scales, letters in pictures) is not
looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pmo_assets.pipeline.detection.structure.gutters import normalised_box
from pmo_assets.pipeline.detection.structure.identifier_reading import (
    PrintedBox,
    may_be,
    named_boxes,
    printed_sequence,
    printed_series,
)
from pmo_assets.pipeline.detection.structure.identifiers import Identifier, key
from pmo_assets.pipeline.detection.structure.panels import PrintedNames, structure_panels
from pmo_assets.pipeline.detection.structure.snapping import REACH
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, area, centre, expand, non_maximum_suppression

RIVAL = 0.75
"""A panel's identifier is the only print in it that has this part of its score."""

SURE_BOX = 0.5
"""Score from which a box is an identifier although it cannot be read, when it is the only one in its panel."""

WEAK = 0.5
"""Part of the best panel's score below which panels are not counted."""

APART = 0.5
"""IoU from which two panels of the network are one."""

LEAST_CUT = 0.5
"""Least score of the panels that are cut around letters which no caption names."""

LEAST_SHARE = 0.1
"""Part of an even share of the figure that each of these panels has at least."""

ALIKE = 1.0
"""Letter heights by which letters at one place of their panels may be off it."""

MOST_BEYOND = 3
"""So many panels may follow the last one that the caption names: more are a caption that was misread."""


def holds_centre(panel: Box, box: Box) -> bool:
    """Say whether the middle of a box lies in a panel."""
    x, y = centre(box)
    return panel[0] <= x <= panel[2] and panel[1] <= y <= panel[3]


def separate(panels: Sequence[tuple[Box, float]]) -> list[Box]:
    """Return the boxes of panels, best first, without weak ones and those that show the same as a better one."""
    least = WEAK * max((score for _, score in panels), default=0.0)
    sure = [(box, score) for box, score in panels if score >= least]
    kept = non_maximum_suppression([box for box, _ in sure], [score for _, score in sure], APART)
    return [sure[k][0] for k in kept]


def own_labels(labels: Sequence[PrintedBox], panels: Sequence[Box], size: tuple[int, int]) -> list[PrintedBox]:
    """Return the boxes of identifiers that are alone in a panel, or beside one, each once.

    Args:
        labels: boxes of identifiers, pixels.
        panels: normalised boxes.
        size: (width, height) of the canvas.
    """
    boxes = [normalised_box(label.rect, *size) for label in labels]
    own: dict[int, None] = {}
    for panel in panels:
        inside = [k for k, box in enumerate(boxes) if holds_centre(panel, box)]
        inside = inside or [k for k, box in enumerate(boxes) if holds_centre(expand(panel, REACH), box)]
        best = max(inside, key=lambda k: labels[k].score, default=None)
        if best is not None and all(k == best or labels[k].score < RIVAL * labels[best].score for k in inside):
            own[best] = None
    return [labels[k] for k in own]


def named_by_print(
    printed: PrintedNames, labels: Sequence[PrintedBox], panels: Sequence[tuple[Box, float]]
) -> PrintedNames:
    """Return the names of a figure whose caption names no panels, although A, B, C … are printed in it.

    Letters label things inside single pictures, too. Either the surest boxes read as a sequence and most lie in a panel
    of their own; or every panel has one sure box, and those that can be read form a sequence. Otherwise `printed`
    comes back as it is.

    Args:
        printed: names and places as far as known.
        labels: boxes of identifiers, pixels of the canvas.
        panels: normalised boxes and scores of panels.
    """
    tall, wide = printed.canvas.ink.shape
    rgb = printed.canvas.rgb
    names = printed_sequence(rgb, labels)
    surest = sorted(labels, key=lambda label: -label.score)[: len(names)]
    if len(names) >= 2 and are_apart(surest, [box for box, _ in panels], (wide, tall)):
        return replace(printed, names=names, places=tuple(() for _ in names))
    distinct = separate(panels)
    own = own_labels([label for label in labels if label.score >= SURE_BOX], distinct, (wide, tall))
    if len(own) < 2 or len(own) != len(distinct):
        return printed
    names = printed_series(rgb, own)
    if not names:
        return printed
    return _with_places(replace(printed, names=names, places=tuple(() for _ in names)), own)


def are_apart(labels: Sequence[PrintedBox], panels: Sequence[Box], size: tuple[int, int]) -> bool:
    """Say whether most of the boxes are the only one in, or beside, a panel."""
    boxes = [normalised_box(label.rect, *size) for label in labels]
    inside = [[k for k, box in enumerate(boxes) if holds_centre(expand(panel, REACH), box)] for panel in panels]
    return 2 * len({own[0] for own in inside if len(own) == 1}) > len(labels)


def is_mostly_confirmed(view: FigureView, printed: PrintedNames, *, apart: bool) -> bool:
    """Say whether letters that no caption names are those of panels although some could not be read.

    There are as many parts as names, no part holds two of the letters that were read, and the network sees panels
    around the letters (`apart`, see `are_apart`), or all stand at one place of their parts.
    """
    panels = [item for item in structure_panels(view, printed) if item.kind == "panel"]
    if len(panels) != len(printed.names) or min(panel.score for panel in panels) < LEAST_CUT:
        return False
    if min(area(panel.box) for panel in panels) < LEAST_SHARE / len(panels):
        return False
    tall, wide = printed.canvas.ink.shape
    read = [normalised_box(own[0].rect, wide, tall) for own in printed.places if own]
    if any(sum(holds_centre(panel.box, box) for box in read) > 1 for panel in panels):
        return False
    return apart or stand_alike([panel.box for panel in panels], read, (wide, tall))


def stand_alike(panels: Sequence[Box], letters: Sequence[Box], size: tuple[int, int]) -> bool:
    """Say whether letters stand at one place of their panels: at the same corner, or the middle of the same edge.

    Args:
        panels: normalised boxes.
        letters: normalised boxes, each in one of the panels.
        size: (width, height) of the canvas.
    """
    homes = [next((panel for panel in panels if holds_centre(panel, letter)), None) for letter in letters]
    pairs = [(home, letter) for home, letter in zip(homes, letters, strict=True) if home is not None]
    if len(pairs) < len(letters):
        return False
    slack = ALIKE * max(letter[3] - letter[1] for letter in letters) * size[1]
    across = [[(b[0] - p[0]) for p, b in pairs], [(p[2] - b[2]) for p, b in pairs],
              [(b[0] + b[2] - p[0] - p[2]) / 2 for p, b in pairs]]  # fmt: skip
    down = [[(b[1] - p[1]) for p, b in pairs], [(p[3] - b[3]) for p, b in pairs]]
    return any((max(side) - min(side)) * size[0] <= slack for side in across) and any(
        (max(side) - min(side)) * size[1] <= slack for side in down
    )


def _with_places(printed: PrintedNames, labels: Sequence[PrintedBox]) -> PrintedNames:
    """Return names with the boxes in which they are printed; `labels` are all of them."""
    found = named_boxes(printed.canvas.rgb, labels, printed.names)
    places = tuple(
        tuple(Identifier(name, b.rect, "plain", "network", b.score, b.likeness) for b in found.get(i, ()))
        for i, name in enumerate(printed.names)
    )
    return replace(printed, places=places)


def with_further(
    printed: PrintedNames, labels: Sequence[PrintedBox], panels: Sequence[tuple[Box, float]]
) -> PrintedNames:
    """Return the names with letters after the caption's last one that are printed in panels of their own.

    Args:
        printed: names and places as far as known; other names than single letters come back as they are.
        labels: boxes of identifiers, pixels of the canvas.
        panels: normalised boxes and scores of panels.
    """
    names = printed.names
    known = [place for places in printed.places for place in places]
    if len(names) < 2 or 2 * sum(map(bool, printed.places)) < len(names) or not all(map(_is_letter, names)):
        return printed
    tall, wide = printed.canvas.ink.shape
    size = (wide, tall)
    boxes = [normalised_box(place.rect, *size) for place in known]
    distinct = separate(panels)
    free = [panel for panel in distinct if not any(holds_centre(expand(panel, REACH), box) for box in boxes)]
    heights = sorted(place.rect[3] - place.rect[1] for place in known)
    usual = heights[len(heights) // 2]
    fitting = [
        label
        for label in own_labels(labels, free, size)
        if label.score >= SURE_BOX and 0.5 <= (label.rect[3] - label.rect[1]) / max(usual, 1) <= 2
    ]
    # One that cannot be read counts where nothing but panels with one identifier each is to be seen.
    sure = len(fitting) == 1 and len(own_labels(_boxes_of(known), distinct, size)) + 1 == len(distinct)
    letters = _following(names, min(len(fitting), MOST_BEYOND))
    found = named_boxes(printed.canvas.rgb, fitting, letters)
    added = [
        (letters[i], box)
        for i, own in found.items()
        for box in own[:1]
        if may_be(printed.canvas.rgb, box.rect, letters[i], unread=sure)
    ]
    return replace(
        printed,
        names=(*names, *(name for name, _ in added)),
        places=(
            *printed.places,
            *((Identifier(name, b.rect, "plain", "network", b.score, b.likeness),) for name, b in added),
        ),
    )


def _boxes_of(places: Sequence[Identifier]) -> list[PrintedBox]:
    return [PrintedBox(place.rect, place.score) for place in places]


def _is_letter(name: str) -> bool:
    return len(name) == 1 and name.isalpha()


def _following(names: Sequence[str], count: int) -> list[str]:
    """Return the letters after the last of `names`, in its case; fewer where the alphabet ends."""
    last = max(names, key=key)
    return [chr(ord(last) + k + 1) for k in range(count) if chr(ord(last) + k + 1).isalpha()]
