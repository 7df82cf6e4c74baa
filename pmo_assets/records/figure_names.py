"""Names of figures and pages for people; pages count from 1.

Rows, JSON, ids and columns count pages from 0, as the published dataset does. Whatever people read (messages, titles,
names of files) goes through here, the one place where the one becomes the other; the gallery's is `pageNumber` in
`pages.js`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

UNMATCHED_PREFIX: Final = "pdf-"
"""Start of the image_cluster_id of a figure that has no package figure; its pdf_figure_id follows."""

_PDF_FIGURE: Final = re.compile(r"p([0-9]+)-([0-9]+)")


def page_number(page: int) -> int:
    """Return the number of a page for people: 1 for page 0."""
    return page + 1


def figure_file_name(pdf_figure_id: str) -> str:
    """Return the name of a file that shows a PDF figure, without suffix: "p3-1" for `p2-1`."""
    found = _PDF_FIGURE.fullmatch(pdf_figure_id)
    return f"p{page_number(int(found[1]))}-{found[2]}" if found else pdf_figure_id


def figure_words(row: Mapping[str, Any]) -> str:
    """Return the name of a figure for people: its label, else its place in the PDF, else its name in the package.

    Args:
        row: of a table of figures: `label`, `image_cluster_id` (may be None), `pdf_figure_id` where it has one.
    """
    if row.get("label"):
        return str(row["label"])
    cluster = row["image_cluster_id"] or ""
    in_pdf = (
        cluster.removeprefix(UNMATCHED_PREFIX) if cluster.startswith(UNMATCHED_PREFIX) else row.get("pdf_figure_id")
    )
    place = _PDF_FIGURE.fullmatch(in_pdf or "")
    return f"page {page_number(int(place[1]))}, figure {place[2]}" if place else cluster
