"""Images by structure and network together: exact boxes where both agree, the network where the structure is wrong.

Structural boxes are exact when they are right, and wrong in two ways: a grid taken for one image, and one image taken
for several. The network sees both, a little off at the edges. Each structural box is therefore weighed by what the
network sees in its place:

* the same box: the structural box, with the scores of both combined;
* several boxes inside it that fill it: those boxes, moved to the nearest edges of the picture;
* it is one of several inside a box of the network: the network's box instead of them;
* not the same box, but sure ones inside it: a diagram with pictures in it, of which these are the images;
* nothing: the structural box with a lower score.

What only the network sees is added, moved to the bitmap that the PDF has there, or to the nearest edges of the picture.
Embedded bitmaps are believed as they are. What then is missing from a regular grid is added (`image_grids`). `source`
of every box says where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fusion.image_grids import image_grids, missing_images
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, as_box, type_shares
from pmo_assets.pipeline.detection.protocols import BoxNetwork, NetworkBoxes
from pmo_assets.pipeline.detection.structure.gutters import Canvas, canvas_of, pixel_rect
from pmo_assets.pipeline.detection.structure.images import StructureImageDetector, has_two_tones, is_photograph
from pmo_assets.pipeline.detection.structure.panels import glyph_share, picture_boxes
from pmo_assets.pipeline.detection.structure.snapping import snapped_box
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import (
    Box,
    area,
    centre,
    covered_fraction,
    height,
    intersection,
    iou,
    matched_boxes,
    width,
)

EVEN_LEVELS = 20
"""Levels between which every channel of an even area stays: more than JPEG leaves, less than any picture shows."""


PRINTED = 0.7
"""Part of a box in a line of live text from which it is print."""

SMALL, MANY = 0.12, 9
"""Part of the figure's side below which a box is small, and how many of these may be cells of a table."""


@dataclass(frozen=True, slots=True)
class ImageFusionOptions:
    """How structure and network are weighed.

    Attributes:
        seen: boxes of the network below this score are not considered at all.
        least: score from which a box of the network overrides the structure or is added to it.
        alike: IoU from which two boxes are the same.
        inside: part of a box that lies in another from which it counts as inside.
        filled: part of a structural box that the network's boxes in it must cover to take its place.
        alone: factor of the score of a structural box where the network sees nothing.
        better: boxes that fill another one replace it when their mean score is at least this part of its score.
        placed: the same as `least` where the PDF has a bitmap in the network's place.
        within: score of a box of the network from which a structural box around it, which the network does not see, is
            a drawing with pictures in it.
        agreed: IoU from which structure and network mean the same whole.
    """

    seen: float = 0.1
    least: float = 0.55
    alike: float = 0.5
    inside: float = 0.8
    filled: float = 0.6
    alone: float = 0.9
    better: float = 0.8
    placed: float = 0.3
    within: float = 0.7
    agreed: float = 0.7


def fused_images(
    view: FigureView,
    structural: Sequence[ImageDetection],
    boxes: NetworkBoxes,
    options: ImageFusionOptions | None = None,
) -> list[ImageDetection]:
    """Return the images of a figure from the structural ones and the network's; see the module's text."""
    options = options or ImageFusionOptions()
    seen = [
        (as_box(box), float(score), type_shares(kinds))
        for box, score, kinds in zip(
            boxes.boxes["image"], boxes.scores["image"], boxes.class_scores["image"], strict=True
        )
        if score >= options.seen and not is_even(view.pixels, as_box(box)) and not is_print(view, as_box(box))
    ]

    @cache
    def canvas() -> Canvas:
        return canvas_of(view.pixels, (), glyph_share(view))

    seen = _without_nesting(_without_cells(seen, canvas), [image.box for image in structural], options)
    same = matched_boxes([s.box for s in structural], [n[0] for n in seen], options.alike)
    taken = set(same.values())
    result: list[ImageDetection] = []
    for i, image in enumerate(structural):
        sure = [k for k, n in enumerate(seen) if n[1] >= options.least and k not in taken]
        inner = [k for k in sure if covered_fraction(seen[k][0], image.box) >= options.inside]
        if image.source == "bitmap":
            taken.update(inner)
        if i in same:
            _, score, kinds = seen[same[i]]
            result.append(replace(image, score=1 - (1 - image.score) * (1 - score), seen_types=kinds))
        elif image.source == "bitmap":
            result.append(image)
        elif not _replaced(image, [seen[k] for k in sure], [seen[k] for k in inner], options, canvas):
            result.append(replace(image, score=image.score * options.alone))
    pictures = picture_boxes(view.bitmaps) if view.bitmaps else ()
    left = [n for k, n in enumerate(seen) if k not in taken]
    added = [
        _placed(n, pictures, options) for n in left
        if not any(covered_fraction(n[0], r.box) >= options.inside for r in result)
    ]  # fmt: skip
    result += [image for image in added if image.score >= options.least]
    return _finished(canvas, result)


def is_even(pixels: NDArray[np.uint8], box: Box) -> bool:
    """Say whether a box shows one colour: a cell of a table or chequerboard, a bar, paper; no picture is that."""
    left, top, right, bottom = pixel_rect(box, pixels.shape[1], pixels.shape[0])
    # Its edges may lie beside it: the middle two thirds, at 12 × 12 places.
    wide, tall = right - left, bottom - top
    part = pixels[
        top + tall // 6 : bottom - tall // 6 : max(1, tall // 18),
        left + wide // 6 : right - wide // 6 : max(1, wide // 18),
    ]
    return part.size == 0 or bool((np.ptp(part.reshape(-1, 3), axis=0) < EVEN_LEVELS).all())


