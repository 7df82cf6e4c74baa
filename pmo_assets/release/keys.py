"""Keys of a release's files below the data root."""

from __future__ import annotations

from typing import Final

RELEASE_KEY: Final = "release/pubmed_ophtha.parquet"
"""The published form."""

GALLERY_FOLDER: Final = "release/gallery"
GALLERY_KEY: Final = f"{GALLERY_FOLDER}/index.html"
"""Every figure of the release to look at."""

REPORT_KEY: Final = "release/report.html"
"""Report of the losses at each step, and of numbers beside the paper's."""

ANNOTATION_KEY: Final = "release/pubmed_ophtha_annotation.json"
"""Annotations of people, in the published form."""

HUB: Final = "release/hub"
"""The folder for the Hub."""

CARD_KEY: Final = f"{HUB}/README.md"
LICENSE_KEY: Final = f"{HUB}/LICENSE.md"

SPLITS_KEY: Final = f"{HUB}/splits.parquet"
"""The split of every article."""

MASKED: Final = "masked"
MASKED_KEY: Final = f"{HUB}/{MASKED}.parquet"
"""Parts of pictures that are black in the release; only where something is."""

RETRACTIONS_KEY: Final = "release/retractions.parquet"
"""Articles that left the dataset; the folder for the Hub holds a copy."""

FORMER_KEYS: Final = tuple(
    f"release/{name}" for name in ("README.md", "LICENSE.md", "duplicates.parquet", "gallery.html")
)
"""Keys of card, licences, duplicates and gallery in releases of 0.1.0. A release takes them away: they would stay as
they are for ever, with pictures of articles that are retracted since."""

REJECTION_PAGES: Final = "quality/rejections"
"""Folder of the pages that show what was rejected, one per batch."""


def rejection_page_key(batch: str) -> str:
    """Return the key of the page of a batch's rejections."""
    return f"{REJECTION_PAGES}/{batch}.html"
