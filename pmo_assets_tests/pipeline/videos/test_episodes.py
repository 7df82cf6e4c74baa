"""Episodes out of frames that are drawn here: cuts, fades, flashes, what moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from pmo_assets.pipeline.videos.episodes import cut_episodes, descriptor, sharpness, similarity
from pmo_assets.pipeline.videos.frames import Frame
from pmo_assets.samples.drawing import Pixels, paper, print_text

STEP = 0.5


def slide(seed: int, *, dot: int | None = None) -> Pixels:
    """A white slide with a few blocks at places that the seed says, and a pointer."""
    canvas = paper(320, 180)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        x, y = int(rng.integers(0, 240)), int(rng.integers(0, 140))
        canvas[y : y + 30, x : x + 60] = rng.integers(0, 160, 3)
    if dot is not None:
        canvas[90:96, 10 + dot : 16 + dot] = (255, 0, 0)
    return canvas


def mixed(a: Pixels, b: Pixels, share: float) -> Pixels:
    return np.asarray(a * (1 - share) + b * share, np.uint8)


def as_frames(shown: Sequence[Pixels]) -> Iterator[Frame]:
    return (Frame(STEP * k, pixels) for k, pixels in enumerate(shown))


def starts(shown: Sequence[Pixels]) -> list[float]:
    return [episode.start for episode in cut_episodes(as_frames(shown))]


def test_a_new_slide_begins_an_episode_at_its_first_frame() -> None:
    assert starts([slide(1)] * 10 + [slide(2)] * 10) == [0.0, 5.0]


def test_a_fade_is_one_boundary_in_its_middle_and_gives_no_keyframe() -> None:
    fade = [mixed(slide(1), slide(2), share) for share in (0.25, 0.5, 0.75)]
    first, second = cut_episodes(as_frames([slide(1)] * 10 + fade + [slide(2)] * 10))
    assert second.start == first.end == pytest.approx(5.75, abs=0.5)
    assert all(c.seconds < 5 for c in first.candidates)
    assert all(c.seconds > 6 for c in second.candidates)


def test_a_fade_of_three_seconds_is_no_chain_of_episodes() -> None:
    fade = [mixed(slide(1), slide(2), k / 6) for k in range(1, 6)]
    found = starts([slide(1)] * 20 + fade + [slide(2)] * 20)
    assert len(found) == 2
    assert found[1] == pytest.approx(11.5, abs=1.0)


def test_black_between_two_slides_is_no_episode() -> None:
    assert len(starts([slide(1)] * 10 + [paper(320, 180, (0, 0, 0))] * 2 + [slide(2)] * 10)) == 2


@pytest.mark.parametrize("between", [[paper(320, 180, (255, 255, 255))], [slide(7)]], ids=["flash", "someone passes"])
def test_what_comes_back_is_the_same_episode(between: list[Pixels]) -> None:
    assert starts([slide(1)] * 10 + between + [slide(1)] * 10) == [0.0]


def test_a_pointer_that_moves_is_no_cut() -> None:
    assert starts([slide(1, dot=8 * k) for k in range(30)]) == [0.0]


def test_footage_is_cut_into_stretches_and_never_held_back() -> None:
    rng = np.random.default_rng(3)
    moving = [rng.integers(0, 255, (180, 320, 3)).astype(np.uint8) for _ in range(60)]
    moving = [np.kron(m[:18, :32], np.ones((10, 10, 1), np.uint8)) for m in moving]
    found = starts([slide(1)] * 10 + moving)
    assert found[:2] == [0.0, 5.0]
    assert 4 <= len(found) <= 20


def test_no_frames_are_no_episodes_and_one_frame_is_one() -> None:
    assert starts([]) == []
    assert starts([slide(1)]) == [0.0]


def test_an_episode_keeps_few_candidates_the_sharpest_first() -> None:
    blurred = mixed(slide(1), np.roll(slide(1), 1, axis=1), 0.5)
    (episode,) = cut_episodes(as_frames([blurred] * 5 + [slide(1)] * 5 + [blurred] * 30))
    assert len(episode.candidates) == 3
    assert episode.candidates[0].seconds in (2.5, 3.0, 3.5, 4.0, 4.5)
    assert sharpness(slide(1)) > 1.2 * sharpness(blurred)


def test_blank_frames_are_like_each_other_and_like_nothing_else() -> None:
    white, black, shown = (descriptor(p) for p in (paper(64, 36), paper(64, 36, (0, 0, 0)), slide(1)))
    assert similarity(white, black) == 1.0
    assert similarity(white, shown) == 0.0
    assert similarity(shown, shown) == pytest.approx(1.0)


def test_brightness_of_the_whole_frame_changes_little() -> None:
    darker = np.asarray(slide(1) * 0.8, np.uint8)
    assert similarity(descriptor(slide(1)), descriptor(darker)) > 0.9


def test_one_line_of_print_makes_another_slide() -> None:
    first, second = slide(1), slide(1)
    print_text(first, 20, 150, "Visual acuity at each visit", "helv", 18, (0, 0, 0))
    print_text(second, 20, 20, "Refer early", "hebo", 26, (0, 0, 0))
    assert len(starts([first] * 8 + [second] * 8)) == 2
