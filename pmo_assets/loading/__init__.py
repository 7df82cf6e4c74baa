"""A release, opened in Python: typed rows, pictures, masks, read from the hub's folder as they are asked for.

What belongs here: finding a release, random and sequential access to its rows, records with their pictures, boxes as
pixels, what a notebook shows of them. What does not: making a release, and anything that a training framework needs to
be installed for.
"""

from pmo_assets.loading.errors import ReleaseError, Withheld
from pmo_assets.loading.opening import load
from pmo_assets.loading.release import Release
from pmo_assets.loading.rows import Rows
from pmo_assets.loading.typed_rows import Article, Figure, Panel

__all__ = [
    "Article",
    "Figure",
    "Panel",
    "Release",
    "ReleaseError",
    "Rows",
    "Withheld",
    "load",
]
