"""Quarter turns: there and back."""

from __future__ import annotations

from pmo_assets.pipeline.figures.page_turns import turned_box


def test_turning_back_restores_a_box() -> None:
    box = (10.0, 20.0, 60.0, 90.0)
    for turns in range(4):
        size = (300.0, 400.0) if turns % 2 == 0 else (400.0, 300.0)
        assert turned_box(turned_box(box, turns, 300, 400), -turns, *size) == box
