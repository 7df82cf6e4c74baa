"""A picture that looks marked is looked at again without spots of light, and never called marked because of that."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks import onnx_marks
from pmo_assets.pipeline.detection.networks.onnx_marks import MarkLooks, OnnxMarkNetwork

SPOTTED = np.full((150, 150, 3), 60, np.uint8)
cv2.circle(SPOTTED, (70, 70), 3, (255, 255, 255), -1, cv2.LINE_AA)
PLAIN = np.full((150, 150, 3), 60, np.uint8)


class Told(OnnxMarkNetwork):
    """Says `bright` of pictures with a bright pixel and `dark` of others, and counts the pictures it sees."""

    def __init__(self, bright: float, dark: float) -> None:
        super().__init__()
        self.bright, self.dark, self.shown = bright, dark, 0

    def load(self) -> Any:
        return None

    def _seen(self, session: Any, crops: Any, closely: Any) -> list[MarkLooks]:
        self.shown += len(crops)
        return [MarkLooks(self.bright if crop.max() > 200 else self.dark, None) for crop in crops]


@pytest.mark.parametrize(
    ("bright", "dark", "expected", "shown"),
    [(0.9, 0.1, 0.1, 2), (0.9, 0.95, 0.9, 2), (0.2, 0.05, 0.2, 1)],
)
def test_hiding_a_spot_takes_evidence_away_and_adds_none(
    bright: float, dark: float, expected: float, shown: int
) -> None:
    network = Told(bright, dark)
    (looks,) = network.looks([SPOTTED], [True])
    assert looks.larger == expected
    assert network.shown == shown


def test_pictures_without_spots_are_looked_at_once() -> None:
    network = Told(0.9, 0.8)
    pictures: list[NDArray[np.uint8]] = [PLAIN, PLAIN]
    assert [looks.larger for looks in network.looks(pictures)] == [0.8, 0.8]
    assert network.shown == 2
    assert network.looks([]) == []


def test_the_shipped_network_is_not_deceived_by_a_spot() -> None:
    spot, cleaned = (OnnxMarkNetwork().looks([picture])[0].larger for picture in (SPOTTED, PLAIN))
    assert spot <= max(cleaned, onnx_marks.SUSPECTED) + 0.05
