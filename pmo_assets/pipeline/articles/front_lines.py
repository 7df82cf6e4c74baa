"""Lines of an article's front pages: their place and type, and the choice of those that speak of the article itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from pmo_assets.pipeline.figures.page import PageContent, TextLine

MARGIN: Final = 0.16
"""Share of the page's height at top and bottom that counts as header and footer: publishers' lie within 0.05 to 0.13,
first pages' footers with copyright and DOI reach a little higher."""

SUPERSCRIPT: Final = 0.8
"""Characters smaller than this share of their line's type are signs of notes; LaTeX's are 0.7, Word's 0.66 of it."""


def upright_lines(page: PageContent) -> list[TextLine]:
    """Return a page's lines that are not set on their side."""
    return [line for line in page.lines if line.quarter_turns == 0 and line.text]


def in_margin(line: TextLine, page: PageContent) -> bool:
    """Say whether a line belongs to the page's header or footer."""
    return not MARGIN * page.height < (line.bbox[1] + line.bbox[3]) / 2 < (1 - MARGIN) * page.height


def has_loose_accents(text: str) -> bool:
    """Say whether accents stand beside their letters ("Simo˜es"), as TeX's older fonts set them."""
    return any(
        unicodedata.category(character) in ("Sk", "Lm", "Mn") for character in unicodedata.normalize("NFC", text)
    )


_REFERENCES: Final = re.compile(r"^(?:references?|bibliography|literature cited)\W*$", re.I)


def own_lines(page: PageContent, lines: Sequence[TextLine]) -> Iterator[tuple[int, TextLine]]:
    """Yield the lines of a front page, with their index, that speak of the article itself and not of those it cites.

    Behind the heading of the references (letters and errata have it on their first page) only the page's header does,
    which some PDFs draw last.
    """
    cites = False
    for index, line in enumerate(lines):
        cites = cites or _REFERENCES.match(line.text) is not None
        if not cites or (page.index == 0 and line.bbox[3] < MARGIN * page.height):
            yield index, line
