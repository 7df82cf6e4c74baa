"""One picture or several: a whole remains, or what is inside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.fusion.image_choice import (
    FEATURES,
    Proposal,
    choice_features,
    choice_weights,
    chosen_proposals,
    nesting,
    probability_of_parts,
)
from pmo_assets.pipeline.detection.structure.gutters import Canvas, canvas_of
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.fusion.sources import LEFT, RIGHT, WHOLE, boxes, two_pictures

PARTS = dict.fromkeys(FEATURES, 0.0) | {"always": 3.0}
WHOLES = dict.fromkeys(FEATURES, 0.0) | {"always": -3.0}


def canvas() -> Canvas:
    return canvas_of(two_pictures().pixels)


def test_what_lies_inside_is_smaller_and_mostly_covered() -> None:
    inside = nesting([Proposal(WHOLE, 0.8, 0.0), Proposal(LEFT, 0.0, 0.9), Proposal((0.4, 0.0, 0.6, 1.0), 0.0, 0.9)])
    assert inside.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    assert nesting([]).shape == (0, 0)


def test_either_the_whole_remains_or_its_parts() -> None:
    proposals = [Proposal(WHOLE, 0.8, 0.0), Proposal(LEFT, 0.0, 0.9), Proposal(RIGHT, 0.0, 0.8)]
    assert chosen_proposals(proposals, canvas, live=False, weights=PARTS) == {
        1: pytest.approx(0.953, abs=1e-3), 2: pytest.approx(0.953, abs=1e-3)
    }  # fmt: skip
    assert chosen_proposals(proposals, canvas, live=False, weights=WHOLES) == {0: pytest.approx(0.953, abs=1e-3)}


def test_what_nothing_contradicts_is_not_in_question() -> None:
    def unasked() -> Canvas:
        raise AssertionError("nobody has to look")

    proposals = [Proposal(LEFT, 0.8, 0.0), Proposal(RIGHT, 0.0, 0.4)]
    assert chosen_proposals(proposals, unasked, live=False) == {0: 1.0, 1: 1.0}


def test_weak_boxes_inside_say_nothing_and_go() -> None:
    proposals = [Proposal(WHOLE, 0.8, 0.0), *(Proposal(b, 0.0, 0.15) for b in (LEFT, RIGHT))]
    assert chosen_proposals(proposals, canvas, live=False, weights=PARTS) == {0: 1.0}


def test_bitmaps_of_the_pdf_remain_whatever_is_in_or_around_them() -> None:
    placed = Proposal(LEFT, 0.95, 0.0, placed=True)
    inner = Proposal((0.0, 0.0, 0.2, 0.5), 0.0, 0.9)
    assert chosen_proposals([placed, inner], canvas, live=True, weights=PARTS) == {0: 1.0}
    around = Proposal(WHOLE, 0.0, 0.9)
    assert 0 in chosen_proposals([placed, around], canvas, live=True, weights=WHOLES)
    assert set(chosen_proposals([placed, around], canvas, live=True, weights=PARTS)) == {0}


def test_pictures_side_by_side_are_parts_and_one_picture_in_patches_is_whole() -> None:
    pair = [Proposal(LEFT, 0.0, 0.8), Proposal(RIGHT, 0.0, 0.8)]
    assert set(chosen_proposals([Proposal(WHOLE, 0.75, 0.0), *pair], canvas, live=False)) == {1, 2}
    patches = [Proposal((0.1 * k, 0.1, 0.1 * k + 0.03, 0.2), 0.0, 0.31) for k in range(4)]
    assert set(chosen_proposals([Proposal(LEFT, 0.75, 0.97), *patches], canvas, live=False)) == {0}


def test_a_whole_that_structure_has_as_well_is_likelier() -> None:
    parts = [Proposal((0.075 * k, 0.0, 0.075 * k + 0.07, 1.0), 0.0, 0.7) for k in range(6)]
    by_both = choice_features(Proposal(LEFT, 0.8, 0.8), parts, canvas, live=False)
    by_network = choice_features(Proposal(LEFT, 0.0, 0.8), parts, canvas, live=False)
    assert probability_of_parts(by_both) < probability_of_parts(by_network)


proposed = st.builds(Proposal, boxes, st.sampled_from([0.0, 0.6, 0.8]), st.floats(0, 1), st.booleans())


@examples(60)
@given(st.lists(proposed, max_size=12), st.booleans())
def test_features_are_shares_and_nothing_remains_in_what_remains_but_bitmaps(
    proposals: list[Proposal], live: bool
) -> None:
    kept = chosen_proposals(proposals, canvas, live=live)
    assert all(0.5 <= trust <= 1 for trust in kept.values())
    inside = nesting(proposals)
    assert not any(inside[k, j] and not proposals[j].placed for k in kept for j in kept)
    if proposals:
        features = choice_features(proposals[0], proposals, canvas, live=live)
        assert tuple(features) == FEATURES
        assert all(0 <= value <= 1 and np.isfinite(value) for value in features.values())
        assert 0 <= probability_of_parts(features) <= 1


def test_the_package_has_a_weight_for_every_feature() -> None:
    assert set(choice_weights()) == set(FEATURES)
    assert any(choice_weights().values())
