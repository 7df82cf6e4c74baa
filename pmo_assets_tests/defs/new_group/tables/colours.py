"""Tables of the group `colours`."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.tables.columns import FigureKey
from pmo_assets.tables.released import FACTS, TEXT, released


class PanelColours(FigureKey):
    """The mean colour of each panel."""

    panel_id = dy.String(primary_key=True, description="Panel")
    colour = dy.List(
        dy.Float64(min=0, max=255),
        min_length=3,
        max_length=3,
        description="Mean red, green, blue",
        metadata=released(FACTS, "panels", facet="picture"),
    )
    brightness = dy.String(
        description="dark, medium or bright", metadata=released(FACTS, "panels", facet="picture", filter="Brightness")
    )
    opening = dy.String(description="First word of the subcaption", metadata=released(TEXT, "panels", facet="text"))


SCHEMAS = {"panel_colours": PanelColours}
