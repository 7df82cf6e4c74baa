"""Tables of the group `colours`."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.tables.columns import FigureKey


class PanelColours(FigureKey):
    """The mean colour of each panel."""

    panel_id = dy.String(primary_key=True, description="Panel")
    colour = dy.List(dy.Float64(min=0, max=255), min_length=3, max_length=3, description="Mean red, green, blue")


SCHEMAS = {"panel_colours": PanelColours}
