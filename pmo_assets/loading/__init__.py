"""A release, opened in Python: typed rows, pictures, masks, read from the hub's folder as they are asked for.

Add here: finding a release, random and sequential access to its rows, records with their pictures, boxes as pixels,
their view in a notebook. Keep out: making a release, and anything that needs a training framework.
"""

from pmo_assets.loading.errors import ReleaseError, Withheld
from pmo_assets.loading.lecture_rows import VideoPair
from pmo_assets.loading.opening import load
from pmo_assets.loading.release import Release
from pmo_assets.loading.rows import Rows
from pmo_assets.loading.typed_rows import Article, Figure, Instruction, Pair, Panel

__all__ = [
    "Article",
    "Figure",
    "Instruction",
    "Pair",
    "Panel",
    "Release",
    "ReleaseError",
    "Rows",
    "VideoPair",
    "Withheld",
    "load",
]
