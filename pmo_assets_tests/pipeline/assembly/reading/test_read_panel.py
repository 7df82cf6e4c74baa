"""Names found among all the print of a panel."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.reading.read_panel import place_value, read_panel
from pmo_assets.records.reading import ReadText
from pmo_assets_tests.pipeline.assembly.reading.printed import ScriptedReader

FIGURE = np.full((200, 200, 3), 255, np.uint8)


def test_corners_come_before_the_middle() -> None:
    texts = (
        ReadText("B", 0.9, (0.48, 0.48, 0.52, 0.52)),
        ReadText("A", 0.9, (0.02, 0.02, 0.08, 0.08)),
        ReadText("200 µm", 0.99, (0.8, 0.9, 0.98, 0.97)),
        ReadText("Amount", 0.99, (0.02, 0.1, 0.3, 0.2)),
    )
    found = read_panel(FIGURE, (0.0, 0.0, 1.0, 1.0), ["A", "B"], ScriptedReader(texts))
    assert [candidate.name for candidate in found] == ["A", "B"]
    assert found[0].confidence > 2 * found[1].confidence


def test_boxes_are_those_of_the_figure() -> None:
    reader = ScriptedReader((ReadText("(A)", 1.0, (0.0, 0.0, 0.1, 0.1)),))
    (found,) = read_panel(FIGURE, (0.5, 0.5, 1.0, 1.0), ["A"], reader)
    assert found.box == pytest.approx((0.48, 0.48, 0.532, 0.532))
    assert reader.pictures[0].shape == (104, 104, 3)


def test_without_names_nobody_is_asked() -> None:
    reader = ScriptedReader(())
    assert read_panel(FIGURE, (0.0, 0.0, 1.0, 1.0), [], reader) == ()
    assert reader.pictures == []


def test_places_are_worth_what_they_are() -> None:
    corner, edge, middle = (0.0, 0.0, 0.1, 0.1), (0.45, 0.0, 0.55, 0.1), (0.45, 0.45, 0.55, 0.55)
    assert place_value(corner) > place_value(edge) > place_value(middle)
