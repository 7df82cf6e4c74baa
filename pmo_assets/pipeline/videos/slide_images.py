"""Pictures on a slide: where they are, what they were made with, and what of a frame may leave.

The figure and image type networks see a slide as a figure that has no caption. A picture that leaves shows the retinal
images at their places, cropped around them; all else is black, and so are faces and names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detect import images_of_figures
from pmo_assets.pipeline.detection.detector_set import DetectorSet
from pmo_assets.pipeline.detection.protocols import ImageDetector
from pmo_assets.records.defaults import NMS_IOU, SCORE_THRESHOLD
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import UNIT_BOX, Box, clip, covered_fraction, crop_box, iou, union_box
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.modalities import Modality

LEAST_TYPE_SCORE: Final = 0.5
"""An image whose type is less certain is no retinal one."""

LEAST_SIDE: Final = 48
"""Pixels: a retinal image with a shorter side is an icon, and shows nothing to speak of."""

_NEAR: Final = 14
"""Grey levels by which a pixel may differ from the ground and belong to it."""

_INK: Final = 0.12
"""Share of a row's pixels that differ from the ground below which it is no row of the image: print beside it."""

_FULL: Final = 0.6
"""Share from which on a row beside a box belongs to its image."""

_WHITE: Final = 250
"""Mean grey level of a slide's ground from which it is white."""

_LEAST_GROUND: Final = 0.2
"""Share of a frame that is its ground at least; what is less belongs to an image."""

_GROWTH: Final = 0.08
"""Share of the frame by which a box may grow on each side."""

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class SlideImage:
    """A picture on a slide.

    Attributes:
        box: normalised to the frame.
        score: 0..1, that there is an image.
        image_type: None when it cannot be decided.
        type_score: 0..1.
        modality: as far as the network says.
        modality_score: 0..1, its share.
        is_retinal: it shows the retina, and is large enough to.
    """

    box: Box
    score: float
    image_type: ImageType | None
    type_score: float
    modality: Modality | None
    is_retinal: bool
    modality_score: float = 0.0


@dataclass(frozen=True, slots=True)
class _FittedImages:
    """An image detector that sees slides of any ground on white paper, too, as figures are printed, and whose boxes end
    where the images do, so that types are told from nothing else."""

    detector: ImageDetector

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        found = [list(images) for images in self.detector(views, panels)]
        other = [k for k, view in enumerate(views) if ground_of(view.pixels).mean() < _WHITE]
        printed = [replace(views[k], pixels=on_paper(views[k].pixels)) for k in other]
        again = self.detector(printed, [panels[k] for k in other]) if other else []
        for k, images in zip(other, again, strict=True):
            known = [image.box for image in found[k] if image.score >= SCORE_THRESHOLD]
            found[k] += [image for image in images if all(iou(image.box, box) < NMS_IOU for box in known)]
        return [
            [replace(image, box=fitted(view.pixels, clip(image.box, UNIT_BOX))) for image in images]
            for view, images in zip(views, found, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Known:
    """A detector that gives images which are known, without what was thought of them where they were found."""

    images: Sequence[Sequence[ImageDetection]]

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        return [[replace(image, seen_types={}, type_scores={}) for image in images] for images in self.images]


def slide_images(frames: Sequence[Pixels], detectors: DetectorSet) -> list[tuple[SlideImage, ...]]:
    """Return the pictures on each frame.

    Args:
        frames: (height, width, 3) uint8 RGB each.
        detectors: networks.

    Raises:
        SystemicError: when a network cannot be loaded.
    """

    def seen(detector: ImageDetector) -> list[tuple[ImageDetection, ...]]:
        views = [FigureView(pixels) for pixels in frames]
        return images_of_figures(views, [()] * len(frames), detector, detectors.marks, detectors.types)

    found = _decided(seen(_FittedImages(detectors.images)), seen)
    return [
        tuple(
            SlideImage(
                image.box,
                image.score,
                image.image_type,
                image.type_score,
                image.modality,
                image.image_type not in (None, "Other")
                and image.type_score >= LEAST_TYPE_SCORE
                and min(_sides(image.box, pixels)) >= LEAST_SIDE,
                image.modality_score,
            )
            for image in images
        )
        for pixels, images in zip(frames, found, strict=True)
    ]


def _decided(
    found: Sequence[Sequence[ImageDetection]], seen: Callable[[ImageDetector], list[tuple[ImageDetection, ...]]]
) -> list[tuple[ImageDetection, ...]]:
    """Return images, those of no decided type looked at again by themselves.

    The network that finds images, and says what they may be by all that is around them, was taught on figures of
    articles. Of a slide it knows the images' places; where its word leaves a type undecided, pixels alone count.
    """
    open_ones = [[image for image in images if image.image_type is None] for images in found]
    if not any(open_ones):
        return [tuple(images) for images in found]
    again = {id(old): new for olds, news in zip(open_ones, seen(_Known(open_ones)), strict=True)
             for old, new in _by_box(olds, news)}  # fmt: skip
    return [tuple(again.get(id(image), image) for image in images) for images in found]


def _by_box(
    olds: Sequence[ImageDetection], news: Sequence[ImageDetection]
) -> Iterator[tuple[ImageDetection, ImageDetection]]:
    for old in olds:
        same = next((new for new in news if new.box == old.box), None)
        if same is not None:
            yield old, same


def _sides(box: Box, pixels: Pixels) -> tuple[int, int]:
    left, top, right, bottom = crop_box(box, pixels.shape[1], pixels.shape[0])
    return right - left, bottom - top


def on_paper(pixels: Pixels) -> Pixels:
    """Return a frame with its ground white: what has the slide's commonest colour and reaches the frame's edge.

    Args:
        pixels: (height, width, 3) uint8 RGB.
    """
    ground = (~_unlike_ground(pixels)).astype(np.uint8)
    _, parts = cv2.connectedComponents(ground, connectivity=4)
    rim = np.unique(np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]]))
    outside = np.isin(parts, rim[rim > 0])
    if outside.mean() < _LEAST_GROUND:  # an image that fills the frame has no ground
        return pixels
    return np.where(outside[:, :, None], 255, pixels).astype(np.uint8)


