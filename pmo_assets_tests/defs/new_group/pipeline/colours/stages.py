"""Stage of the group `colours`: what colour panels have."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.colours.steps import measure_colours  # type: ignore[import-not-found, unused-ignore]

from pmo_assets.records.stages import Stage

STAGES: Final = (Stage("panel_colours", "colours", measure_colours, reads=["panels", "reviewed_panels"]),)
