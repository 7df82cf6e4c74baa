"""Boxes that end where the picture ends, and what of a frame may leave."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.videos.slide_images import fitted, masked_picture, slide_images, without_people
from pmo_assets.records.geometry import Box, iou
from pmo_assets.samples.drawing import Pixels, paper, print_text
from pmo_assets.samples.pictures import drawn_picture

WIDE, TALL = 640, 360
PLACE = (60, 100, 260, 300)
BOX: Box = (60 / WIDE, 100 / TALL, 260 / WIDE, 300 / TALL)


def slide(ground: tuple[int, int, int] = (250, 250, 250)) -> Pixels:
    canvas = paper(WIDE, TALL, ground)
    print_text(canvas, 60, 60, "Macular disease", "hebo", 26, (20, 20, 60) if ground[0] > 128 else (240, 240, 240))
    canvas[100:300, 60:260] = drawn_picture("cfp", np.random.default_rng(2), 200, 200)
    return canvas


@pytest.mark.parametrize("off", [(0.0, -0.13, 0.02, 0.01), (-0.03, 0.0, 0.05, 0.1), (0.02, 0.02, -0.02, -0.03)])
@pytest.mark.parametrize("ground", [(250, 250, 250), (24, 28, 48)])
def test_a_box_is_moved_to_the_edges_of_its_picture(off: Box, ground: tuple[int, int, int]) -> None:
    moved = tuple(value + shift for value, shift in zip(BOX, off, strict=True))
    assert iou(fitted(slide(ground), moved), BOX) > 0.95  # type: ignore[arg-type]


def test_a_box_on_nothing_stays() -> None:
    assert fitted(paper(WIDE, TALL), BOX) == pytest.approx(BOX, abs=0.01)


def test_the_networks_find_the_retinal_picture_of_a_slide() -> None:
    (images,) = slide_images([slide()], detector_set())
    (kept,) = without_people(images, [])
    assert kept.image_type == "CFP"
    assert iou(kept.box, BOX) > 0.95


def test_a_picture_of_a_face_is_not_kept() -> None:
    (images,) = slide_images([slide()], detector_set())
    assert without_people(images, [BOX]) == []


def test_only_the_images_leave_at_their_places_and_without_what_is_masked() -> None:
    frame = np.full((100, 200, 3), 200, np.uint8)
    picture = masked_picture(frame, [(0.1, 0.1, 0.3, 0.5), (0.5, 0.3, 0.9, 0.9)], [(0.2, 0.2, 0.6, 0.4)])
    assert picture.shape == (80, 160, 3)
    assert (picture[2, 2] == 200).all()  # an image
    assert (picture[15, 25] == 0).all()  # an image under a mask
    assert (picture[2, 100] == 0).all()  # between the images
    assert (picture[70, 150] == 200).all()
