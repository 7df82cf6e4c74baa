"""Marks can be seen, device print does not count as one, and pools keep their parts of the data apart."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.synthetic.drawn_marks import DASHES, MARK_KINDS, SEEN_PIXELS, Stroke, draw_marks
from pmo_assets.training.synthetic.layouts import split_of
from pmo_assets.training.synthetic.mark_examples import LEFT, mark_example, marks_example
from pmo_assets.training.synthetic.pools import PicturePool, PoolPicture, without_outlines
from pmo_assets_tests.examples import examples
from pmo_assets_tests.training.pools import small_pool, striped


@examples(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([10, 128, 250]))
def test_a_mark_differs_from_its_ground(seed: int, level: int) -> None:
    picture = np.full((200, 240, 3), level, np.uint8)
    draw_marks(np.random.default_rng(seed), picture)
    change = np.abs(picture.astype(int) - level).max(axis=2)
    assert (change >= 60).sum() >= 8


@examples(40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(IMAGE_TYPES), st.integers(24, 300), st.integers(24, 300))
def test_pictures_fill_the_frame_asked_for(seed: int, image_type: str, width: int, height: int) -> None:
    for pool in (small_pool(), PicturePool([])):
        picture = pool.picture(np.random.default_rng(seed), image_type, width, height)  # type: ignore[arg-type]
        assert picture.shape == (height, width, 3)
        assert picture.dtype == np.uint8


def test_a_pool_holds_the_pictures_of_its_part_alone() -> None:
    pictures = [PoolPicture(striped(k), "CFP", f"eye {k}") for k in range(60)]
    sizes = {part: len(PicturePool(pictures, part).by_type["CFP"]) for part in ("train", "validation", "test")}
    assert sum(sizes.values()) == 60
    assert sizes["train"] == sum(split_of(p.group) == "train" for p in pictures)


@examples(60)
@given(st.integers(0, 2**32 - 1))
def test_the_ink_of_marks_lies_in_their_boxes_and_tips_on_them(seed: int) -> None:
    picture = np.full((200, 240, 3), 128, np.uint8)
    marks = draw_marks(np.random.default_rng(seed), picture)
    changed = (np.abs(picture.astype(int) - 128).max(axis=2) >= 60).astype(np.uint8)
    outside = changed.copy()
    for mark in marks:
        left, top, right, bottom = mark.box
        assert 0 <= left < right <= 240
        assert 0 <= top < bottom <= 200
        outside[max(0, int(top) - 2) : int(bottom) + 3, max(0, int(left) - 2) : int(right) + 3] = 0
        if mark.tip is not None:
            assert mark.kind in ("arrow", "arrowhead")
            assert left - 1.5 <= mark.tip[0] <= right + 1.5
            assert top - 1.5 <= mark.tip[1] <= bottom + 1.5
    # Names beside leaders are no part of the mark, nor are first attempts that nobody sees.
    assert outside.sum() <= 0.5 * changed.sum() + 200


@pytest.mark.parametrize("dashes", DASHES)
@pytest.mark.parametrize("line", [1, 3])
def test_dashes_and_gaps_take_their_parts_of_a_line(dashes: tuple[float, float], line: int) -> None:
    (box,) = [draw for name, draw, _ in MARK_KINDS if name == "box"]
    ink = []
    for dashed in (None, dashes):
        picture = np.zeros((300, 300, 3), np.uint8)
        box(np.random.default_rng(1), picture, Stroke((150.0, 150.0), 80.0, line, (255, 255, 255), dashed))
        ink.append(float(picture.sum()))
    dash, gap = (max(2.0, length * line) for length in dashes)
    # The ends of dashes are round, and reach into the gaps by up to half the line's width.
    assert dash / (dash + gap) - 0.05 <= ink[1] / ink[0] <= min(0.99, (dash + line + 1) / (dash + gap))


def test_marks_that_wear_took_away_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = small_pool()
    before = [mark_example(seed, pool)[1] for seed in range(12)]
    monkeypatch.setattr("pmo_assets.training.synthetic.mark_examples.worn", lambda rng, pixels: np.full_like(pixels, 9))
    after = [mark_example(seed, pool) for seed in range(12)]
    assert sum(before) >= 3
    for _, marked, change in after:
        assert bool(change.any()) == marked
    # What is left are marks that were drawn on top of the wear.
    assert sum(marked for _, marked, _ in after) < sum(before)


def test_lines_from_elsewhere_do_not_make_a_picture_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = small_pool()
    monkeypatch.setattr("pmo_assets.training.synthetic.mark_examples.REACHED", 0.0)
    without = [mark_example(seed, pool) for seed in range(16)]
    monkeypatch.setattr("pmo_assets.training.synthetic.mark_examples.REACHED", 1.0)
    reached = [mark_example(seed, pool) for seed in range(16)]
    assert [marked for _, marked, _ in reached] == [marked for _, marked, _ in without]
    assert sum((one != other).any() for (one, _, _), (other, _, _) in zip(without, reached, strict=True)) >= 12
    for _, marked, change in reached:
        assert bool(change.any()) == marked


def test_coloured_outlines_on_grey_pictures_are_painted_over() -> None:
    rng = np.random.default_rng(3)
    grey = cv2.GaussianBlur(rng.normal(100, 60, (120, 160)).astype(np.float32), (0, 0), 4).clip(0, 255)
    scan = np.repeat(grey.astype(np.uint8)[:, :, None], 3, axis=2)
    drawn = scan.copy()
    cv2.ellipse(drawn, (80, 60), (40, 25), 0, 0, 360, (255, 0, 0), 1, cv2.LINE_AA)
    mended = without_outlines(drawn)
    assert (mended == mended[:, :, :1]).all()
    assert np.abs(mended.astype(int) - scan).max() <= 12 < np.abs(drawn.astype(int) - scan).max()
    # Pictures without any stay as they are.
    assert (without_outlines(scan) == scan).all()


@pytest.mark.slow  # many pictures
def test_what_is_drawn_does_not_depend_on_whether_marks_are_asked_for() -> None:
    pool = small_pool()
    for seed in range(30):
        pixels, marked, places = mark_example(seed, pool)
        again, _, _ = mark_example(seed, pool)
        assert (pixels == again).all()
        assert bool((places >= LEFT).sum() >= SEEN_PIXELS) == marked
        seen, marks = marks_example(seed, pool)
        assert all(0 <= value <= 255 for mark in marks for value in mark.colour)
        assert all(mark.box[2] <= seen.shape[1] and mark.box[3] <= seen.shape[0] for mark in marks)
