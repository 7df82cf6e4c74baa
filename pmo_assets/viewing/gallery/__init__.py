"""The gallery of a release: a folder that shows figures, panels and subcaptions to who judges them by looking.

It works from a disk (`file://`) and from any static host, whatever the number of panels: `index.html`, a few scripts,
and below `data/` pages of figures, pictures, an index of words and the columns that filters need. A page from a disk
may not read files, only load scripts; so data files are scripts that register what they hold.

Belongs here: what the folder holds. Does not belong here: where figures come from (`release`), how the page behaves
(`viewing/templates/gallery/`, a file per part of the page).
"""

from pmo_assets.viewing.gallery.lectures import GalleryLecture
from pmo_assets.viewing.gallery.records import (
    GalleryContext,
    GalleryFigure,
    GalleryFilter,
    GalleryInstruction,
    GalleryPanel,
)
from pmo_assets.viewing.gallery.writing import GalleryWritten, write_gallery_folder

__all__ = [
    "GalleryContext",
    "GalleryFigure",
    "GalleryFilter",
    "GalleryInstruction",
    "GalleryLecture",
    "GalleryPanel",
    "GalleryWritten",
    "write_gallery_folder",
]
