"""Pieces of a mask have the boxes and sizes that OpenCV's labelling gives them."""

from __future__ import annotations

import cv2
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmo_assets.pipeline.detection.structure.components import connected_components
from pmo_assets_tests.examples import examples

MASKS = st.tuples(st.integers(1, 14), st.integers(1, 14)).flatmap(
    lambda shape: arrays(np.uint8, shape, elements=st.sampled_from([0, 0, 1]))
)
RING_WITH_CORE = np.pad(np.pad(np.ones((1, 1), np.uint8), 1), 1, constant_values=1)


@examples(200)
@given(MASKS)
@example(np.ones((1, 1), np.uint8))
@example(np.zeros((3, 4), np.uint8))
@example(np.ones((4, 5), np.uint8))
@example(np.eye(5, dtype=np.uint8))
@example(RING_WITH_CORE)
@example(np.pad(RING_WITH_CORE, 2))
def test_boxes_and_sizes_are_those_of_labelling(mask: np.ndarray) -> None:
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found = connected_components(mask)
    sizes = found.sizes(np.arange(len(found.boxes)))
    assert sorted(np.column_stack([found.boxes, sizes]).tolist()) == sorted(stats[1:].tolist())


@examples(30)
@given(MASKS)
def test_pieces_come_from_top_to_bottom(mask: np.ndarray) -> None:
    tops = connected_components(mask).boxes[:, 1]
    assert (np.diff(tops) >= 0).all()
