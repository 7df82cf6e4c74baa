"""Pictures of segmentations: masks in flat colours, and pictures with outlines or tints laid over them.

Each depends on the generator's state alone and returns (height, width, 3) uint8 RGB of the picture's size.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, Pixels, Rng, cloud, one_of
from pmo_assets.training.synthetic.filled_pictures import segmentation, spots

_REGIONS: tuple[Colour, ...] = (
    (255, 255, 255), (230, 30, 30), (40, 170, 60), (40, 80, 220), (250, 220, 40), (160, 60, 180), (60, 200, 210),
    (128, 128, 128),
)  # fmt: skip
_GROUNDS: tuple[Colour, ...] = ((0, 0, 0), (0, 0, 0), (0, 0, 0), (255, 255, 255), (68, 1, 84), (20, 20, 60))


def labels_of(rng: Rng, pixels: Pixels, kind: ImageType) -> np.ndarray:
    """Return regions (height, width) uint8 as people or networks draw them into a picture; 0 is the ground.

    Vessels or disc and cup for pictures of the fundus, layers or fluid for OCT scans.
    """
    tall, wide = pixels.shape[:2]
    labels = np.zeros((tall, wide), np.uint8)
    if kind == "OCT":
        base = tall * (0.45 + 0.08 * np.sin(np.linspace(0, 3, wide) + rng.uniform(0, 6)))
        y, depth = np.arange(tall)[:, None], tall * rng.uniform(0.02, 0.09)
        for k in range(int(rng.integers(1, 8))):
            labels[(y >= base + k * depth) & (y < base + (k + 1) * depth + 1)] = k + 1
        if rng.random() < 0.4:
            labels[(cloud(rng, wide, tall, 6) > 1.2) & (labels > 0)] = 8
        return labels
    if rng.random() < 0.5:
        green = np.ascontiguousarray(pixels[:, :, 1])
        reach = max(3, round(min(tall, wide) / rng.uniform(9, 16))) | 1
        dark = cv2.morphologyEx(green, cv2.MORPH_BLACKHAT, np.ones((reach, reach), np.uint8))
        labels[np.asarray(dark) > max(4.0, float(np.percentile(dark, rng.uniform(82, 93))))] = 1
        return labels
    centre = (round(wide * rng.uniform(0.3, 0.7)), round(tall * rng.uniform(0.35, 0.65)))
    radius = min(tall, wide) * rng.uniform(0.12, 0.4)
    for k, share in enumerate((1.0, float(rng.uniform(0.3, 0.7)))[: int(rng.integers(1, 3))]):
        axes = (max(1, round(radius * share * rng.uniform(0.85, 1.0))), max(1, round(radius * share)))
        cv2.ellipse(labels, centre, axes, float(rng.uniform(0, 180)), 0, 360, k + 1, -1)
    return labels


def mask_picture(rng: Rng, pixels: Pixels, kind: ImageType) -> Pixels:
    """Draw a mask of a picture: its regions in flat colours on an even ground, or spots as attention maps show."""
    tall, wide = pixels.shape[:2]
    if rng.random() < 0.2:
        return (segmentation if rng.random() < 0.5 else spots)(rng, wide, tall)
    ground = one_of(rng, _GROUNDS)
    colours = [_REGIONS[int(k)] for k in rng.permutation(len(_REGIONS))]
    if rng.random() < 0.5:
        colours[0] = (255, 255, 255) if ground != (255, 255, 255) else (0, 0, 0)
    if ground == (255, 255, 255):
        colours = [(0, 0, 0) if c == (255, 255, 255) else c for c in colours]
    table = np.asarray([ground, *colours, colours[0]], np.uint8)
    picture = np.ascontiguousarray(table[labels_of(rng, pixels, kind)])
    if ground == (255, 255, 255):  # on paper nobody would see where it ends
        cv2.rectangle(picture, (0, 0), (wide - 1, tall - 1), (0, 0, 0), 1)
    return picture


def overlaid_picture(rng: Rng, pixels: Pixels, kind: ImageType) -> tuple[Pixels, bool | None]:
    """Lay outlines or tints of regions over a picture; outlines count as marks, of tints nobody says."""
    labels = labels_of(rng, pixels, kind)
    picture = np.ascontiguousarray(pixels)
    outlined = rng.random() < 0.5
    for k in range(1, int(labels.max()) + 1):
        colour = _REGIONS[int(rng.integers(1, len(_REGIONS)))]
        region = np.asarray(labels == k, np.uint8)
        if outlined:
            contours, _ = cv2.findContours(region, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
            cv2.drawContours(picture, contours, -1, colour, max(1, round(min(picture.shape[:2]) / 120)), cv2.LINE_AA)
        else:
            picture[region > 0] = (0.5 * picture[region > 0] + 0.5 * np.asarray(colour)).astype(np.uint8)
    return picture, True if outlined and labels.any() else None
