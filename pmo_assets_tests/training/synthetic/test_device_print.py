"""Reflexes fade out, numbers can be read, lines from elsewhere stop at the edge, and thin marks are thin."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pmo_assets.training.synthetic.device_print import DEEP, draw_line_ends, draw_reflexes, draw_times
from pmo_assets.training.synthetic.drawn_marks import MARK_KINDS, draw_marks
from pmo_assets.training.synthetic.mark_examples import OPEN_ARROWS, OUTLINES
from pmo_assets_tests.examples import examples

SEEDS = st.integers(0, 2**32 - 1)


@examples(30)
@given(SEEDS, st.integers(0, 160))
def test_a_reflex_only_brightens_or_tints_and_covers_little(seed: int, level: int) -> None:
    picture = np.full((160, 200, 3), level, np.uint8)
    draw_reflexes(np.random.default_rng(seed), picture)
    change = picture.astype(int) - level
    assert change.max() >= 20
    # The green channel gains in every tint.
    assert change[..., 1].min() >= 0
    assert (change.max(axis=2) > 20).mean() < 0.4


@examples(30)
@given(SEEDS, st.sampled_from([0, 90, 128, 255]))
def test_numbers_stand_out_from_their_ground(seed: int, level: int) -> None:
    picture = np.full((160, 200, 3), level, np.uint8)
    draw_times(np.random.default_rng(seed), picture)
    assert (np.abs(picture.astype(int) - level).max(axis=2) >= 60).sum() >= 10


@examples(60)
@given(SEEDS, st.integers(40, 400), st.integers(40, 400))
def test_lines_from_elsewhere_stop_at_the_edge(seed: int, width: int, height: int) -> None:
    picture = np.full((height, width, 3), 77, np.uint8)
    draw_line_ends(np.random.default_rng(seed), picture)
    rows, columns = np.nonzero((picture != 77).any(axis=2))
    from_edges = (columns, rows, width - 1 - columns, height - 1 - rows)
    # They come over one edge: all that is seen is within reach of it.
    assert min(int(off.max(initial=0)) for off in from_edges) <= DEEP * (width * height) ** 0.5 + 4


def test_lines_from_elsewhere_are_seen_mostly_at_corners_and_on_every_side() -> None:
    seen, at_corner, sides = 0, 0, set()
    for seed in range(80):
        picture = np.full((120, 160, 3), 77, np.uint8)
        draw_line_ends(np.random.default_rng(seed), picture)
        ink = (picture != 77).any(axis=2)
        seen += int(ink.any())  # of lines of a pixel that touch the edge OpenCV may leave nothing
        corners = ink.copy()
        corners[20:-20], corners[:, 20:-20] = False, False
        at_corner += int(ink.any() and corners.sum() == ink.sum())
        sides |= {
            name for name, part in zip("ltrb", (ink[:, 0], ink[0], ink[:, -1], ink[-1]), strict=True) if part.any()
        }
    assert seen >= 72
    assert at_corner >= 50
    assert sides == set("ltrb")


@examples(30)
@given(SEEDS, st.sampled_from([10, 128, 250]))
def test_open_arrows_are_lines_alone_with_their_tip_in_the_ink(seed: int, level: int) -> None:
    picture = np.full((200, 240, 3), level, np.uint8)
    marks = draw_marks(np.random.default_rng(seed), picture, odds=OPEN_ARROWS)
    change = np.abs(picture.astype(int) - level).max(axis=2)
    assert {mark.kind for mark in marks} == {"arrow"}
    for mark in marks:
        assert mark.tip is not None
        x, y = int(mark.tip[0]), int(mark.tip[1])
        # A tip that lies on another arrow is of another colour than that one, whose ink is beside it.
        assert change[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3].max() >= 40
    # A body and two sides of a head of at most 0.55 of it, three pixels wide with soft edges; two sides of a box
    # are together no shorter than the body.
    assert (change >= 40).sum() <= sum(5 * 2 * (m.box[2] - m.box[0] + m.box[3] - m.box[1]) for m in marks)


@examples(30)
@given(SEEDS, st.sampled_from([10, 128, 250]))
@example(752, 128)  # drawn anew, larger, since the first attempt can hardly be seen
def test_thin_marks_are_outlines_of_a_pixel_or_two(seed: int, level: int) -> None:
    picture = np.full((200, 240, 3), level, np.uint8)
    marks = draw_marks(np.random.default_rng(seed), picture, odds=OUTLINES, thin=True)
    assert marks
    assert {mark.kind for mark in marks} <= {"circle", "box"}
    seen = (np.abs(picture.astype(int) - level).max(axis=2) >= 40).sum()
    around = sum(2 * (m.box[2] - m.box[0] + m.box[3] - m.box[1]) for m in marks)
    assert 8 <= seen <= 5 * around


def test_outlines_are_the_kinds_that_surround() -> None:
    assert [name for (name, _, _), odds in zip(MARK_KINDS, OUTLINES, strict=True) if odds] == [
        "circle", "box", "outline",
    ]  # fmt: skip
