"""Images by structure and network together: exact boxes where both agree, and one decision where they do not.

Structural boxes are exact when they are right, and wrong in two ways: a grid taken for one image, and one image taken
for several. The network sees both, a little off at the edges, and takes parts of drawings for pictures. Their boxes are
proposals, the same where they overlap by half. Of boxes inside each other either the whole or its parts remain
(`image_choice`). Of these

* a box that both have is the structural one, with the scores of both combined;
* a box that only structure has gets a lower score, unless the PDF has a bitmap of its own there;
* a box that only the network sees is moved to the bitmap that the PDF has there, or to the picture's nearest edges.

Places that are then missing from a regular grid are added (`image_grids`), and parts of drawings left
out (`drawings`). `source` of every box says its origin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fusion.drawings import without_drawn_parts
from pmo_assets.pipeline.detection.fusion.image_choice import Proposal, chosen_proposals
from pmo_assets.pipeline.detection.fusion.image_grids import image_grids, missing_images
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, as_box, type_shares
from pmo_assets.pipeline.detection.protocols import BoxNetwork, NetworkBoxes
from pmo_assets.pipeline.detection.structure.gutters import Canvas, canvas_of, pixel_rect
from pmo_assets.pipeline.detection.structure.images import StructureImageDetector
from pmo_assets.pipeline.detection.structure.panels import glyph_share, picture_boxes
from pmo_assets.pipeline.detection.structure.snapping import snapped_box
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import Box, centre, covered_fraction, iou, matched_boxes

EVEN_LEVELS = 20
"""Levels between which every channel of an even area stays: more than JPEG leaves, less than any picture shows."""


PRINTED = 0.7
"""Part of a box in a line of live text from which it is print."""


@dataclass(frozen=True, slots=True)
class ImageFusionOptions:
    """Weights and thresholds between the images of structure and network.

    Attributes:
        seen: boxes of the network below this score are not considered at all.
        least: score from which a box that only the network sees is an image.
        alike: IoU from which two boxes are the same.
        alone: factor of the score of a structural box where the network sees nothing.
        placed: the same as `least` where the PDF has a bitmap in the network's place.
    """

    seen: float = 0.1
    least: float = 0.5
    alike: float = 0.5
    alone: float = 0.9
    placed: float = 0.3


Seen = tuple[Box, float, dict[str, float]]
"""A box of the network, its score, and the share of each type."""


@dataclass(frozen=True, slots=True)
class ImageProposals:
    """Proposals of both sources for a figure's images.

    Attributes:
        proposals: those of structure in their order, then those that only the network has.
        seen: per proposal the network's box there; None where it has none.
    """

    proposals: list[Proposal]
    seen: list[Seen | None]


def image_proposals(
    view: FigureView,
    structural: Sequence[ImageDetection],
    boxes: NetworkBoxes,
    options: ImageFusionOptions,
) -> ImageProposals:
    """Return the proposals of structure and network for a figure's images."""
    seen = [
        (as_box(box), float(score), type_shares(kinds))
        for box, score, kinds in zip(
            boxes.boxes["image"], boxes.scores["image"], boxes.class_scores["image"], strict=True
        )
        if score >= options.seen and not is_even(view.pixels, as_box(box)) and not is_print(view, as_box(box))
    ]
    same = matched_boxes([image.box for image in structural], [box for box, _, _ in seen], options.alike)
    both: list[Seen | None] = [seen[same[i]] if i in same else None for i in range(len(structural))]
    proposals = [
        Proposal(image.box, image.score, found[1] if found else 0.0, image.source == "bitmap")
        for image, found in zip(structural, both, strict=True)
    ]
    in_both = set(same.values())
    alone = [found for k, found in enumerate(seen) if k not in in_both]
    return ImageProposals([*proposals, *(Proposal(box, 0.0, score) for box, score, _ in alone)], [*both, *alone])


def fused_images(
    view: FigureView,
    structural: Sequence[ImageDetection],
    boxes: NetworkBoxes,
    options: ImageFusionOptions | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    panels: Sequence[PanelDetection] = (),
) -> list[ImageDetection]:
    """Return the images of a figure from the structural ones and the network's; see the module's text.

    Args:
        view: the figure.
        structural: images by structure.
        boxes: the network's boxes.
        options: None for the usual ones.
        weights: of the choice between wholes and parts; None for the package's.
        panels: in each of which is decided whether it is a drawing; none count as one.
    """
    options = options or ImageFusionOptions()

    @cache
    def canvas() -> Canvas:
        return canvas_of(view.pixels, (), glyph_share(view))

    proposed = image_proposals(view, structural, boxes, options)
    pictures = picture_boxes(view.bitmaps) if view.bitmaps else ()
    result: list[ImageDetection] = []
    for k, trust in chosen_proposals(proposed.proposals, canvas, live=view.is_live, weights=weights).items():
        seen = proposed.seen[k]
        if k < len(structural):
            result.append(_weighed(structural[k], seen, trust, options))
        elif seen is not None:
            image = _placed(seen, pictures, options)
            result += [replace(image, score=image.score * math.sqrt(trust))] if image.score >= options.least else []
    names = [panel.box for panel in panels if panel.kind == "identifier"]
    result = [image for image in result if image.source != "network" or not _is_name(image.box, names)]
    return without_drawn_parts(canvas, panels, _finished(canvas, result))


def _is_name(box: Box, names: Sequence[Box]) -> bool:
    """Say whether a box that only the network sees is a printed identifier: a bracketed letter looks like an icon."""
    return any(covered_fraction(box, name) >= PRINTED for name in names)


def _weighed(image: ImageDetection, seen: Seen | None, trust: float, options: ImageFusionOptions) -> ImageDetection:
    """Return a structural image with the score that the network and the choice make of it."""
    factor = math.sqrt(trust)
    if seen is not None:
        return replace(image, score=(1 - (1 - image.score) * (1 - seen[1])) * factor, seen_types=seen[2])
    return image if image.source == "bitmap" else replace(image, score=image.score * options.alone * factor)


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
        return [
            fused_images(v, s, n, self.options, panels=p)
            for v, s, n, p in zip(views, structural, seen, panels, strict=True)
        ]
