"""What a release may carry of an article under its licence, column by column.

Every column of the release is declared in `HOLDS`; what a licence forbids is decided by what a column holds, here and
nowhere else. A column without a declaration stops the release (`withheld_columns`), it is never published by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from pmo_assets.pipeline.articles.licences import allows_redistribution


class Holding(Enum):
    """What a column holds of an article."""

    FACTS = "facts"
    """Names, numbers, places and judgements about the article: nobody's work, published under every licence."""
    TEXT = "article text"
    """Sentences of the article, whole or cut."""
    PICTURE = "article picture"
    """Pixels of the article's figures."""


_FACTS: Final = Holding.FACTS

HOLDS: Final[Mapping[str, Holding]] = MappingProxyType(
    {
        "panel_id": _FACTS,
        "article_id": _FACTS,
        "image_cluster_id": _FACTS,  # a file name
        "panel_name": _FACTS,  # the letter, number or position by which a caption calls the panel
        "subcaption_text": Holding.TEXT,
        "subcaption_segments": _FACTS,  # with them, who has a copy of the article can restore the text
        "panel_image_bytes": Holding.PICTURE,
        "position": _FACTS,
        "is_multi_page_figure": _FACTS,
        "in_text_mention": Holding.TEXT,
        "contains_cfp": _FACTS,
        "contains_oct": _FACTS,
        "contains_retinal": _FACTS,
        "contains_other": _FACTS,
        "contains_marked": _FACTS,
        "image_data": _FACTS,  # boxes, types, scores
        "identifier_data": _FACTS,  # boxes, scores, and the letter or number that is printed there
        "assembly": _FACTS,
        "annotation": _FACTS,  # always empty so far; an annotation that quotes a caption would be text
        "license": _FACTS,
        "attribution": _FACTS,  # title, authors and citation are what every use of an article names
        "commercial_use": _FACTS,
        "title": _FACTS,
        "authors": _FACTS,
        "journal": _FACTS,
        "year": _FACTS,
        "doi": _FACTS,
        "article_url": _FACTS,
        "license_url": _FACTS,
    }
)
"""What each column of the release holds of the article."""


def withheld(license_code: str | None) -> bool:
    """Say whether a release leaves out the article's pictures and texts (they stay below the data root).

    A panel cut from a figure, with a caption cut to match and paragraphs without their notes and references, is
    adapted material: it may be passed on under CC0 and the CC licences without "ND", and not where no licence is
    stated. Facts stay, so that the owner of a copy of the article can restore the rest.
    """
    return license_code is None or not allows_redistribution(license_code)


def withheld_columns(license_code: str | None, columns: Iterable[str]) -> tuple[str, ...]:
    """Return which of a release's columns are null in rows under a licence.

    Raises:
        KeyError: if it is not declared what a column holds.
    """
    kept = {Holding.FACTS} if withheld(license_code) else set(Holding)
    return tuple(name for name in columns if HOLDS[name] not in kept)