def is_print(view: FigureView, box: Box) -> bool:
    """Say whether a box lies in a line of live text: letters seen at native resolution look like small pictures."""
    x, y = centre(box)
    # Where most of it lies in another box, its middle does: most spans of a figure end there.
    return any(
        t.box[0] <= x <= t.box[2] and t.box[1] <= y <= t.box[3] and covered_fraction(box, t.box) >= PRINTED
        for t in view.texts
    )


def _replaced(
    image: ImageDetection,
    sure: Sequence[Seen],
    inner: Sequence[Seen],
    options: ImageFusionOptions,
    canvas: Callable[[], Canvas],
) -> bool:
    """Say whether the network's sure boxes, or those inside it, take the place of a structural box it does not see.

    Of a drawing only photographs do: bars and cells of a plot look like small pictures to a network.
    """
    if any(covered_fraction(image.box, box) >= options.inside for box, _, _ in sure):
        return True
    tall, wide = canvas().ink.shape if inner else (0, 0)
    rects = [pixel_rect(box, wide, tall) for box, _, _ in inner]
    if sum(area(intersection(box, image.box)) for box, _, _ in inner) >= options.filled * max(area(image.box), 1e-9):
        return True
    photographs = all(is_photograph(canvas(), rect) for rect in rects)
    return photographs and (len(inner) >= 2 or any(score >= options.within for _, score, _ in inner))


def _without_cells(seen: Sequence[Seen], canvas: Callable[[], Canvas]) -> Sequence[Seen]:
    """Return the network's boxes without the cells of tables and chequerboards, which look like thumbnails to it.

    Where most of many small boxes are no photographs, none of those is a picture; masks stand beside
    as many photographs.
    """
    small = [k for k, n in enumerate(seen) if max(width(n[0]), height(n[0])) < SMALL]
    if len(small) < MANY:
        return seen
    tall, wide = canvas().ink.shape
    rects = {k: pixel_rect(seen[k][0], wide, tall) for k in small}
    cells = {k for k, r in rects.items() if not is_photograph(canvas(), r) or has_two_tones(canvas(), r)}
    return [n for k, n in enumerate(seen) if k not in cells] if 2 * len(cells) > len(small) else seen


def _placed(seen: Seen, pictures: Sequence[Box], options: ImageFusionOptions) -> ImageDetection:
    """Return an image that only the network sees, with the box of the bitmap that the PDF has in its place."""
    box, score, kinds = seen
    exact = max(pictures, key=lambda p: iou(p, box), default=box)
    if pictures and score >= options.placed and iou(exact, box) >= options.alike:
        # The bitmap vouches for it as much as a network that is as sure as not.
        return ImageDetection(exact, max(options.least, (1 + score) / 2), "bitmap", None, 0.0, seen_types=kinds)
    return ImageDetection(box, score, "network", None, 0.0, seen_types=kinds)


def _finished(canvas: Callable[[], Canvas], images: Sequence[ImageDetection]) -> list[ImageDetection]:
    """Return the images with the network's boxes moved to edges, and with those that regular grids lack."""
    grids = [grid for grid in image_grids(images) if grid.missing()]
    if not grids and not any(image.source == "network" for image in images):
        return list(images)
    moved = [
        replace(image, box=snapped_box(canvas(), image.box)) if image.source == "network" else image for image in images
    ]
    return moved + missing_images(canvas(), moved, image_grids(moved) if grids else ())


Seen = tuple[Box, float, dict[str, float]]
"""A box of the network, its score, and the share of each type."""


def _without_nesting(seen: Sequence[Seen], structural: Sequence[Box], options: ImageFusionOptions) -> list[Seen]:
    """Return the network's boxes without those that contain, or are contained in, more convincing ones.

    A box that others fill is a grid taken for one image, or they are parts of one: the better scores stay. Where
    structure has the same box as well, it takes more to say that it is none.
    """
    agreed = set(matched_boxes([n[0] for n in seen], structural, options.agreed))
    order = sorted(range(len(seen)), key=lambda k: -area(seen[k][0]))
    dropped: set[int] = set()
    for k in order:
        if k in dropped:
            continue
        inner = [
            j for j in order
            if j != k and j not in dropped and area(seen[j][0]) < area(seen[k][0])
            and covered_fraction(seen[j][0], seen[k][0]) >= options.inside
        ]  # fmt: skip
        if not inner:
            continue
        # Weak boxes are everywhere; they neither fill a picture nor say anything against those beside them.
        worth = (1 + seen[k][1]) / 2 if k in agreed else seen[k][1]
        strong = [j for j in inner if seen[j][1] >= options.better * worth]
        if sum(area(seen[j][0]) for j in strong) >= options.filled * area(seen[k][0]):
            dropped.add(k)
        else:
            dropped.update(j for j in inner if seen[j][1] < worth)
    return [n for k, n in enumerate(seen) if k not in dropped]


class EnsembleImageDetector:
    """Structure and network as one `protocols.ImageDetector`."""

    def __init__(self, network: BoxNetwork | None = None, options: ImageFusionOptions | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network, self.options = network or FigureNetwork(), options
        self.structure = StructureImageDetector()

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return the images per figure."""
        structural = self.structure(views, panels)
        seen = self.network(views)
        return [fused_images(v, s, n, self.options) for v, s, n in zip(views, structural, seen, strict=True)]
