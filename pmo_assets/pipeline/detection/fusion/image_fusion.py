"""Images by structure and network together: exact boxes where both agree, the network where the structure is wrong.

Structural boxes are exact when they are right, and wrong in two ways: a grid taken for one image, and one image taken
for several. The network sees both, a little off at the edges. Each structural box is therefore weighed by what the
network sees in its place:

* the same box: the structural box, with the scores of both combined;
* several boxes inside it that fill it: those boxes, moved to the nearest edges of the picture;
* it is one of several inside a box of the network: the network's box instead of them;
* nothing: the structural box with a lower score.

What only the network sees is added, moved to the nearest edges. Embedded bitmaps are believed as they are. `source` of
every box says where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, as_box, type_shares
from pmo_assets.pipeline.detection.protocols import BoxNetwork, NetworkBoxes
from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.pipeline.detection.structure.images import StructureImageDetector
from pmo_assets.pipeline.detection.structure.panels import glyph_share
from pmo_assets.pipeline.detection.structure.snapping import snapped_box
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import Box, area, covered_fraction, intersection, matched_boxes


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
    """

    seen: float = 0.1
    least: float = 0.55
    alike: float = 0.5
    inside: float = 0.8
    filled: float = 0.6
    alone: float = 0.9
    better: float = 0.8


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
        if score >= options.seen
    ]
    seen = _without_nesting(seen, options)
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
            continue
        if image.source == "bitmap":
            result.append(image)
            continue
        filled = sum(area(intersection(seen[k][0], image.box)) for k in inner) / max(area(image.box), 1e-9)
        whole = any(covered_fraction(image.box, seen[k][0]) >= options.inside for k in sure)
        if not whole and filled < options.filled:
            result.append(replace(image, score=image.score * options.alone))
    added = [
        (box, score, kinds)
        for k, (box, score, kinds) in enumerate(seen)
        if k not in taken and score >= options.least
        and not any(covered_fraction(box, r.box) >= options.inside for r in result)
    ]  # fmt: skip
    if not added:
        return result
    canvas = canvas_of(view.pixels, (), glyph_share(view))
    for box, score, kinds in added:
        result.append(ImageDetection(snapped_box(canvas, box), score, "network", None, 0.0, seen_types=kinds))
    return result


Seen = tuple[Box, float, dict[str, float]]
"""A box of the network, its score, and the share of each type."""


def _without_nesting(seen: Sequence[Seen], options: ImageFusionOptions) -> list[Seen]:
    """Return the network's boxes without those that contain, or are contained in, more convincing ones.

    A box that others fill is a grid taken for one image, or they are parts of one: the better mean score stays.
    """
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
        size = sum(area(seen[j][0]) for j in inner) / max(area(seen[k][0]), 1e-9)
        mean = sum(seen[j][1] * area(seen[j][0]) for j in inner) / max(1e-9, sum(area(seen[j][0]) for j in inner))
        if size >= options.filled and mean >= seen[k][1] * options.better:
            dropped.add(k)
        elif mean < seen[k][1]:
            dropped.update(inner)
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
