"""Types of doubtful pictures in grids: neighbours that look alike decide, others do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pmo_assets.pipeline.detection.fusion.grid_types import types_in_grids
from pmo_assets.records.detections import ImageDetection
from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Pixels

ORANGE, BLUE = (200, 100, 40), (30, 40, 200)


def picture(colour: tuple[int, int, int], seed: int) -> Pixels:
    noise = np.random.default_rng(seed).normal(0, 6, (40, 40, 3))
    return np.clip(np.asarray(colour) + noise, 0, 255).astype(np.uint8)


def cell(row: int, column: int, image_type: ImageType | None, score: float) -> ImageDetection:
    left, top = 0.05 + 0.32 * column, 0.05 + 0.32 * row
    others = (1 - score) / 3
    scores = dict.fromkeys(("CFP", "OCT", "Retinal Imaging", "Other"), others) | (
        {image_type: score} if image_type else {}
    )
    return ImageDetection((left, top, left + 0.28, top + 0.28), 0.9, "gutter", image_type, score, scores)


def grid() -> tuple[list[ImageDetection], list[Pixels]]:
    """Photographs, orange, in two columns and masks, blue, in the third."""
    images = [cell(r, c, "CFP" if c < 2 else "Other", 0.95) for r in range(3) for c in range(3)]
    return images, [picture(ORANGE if k % 3 < 2 else BLUE, k) for k in range(9)]


def test_a_doubtful_photograph_among_photographs_is_one() -> None:
    images, pictures = grid()
    for doubtful in (cell(1, 1, "Other", 0.6), cell(1, 1, None, 0.4)):
        images[4] = doubtful
        result = types_in_grids(images, pictures)
        assert result[4].image_type == "CFP"
        assert result[:4] + result[5:] == images[:4] + images[5:]


def test_neighbours_of_another_look_say_nothing() -> None:
    images, pictures = grid()
    images[5] = replace(cell(1, 2, "OCT", 0.6), box=images[5].box)
    pictures[5] = picture((20, 180, 60), 5)
    assert types_in_grids(images, pictures)[5].image_type == "OCT"


def test_a_sure_picture_keeps_its_type() -> None:
    images, pictures = grid()
    images[4] = cell(1, 1, "Retinal Imaging", 0.9)
    assert types_in_grids(images, pictures) == images


def test_pictures_that_are_all_undecided_stay_so() -> None:
    images, pictures = grid()
    images = [replace(image, image_type=None) for image in images]
    assert types_in_grids(images, pictures) == images
