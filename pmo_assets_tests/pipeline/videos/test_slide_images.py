"""Boxes that end where the picture ends, and what of a frame may leave."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.videos.slide_images import fitted, masked_picture, on_paper, slide_images, without_people
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, iou
from pmo_assets.samples.drawing import Pixels, paper, print_text
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets.samples.spec import PictureKind

WIDE, TALL = 640, 360
PLACE = (60, 100, 260, 300)
BOX: Box = (60 / WIDE, 100 / TALL, 260 / WIDE, 300 / TALL)


def slide(ground: tuple[int, int, int] = (250, 250, 250), kind: PictureKind = "cfp", seed: int = 2) -> Pixels:
    canvas = paper(WIDE, TALL, ground)
    print_text(canvas, 60, 60, "Macular disease", "hebo", 26, (20, 20, 60) if ground[0] > 128 else (240, 240, 240))
    canvas[100:300, 60:260] = drawn_picture(kind, np.random.default_rng(seed), 200, 200)
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


@pytest.mark.parametrize(("ground", "seed"), [((24, 28, 48), 0), ((232, 240, 248), 3)])
def test_a_dark_picture_is_found_and_told_on_dark_and_on_light_slides(ground: tuple[int, int, int], seed: int) -> None:
    (images,) = slide_images([slide(ground, "autofluorescence", seed)], detector_set())
    (kept,) = without_people(images, [])
    assert kept.image_type == "Retinal Imaging"
    assert iou(kept.box, BOX) > 0.9


def test_a_type_that_all_around_it_leaves_open_is_told_by_its_pixels_alone() -> None:
    detectors = detector_set()
    frame = slide((250, 250, 250), "angiography", 3)
    (seen,) = detectors.images([FigureView(frame)], [()])
    (best,) = [image for image in seen if iou(image.box, BOX) > 0.5]
    assert max(best.seen_types, key=best.seen_types.__getitem__) == "Other", "as a figure the slide is none of an eye"
    (images,) = slide_images([frame], detectors)
    assert [image.image_type for image in images if iou(image.box, BOX) > 0.5] == ["Retinal Imaging"]


def test_only_the_ground_becomes_paper() -> None:
    frame = slide((24, 28, 48))
    frame[150:200, 100:150] = (24, 28, 48)  # as the ground, within the picture
    paper_like = on_paper(frame)
    assert (paper_like[0, 0] == 255).all()
    assert (paper_like[100:300, 60:260] == frame[100:300, 60:260]).mean() > 0.98
    assert (paper_like[170, 120] == (24, 28, 48)).all()


def test_a_picture_that_fills_the_frame_stays_as_it_is() -> None:
    whole = np.random.default_rng(1).integers(0, 255, (TALL, WIDE, 3)).astype(np.uint8)
    assert np.array_equal(on_paper(whole), whole)


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
