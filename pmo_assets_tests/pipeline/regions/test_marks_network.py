"""Maps and answers become marks; the shipped network sees what is drawn on a picture, and nothing on a clean one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.regions.marks import image_marks
from pmo_assets.pipeline.regions.marks_network import (
    LEAST_NONE,
    MARGIN,
    MULTIPLE,
    SIDE,
    TIP_PLACES,
    Calibration,
    FoundBox,
    MarksNetwork,
    boxes_of_maps,
    mark_of_answers,
    marks_input,
    read_frame,
    reader_input,
    shipped_calibration,
    tip_of_places,
    turned_answers,
)
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import UNIT_BOX, matched_boxes, normalise
from pmo_assets.samples.pictures import fundus_photograph


def maps(*marks: tuple[int, int, float, tuple[float, float, float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Scores and boxes of 40 × 50 places with a mark (row, column, score, box in pixels) at some of them."""
    scores, boxes = np.zeros((40, 50), np.float32), np.zeros((4, 40, 50), np.float32)
    for row, column, score, box in marks:
        scores[row, column] = score
        boxes[:, row, column] = box
    return scores, boxes


def test_a_place_surer_than_its_neighbours_is_a_mark() -> None:
    seen = maps((10, 10, 0.8, (20, 20, 60, 60)), (10, 11, 0.7, (20, 20, 62, 60)), (30, 30, 0.9, (100, 100, 140, 150)))
    other, first = boxes_of_maps(*seen, (200, 160))
    assert (other.score, first.score) == pytest.approx((0.9, 0.8))
    assert first.box == pytest.approx((0.1, 0.125, 0.3, 0.375))


def test_one_mark_seen_twice_counts_once_and_what_lies_in_the_margin_not_at_all() -> None:
    twice = maps((10, 10, 0.8, (20, 20, 60, 60)), (14, 10, 0.6, (21, 20, 60, 61)))
    assert len(boxes_of_maps(*twice, (200, 160))) == 1
    assert boxes_of_maps(*maps((10, 45, 0.8, (170, 20, 190, 60))), (160, 160)) == []


def test_the_reader_sees_a_box_with_its_surroundings_and_grey_beyond_the_picture() -> None:
    pixels = np.full((100, 200, 3), 50, np.uint8)
    pixels[40:60, 80:120] = 250
    frame = read_frame((0.4, 0.4, 0.6, 0.6), 200, 100)
    assert frame == pytest.approx((70, 20, 130, 80))
    seen = reader_input(pixels, frame)
    assert seen.shape == (64, 64, 3)
    assert (seen[23:41, 12:52] == 250).all()
    assert (seen[:20] == 50).all()
    corner = reader_input(pixels, read_frame((0.0, 0.0, 0.1, 0.1), 200, 100))
    assert (corner[0, 0] == MARGIN).all()
    assert (corner[-1, -1] == 50).all()


def pointing(row: int, column: int, share: float) -> np.ndarray:
    """The reader's places with a share at one of them, the rest nowhere."""
    places = np.zeros(TIP_PLACES**2 + 1, np.float32)
    places[row * TIP_PLACES + column], places[-1] = share, 1 - share
    return places


def test_a_tip_lies_between_the_likely_places_around_the_likeliest() -> None:
    places = pointing(4, 8, 0.6)
    assert tip_of_places(places) == pytest.approx((8.5 / 16, 4.5 / 16))
    places[4 * TIP_PLACES + 9], places[-1] = 0.2, 0.2
    assert tip_of_places(places) == pytest.approx((8.75 / 16, 4.5 / 16))
    places[0], places[-1] = 0.2, 0.0  # the other end of the shaft is no part of the mean
    assert tip_of_places(places) == pytest.approx((8.75 / 16, 4.5 / 16))
    assert tip_of_places(pointing(0, 0, 0.4)) is None
    assert tip_of_places(pointing(0, 0, 0.6)) == pytest.approx((0.5 / 16, 0.5 / 16))


