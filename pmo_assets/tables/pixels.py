"""The file format of a pixel store: pictures apart from the facts."""

from __future__ import annotations

import dataframely as dy


class Pixels(dy.Schema):
    """A pixel store's file: the pictures of one article, apart from the facts."""

    key = dy.String(primary_key=True, description="pdf_figure_id or panel_id")
    width = dy.Int64(min=1, description="Pixels")
    height = dy.Int64(min=1, description="Pixels")
    png = dy.Binary(description="PNG")
    compact = dy.Binary(
        nullable=True, description="The same pixels in fewer bytes: WebP without loss; null if not made"
    )
