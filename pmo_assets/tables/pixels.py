"""The file format of a pixel store: pictures apart from the facts."""

from __future__ import annotations

import dataframely as dy


class Pixels(dy.Schema):
    """A pixel store's file: the pictures of one article, apart from the facts."""

    key = dy.String(primary_key=True, description="pdf_figure_id or panel_id")
    width = dy.Int64(min=1, description="Pixels")
    height = dy.Int64(min=1, description="Pixels")
    encoded = dy.Binary(description="The picture as a file: PNG, or WebP without loss")