def ground_of(pixels: Pixels) -> NDArray[np.floating]:
    """Return a frame's commonest colour, (3,) grey levels of red, green and blue.

    Args:
        pixels: (height, width, 3) uint8 RGB.
    """
    coarse = (pixels.reshape(-1, 3) >> 3).astype(np.int32)
    codes = coarse[:, 0] << 10 | coarse[:, 1] << 5 | coarse[:, 2]
    commonest = int(np.bincount(codes, minlength=2**15).argmax())
    return np.asarray(np.median(pixels.reshape(-1, 3)[codes == commonest], axis=0), np.float32)


def _unlike_ground(pixels: Pixels) -> NDArray[np.bool_]:
    """Return where a frame differs from its ground, (height, width)."""
    return np.asarray(np.abs(pixels - ground_of(pixels)).max(axis=2) > _NEAR)


def fitted(pixels: Pixels, box: Box) -> Box:
    """Return a box with its edges moved to where the image ends on the slide's ground.

    Rows of ground, and of print that the box took in, are cut off; rows beside it that are full belong to it.

    Args:
        pixels: the frame.
        box: normalised.
    """
    tall, wide = pixels.shape[:2]
    left, top, right, bottom = crop_box(box, wide, tall)
    away = _unlike_ground(pixels)
    left, right = _edges(away[top:bottom].mean(axis=0), left, right, round(_GROWTH * wide))
    top, bottom = _edges(away[:, left:right].mean(axis=1), top, bottom, round(_GROWTH * tall))
    return (left / wide, top / tall, right / wide, bottom / tall)


def _edges(shares: NDArray[np.floating], start: int, end: int, most: int) -> tuple[int, int]:
    """Return start and end of an image among rows, by their shares of pixels that are not ground."""
    inside = np.flatnonzero(shares[start:end] > _INK)
    if len(inside) < 2:
        return start, end
    runs = np.split(inside, np.flatnonzero(np.diff(inside) > 2) + 1)
    # Print above or below stands apart from the image by rows of ground.
    run = max(runs, key=lambda rows: float(shares[start + rows[0] : start + rows[-1] + 1].sum()))
    if run[-1] - run[0] + 1 < 0.5 * (end - start):
        return start, end
    first, last = start + int(run[0]), start + int(run[-1]) + 1
    while first > max(0, start - most) and shares[first - 1] >= _FULL:
        first -= 1
    while last < min(len(shares), end + most) and shares[last] >= _FULL:
        last += 1
    return first, last


def masked_picture(pixels: Pixels, kept: Sequence[Box], masked: Sequence[Box]) -> Pixels:
    """Return what of a frame may leave: the kept regions at their places, cropped around them, the rest black.

    Args:
        pixels: the frame.
        kept: boxes of images, normalised; at least one.
        masked: boxes that are black wherever they lie.
    """
    tall, wide = pixels.shape[:2]
    shown = np.zeros((tall, wide), bool)
    for box in kept:
        left, top, right, bottom = crop_box(box, wide, tall)
        shown[top:bottom, left:right] = True
    for box in masked:
        left, top, right, bottom = crop_box(box, wide, tall)
        shown[top:bottom, left:right] = False
    left, top, right, bottom = crop_box(union_box(kept), wide, tall)
    picture = np.where(shown[:, :, None], pixels, 0).astype(np.uint8)
    return np.ascontiguousarray(picture[top:bottom, left:right])


def without_people(images: Sequence[SlideImage], faces: Sequence[Box]) -> list[SlideImage]:
    """Return the retinal images that are no picture of a person: a face that fills a fifth of one is what it shows."""
    return [
        image
        for image in images
        if image.is_retinal and not any(covered_fraction(image.box, face) > 0.2 for face in faces)
    ]
