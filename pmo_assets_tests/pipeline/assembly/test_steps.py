"""Steps of assembly: rows in, rows out."""

from __future__ import annotations

from pmo_assets.pipeline.assembly.steps import panel_id


def test_panel_ids_are_text() -> None:
    assert panel_id(7, "f.001", 3) == "p_7_f.001_3"
