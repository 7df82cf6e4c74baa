"""Faces that are drawn, on slides of all sizes."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.videos.faces import face_boxes
from pmo_assets.records.geometry import Box, contains
from pmo_assets.samples.drawing import paper
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets_tests.samples.lectures import FACE_IN_PORTRAIT, RETINAL, drawn_face


@pytest.mark.parametrize(("frame", "side"), [((640, 360), 60), ((640, 360), 200), ((1280, 720), 160), ((330, 250), 90)])
def test_a_face_is_masked_with_its_margin(frame: tuple[int, int], side: int) -> None:
    canvas = paper(*frame)
    canvas[20 : 20 + side, 30 : 30 + side] = drawn_face(np.random.default_rng(side), side)
    left, top, right, bottom = FACE_IN_PORTRAIT
    face: Box = ((30 + left * side) / frame[0], (20 + top * side) / frame[1],
                 (30 + right * side) / frame[0], (20 + bottom * side) / frame[1])  # fmt: skip
    (found,) = face_boxes(canvas)
    assert contains(found, face, 0.01)


@pytest.mark.parametrize("kind", RETINAL)
def test_a_picture_of_the_retina_is_no_face(kind: str) -> None:
    for seed in range(3):
        assert face_boxes(drawn_picture(kind, np.random.default_rng(seed), 320, 320)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (300, 7)])
def test_tiny_pictures_have_no_faces(size: tuple[int, int]) -> None:
    assert face_boxes(paper(*size)) == []
