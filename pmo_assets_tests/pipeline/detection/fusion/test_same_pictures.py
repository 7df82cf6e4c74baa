"""Pictures under maps have the type of the same picture without its map; other pictures keep theirs."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.detection.fusion.same_pictures import agreement, fine_detail, types_of_same_pictures
from pmo_assets.records.detections import ImageDetection
from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Pixels
from pmo_assets.samples.pictures import fundus_photograph, oct_scan

SIDE = 180


def photograph(seed: int) -> Pixels:
    return fundus_photograph(np.random.default_rng(seed), SIDE, SIDE)


def under_a_map(picture: Pixels, seed: int, share: float = 0.45) -> Pixels:
    tall, wide = picture.shape[:2]
    level = cv2.resize(np.random.default_rng(seed).random((4, 4)).astype(np.float32), (wide, tall), interpolation=3)
    heat = cv2.applyColorMap((255 * np.clip(level, 0, 1)).astype(np.uint8), cv2.COLORMAP_JET)[:, :, ::-1]
    return np.clip((1 - share) * picture + share * heat, 0, 255).astype(np.uint8)


def image(column: int, image_type: ImageType | None, score: float = 0.95, wide: float = 0.2) -> ImageDetection:
    scores: dict[str, float] = {image_type: score} if image_type else {}
    left = 0.25 * column
    return ImageDetection((left, 0.1, left + wide, 0.3), 0.9, "bitmap", image_type, score, scores, modality="OCT")


def test_a_map_has_the_type_of_the_picture_that_stands_beside_it() -> None:
    one, other = photograph(1), photograph(2)
    pictures = [one, under_a_map(one, 3), under_a_map(one, 4, 0.5), other]
    images = [image(0, "CFP"), image(1, "Retinal Imaging"), image(2, None, 0.4), image(3, "CFP")]
    found = types_of_same_pictures(images, pictures)
    assert [item.image_type for item in found] == ["CFP"] * 4
    assert "a map over the picture beside it" in found[1].type_reason
    assert found[0] == images[0]


@pytest.mark.parametrize("change", ["another eye", "another shape", "not sure", "no map"])
def test_without_the_same_picture_in_the_same_shape_nothing_is_told(change: str) -> None:
    one = photograph(1)
    pictures = [one, under_a_map(photograph(9) if change == "another eye" else one, 3)]
    images = [image(0, "CFP", 0.6 if change == "not sure" else 0.95), image(1, "Retinal Imaging")]
    if change == "another shape":
        images[1] = image(1, "Retinal Imaging", wide=0.15)
    if change == "no map":
        pictures[1] = np.repeat(one[:, :, 1:2], 3, axis=2)  # red-free: the same eye, and another type
    assert types_of_same_pictures(images, pictures) == images


def test_detail_agrees_with_itself_under_a_map_and_not_with_another_scan() -> None:
    rng = np.random.default_rng(5)
    scans = [oct_scan(rng, 220, 150) for _ in range(2)]
    own, other = (fine_detail(scan) for scan in scans)
    covered = fine_detail(under_a_map(scans[0], 6))
    assert own is not None
    assert other is not None
    assert covered is not None
    assert agreement(covered, own) > 0.5
    assert agreement(covered, other) < 0.3
    assert fine_detail(np.full((90, 90, 3), 77, np.uint8)) is None
