"""Images that no panel covers: each makes a panel of its own, or is listed with the panel that is nearest to it.

An image makes a panel when it is large enough to be one and hardly lies in another. Where all but one of the caption's
subcaptions have their panel, such images side by side are that panel: they make one together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from pmo_assets.records.geometry import Box, area, centre, covered_fraction, height, union_box
from pmo_assets.records.panels import Panel, PanelImage

MOST_COVERED: Final = 0.3
"""Up to this fraction of it may lie in panels when an image makes a panel: it does not belong to one from 0.7 on."""

LEAST_SIZE: Final = 0.25
"""An image smaller than this part of the figure's median panel is no panel: a legend, a logo, an inset."""

SAME_ROW: Final = 0.5
"""Images are side by side when they share this part of the lower one's height."""


@dataclass(frozen=True, slots=True)
class UnassignedImages:
    """Places of a figure's images that no panel covers, by their number among its images.

    Attributes:
        panels: images that make a panel, per panel.
        listed: panel → images that are listed with it.
    """

    panels: tuple[tuple[int, ...], ...]
    listed: Mapping[int, tuple[int, ...]]


def placed_unassigned_images(
    unassigned: Sequence[int], images: Sequence[Box], panels: Sequence[Box], *, joined: bool
) -> UnassignedImages:
    """Return the unassigned images that make panels, and the panels with which the others are listed.

    Args:
        unassigned: images that belong to no panel.
        images: boxes of the figure's images.
        panels: boxes of its panels; where there are none, every image makes a panel.
        joined: images side by side make one panel.
    """
    alone = [number for number in unassigned if _makes_panel(images[number], panels)]
    groups = _side_by_side(alone, images, panels) if joined else [(number,) for number in alone]
    listed: dict[int, tuple[int, ...]] = {}
    for number in unassigned:
        if number not in alone:
            nearest = min(range(len(panels)), key=lambda place: (_distance(images[number], panels[place]), place))
            listed[nearest] = (*listed.get(nearest, ()), number)
    return UnassignedImages(tuple(groups), listed)


def _makes_panel(image: Box, panels: Sequence[Box]) -> bool:
    if not panels:
        return True
    covered = sum(covered_fraction(image, panel) for panel in panels)
    return covered <= MOST_COVERED and area(image) >= LEAST_SIZE * median(area(panel) for panel in panels)


def _side_by_side(numbers: Sequence[int], images: Sequence[Box], panels: Sequence[Box]) -> list[tuple[int, ...]]:
    """Group images of one row, from left to right, as long as a group does not reach into a panel."""
    groups: list[list[int]] = []
    for number in sorted(numbers, key=lambda k: (images[k][0], k)):
        for group in groups:
            hull = union_box(images[k] for k in group)
            whole = union_box([hull, images[number]])
            shared = min(hull[3], images[number][3]) - max(hull[1], images[number][1])
            lower = min(height(hull), height(images[number]))
            if shared >= SAME_ROW * lower and all(covered_fraction(p, whole) <= MOST_COVERED for p in panels):
                group.append(number)
                break
        else:
            groups.append([number])
    return [tuple(sorted(group)) for group in groups]


def _distance(image: Box, panel: Box) -> tuple[float, float]:
    """Return the distance of an image from a panel, 0 where they touch, then from its middle."""
    across = max(0.0, panel[0] - image[2], image[0] - panel[2])
    down = max(0.0, panel[1] - image[3], image[1] - panel[3])
    (x, y), (px, py) = centre(image), centre(panel)
    return (across**2 + down**2, (x - px) ** 2 + (y - py) ** 2)


def all_images(panels: Iterable[Panel]) -> list[PanelImage]:
    """Return the images that stand with panels, those included that are only listed with them."""
    return [image for panel in panels for image in (*panel.images, *panel.unassigned_images)]


def with_all_images(before: Sequence[Panel], after: Sequence[Panel]) -> list[Panel]:
    """Return a figure's panels so that each image stands with one of them, once; one that lost its panel is unassigned.

    Args:
        before: panels that hold or list every image.
        after: the panels as a vision model or people changed them.
    """
    if not after:
        return []
    seen = {image.id for panel in after for image in panel.images}
    listed: list[list[PanelImage]] = [[] for _ in after]
    for place, panel in enumerate(after):
        for image in panel.unassigned_images:
            if image.id not in seen:
                listed[place].append(image)
                seen.add(image.id)
    for image in {image.id: image for image in all_images(before)}.values():
        if image.id not in seen:
            distances = [(_distance(image.box, panel.content_box), place) for place, panel in enumerate(after)]
            listed[min(distances)[1]].append(replace(image, is_gt=False))
    return [replace(panel, unassigned_images=tuple(own)) for panel, own in zip(after, listed, strict=True)]
