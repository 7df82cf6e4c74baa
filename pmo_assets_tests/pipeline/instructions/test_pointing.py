"""Sentences that point at the picture at hand, and those that speak of something else."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.instructions.pointing import MOST_WORDS, after_pointing, points_at_picture
from pmo_assets_tests.samples.lecture_sentences import DEVELOPMENT


@pytest.mark.parametrize("sentence", [item.text for pool in DEVELOPMENT.of_pictures.values() for item in pool])
def test_what_is_said_of_the_picture_points_at_it(sentence: str) -> None:
    assert points_at_picture(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        *DEVELOPMENT.of_others,
        "The retinal pigment epithelium is a monolayer.",
        "There was a macular hole.",
        "You would see drusen here.",
        "In diabetic retinopathy there are microaneurysms.",
        "Here the second eye shows drusen.",
        f"This scan shows {'very ' * MOST_WORDS}much fluid.",
    ],
)
def test_what_is_said_of_other_things_does_not(sentence: str) -> None:
    assert not points_at_picture(sentence)


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("Here you can see drusen.", "drusen."),
        ("And now look at the fovea.", "the fovea."),
        ("There are hard exudates.", "hard exudates."),
        ("There is no fluid.", "There is no fluid."),
        ("We do not see any membrane.", "We do not see any membrane."),
        ("The scan shows fluid.", "The scan shows fluid."),
    ],
)
def test_words_that_only_point_are_left_out_and_those_that_deny_stay(sentence: str, rest: str) -> None:
    text = f"Well. {sentence}"
    assert text[after_pointing(text, 6, len(text)) :] == rest