def test_what_the_reader_says_becomes_a_mark_in_the_picture() -> None:
    found, pixels = FoundBox((0.4, 0.4, 0.6, 0.6), 0.8), np.full((100, 200, 3), 50, np.uint8)
    cv2.ellipse(pixels, (100, 50), (18, 8), 0, 0, 360, (255, 255, 0), 2)
    shares = np.zeros(8, np.float32)
    shares[[0, 7]] = 0.75, 0.25
    mark = mark_of_answers(found, shares, pointing(7, 0, 0.9), pixels)
    assert mark.kind == "arrow"
    assert mark.score == 0.8
    assert mark.tip == pytest.approx(((70 + 60 / 32) / 200, (20 + 7.5 * 60 / 16) / 100))
    unseen = mark_of_answers(found, shares, pointing(7, 0, 0.2), pixels)
    assert unseen.tip is None
    circle = mark_of_answers(found, np.roll(shares, 2), pointing(7, 0, 0.9), pixels)
    assert (circle.kind, circle.tip) == ("circle", None)
    pixels[:] = 50
    cv2.rectangle(pixels, (80, 40), (119, 59), (255, 255, 0), 2)
    assert mark_of_answers(found, np.roll(shares, 2), pointing(7, 0, 0.9), pixels).kind == "box"


def test_a_thin_mark_without_a_head_is_a_line_unless_the_reader_is_sure() -> None:
    pixels = np.full((100, 200, 3), 50, np.uint8)
    cv2.line(pixels, (60, 40), (139, 59), (255, 255, 0), 3, cv2.LINE_AA)
    found = FoundBox((0.295, 0.38, 0.705, 0.61), 0.8)
    shares = np.zeros(8, np.float32)
    shares[[0, 5]] = 0.3, 0.6
    assert mark_of_answers(found, shares, pointing(7, 0, 0.9), pixels).kind == "line"
    shares[[0, 5]] = 0.6, 0.3
    assert mark_of_answers(found, shares, pointing(7, 0, 0.9), pixels).kind == "arrow"
    cv2.fillPoly(pixels, [np.asarray([(140, 59), (124, 64), (127, 48)])], (255, 255, 0))
    shares[[0, 5]] = 0.3, 0.6
    arrow = mark_of_answers(found, shares, pointing(7, 0, 0.9), pixels)
    assert arrow.kind == "arrow"
    assert arrow.tip == pytest.approx((0.7, 0.59), abs=0.02), "the reader took the tail for the tip"


@pytest.mark.parametrize("shape", [(700, 300), (20, 30), (1, 900), (416, 416)])
def test_pictures_of_every_size_fit_the_input(shape: tuple[int, int]) -> None:
    frame, (wide, tall) = marks_input(np.full((*shape, 3), 200, np.uint8))
    assert max(wide, tall) == SIDE
    assert all(side % MULTIPLE == 0 and side <= SIDE for side in frame.shape[:2])
    assert (frame[:tall, :wide] == 200).all()


def test_a_calibrated_probability_rises_with_the_score() -> None:
    shipped = shipped_calibration()
    values = [shipped.probability(score) for score in (0.0, 0.1, 0.5, 0.9, 1.0)]
    assert values == sorted(values)
    assert 0 <= values[0] < values[-1] <= 1
    assert Calibration(1.0, 0.0, 0.0, 0.0, 0.5).probability(0.3) == pytest.approx(0.3)
    for marked in (0.0, 0.02, 0.5, 1.0):
        least = shipped.least_score(marked)
        assert shipped.probability(least, marked, LEAST_NONE) == pytest.approx(shipped.threshold)
        assert shipped.probability(least, marked, 0.0) == pytest.approx(shipped.threshold)
        assert shipped.probability(least, marked, 0.9) < shipped.threshold


def test_pixels_are_believed_sooner_on_images_that_are_marked() -> None:
    shipped = shipped_calibration()
    assert shipped.least_score(0.95) < shipped.least_score(0.5) < shipped.least_score(0.05)
    assert Calibration(1.0, 0.5, 0.0, 0.0, 0.5).probability(0.2, 0.8) == pytest.approx(1 / 3)  # odds 1/4 · 4 ** 0.5


def test_boxes_below_the_score_that_counts_are_not_read() -> None:
    picture = fundus_photograph(np.random.default_rng(1), 300, 240)
    cv2.arrowedLine(picture, (150, 120), (100, 80), (255, 255, 0), 3, cv2.LINE_AA, tipLength=0.3)
    network = MarksNetwork()
    (every,), (sure,) = network([picture]), network([picture], 0.5)
    assert sure == [mark for mark in every if mark.score >= 0.5]
    assert 0 < len(sure) < len(every)


def test_the_shipped_network_sees_what_is_drawn_and_nothing_else() -> None:
    clean = fundus_photograph(np.random.default_rng(5), 480, 400)
    pixels = clean.copy()
    cv2.arrowedLine(pixels, (330, 290), (270, 250), (255, 255, 255), 4, cv2.LINE_AA, tipLength=0.3)
    cv2.circle(pixels, (150, 150), 35, (255, 255, 0), 3, cv2.LINE_AA)
    cv2.rectangle(pixels, (250, 110), (340, 170), (0, 255, 0), 3)
    network = MarksNetwork()
    true = [(265, 245, 335, 295), (114, 114, 187, 187), (248, 108, 342, 172)]
    found = image_marks(FigureView(pixels), UNIT_BOX, network, shipped_calibration())
    pairs = matched_boxes([normalise(box, (0, 0, 480, 400)) for box in true], [mark.box for mark in found], 0.6)
    arrow, circle, box = (found[pairs[k]] for k in range(3))
    assert len(found) == 3
    assert (arrow.kind, arrow.colour, circle.kind, circle.colour) == ("arrow", "white", "circle", "yellow")
    assert arrow.tip is not None
    assert np.hypot(arrow.tip[0] * 480 - 270, arrow.tip[1] * 400 - 250) < 0.03 * 480
    assert box.probability >= shipped_calibration().threshold
    assert image_marks(FigureView(clean), UNIT_BOX, network, shipped_calibration()) == ()


def test_pictures_of_different_sizes_are_seen_alike_together_and_alone() -> None:
    network = MarksNetwork()
    pictures = [fundus_photograph(np.random.default_rng(k), 200 + 60 * k, 180) for k in range(2)]
    for picture in pictures:
        cv2.arrowedLine(picture, (150, 120), (100, 80), (255, 255, 0), 3, cv2.LINE_AA, tipLength=0.3)
    assert [len(found) for found in network(pictures)] == [len(network([picture])[0]) for picture in pictures]
    assert network([]) == []


def test_answers_of_all_four_directions_are_one_and_point_to_one_place() -> None:
    def read(views: np.ndarray) -> list[np.ndarray]:
        """Point at the only bright pixel of each view, and call what lies left of the middle an arrow."""
        kinds, places = np.zeros((len(views), 8), np.float32), np.zeros((len(views), 257), np.float32)
        for k, view in enumerate(views):
            row, column = (int(v) // 4 for v in np.argwhere(view[:, :, 0] == 255)[0])
            kinds[k, 0 if column < 8 else 1] = 1
            places[k, 16 * row + column] = 1
        return [kinds, places]

    seen = np.zeros((2, 64, 64, 3), np.uint8)
    seen[0, 9, 50] = seen[1, 62, 3] = 255
    kinds, tips = turned_answers(read, seen)
    assert kinds[:, :2] == pytest.approx(np.full((2, 2), 0.5))
    assert [int(np.argmax(places)) for places in tips] == [16 * 2 + 12, 16 * 15 + 0]
    assert tips.max(axis=1) == pytest.approx(1.0)
